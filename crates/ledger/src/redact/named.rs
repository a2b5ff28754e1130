//! Secrets after a name in running text: `password: X`, `api_key = X`, `'accessToken': 'X'`, `パスワード：X`.

use regex::Regex;
use std::sync::LazyLock;

/// Replaces removed text.
pub const MARK: &str = "[redacted]";

pub(super) fn pattern(text: &str) -> Regex {
    #[allow(clippy::expect_used, reason = "the patterns are constants, and every test runs them")]
    Regex::new(text).expect("a pattern of this module")
}

/// A name, an assignment sign (half or full width), and a value: a quoted text or everything up to the next space.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let before = r"(?:api|access|private|secret|signing|encryption|license|client|auth)[ ]";
    let name = format!(r"((?:{before})?[\p{{L}}_][\p{{L}}\p{{M}}\p{{N}}_.ー-]*)");
    let sign = r#"(["'`\]]{0,2}\s*(?:=>|:=|==|[:=：＝])\s*|\s+is\s+|は\s*|\s+)"#;
    // In `Bearer X`, the scheme is not secret, but the next word is.
    let value =
        r#"((?:(?:bearer|basic|digest|token)\s+)?(?:"(?:[^"\\]|\\.)*"|'[^']*'|`[^`]*`|「[^」]*」|[^\s「」、。]+))"#;
    pattern(&format!("(?i){name}{sign}{value}"))
});

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    /// The value is always a secret.
    Sure,
    /// The word has other meanings too, for example a piece of text, a compiler stage or a switch.
    Maybe,
}

const SURE: [&str; 11] = [
    "apikey",
    "authorization",
    "credential",
    "credentials",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "secret",
    "secrets",
];
const SURE_JA: [&str; 7] = ["パスワード", "パスフレーズ", "暗証番号", "合言葉", "秘密鍵", "APIキー", "アクセスキー"];
/// Words that turn `key` into a secret; `key` alone may be any key.
const KEYS: [&str; 9] = ["api", "access", "private", "secret", "signing", "encryption", "license", "client", "auth"];

/// Whether the name is used for secrets only.
pub(super) fn is_sure(name: &str) -> bool {
    kind(name) == Some(Name::Sure)
}

pub(super) fn replace(line: &str) -> String {
    let (mut shown, mut at) = (String::with_capacity(line.len()), 0);
    while let Some(found) = NAMED.captures_at(line, at) {
        let (Some(name), Some(sign), Some(value)) = (found.get(1), found.get(2), found.get(3)) else { break };
        let kept = value.as_str().trim_end_matches([',', ';', ')', ']', '}', '"', '\'']);
        let hidden = kind(name.as_str()).is_some_and(|kind| is_secret(kind, name.as_str(), sign.as_str(), kept));
        let end = match hidden {
            true => {
                shown.push_str(&line[at..value.start()]);
                let (open, close) = quotes(value.as_str());
                shown.push_str(open);
                shown.push_str(MARK);
                shown.push_str(close);
                if open.is_empty() { value.start() + kept.len() } else { value.end() }
            }
            // The value may itself be a name: `note: password: X`.
            false => {
                let end = if sign.as_str().trim().is_empty() { name.end() } else { value.start() };
                shown.push_str(&line[at..end]);
                end
            }
        };
        at = end;
    }
    shown.push_str(line.get(at..).unwrap_or_default());
    shown
}

fn quotes(value: &str) -> (&'static str, &'static str) {
    match value.chars().next() {
        Some('"') => ("\"", "\""),
        Some('\'') => ("'", "'"),
        Some('`') => ("`", "`"),
        Some('「') => ("「", "」"),
        _ => ("", ""),
    }
}

/// Splits a name into words, so that `clientSecret`, `client_secret`, `client.secret` and `client secret` are the same.
fn parts(name: &str) -> Vec<String> {
    let mut words = String::new();
    let mut small = false;
    for c in name.chars() {
        if small && c.is_uppercase() {
            words.push('-');
        }
        small = c.is_lowercase();
        words.extend(if matches!(c, '_' | '.' | ' ') { '-' } else { c }.to_lowercase());
    }
    words.split('-').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn kind(name: &str) -> Option<Name> {
    if SURE_JA.iter().any(|sure| name.ends_with(sure)) {
        return Some(Name::Sure);
    }
    let parts = parts(name);
    let last = parts.last()?.as_str();
    let before = parts.len().checked_sub(2).and_then(|at| parts.get(at)).map(String::as_str);
    match last {
        // A file that contains the secret is not the secret itself.
        "file" | "path" | "dir" | "id" => None,
        "key" => before.is_some_and(|before| KEYS.contains(&before)).then_some(Name::Sure),
        "token" | "auth" | "bearer" | "pass" => Some(Name::Maybe),
        last if SURE.contains(&last) => Some(Name::Sure),
        _ if name.ends_with("トークン") => Some(Name::Maybe),
        _ => None,
    }
}

fn is_secret(kind: Name, name: &str, sign: &str, value: &str) -> bool {
    let bare = value.trim_matches(['"', '\'', '`', '「', '」']);
    let odd = bare.contains(|c: char| c.is_ascii_digit() || c.is_ascii_punctuation());
    if bare.is_empty() || value.contains(MARK.trim_end_matches(']')) {
        return false;
    }
    // In a shell, `pwd` is also the working directory.
    if name.eq_ignore_ascii_case("pwd") && bare.starts_with(['/', '~']) {
        return false;
    }
    match (sign.trim().to_ascii_lowercase().as_str(), kind) {
        // As in `login me password X`. These words also occur in prose, so the value must not look like a word.
        ("", kind) => kind == Name::Sure && odd && bare.len() >= 6 && bare.contains(|c: char| c.is_ascii_digit()),
        ("is" | "は", Name::Sure) => odd || value.starts_with('「'),
        ("is" | "は", Name::Maybe) => odd && bare.len() >= 8,
        (_, Name::Sure) => true,
        (sign, Name::Maybe) => {
            let number = bare.len() <= 9 && bare.chars().all(|c| c.is_ascii_digit());
            let piece = bare.starts_with('<') || bare.contains("<|");
            let plain = ["none", "null", "true", "false", "yes", "no", "required", "disabled", "enabled", "missing"];
            let stage = name.to_ascii_lowercase().ends_with("pass") && !odd && !sign.contains('=');
            !(number || piece || stage || plain.contains(&bare.to_ascii_lowercase().as_str()))
        }
    }
}
