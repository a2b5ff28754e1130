//! A note of the worklog: a person's text and its subject. The phase and the claim are on lines before the text, so
//! that the note remains readable as plain text.

/// The parsed note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorklogNote {
    pub phase: Option<String>,
    /// The id of a claim or question.
    pub about: Option<String>,
    pub text: String,
}

impl WorklogNote {
    /// Parses the body of a row. Without header lines, the whole body is the text.
    pub fn parse(body: &str) -> WorklogNote {
        let mut note = WorklogNote { phase: None, about: None, text: String::new() };
        let mut rest = body;
        while let Some((line, after)) = rest.split_once('\n') {
            match line.split_once(": ") {
                Some(("phase", value)) if note.phase.is_none() => note.phase = Some(value.to_owned()),
                Some(("about", value)) if note.about.is_none() => note.about = Some(value.to_owned()),
                _ if line.is_empty() && (note.phase.is_some() || note.about.is_some()) => {
                    note.text = after.to_owned();
                    return note;
                }
                _ => break,
            }
            rest = after;
        }
        WorklogNote { phase: None, about: None, text: body.to_owned() }
    }

    /// The body as it is stored in the ledger. Line breaks are removed from the header values, because the rest would
    /// be parsed as another line.
    pub fn body(&self) -> String {
        let line = |name: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!("{name}: {}\n", value.replace(['\n', '\r'], " "))).unwrap_or_default()
        };
        let lines = line("phase", &self.phase) + &line("about", &self.about);
        if lines.is_empty() { self.text.clone() } else { format!("{lines}\n{}", self.text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let note =
            WorklogNote { phase: Some("F".to_owned()), about: Some("x".to_owned()), text: "a\n\nb: c".to_owned() };
        assert_eq!(WorklogNote::parse(&note.body()), note);
        for plain in ["plain", "phase: F", "phase: F\nand on", "\n\nphase: F\n\nx", ""] {
            let read = WorklogNote::parse(plain);
            assert_eq!((read.phase, read.text.as_str()), (None, plain));
        }
        let sly = WorklogNote { about: Some("x\nphase: Z".to_owned()), ..note };
        assert_eq!(WorklogNote::parse(&sly.body()).phase.as_deref(), Some("F"));
    }
}
