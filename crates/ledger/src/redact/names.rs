//! The names whose values are secrets or a person's words.

use super::named::{MARK, is_sure};

/// The kind of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hidden {
    Secret,
    /// A header such as `Authorization: Bearer ...`, whose name may be shown.
    Header,
    /// A person's words. llama-bench uses the same option for token counts, which may be shown.
    Prompt,
    /// The name of a variable that contains the secret: `--key-env LLAMA_API_KEY`. If the user typed a key there by
    /// mistake, it is hidden.
    Variable,
}

const SECRETS: [&str; 14] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "credential",
    "credentials",
    "key",
    "passphrase",
    "passwd",
    "password",
    "pass",
    "secret",
    "secrets",
    "token",
];

/// Options for prompts, from common/arg.cpp of llama.cpp.
const PROMPTS: [&str; 10] = [
    "p",
    "prompt",
    "sys",
    "system-prompt",
    "negative-prompt",
    "cfg-negative-prompt",
    "reverse-prompt",
    "in-prefix",
    "in-suffix",
    "system",
];

/// The program's file name.
pub(super) fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether `-p` of a program is a prompt, also in running text.
pub(super) fn runs_models(word: &str) -> bool {
    let name = program(word.trim_matches(['"', '\'', '`', '(']));
    name.starts_with("llama-") || name.starts_with("llama_") || ["llama", "ollama", "main"].contains(&name)
}

/// Whether an option of this command may have several values.
pub(super) fn takes_lists<S: AsRef<str>>(words: &[S]) -> bool {
    let vllm = |word: &S| program(word.as_ref()) == "vllm" || word.as_ref().starts_with("vllm.entrypoints");
    words.iter().take(3).any(vllm)
}

/// The kind of this option's value, if it must be hidden.
pub(super) fn option(program: &str, word: &str) -> Option<Hidden> {
    let name = word.strip_prefix('-')?;
    let name = name.strip_prefix('-').unwrap_or(name).to_ascii_lowercase().replace('_', "-");
    // llama.cpp's short form of --hf-token.
    if name == "hft" {
        return Some(Hidden::Secret);
    }
    if name == "header" || word == "-H" {
        return Some(Hidden::Header);
    }
    if ["curl", "wget"].contains(&program) {
        let data = ["u", "user", "d", "data", "data-raw", "data-binary", "data-urlencode", "json", "post-data"];
        return data.contains(&name.as_str()).then_some(Hidden::Secret).or_else(|| secret(&name));
    }
    if PROMPTS.contains(&name.as_str()) {
        return Some(Hidden::Prompt);
    }
    if name == "key-env" {
        return Some(Hidden::Variable);
    }
    secret(&name)
}

fn secret(name: &str) -> Option<Hidden> {
    // A file that contains the secret is not the secret itself.
    let names_a_file = ["file", "path", "dir"].iter().any(|end| name.ends_with(end));
    (!names_a_file && name.split('-').any(|part| SECRETS.contains(&part))).then_some(Hidden::Secret)
}

/// The replacement for the value; None if it may be shown.
pub(super) fn hide(option: Hidden, value: &str) -> Option<&'static str> {
    let numbers = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    match option {
        Hidden::Prompt if numbers => None,
        Hidden::Header if !header(value) => None,
        Hidden::Variable if value.len() < 20 && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') => {
            None
        }
        _ => Some(MARK),
    }
}

/// Whether a header contains a secret: `Authorization: ...`, `X-Api-Key: ...`, `Cookie: ...`.
fn header(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    name.contains("cookie") || name.split('-').any(|part| SECRETS.contains(&part))
}

/// Whether the word is part of a prompt: the words after the model in `ollama run MODEL WORDS...`.
pub(super) fn ollama_prompt<S: AsRef<str>>(words: &[S], at: usize) -> bool {
    let plain = |word: &S| !word.as_ref().starts_with('-');
    let mut before = words.iter().take(at).skip(1).filter(|word| plain(word));
    let run = before.next().is_some_and(|word| word.as_ref() == "run");
    run && before.next().is_some() && words.get(at).is_some_and(plain)
}

/// Whether a variable contains a secret: `LLAMA_API_KEY`, `OLLAMA_AUTH`, `HF_TOKEN`.
pub(super) fn variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "API", "CREDENTIAL", "COOKIE", "PROMPT"]
        .iter()
        .any(|word| name.contains(word))
}

/// Whether a field of a JSON document contains a secret. The word `key` alone does not mark a secret.
pub(super) fn field(name: &str) -> bool {
    if is_sure(name) {
        return true;
    }
    let name = name.to_ascii_lowercase().replace('_', "-");
    name != "key" && (secret(&name).is_some() || name == "prompt" || name == "system-prompt")
}

/// Whether a query parameter of a URL contains a secret: `?token=`, `&X-Amz-Signature=`.
pub(super) fn parameter(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    secret(&name).is_some() || name.split('-').any(|part| ["sig", "signature", "code", "session"].contains(&part))
}
