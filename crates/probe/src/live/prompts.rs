//! Prompts of an exact number of tokens, each with a first token of its own, of no meaning and by nobody.
//!
//! llama-server takes tokens by number, and its tokenizer gives the numbers. Elsewhere a prompt is written in words, and the
//! server's own count says how many tokens they were: one word more is one token more for common words, and what does not fit is
//! corrected by what was counted.

use super::client::{Client, Ended, Question};
use crate::counts;
use crate::exchange::Exchange;
use crate::server::{Identity, Kind};
use serde_json::{Value, json};

/// Words that most vocabularies have as one token each, with the space before them. Which of these lists a model has is asked.
const LETTERS: &str = "a b c d e f g h i j k l m n o p q r s t u v w x y z";
const CAPITALS: &str = "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z";
const COMMON: &str = "the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not \
    what all were we when your can said there use an each which she do how their if will up other about out many then them these so some her \
    would make like him into time has look two more write go see number no way could people my than first water been call who its now find long \
    down day did get come made may part";

fn list(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// `aa ab ac ...`: for vocabularies that are made for tests.
fn pairs() -> Vec<String> {
    let letter = |i: u8| char::from(b'a' + i % 26);
    (0..104).map(|i| format!("{}{}", letter(i / 26 * 7), letter(i))).collect()
}

#[derive(Debug)]
pub enum Prompts {
    /// Numbers of tokens that the server's tokenizer gave.
    Numbers {
        list: Vec<u64>,
        next: usize,
    },
    Words(Words),
}

/// Words that are one token each, and how many tokens the server counts beyond them.
#[derive(Debug, Clone)]
pub struct Words {
    pool: Vec<String>,
    /// Those that no prompt began with yet.
    fresh: Vec<String>,
    extra: i64,
    /// Within a template, because the model has no raw prompts.
    chat: bool,
    asked: usize,
}

impl Words {
    fn new(pool: Vec<String>, extra: i64, chat: bool) -> Words {
        Words { fresh: pool.clone(), pool, extra, chat, asked: 0 }
    }

    /// Another first word each time, as long as there are any, and another order behind it.
    fn text(&mut self, tokens: u64) -> String {
        self.asked += 1;
        let words = i64::try_from(tokens).unwrap_or(i64::MAX).saturating_sub(self.extra).clamp(1, 1 << 20);
        let count = self.pool.len().max(1);
        let word = |i: usize| self.pool.get(i % count).map_or("a", String::as_str);
        let first = self.fresh.pop().unwrap_or_else(|| word(self.asked).to_owned());
        let rest = (1..usize::try_from(words).unwrap_or(1)).map(|i| word(self.asked + i * (1 + self.asked / count)));
        std::iter::once(first.as_str()).chain(rest).map(|word| format!(" {word}")).collect()
    }
}

/// Finds out how prompts are made for this server.
pub fn prepare(client: &mut Client, identity: &Identity) -> Result<Prompts, Ended> {
    if identity.kind == Kind::LlamaServer {
        let words = [list(LETTERS), list(CAPITALS), list(COMMON)].concat();
        let text: String = words.iter().map(|word| format!(" {word}")).collect();
        let answer = client.tell("tokenize", "/tokenize", &json!({ "content": text }))?;
        let value = answer.json().unwrap_or_default();
        let mut list: Vec<u64> =
            value.get("tokens").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64).collect();
        list.sort_unstable();
        list.dedup();
        if answer.status == 200 && list.len() > 1 {
            let mut prompts = Prompts::Numbers { list, next: 0 };
            // The first answer is slower than all others: it is kept apart.
            reported(&client.ask(&unasked(prompts.question(identity, "warm-up", 4, 1)))?)?;
            return Ok(prompts);
        }
    }
    let mut words = Words::new(list(LETTERS), 0, false);
    // The first answer loads the model, and tells what the server puts around a prompt.
    let (mut answer, mut after) = ask(client, identity, words, 4)?;
    if answer.status == 400 && identity.kind == Kind::Ollama {
        // Some models have no raw prompts: then their template stands around ours, and counts. The refusal is no failure of the run.
        if let Some(last) = client.exchanges.last_mut() {
            last.name = "calibrate-raw".into();
        }
        (answer, after) = ask(client, identity, Words { chat: true, ..after }, 4)?;
    }
    words = after;
    words.extra = reported(&answer)? - 4;
    // More words, so that each prompt can begin with one of its own.
    for more in [list(CAPITALS), list(COMMON), pairs()] {
        client.may()?;
        let count = i64::try_from(more.len()).unwrap_or(0) + words.extra;
        let (answer, trial) =
            ask(client, identity, Words::new(more, words.extra, words.chat), u64::try_from(count).unwrap_or(1))?;
        if reported(&answer).is_ok_and(|reported| reported == count) {
            words.pool.extend(trial.pool);
            words.fresh.extend(trial.fresh);
        }
    }
    Ok(Prompts::Words(words))
}

/// A prompt that only tells how this server counts.
fn ask(client: &mut Client, identity: &Identity, words: Words, tokens: u64) -> Result<(Exchange, Words), Ended> {
    let mut prompts = Prompts::Words(words);
    let answer = client.ask(&unasked(prompts.question(identity, "warm-up", tokens, 1)))?;
    match prompts {
        Prompts::Words(words) => Ok((answer, words)),
        Prompts::Numbers { .. } => Err(Ended::TooMany),
    }
}

/// It is a step on the way, no probe.
fn unasked(question: Question) -> Question {
    Question { asked: None, ..question }
}

fn reported(answer: &Exchange) -> Result<i64, Ended> {
    let counted = counts::read(answer).map_err(|why| Ended::Server(format!("the first prompt: {why}")))?;
    let reported = counted.reported.and_then(|reported| i64::try_from(reported).ok());
    reported.ok_or_else(|| {
        Ended::Server("the server does not count the tokens of a prompt: there is nothing to go by".into())
    })
}

impl Prompts {
    /// A question of `tokens` tokens by what is known; `predict` tokens are wanted back.
    pub fn question(&mut self, identity: &Identity, name: &str, tokens: u64, predict: u64) -> Question {
        let model = identity.model.clone().unwrap_or_default();
        let prompt = self.prompt(tokens);
        let chat = matches!(self, Prompts::Words(words) if words.chat);
        let (path, body) = match identity.kind {
            Kind::Ollama => {
                let options = json!({"num_predict": predict, "temperature": 0, "seed": 1});
                let mut body = json!({"model": model, "prompt": prompt, "stream": false, "options": options});
                if !chat {
                    body["raw"] = Value::Bool(true);
                }
                ("/api/generate", body)
            }
            Kind::LlamaServer => (
                "/completion",
                json!({"prompt": prompt, "n_predict": predict, "temperature": 0, "seed": 1, "cache_prompt": false,
                    "ignore_eos": true, "stream": false}),
            ),
            _ => (
                "/v1/completions",
                json!({"model": model, "prompt": prompt, "max_tokens": predict, "temperature": 0, "seed": 1, "stream": false}),
            ),
        };
        Question { name: name.to_owned(), path, body, asked: Some(tokens) }
    }

    /// Tokens that the server adds to every prompt.
    pub fn extra(&self) -> i64 {
        match self {
            Prompts::Numbers { .. } => 0,
            Prompts::Words(words) => words.extra,
        }
    }

    /// What the server counted is nearer to the truth than what we thought: the next prompt is made with it.
    pub fn correct(&mut self, tokens: u64, reported: u64) {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let difference = number(reported).saturating_sub(number(tokens));
        // A prompt that was cut tells nothing of how words are counted.
        if let Prompts::Words(words) = self
            && difference.unsigned_abs() <= 16 + tokens / 8
        {
            words.extra = words.extra.saturating_add(difference);
        }
    }

    fn prompt(&mut self, tokens: u64) -> Value {
        match self {
            Prompts::Numbers { list, next } => {
                let wanted = usize::try_from(tokens).unwrap_or(usize::MAX).min(1 << 20);
                *next += 1;
                let count = list.len().max(1);
                let at = |i: usize| list.get((*next + i * (1 + *next / count)) % count).copied().unwrap_or(0);
                Value::from((0..wanted).map(at).collect::<Vec<u64>>())
            }
            Prompts::Words(words) => Value::from(words.text(tokens)),
        }
    }
}
