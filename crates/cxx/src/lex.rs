//! Text to tokens. A token remembers its file and byte offset, so every answer can name a line and quote it.

use super::sym::{Interner, Sym};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ident,
    Number,
    String,
    Char,
    Punct,
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

/// First token of its line.
pub const BOL: u8 = 1;
/// White space stands before it.
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
        match byte {
            b'\n' => {
                flags = BOL | SPACE;
                at += 1;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                flags |= SPACE;
                at += 1;
            }
            // A line continued: neither the end of a directive nor a token.
            b'\\' if matches!(bytes.get(at + 1), Some(b'\n')) => at += 2,
            b'\\' if matches!(bytes.get(at + 1..at + 3), Some(b"\r\n")) => at += 3,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                flags |= SPACE;
                while let Some(&byte) = bytes.get(at) {
                    if byte == b'\n' {
                        break;
                    }
                    at += if byte == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                flags |= SPACE;
                let rest = bytes.get(at + 2..).unwrap_or_default();
                let close = rest.windows(2).position(|pair| pair == b"*/");
                at = close.map_or(bytes.len(), |close| at + 2 + close + 2);
            }
            _ => {
                let (kind, end) = token(bytes, at);
                let end = end.clamp(at + 1, bytes.len());
                // A token that would end inside a character (bytes that are no ASCII) is taken to its end.
                let end = (end..=bytes.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(bytes.len());
                let spelled = text.get(at..end).unwrap_or("?");
                let sym = interner.intern(spelled);
                toks.push(Tok {
                    kind,
                    flags,
                    file,
                    sym,
                    off: at as u32,
                    len: (end - at).min(usize::from(u16::MAX)) as u16,
                });
                flags = 0;
                at = end;
            }
        }
    }
    toks
}

fn token(bytes: &[u8], at: usize) -> (Kind, usize) {
    let byte = bytes.get(at).copied().unwrap_or(0);
    let next = bytes.get(at + 1).copied().unwrap_or(0);
    if byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80 {
        let end = word(bytes, at);
        let prefix = bytes.get(at..end).unwrap_or_default();
        return match bytes.get(end) {
            Some(b'"') if matches!(prefix, b"R" | b"u8R" | b"LR") => (Kind::String, raw_string(bytes, end)),
            Some(b'"') if matches!(prefix, b"L" | b"u8" | b"u" | b"U") => (Kind::String, quoted(bytes, end, b'"')),
            Some(b'\'') if matches!(prefix, b"L" | b"u8" | b"u" | b"U") => (Kind::Char, quoted(bytes, end, b'\'')),
            _ => (Kind::Ident, end),
        };
    }
    if byte.is_ascii_digit() || (byte == b'.' && next.is_ascii_digit()) {
        return (Kind::Number, number(bytes, at));
    }
    match byte {
        b'"' => (Kind::String, quoted(bytes, at, b'"')),
        b'\'' => (Kind::Char, quoted(bytes, at, b'\'')),
        _ => (Kind::Punct, at + punct(bytes.get(at..).unwrap_or_default())),
    }
}

/// The length of a punctuator. `>` always stands alone: whether two make a shift or close two template lists, only the
/// parser knows.
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

/// Bytes that a name may have: letters, digits, `_`, `$`, and all of other scripts.
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

/// The value of an integer literal or preprocessing number; None for floats.
pub fn integer(text: &str) -> Option<i64> {
    let text: String = text.chars().filter(|&c| c != '\'').collect();
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (lower.get(2..)?, 16),
        [b'0', b'b', ..] => (lower.get(2..)?, 2),
        [b'0', _, ..] => (lower.get(1..)?, 8),
        _ => (lower.as_str(), 10),
    };
    let digits = digits.trim_end_matches(['u', 'l', 'z']);
    if digits.is_empty() {
        return Some(0);
    }
    u64::from_str_radix(digits, radix).ok().map(|value| value as i64)
}

pub fn float(text: &str) -> Option<f64> {
    text.trim_end_matches(['f', 'F', 'l', 'L']).parse().ok()
}

/// The value of a character literal, of those that C code compares with.
pub fn character(text: &str) -> Option<i64> {
    let inner = text.split_once('\'')?.1.strip_suffix('\'')?;
    let mut chars = inner.chars();
    let first = chars.next()?;
    if first != '\\' {
        return Some(i64::from(u32::from(first)));
    }
    Some(match chars.next()? {
        'n' => 10,
        't' => 9,
        'r' => 13,
        '0' => 0,
        other => i64::from(u32::from(other)),
    })
}

/// What a string literal says, without quotes; escapes other than the quote and the backslash are kept as they are.
pub fn string(text: &str) -> String {
    let inner = text.split_once('"').and_then(|(_, rest)| rest.strip_suffix('"')).unwrap_or(text);
    inner.replace("\\\"", "\"").replace("\\\\", "\\")
}
