//! A small byte-level vocabulary like GPT-2's: the bytes, and every letter and pair of letters with a leading space.

use crate::write::Writer;

/// 256 bytes, 26 letters, 676 pairs, and three control tokens.
pub const COUNT: u32 = 256 + 26 + 26 * 26 + 3;

/// GPT-2 writes invisible bytes as characters from 256 on (encoder.py, bytes_to_unicode).
fn characters() -> Vec<char> {
    let visible = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut hidden = 256;
    let shown = (0..=255_u8).map(|byte| {
        if visible(byte) {
            return char::from(byte);
        }
        hidden += 1;
        char::from_u32(hidden - 1).unwrap_or(' ')
    });
    shown.collect()
}

pub fn write(writer: &mut Writer, begins: bool) {
    let bytes = characters();
    let space = bytes.get(32).copied().unwrap_or(' ');
    let letters = || 'a'..='z';
    let mut tokens: Vec<String> = bytes.iter().map(char::to_string).collect();
    let mut merges: Vec<String> = Vec::new();
    for a in letters() {
        tokens.push(format!("{space}{a}"));
        merges.push(format!("{space} {a}"));
    }
    for a in letters() {
        for b in letters() {
            tokens.push(format!("{space}{a}{b}"));
            merges.push(format!("{space}{a} {b}"));
        }
    }
    let normal = tokens.len();
    tokens.extend(["<|begin|>", "<|end|>", "<|pad|>"].map(str::to_owned));
    // 1: a normal token; 3: a control token, which is never text.
    let kinds: Vec<i32> = (0..tokens.len()).map(|i| if i < normal { 1 } else { 3 }).collect();
    let control = u32::try_from(normal).unwrap_or(0);
    writer.text("tokenizer.ggml.model", "gpt2");
    writer.text("tokenizer.ggml.pre", "gpt-2");
    writer.texts("tokenizer.ggml.tokens", tokens.into_iter());
    writer.words("tokenizer.ggml.token_type", 5, kinds.into_iter().map(i32::to_le_bytes));
    writer.texts("tokenizer.ggml.merges", merges.into_iter());
    writer.number("tokenizer.ggml.bos_token_id", control);
    writer.number("tokenizer.ggml.eos_token_id", control + 1);
    writer.number("tokenizer.ggml.padding_token_id", control + 2);
    writer.flag("tokenizer.ggml.add_bos_token", begins);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary_is_as_large_as_it_says() {
        let mut writer = Writer::default();
        write(&mut writer, true);
        let read = crate::Gguf::parse(&writer.finish(32)).expect("a header");
        assert_eq!(read.get("tokenizer.ggml.tokens"), Some(&crate::Value::Array { kind: 8, len: COUNT.into() }));
        assert_eq!(characters().into_iter().collect::<std::collections::BTreeSet<_>>().len(), 256);
    }
}
