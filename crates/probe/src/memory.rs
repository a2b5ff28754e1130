//! Models a server's prompt cache from the prompts that it was sent, for servers that do not report what they reused.
//!
//! A tokenizer splits at words first. So if a prompt has as many words as the server counted tokens, every word is one
//! token, and the common prefix of two prompts is known exactly. Ollama keeps the evaluated tokens of a slot (the
//! prompt and all generated tokens except the last) and reuses the longest common prefix (runner/*/cache.go).

/// The content of a slot, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq)]
struct Held {
    /// A begin-of-text token that the model adds counts as one word.
    words: Vec<String>,
    /// Whether the slot contains only these words.
    whole: bool,
    /// For a prompt whose words are not its tokens, at most the text is known.
    text: Option<Option<String>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    held: Vec<Held>,
    /// Slots may contain prompts from before the first request, by an earlier run or another client.
    strange: bool,
    /// The server failed, and may have restarted with an empty cache.
    shaken: bool,
}

/// The default maximum number of slots in Ollama (server/sched.go, until 2025); each new prompt takes the oldest.
const USUAL_SLOTS: u64 = 4;

const BEGIN: &str = "\u{2}begin of text";

/// A prompt's tokens, if its words are its tokens. `begin`: whether the model adds a begin-of-text token.
pub fn tokens(prompt: &str, counted: u64, begin: Option<bool>) -> Option<Vec<String>> {
    let words: Vec<String> = words(prompt);
    let count = words.len() as u64;
    let begins = match begin {
        Some(begins) => begins,
        None => counted == count + 1,
    };
    (count + u64::from(begins) == counted).then(|| begins.then(|| BEGIN.to_owned()).into_iter().chain(words).collect())
}

/// Splits a text into words, each with the space before it.
fn words(text: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for c in text.chars() {
        match list.last_mut() {
            Some(word) if c != ' ' => word.push(c),
            _ => list.push(c.to_string()),
        }
    }
    list
}

impl Memory {
    /// The model was loaded again: every slot is empty.
    pub fn clear(&mut self) {
        *self = Memory::default();
    }

    /// The model was loaded before the first request here.
    pub fn strange() -> Memory {
        Memory { strange: true, ..Memory::default() }
    }

    /// A prompt with unknown tokens was sent; its text, if known.
    pub fn lose(&mut self, text: Option<&str>) {
        self.held.push(Held { text: Some(text.map(str::to_owned)), ..Held::default() });
    }

    /// The server failed with an error of its own on this prompt.
    pub fn shake(&mut self, text: Option<&str>) {
        self.lose(text);
        self.shaken = true;
    }

    /// How many tokens of this prompt are reused; None if the number is unknown.
    pub fn reused(&self, prompt: &[String], slots: Option<u64>) -> Option<u64> {
        let slots = usize::try_from(slots.unwrap_or(USUAL_SLOTS)).unwrap_or(usize::MAX).max(1);
        if self.strange && self.held.len() < slots {
            return None;
        }
        let mut held = self.held.iter().rev().take(slots);
        let Some(last) = held.next() else { return Some(0) };
        let recent = self.common(last, prompt)?;
        // Another slot may still contain an older prompt.
        let older = held.map(|held| self.common(held, prompt)).collect::<Option<Vec<u64>>>()?;
        if older.into_iter().max() > Some(recent) {
            return None;
        }
        // At least one token is always evaluated, to generate the first token.
        Some(recent.min((prompt.len() as u64).saturating_sub(1))).filter(|reused| *reused == 0 || !self.shaken)
    }

    /// Records that this prompt was evaluated, and generated `count` tokens with the text `generated`.
    pub fn keep(&mut self, mut prompt: Vec<String>, generated: &str, count: u64) {
        self.shaken = false;
        let answer = words(generated);
        let whole = count <= 1 || answer.len() as u64 == count;
        if whole {
            prompt.extend(answer.into_iter().take(usize::try_from(count.saturating_sub(1)).unwrap_or(0)));
        }
        self.held.push(Held { words: prompt, whole, text: None });
    }

    fn common(&self, held: &Held, prompt: &[String]) -> Option<u64> {
        if let Some(text) = &held.text {
            let begins = prompt.first().is_some_and(|token| token == BEGIN);
            let first = prompt.get(usize::from(begins))?;
            return self.begins_otherwise(text.as_ref()?, first).then_some(u64::from(begins));
        }
        let count = held.words.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        let all_known = count < held.words.len() || count == prompt.len() || held.whole;
        all_known.then_some(count as u64)
    }

    /// Whether the first token of a text differs from this word. The word is one token, so this holds if the text does
    /// not begin with the word, or begins with a longer word that was counted as one token before: a tokenizer always
    /// splits the same word the same way.
    fn begins_otherwise(&self, text: &str, word: &str) -> bool {
        let counted = |first: &String| self.held.iter().any(|held| held.words.contains(first));
        !text.starts_with(word) || words(text).first().is_some_and(|first| first != word && counted(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, begin: bool) -> Vec<String> {
        tokens(text, words(text).len() as u64 + u64::from(begin), Some(begin)).unwrap()
    }

    #[test]
    fn the_longest_common_beginning_is_reused() {
        let mut memory = Memory::default();
        assert_eq!(memory.reused(&of(" aa ab ac", false), Some(1)), Some(0));
        memory.keep(of(" aa ab ac", false), " zz zy", 2);
        assert_eq!(memory.reused(&of(" aa ab ac", false), Some(1)), Some(2));
        assert_eq!(memory.reused(&of(" aa ab ac zz zy aq", false), Some(1)), Some(4));
        assert_eq!(memory.reused(&of(" aa xx", false), Some(1)), Some(1));
        assert_eq!(memory.reused(&of(" bb", false), Some(1)), Some(0));
    }

    /// The begin-of-text token is the same in every prompt: a unique first word does not make the cache cold.
    #[test]
    fn a_begin_of_text_token_is_reused() {
        let mut memory = Memory::default();
        memory.keep(of(" aa ab", true), "", 1);
        assert_eq!(memory.reused(&of(" ba bb", true), Some(1)), Some(1));
        assert_eq!(tokens(" ba bb", 3, None).map(|list| list.len()), Some(3));
        assert_eq!(tokens(" ba bb", 5, None), None);
        assert_eq!(tokens(" ba bb", 2, Some(true)), None);
    }

    #[test]
    fn what_other_slots_hold_is_not_guessed() {
        let mut memory = Memory::default();
        memory.keep(of(" aa ab", false), "", 1);
        memory.keep(of(" ba bb", false), "", 1);
        assert_eq!(memory.reused(&of(" aa ab", false), Some(1)), Some(0));
        assert_eq!(memory.reused(&of(" aa ab", false), None), None);
        assert_eq!(memory.reused(&of(" ca cb", false), None), Some(0));
        memory.lose(Some(" xyzzy plugh"));
        assert_eq!(memory.reused(&of(" ca cb", false), Some(1)), Some(0));
        assert_eq!(memory.reused(&of(" xyzzy", false), Some(1)), None);
        memory.lose(None);
        assert_eq!(memory.reused(&of(" ca cb", false), Some(1)), None);
        memory.keep(of(" da db", false), "", 1);
        assert_eq!(memory.reused(&of(" ca cb", false), Some(1)), Some(0));
        assert_eq!(memory.reused(&of(" ca cb", false), Some(2)), None);
    }

    #[test]
    fn a_lost_prompt_that_begins_with_a_known_longer_word_shares_nothing() {
        let mut memory = Memory::default();
        memory.lose(Some(" the of"));
        assert_eq!(memory.reused(&of(" t u", false), Some(1)), None);
        memory.clear();
        memory.keep(of(" and the", false), "", 1);
        memory.lose(Some(" the of"));
        assert_eq!(memory.reused(&of(" t u", false), Some(1)), Some(0));
        assert_eq!(memory.reused(&of(" the u", false), Some(1)), None);
    }

    /// An earlier run may have sent the same prompt: no conclusion is possible until every slot contains one of our
    /// prompts.
    #[test]
    fn a_cache_that_somebody_else_filled_is_not_taken_for_empty() {
        let mut memory = Memory::strange();
        assert_eq!(memory.reused(&of(" aa ab", false), Some(1)), None);
        memory.keep(of(" aa ab", false), "", 1);
        assert_eq!(memory.reused(&of(" ba bb", false), Some(1)), Some(0));
        assert_eq!(memory.reused(&of(" ba bb", false), None), None);
        ["ca", "da", "ea"].iter().for_each(|word| memory.keep(of(&format!(" {word}"), false), "", 1));
        assert_eq!(memory.reused(&of(" ba bb", false), None), Some(0));
        memory.clear();
        assert_eq!(memory.reused(&of(" ba bb", false), None), Some(0));
    }
}
