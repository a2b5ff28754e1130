//! All messages with their variables, as found by the build script, and the compile-time checks of `say!`.

use crate::lang::File;

include!(concat!(env!("OUT_DIR"), "/messages.rs"));

/// Fails to compile if no message has the key, or if its variables differ from those given.
pub const fn check(key: &str, given: &[&str]) {
    let uses = variables(key);
    assert!(uses.len() == given.len(), "the message has more or fewer variables: see crates/say/locales/en");
    check_covers(key, given);
}

/// Fails to compile if no message has the key, or if it uses a variable that is not given.
pub const fn check_covers(key: &str, given: &[&str]) {
    let (uses, mut at) = (variables(key), 0);
    while at < uses.len() {
        let (mut other, mut found) = (0, false);
        while other < given.len() {
            found |= compare(uses[at], given[other]) == 0;
            other += 1;
        }
        assert!(found, "the message uses a variable that is not given: see crates/say/locales/en");
        at += 1;
    }
}

const fn variables(key: &str) -> &'static [&'static str] {
    let (mut low, mut high) = (0, MESSAGES.len());
    while low < high {
        let middle = (low + high) / 2;
        match compare(MESSAGES[middle].0, key) {
            0 => return MESSAGES[middle].1,
            1 => high = middle,
            _ => low = middle + 1,
        }
    }
    panic!("no message has this key: add it to a file in crates/say/locales/en and in crates/say/locales/ja")
}

/// Less, equal, greater: `Ord` cannot be used in constants.
const fn compare(a: &str, b: &str) -> i8 {
    let (a, b, mut at) = (a.as_bytes(), b.as_bytes(), 0);
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return if a[at] < b[at] { -1 } else { 1 };
        }
        at += 1;
    }
    if a.len() == b.len() {
        0
    } else if a.len() < b.len() {
        -1
    } else {
        1
    }
}

/// The keys of all messages.
pub fn keys() -> impl Iterator<Item = &'static str> {
    MESSAGES.iter().map(|(key, _)| *key)
}
