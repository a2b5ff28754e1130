//! A sentence as data: its key and its arguments.

use crate::{Lang, Say};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// A sentence as data: its key in `locales/` and its arguments. [`say!`](crate::say) creates it, [`Lang::say`] renders
/// it, and its `Display` is English.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub key: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<Cow<'static, str>, Arg>,
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Arg {
    Text(String),
    /// A number, which can select the plural form.
    Number(u64),
    /// A nested sentence, also rendered in the reader's language: the reason inside an error.
    Message(Box<Message>),
    /// Names, separated as in the reader's language.
    List(Vec<String>),
}

/// Several sentences as one; None if the list is empty.
pub fn listed(messages: Vec<Message>) -> Option<Message> {
    messages.into_iter().reduce(|one, other| crate::say!("about-both", one, other))
}

/// The key of a message that consists only of its text.
pub(crate) const VERBATIM: &str = "verbatim";

impl Message {
    /// Unchecked: for [`say!`](crate::say), and for keys that a table chooses.
    pub fn new(key: &'static str, args: Vec<(&'static str, Arg)>) -> Message {
        let args = args.into_iter().map(|(name, arg)| (name.into(), arg)).collect();
        Message { key: key.into(), args }
    }

    /// The message of an error whose type is unknown here.
    pub fn of(error: &(dyn std::error::Error + 'static)) -> Message {
        let known = error.downcast_ref::<Message>().cloned();
        let number = || error.downcast_ref::<std::num::ParseIntError>().map(Say::message);
        known.or_else(number).unwrap_or_else(|| Message::verbatim(error))
    }

    /// Text without a translation: from the system, another program or a foreign library.
    pub fn verbatim(text: impl fmt::Display) -> Message {
        Message::new(VERBATIM, vec![("text", Arg::Text(text.to_string()))])
    }

    pub(crate) fn is_verbatim(&self) -> bool {
        self.key == VERBATIM
    }
}

/// The message in English, as it is stored in the ledger and in JSON.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Lang::ENGLISH.written(self))
    }
}

impl std::error::Error for Message {}

impl Say for Message {
    fn message(&self) -> Message {
        self.clone()
    }
}

/// A message without variables, as small as its key: the name of a field, a kind. Made by [`key!`](crate::key).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(&'static str);

impl Key {
    /// Unchecked: for [`key!`](crate::key).
    pub const fn new(key: &'static str) -> Key {
        Key(key)
    }
}

impl Say for Key {
    fn message(&self) -> Message {
        Message::new(self.0, Vec::new())
    }
}

/// A value that can be an argument of a message. Errors become messages inside the message.
pub trait ToArg {
    fn to_arg(&self) -> Arg;
}

impl<E: Say> ToArg for E {
    fn to_arg(&self) -> Arg {
        Arg::Message(Box::new(self.message()))
    }
}

/// None becomes an empty argument.
impl<T: ToArg> ToArg for Option<T> {
    fn to_arg(&self) -> Arg {
        self.as_ref().map_or(Arg::Text(String::new()), ToArg::to_arg)
    }
}

impl ToArg for Path {
    fn to_arg(&self) -> Arg {
        Arg::Text(self.display().to_string())
    }
}

impl ToArg for PathBuf {
    fn to_arg(&self) -> Arg {
        self.as_path().to_arg()
    }
}

impl ToArg for OsStr {
    fn to_arg(&self) -> Arg {
        Path::new(self).to_arg()
    }
}

macro_rules! lists {
    ($([$($parameter:tt)*] $type:ty),*) => {$(
        impl<$($parameter)*> ToArg for $type {
            fn to_arg(&self) -> Arg {
                Arg::List(self.iter().map(ToString::to_string).collect())
            }
        }
    )*};
}

lists!([] [String], [] Vec<String>, [] Vec<&str>, [] [&str], [const N: usize] [&str; N], [] std::collections::BTreeSet<String>, [] std::collections::BTreeSet<&str>);

macro_rules! texts {
    ($($type:ty),*) => {$(
        impl ToArg for $type {
            fn to_arg(&self) -> Arg {
                Arg::Text(self.to_string())
            }
        }
    )*};
}

texts!(str, String, char, Cow<'_, str>, Box<str>, crate::shell::CommandLine, f64);

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl ToArg for $type {
            fn to_arg(&self) -> Arg {
                u64::try_from(*self).map_or_else(|_| Arg::Text(self.to_string()), Arg::Number)
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, isize);
