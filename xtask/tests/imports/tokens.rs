//! Rust source as words, without comments, literals and the items under `#[cfg(test)]`.

/// One word or punctuation mark. `::` is one token.
pub type Tokens = Vec<String>;

/// The tokens of the product code of a file.
pub fn product_tokens(source: &str) -> Tokens {
    without_tests(&tokens(source))
}

fn tokens(source: &str) -> Tokens {
    let bytes = source.as_bytes();
    let (mut at, mut found) = (0, Tokens::new());
    while at < bytes.len() {
        let rest = &source[at..];
        let skipped = skipped(rest);
        if skipped > 0 {
            at += skipped;
            continue;
        }
        let length = match bytes[at] {
            byte if is_word(byte) => rest.bytes().take_while(|byte| is_word(*byte)).count(),
            _ if rest.starts_with("::") => 2,
            _ => 1,
        };
        found.push(rest[..length].to_owned());
        at += length;
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The number of bytes at the start that are space, a comment, a literal or a non-ASCII character.
fn skipped(rest: &str) -> usize {
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let until = |end: &str| rest.find(end).map_or(rest.len(), |at| at + end.len());
    if rest.starts_with("//") {
        return until("\n");
    }
    if rest.starts_with("/*") {
        return until("*/");
    }
    let hashes = rest.bytes().skip(1).take_while(|byte| *byte == b'#').count();
    match rest.as_bytes()[0] {
        b'b' if rest[1..].starts_with(['"', '\'']) || rest[1..].starts_with("r\"") || rest[1..].starts_with("r#\"") => {
            1 + skipped(&rest[1..])
        }
        b'c' if rest[1..].starts_with('"') => 1 + skipped(&rest[1..]),
        b'r' if rest[1 + hashes..].starts_with('"') => {
            let end = format!("\"{}", "#".repeat(hashes));
            let inside = &rest[2 + hashes..];
            2 + hashes + inside.find(&end).map_or(inside.len(), |at| at + end.len())
        }
        b'"' => quoted(rest, b'"'),
        // A lifetime has no closing quote; a character has one after itself or after its escape.
        b'\'' if rest[1..].starts_with('\\') => quoted(rest, b'\''),
        b'\'' => {
            let character = rest[1..].chars().next().map_or(0, char::len_utf8);
            let lifetime = 1 + rest.bytes().skip(1).take_while(|byte| is_word(*byte)).count();
            if rest[1 + character..].starts_with('\'') { character + 2 } else { lifetime }
        }
        byte if byte.is_ascii_whitespace() || !byte.is_ascii() => first,
        _ => 0,
    }
}

fn quoted(rest: &str, quote: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Drops each item that has `#[cfg(test)]` or `#[cfg(all(test, ...))]` before it.
fn without_tests(tokens: &[String]) -> Tokens {
    let mut kept = Tokens::new();
    let mut at = 0;
    while at < tokens.len() {
        let starts = |words: &[&str]| {
            tokens[at..].iter().zip(words).filter(|(token, word)| token == word).count() == words.len()
        };
        if starts(&["#", "[", "cfg", "(", "test", ")"]) || starts(&["#", "[", "cfg", "(", "all", "(", "test"]) {
            at += item_length(&tokens[at..]);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// The tokens of one item with its attributes: up to the first `;`, or to the end of the first block in braces.
fn item_length(tokens: &[String]) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            ";" | "," if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}
