//! Sentences in stored data: in English, with the message for readers of other languages.

use crate::{Lang, Message};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;

/// A name, or a sentence in English. In JSON it is a string.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
#[schemars(with = "String")]
pub struct Kept {
    pub english: String,
    pub said: Option<Message>,
}

impl Kept {
    pub fn in_words(&self, lang: &Lang) -> String {
        kept(lang, self.said.as_ref(), &self.english)
    }

    pub fn as_str(&self) -> &str {
        &self.english
    }
}

/// The sentence in the reader's language if its message is known, else in English.
pub fn kept(lang: &Lang, message: Option<&Message>, english: &str) -> String {
    let known = message.filter(|message| lang.is_japanese() && lang.knows(message));
    known.map_or_else(|| english.to_owned(), |message| lang.say(message))
}

/// For `serialize_with`: writes the sentence, not its key.
pub fn in_english<'a, S: Serializer>(message: impl Into<Option<&'a Message>>, to: S) -> Result<S::Ok, S::Error> {
    message.into().map(Message::to_string).serialize(to)
}

impl From<Message> for Kept {
    fn from(message: Message) -> Kept {
        let english = message.to_string();
        Kept { english, said: Some(message).filter(|message| !message.is_verbatim()) }
    }
}

impl<T: Into<String>> From<T> for Kept {
    fn from(name: T) -> Kept {
        Kept { english: name.into(), said: None }
    }
}

impl Serialize for Kept {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.english.serialize(to)
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.english)
    }
}
