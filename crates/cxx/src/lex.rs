//! Text to tokens. A token remembers its file and byte offset, so every answer can name a line and quote it.

use super::sym::{Interner, Sym};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ident,
    Number,
    String,
    Char,
    Punct,
    /// The body of a function, which stands with another unit: no text has such a token.
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
                while bytes.get(at) == Some(&b' ') {
                    at += 1;
                }
            }
            // A line continued: neither the end of a directive nor a token.
            b'\\' if matches!(bytes.get(at + 1), Some(b'\n')) => at += 2,
            b'\\' if matches!(bytes.get(at + 1..at + 3), Some(b"\r\n")) => at += 3,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                flags |= SPACE;
                // A backslash takes what follows it along: the line goes on.
                while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
                    match memchr::memchr2(b'\n', b'\\', rest) {
                        Some(end) if rest.get(end) == Some(&b'\n') => {
                            at += end;
                            break;
                        }
                        Some(end) => at += end + 2,
                        None => at = bytes.len(),
                    }
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                flags |= SPACE;
                let rest = bytes.get(at + 2..).unwrap_or_default();
                let close = memchr::memmem::find(rest, b"*/");
                at = close.map_or(bytes.len(), |close| at + 2 + close + 2);
            }
            _ => {
                let (kind, end) = token(bytes, at);
                let end = end.clamp(at + 1, bytes.len());
                // A token that would end inside a character (bytes that are no ASCII) is taken to its end.
                let ascii = bytes.get(end).is_none_or(u8::is_ascii);
                let ends = |end: &usize| text.is_char_boundary(*end);
                let end = if ascii { end } else { (end..=bytes.len()).find(ends).unwrap_or(bytes.len()) };
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

pub fn float(text: &str) -> Option<f64> {
    text.trim_end_matches(['f', 'F', 'l', 'L']).parse().ok()
}

/// The value of a character literal; None where it is not one character.
pub fn character(text: &str) -> Option<i64> {
    let inner = unescaped(text.split_once('\'')?.1.strip_suffix('\'')?)?;
    match inner.as_slice() {
        [byte] => Some(i64::from(*byte as i8)),
        _ => None,
    }
}

/// What a string literal says, without quotes; one whose escapes are not understood is kept as it stands.
pub fn string(text: &str) -> String {
    if let Some(raw) = text.split_once('"').filter(|(prefix, _)| prefix.ends_with('R')).map(|(_, rest)| rest) {
        let inner = raw.split_once('(').and_then(|(mark, rest)| rest.strip_suffix(&format!("){mark}\"")));
        return inner.unwrap_or(raw).to_owned();
    }
    let inner = text.split_once('"').and_then(|(_, rest)| rest.strip_suffix('"')).unwrap_or(text);
    unescaped(inner).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| inner.to_owned())
}

/// Escape sequences replaced ([lex.ccon]).
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
