//! What a room says by key and values, in a language.

use answer::Message;
use report::Lang;

/// A message in a language.
pub fn say(message: &Message, lang: &Lang) -> String {
    let args: Vec<_> = message.args.iter().map(|(name, value)| (*name, value.as_str().into())).collect();
    lang.text_with(message.key, &args)
}
