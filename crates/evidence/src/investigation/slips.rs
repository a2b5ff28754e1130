//! Suggests the nearest known key or word for an unknown one.

use say::{Message, say};

/// Turns TOML's error about an unknown word (``unknown field `rnug`, expected one of `id`, `rung` ``) into one of our
/// messages. Other TOML errors stay unchanged, because the library provides them only as text.
pub fn hinted(message: &str) -> Message {
    let is_slip = message.starts_with("unknown field") || message.starts_with("unknown variant");
    let mut words = message.split('`').skip(1).step_by(2);
    let (Some(wrong), true) = (words.next(), is_slip) else {
        return say!("evidence-file-toml", message);
    };
    let known: Vec<&str> = words.collect();
    let list = known.clone();
    match near::near(wrong, known) {
        Some(near) => say!("evidence-file-unknown-near", wrong, list, near),
        None => say!("evidence-file-unknown", wrong, list),
    }
}

#[cfg(test)]
mod tests {
    use super::hinted;
    use crate::Investigation;

    #[test]
    fn a_slip_in_a_key_or_a_word_names_the_nearest() {
        let said = |text: &str| Investigation::parse("x.toml", text).expect_err("a slip").to_string();
        let begin = "schema = \"whichkernel.investigation/1\"\ntitle = { en = \"a\", ja = \"b\" }\n";
        let key = said(&format!("{begin}[subject]\ntraget = \"gfx1201\"\n"));
        assert!(key.starts_with("x.toml:4:1: ") && key.ends_with("did you mean `target`?"), "{key}");
        let claim = said(&format!("{begin}[[claims]]\nid = \"a\"\nphsae = \"A\"\n"));
        assert!(claim.ends_with("did you mean `phase`?"), "{claim}");
        let word = said(&format!(
            "{begin}[[claims]]\nid = \"a\"\nphase = \"A\"\npage = \"p\"\nen = \"a\"\nja = \"b\"\nrung = \"lauched\"\n"
        ));
        assert!(word.ends_with("did you mean `launched`?"), "{word}");
        let far = said(&format!("{begin}[subject]\nweather = \"fine\"\n"));
        assert!(!far.contains("did you mean"), "{far}");
    }

    #[test]
    fn other_sentences_stay_as_they_are() {
        assert_eq!(hinted("missing field `id`").to_string(), "missing field `id`");
        assert_eq!(hinted("").to_string(), "");
    }
}
