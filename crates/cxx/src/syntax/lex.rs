//! Converts text to tokens. A token records its file and byte offset, so that answers can name a line and quote it.

use super::sym::{Interner, Sym};
use std::num::NonZeroU128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ident,
    Number,
    String,
    Char,
    Punct,
    /// A function body stored apart from its unit. The lexer never produces this token.
    Body,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tok {
    pub kind: Kind,
    pub flags: u8,
    pub file: u16,
    pub sym: Sym,
    pub off: u32,
    pub len: u16,
}

/// The id of a body that is stored apart from its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BodyId(pub(crate) u32);

/// First token of its line.
pub const BOL: u8 = 1;
/// Preceded by white space.
pub const SPACE: u8 = 2;
/// A macro's name that must not be expanded again.
pub const PAINTED: u8 = 4;

impl Tok {
    pub fn is(&self, sym: Sym) -> bool {
        self.sym == sym && matches!(self.kind, Kind::Punct | Kind::Ident)
    }
    pub fn end(&self) -> u32 {
        self.off.saturating_add(u32::from(self.len))
    }
    /// The body that this token represents.
    pub fn body(&self) -> Option<BodyId> {
        (self.kind == Kind::Body).then_some(BodyId(self.off))
    }
    pub fn bol(&self) -> bool {
        self.flags & BOL != 0
    }
}

pub fn lex(file: u16, text: &str, interner: &mut Interner) -> Vec<Tok> {
    let bytes = text.as_bytes();
    let mut toks = Vec::with_capacity(bytes.len() / 4);
    let mut at = 0;
    let mut flags = BOL;
    while let Some(&byte) = bytes.get(at) {
        let (kind, end) = match class(byte) {
            Class::Blank => {
                flags |= if byte == b'\n' { BOL | SPACE } else { SPACE };
                at += 1;
                while bytes.get(at) == Some(&b' ') {
                    at += 1;
                }
                continue;
            }
            Class::Single => {
                let known = interner.single(byte);
                let sym = known.unwrap_or_else(|| interner.intern(text.get(at..at + 1).unwrap_or("?")));
                toks.push(Tok { kind: Kind::Punct, flags, file, sym, off: at as u32, len: 1 });
                flags = 0;
                at += 1;
                continue;
            }
            Class::Word => named(bytes, at),
            Class::Digit => (Kind::Number, number(bytes, at)),
            Class::Quote if byte == b'"' => (Kind::String, quoted(bytes, at, b'"')),
            Class::Quote => (Kind::Char, quoted(bytes, at, b'\'')),
            Class::Other => {
                let rest = bytes.get(at..).unwrap_or_default();
                if let Some(length) = passed_over(rest) {
                    flags |= if byte == b'/' { SPACE } else { 0 };
                    at += length;
                    continue;
                }
                match rest {
                    [b'.', b'0'..=b'9', ..] => (Kind::Number, number(bytes, at)),
                    _ => (Kind::Punct, at + punct(rest)),
                }
            }
        };
        // A literal that would end inside a non-ASCII character is extended to its end. No other token can end there.
        let end = match kind {
            Kind::String | Kind::Char => {
                (end..=bytes.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(bytes.len())
            }
            _ => end,
        };
        let spelling = || text.get(at..end).unwrap_or("?");
        let sym = match short(bytes, at, end) {
            Some(short) => interner.intern_short(short, spelling),
            None => interner.intern(spelling()),
        };
        let len = (end - at).min(usize::from(u16::MAX)) as u16;
        toks.push(Tok { kind, flags, file, sym, off: at as u32, len });
        flags = 0;
        at = end;
    }
    toks.shrink_to_fit();
    toks
}

/// A spelling of up to sixteen non-zero bytes, as a number.
fn short(bytes: &[u8], at: usize, end: usize) -> Option<NonZeroU128> {
    let mask = FIRST.get(end - at)?;
    let chunk = bytes.get(at..)?.first_chunk::<16>()?;
    NonZeroU128::new(u128::from_le_bytes(*chunk) & mask)
}

/// Masks for the first n bytes.
static FIRST: [u128; 17] = {
    let mut table = [0; 17];
    let mut count = 1;
    while count < 17 {
        table[count] = table[count - 1] << 8 | 0xff;
        count += 1;
    }
    table
};

/// The class of a token's first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Digit,
    Quote,
    /// A punctuator that is not part of a longer one.
    Single,
    Other,
}

static CLASSES: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => Class::Blank,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => Class::Word,
            b'0'..=b'9' => Class::Digit,
            b'"' | b'\'' => Class::Quote,
            b'(' | b')' | b'{' | b'}' | b'[' | b']' | b',' | b';' | b'?' | b'~' => Class::Single,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
};

fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Other)
}

/// The length of a comment or a line continuation. Neither is a token or ends a directive.
fn passed_over(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'\\', b'\n', ..] => Some(2),
        [b'\\', b'\r', b'\n', ..] => Some(3),
        [b'/', b'/', ..] => {
            let mut at = 0;
            // A backslash escapes the next byte, so the line may continue.
            while let Some(more) = rest.get(at..).filter(|more| !more.is_empty()) {
                match memchr::memchr2(b'\n', b'\\', more) {
                    Some(end) if more.get(end) == Some(&b'\n') => return Some(at + end),
                    Some(end) => at += end + 2,
                    None => break,
                }
            }
            Some(rest.len())
        }
        [b'/', b'*', inner @ ..] => Some(memchr::memmem::find(inner, b"*/").map_or(rest.len(), |close| close + 4)),
        _ => None,
    }
}

/// A name, or a literal that begins with letters.
fn named(bytes: &[u8], at: usize) -> (Kind, usize) {
    let end = word(bytes, at + 1);
    let quote = match bytes.get(end) {
        Some(&quote @ (b'"' | b'\'')) => quote,
        _ => return (Kind::Ident, end),
    };
    match (bytes.get(at..end).unwrap_or_default(), quote) {
        (b"R" | b"u8R" | b"LR", b'"') => (Kind::String, raw_string(bytes, end)),
        (b"L" | b"u8" | b"u" | b"U", b'"') => (Kind::String, quoted(bytes, end, quote)),
        (b"L" | b"u8" | b"u" | b"U", _) => (Kind::Char, quoted(bytes, end, quote)),
        _ => (Kind::Ident, end),
    }
}

/// The length of a punctuator. `>` is always a single token: only the parser knows whether two form a shift or close
/// two template lists.
fn punct(rest: &[u8]) -> usize {
    match rest {
        [b'<', b'<', b'<' | b'=', ..] | [b'<', b'=', b'>', ..] | [b'.', b'.', b'.', ..] | [b'-', b'>', b'*', ..] => 3,
        [b'<', b'<' | b'=', ..]
        | [b'>' | b'=' | b'!' | b'*' | b'/' | b'%' | b'^', b'=', ..]
        | [b'&', b'&' | b'=', ..]
        | [b'|', b'|' | b'=', ..]
        | [b'+', b'+' | b'=', ..]
        | [b'-', b'-' | b'=' | b'>', ..]
        | [b':', b':', ..]
        | [b'#', b'#', ..] => 2,
        _ => 1,
    }
}

fn word(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&byte| WORD.get(usize::from(byte)) == Some(&true)) {
        at += 1;
    }
    at
}

/// Bytes that may be in a name: letters, digits, `_`, `$`, and all non-ASCII bytes.
static WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80;
        byte += 1;
    }
    table
};

/// A preprocessing number: digits, letters, dots, digit separators, and a sign after an exponent.
fn number(bytes: &[u8], mut at: usize) -> usize {
    let hex = matches!(bytes.get(at..at + 2), Some(b"0x" | b"0X"));
    while let Some(&byte) = bytes.get(at) {
        let sign = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        match byte {
            b'e' | b'E' if sign && !hex => at += 2,
            b'p' | b'P' if sign && hex => at += 2,
            b'\'' if bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) => at += 2,
            _ if byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' => at += 1,
            _ => break,
        }
    }
    at
}

fn quoted(bytes: &[u8], open: usize, quote: u8) -> usize {
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            _ if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn raw_string(bytes: &[u8], quote: usize) -> usize {
    let rest = bytes.get(quote + 1..).unwrap_or_default();
    let Some(paren) = rest.iter().position(|&byte| byte == b'(') else { return bytes.len() };
    let mut close = vec![b')'];
    close.extend_from_slice(rest.get(..paren).unwrap_or_default());
    close.push(b'"');
    let at = rest.windows(close.len()).position(|window| window == close.as_slice());
    at.map_or(bytes.len(), |at| quote + 1 + at + close.len())
}

/// A floating-point literal and its number of bits; None for more than 64 bits.
pub fn float(text: &str) -> Option<(f64, u8)> {
    match text.strip_suffix(['f', 'F']) {
        Some(single) => single.parse().ok().map(|value: f32| (f64::from(value), 32)),
        None => text.parse().ok().map(|value| (value, 64)),
    }
}

/// The value of a character literal; None if it is not one character.
pub fn character(text: &str) -> Option<i64> {
    let inner = unescaped(text.split_once('\'')?.1.strip_suffix('\'')?)?;
    match inner.as_slice() {
        [byte] => Some(i64::from(*byte as i8)),
        _ => None,
    }
}

/// The preprocessor's value of a character literal with one or more characters.
pub fn characters(text: &str) -> i64 {
    let inner = text.split_once('\'').and_then(|(_, rest)| unescaped(rest.strip_suffix('\'')?));
    match inner.unwrap_or_default().as_slice() {
        [byte] => i64::from(*byte as i8),
        several => i64::from(several.iter().fold(0i32, |number, byte| number << 8 | i32::from(*byte))),
    }
}

/// The content of a string literal without quotes. If it is not valid UTF-8, returns the unescaped source text with
/// U+FFFD appended.
pub fn string(text: &str) -> String {
    if let Some(raw) = text.split_once('"').filter(|(prefix, _)| prefix.ends_with('R')).map(|(_, rest)| rest) {
        let inner = raw.split_once('(').and_then(|(mark, rest)| rest.strip_suffix(&format!("){mark}\"")));
        return inner.unwrap_or(raw).to_owned();
    }
    let inner = text.split_once('"').and_then(|(_, rest)| rest.strip_suffix('"')).unwrap_or(text);
    unescaped(inner).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| format!("{inner}\u{fffd}"))
}

/// Replaces escape sequences ([lex.ccon]).
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match bytes.next()? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            same @ (b'\\' | b'\'' | b'"' | b'?') => same,
            b'x' => {
                let mut value = None;
                while let Some(digit) = bytes.peek().and_then(|&byte| char::from(byte).to_digit(16)) {
                    bytes.next();
                    value = Some(value.unwrap_or(0u32).checked_mul(16)?.checked_add(digit)?);
                }
                u8::try_from(value?).ok()?
            }
            first @ b'0'..=b'7' => {
                let mut value = u32::from(first - b'0');
                for _ in 0..2 {
                    let Some(digit) = bytes.peek().and_then(|&byte| char::from(byte).to_digit(8)) else { break };
                    bytes.next();
                    value = value * 8 + digit;
                }
                u8::try_from(value).ok()?
            }
            _ => return None,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses more spellings than the cache of short spellings can hold.
    #[test]
    fn every_token_is_spelled_as_it_stands() {
        let mut text = String::from("a\0b\0\0 \u{e9}\u{e8} L\"\\\u{e9}\" 'x 0x1p-3 1'000 <<<>>>=->* # \u{3042}\n");
        for number in 0..5000u64 {
            let name = format!("n{}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            text.push_str(name.get(..1 + number as usize % 21).unwrap_or(&name));
            text.push_str([" ", "+", "\n", ";"][number as usize % 4]);
        }
        text.push('z');
        let mut interner = Interner::default();
        let first = lex(0, &text, &mut interner);
        for tok in &first {
            assert_eq!(text.get(tok.off as usize..tok.end() as usize), Some(interner.text(tok.sym)));
        }
        assert_eq!(lex(0, &text, &mut interner), first);
        assert!(first.len() > 5000);
    }
}
