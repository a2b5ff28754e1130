//! Prompts of an exact number of tokens, each with a unique first token, and without meaning or personal content.
//!
//! llama-server and vLLM accept token ids, which their tokenizers return. For other servers a prompt consists of words,
//! and the server's own count shows how many tokens they were. For common words, one more word is one more token;
//! deviations are corrected by the count.

use super::client::{Client, Ended, Question};
use crate::exchange::Exchange;
use say::say;
use serde_json::Value;
use server::{Ask, Completion, Identity, counts};
use sys::random::Seeded;

/// Words that are a single token in most vocabularies, including the space before them. Calibration finds which lists
/// work for a model.
const LETTERS: &str = "a b c d e f g h i j k l m n o p q r s t u v w x y z";
const CAPITALS: &str = "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z";
const COMMON: &str = "the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not \
    what all were we when your can said there use an each which she do how their if will up other about out many then them these so some her \
    would make like him into time has look two more write go see number no way could people my than first water been call who its now find long \
    down day did get come made may part";

fn list(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// `aa ab ac ...`: for test vocabularies.
fn pairs() -> Vec<String> {
    let letter = |i: u8| char::from(b'a' + i % 26);
    (0..104).map(|i| format!("{}{}", letter(i / 26 * 7), letter(i))).collect()
}

/// Deals tokens in a new order each time. No two consecutive prompts begin with the same token, and another run deals
/// differently, so no prompt begins like an earlier one that a server may have cached.
#[derive(Debug, Clone)]
pub struct Deck<T> {
    list: Vec<T>,
    next: usize,
    /// Tokens at the end of the list that began a prompt before the list grew.
    used: Vec<T>,
    random: Seeded,
}

impl<T: Clone + PartialEq> Deck<T> {
    fn new(mut list: Vec<T>) -> Deck<T> {
        let mut random = Seeded::new(sys::random::secret().map_or_else(|_| clock(), u64::from_ne_bytes));
        random.shuffle(&mut list);
        Deck { list, next: 0, used: Vec::new(), random }
    }

    /// Distributes this many tokens evenly.
    fn deal(&mut self, count: usize) -> Vec<T> {
        let first = self.next % self.list.len().max(1);
        self.next += 1;
        let mut order: Vec<T> = self.list.clone();
        if first < order.len() {
            order.swap(0, first);
            self.random.shuffle(&mut order[1..]);
        }
        order.iter().cycle().take(count).cloned().collect()
    }

    fn extend(&mut self, more: Deck<T>) {
        // Tokens that already began a prompt come last.
        let (mine, theirs) = (self.next.min(self.list.len()), more.next.min(more.list.len()));
        let used = [&self.used[..], &self.list[..mine], &more.list[..theirs]].concat();
        // A word may be in both lists; if it were twice in one, it would begin two prompts.
        let mut rest: Vec<T> = Vec::new();
        for one in self.list[mine..].iter().chain(&more.list[theirs..]) {
            if !used.contains(one) && !rest.contains(one) {
                rest.push(one.clone());
            }
        }
        self.list = rest;
        self.random.shuffle(&mut self.list);
        self.list.extend(used.clone());
        self.used = used;
        self.next = 0;
    }

    /// Moves these to the end, so that they begin a prompt only after the others.
    fn defer(&mut self, late: impl Fn(&T) -> bool) {
        self.list.sort_by_key(late);
    }
}

/// Used if the system provides no random bytes: two runs never have the same time and process.
fn clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32)
}

#[derive(Debug)]
pub enum Prompts {
    /// Token ids from the server's tokenizer.
    Numbers(Deck<u64>),
    Words(Words),
}

/// Words that are one token each, and how many tokens the server counts beyond them.
#[derive(Debug, Clone)]
pub struct Words {
    deck: Deck<String>,
    extra: i64,
    /// Inside a template, because the model has no raw prompts.
    chat: bool,
}

impl Words {
    fn new(pool: Vec<String>, extra: i64, chat: bool) -> Words {
        Words { deck: Deck::new(pool), extra, chat }
    }

    fn text(&mut self, tokens: u64) -> String {
        let words = i64::try_from(tokens).unwrap_or(i64::MAX).saturating_sub(self.extra).clamp(1, 1 << 20);
        let words = self.deck.deal(usize::try_from(words).unwrap_or(1));
        words.iter().map(|word| format!(" {word}")).collect()
    }
}

/// Determines how to make prompts of a given length for this server.
pub fn prepare(client: &mut Client, identity: &Identity) -> Result<Prompts, Ended> {
    let words = [list(LETTERS), list(CAPITALS), list(COMMON)].concat();
    let text: String = words.iter().map(|word| format!(" {word}")).collect();
    if let Some(call) = identity.kind.tokenize(identity.model.as_deref().unwrap_or_default(), &text) {
        let answer = client.tell("tokenize", &call)?;
        let value = answer.json().unwrap_or_default();
        let mut list: Vec<u64> =
            value.get("tokens").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64).collect();
        list.sort_unstable();
        list.dedup();
        if answer.status == 200 && list.len() > 1 {
            let mut prompts = Prompts::Numbers(Deck::new(list));
            // The first answer is slower than all others, so it is kept separate.
            reported(&client.ask(&unasked(prompts.question(identity, "warm-up", 4, 1)))?)?;
            return Ok(prompts);
        }
    }
    let mut words = Words::new(list(LETTERS), 0, false);
    // The first answer loads the model, and shows what the server adds to a prompt.
    let (mut answer, mut after) = ask(client, identity, words, 4)?;
    if answer.status == 400 && identity.kind.has_templates() {
        // Some models have no raw prompts: their template then surrounds ours and counts. The refusal is not a failure
        // of the run.
        if let Some(last) = client.exchanges.last_mut() {
            last.name = "calibrate-raw".into();
        }
        (answer, after) = ask(client, identity, Words { chat: true, ..after }, 4)?;
    }
    words = after;
    words.extra = reported(&answer)? - 4;
    let mut refused: Vec<char> = Vec::new();
    // More words, so that each prompt can begin with a different one.
    for more in [list(CAPITALS), list(COMMON), pairs()] {
        client.may()?;
        let count = i64::try_from(more.len()).unwrap_or(0) + words.extra;
        let (answer, trial) =
            ask(client, identity, Words::new(more, words.extra, words.chat), u64::try_from(count).unwrap_or(1))?;
        if reported(&answer).is_ok_and(|reported| reported == count) {
            words.deck.extend(trial.deck);
        } else {
            refused.extend(trial.deck.list.first().and_then(|word| word.chars().next()));
        }
    }
    // The tokens of a refused list are unknown: its first token may be a prefix of its first word.
    words.deck.defer(|word| refused.iter().any(|first| word.starts_with(*first)));
    Ok(Prompts::Words(words))
}

/// A prompt that only serves to learn how this server counts.
fn ask(client: &mut Client, identity: &Identity, words: Words, tokens: u64) -> Result<(Exchange, Words), Ended> {
    let mut prompts = Prompts::Words(words);
    let answer = client.ask(&unasked(prompts.question(identity, "warm-up", tokens, 1)))?;
    match prompts {
        Prompts::Words(words) => Ok((answer, words)),
        Prompts::Numbers(_) => Err(Ended::TooMany),
    }
}

/// Marks the prompt as a calibration step, not a probe.
fn unasked(question: Question) -> Question {
    Question { asked: None, ..question }
}

fn reported(answer: &Exchange) -> Result<i64, Ended> {
    let counted = counts::read(answer).map_err(|why| Ended::Server(say!("probe-first-prompt", why)))?;
    let reported = counted.reported.and_then(|reported| i64::try_from(reported).ok());
    reported.ok_or_else(|| Ended::Server(say!("probe-no-counts")))
}

impl Prompts {
    /// A request of about `tokens` tokens; `predict` tokens are to be generated.
    pub fn question(&mut self, identity: &Identity, name: &str, tokens: u64, predict: u64) -> Question {
        let prompt = self.prompt(tokens);
        let raw = !matches!(self, Prompts::Words(words) if words.chat);
        let model = identity.model.as_deref().unwrap_or_default();
        let call = identity.kind.completion(Completion { model, prompt, tokens: predict, raw });
        Question { name: name.to_owned(), call, asked: Some(tokens) }
    }

    /// Tokens that the server adds to every prompt.
    pub fn extra(&self) -> i64 {
        match self {
            Prompts::Numbers(_) => 0,
            Prompts::Words(words) => words.extra,
        }
    }

    /// Corrects the next prompt by the server's count.
    pub fn correct(&mut self, tokens: u64, reported: u64) {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let difference = number(reported).saturating_sub(number(tokens));
        // A truncated prompt shows nothing about how words are counted.
        if let Prompts::Words(words) = self
            && difference.unsigned_abs() <= 16 + tokens / 8
        {
            words.extra = words.extra.saturating_add(difference);
        }
    }

    fn prompt(&mut self, tokens: u64) -> Value {
        match self {
            Prompts::Numbers(deck) => {
                Value::from(deck.deal(usize::try_from(tokens).unwrap_or(usize::MAX).min(1 << 20)))
            }
            Prompts::Words(words) => Value::from(words.text(tokens)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_prompt_begins_as_another_did() {
        let mut deck = Deck::new((0_u64..100).collect());
        let prompts: Vec<Vec<u64>> = (0..100).map(|_| deck.deal(40)).collect();
        let firsts: std::collections::BTreeSet<u64> = prompts.iter().map(|prompt| prompt[0]).collect();
        assert_eq!(firsts.len(), 100);
        assert!(prompts.iter().all(|prompt| prompt.len() == 40));
        // A full deal contains every word, so that one request tests the whole list.
        let all: std::collections::BTreeSet<u64> = deck.deal(100).into_iter().collect();
        assert_eq!(all.len(), 100);
        // Another run begins with another word and continues in another order.
        let other: Vec<Vec<u64>> = {
            let mut deck = Deck::new((0_u64..100).collect());
            (0..100).map(|_| deck.deal(40)).collect()
        };
        assert!(prompts.iter().zip(&other).filter(|(a, b)| a[..2] == b[..2]).count() < 10);
        // Overlapping lists are joined to one list without repeats.
        let (mut deck, mut more) = (Deck::new((0_u64..50).collect()), Deck::new((25_u64..75).collect()));
        let before = [deck.deal(5)[0], more.deal(5)[0]];
        deck.extend(more);
        let firsts: Vec<u64> = (0..73).map(|_| deck.deal(3)[0]).collect();
        assert!(firsts.iter().all(|first| !before.contains(first)) || before[0] == before[1], "{firsts:?}");
        assert_eq!(firsts.iter().collect::<std::collections::BTreeSet<_>>().len(), 73);
        assert_eq!(Deck::<u64>::new(Vec::new()).deal(3), [] as [u64; 0]);
    }
}
