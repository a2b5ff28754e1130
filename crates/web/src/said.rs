//! Texts in both languages.

use say::{Lang, Message};
use serde::Serialize;
use serde_json::json;

/// One sentence in both languages: the page switches between them without asking again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    pub en: String,
    pub ja: String,
}

pub fn both(say: impl Fn(&Lang) -> String) -> Said {
    Said { en: say(&Lang::ENGLISH), ja: say(&Lang::new("ja")) }
}

pub fn message(message: &Message) -> Said {
    both(|lang| lang.say(message))
}

pub fn error(error: &say::Error) -> Said {
    both(|lang| error.in_words(lang))
}

/// The text that the page shows if a question has no answer.
pub fn failure(problem: &say::Error) -> String {
    json!({ "error": error(problem) }).to_string()
}
