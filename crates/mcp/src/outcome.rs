//! The result of a call: the answer if it is small, otherwise its outline and an address.

use crate::large_answers::Kept;
use serde_json::{Map, Value, json};

/// Larger answers are not put into a message; the client can read them in parts.
const WHOLE: usize = 24 << 10;
/// Smaller fields of a large answer are included in the outline unchanged.
const SMALL: usize = 1 << 10;

/// The result of a tool.
#[derive(Debug, Default)]
pub struct Done {
    /// The answer, an object; None if there is none.
    pub answer: Option<Value>,
    /// Remarks, or the error.
    pub notes: Vec<String>,
    /// Whether the call failed; `notes` contains the reason.
    pub failed: bool,
}

impl Done {
    pub fn failed(why: impl Into<String>) -> Done {
        Done { answer: None, notes: vec![why.into()], failed: true }
    }
}

/// The result of `tools/call`: the answer once, as compact text. Omitted parts can be read as a resource.
pub fn result(tool: &str, done: Done, kept: &mut Kept) -> Value {
    let mut content = Vec::new();
    if let Some(answer) = done.answer {
        let whole = answer.to_string();
        let compact = compact(&answer);
        let text = compact.to_string();
        let size = whole.len();
        let changed = text != whole;
        content.push(json!({"type": "text", "text": if text.len() <= WHOLE {
            text
        } else {
            format!("The answer has {size} bytes and is a resource. Its outline:\n{:#}", outline(&compact))
        }}));
        if changed || size > WHOLE {
            let uri = kept.keep(tool, format!("The whole answer of {tool}, {size} bytes"), whole);
            content.push(json!({
                "type": "resource_link", "uri": uri, "name": tool, "mimeType": "application/json", "size": size,
            }));
        }
    }
    content.extend(done.notes.into_iter().map(|note| json!({"type": "text", "text": note})));
    json!({"content": content, "isError": done.failed})
}

/// The value without null fields, and with only the English version of translated texts.
fn compact(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(compact).collect(),
        Value::Object(fields) => match (fields.len(), fields.get("en"), fields.get("ja")) {
            (2, Some(english), Some(_)) => english.clone(),
            _ => {
                let kept = fields.iter().filter(|(_, value)| !value.is_null());
                kept.map(|(name, value)| (name.clone(), compact(value))).collect::<Map<_, _>>().into()
            }
        },
        plain => plain.clone(),
    }
}

/// The fields of a large answer: small ones unchanged, and the sizes of large ones.
fn outline(answer: &Value) -> Value {
    let Value::Object(fields) = answer else { return Value::Null };
    let short = |value: &Value| {
        let bytes = value.to_string().len();
        match value {
            value if bytes <= SMALL => value.clone(),
            Value::Array(items) => json!(format!("{} items, {bytes} bytes", items.len())),
            Value::Object(fields) => json!(format!("{} fields, {bytes} bytes", fields.len())),
            _ => json!(format!("{bytes} bytes")),
        }
    };
    fields.iter().map(|(name, value)| (name.clone(), short(value))).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(answer: Value) -> (Value, Kept) {
        let mut kept = Kept::default();
        let result = result("tool", Done { answer: Some(answer), ..Done::default() }, &mut kept);
        (result, kept)
    }

    #[test]
    fn null_fields_and_other_languages_are_left_out_and_can_be_read() {
        let whole =
            json!({"schema": "x/1", "text": {"en": "yes", "ja": "はい"}, "why": null, "rows": [], "list": [null, 0]});
        let (result, kept) = said(whole.clone());
        assert_eq!(result["content"][0]["text"], r#"{"schema":"x/1","text":"yes","rows":[],"list":[null,0]}"#);
        assert!(result.get("structuredContent").is_none());
        let document = kept.all().next().expect("the whole answer");
        assert_eq!(result["content"][1]["uri"], document.uri.as_str());
        assert_eq!(document.text, whole.to_string());
    }

    #[test]
    fn nothing_is_kept_of_an_answer_that_is_there_in_full() {
        let (result, kept) = said(json!({"schema": "x/1", "rows": 0}));
        assert_eq!((result["content"].as_array().unwrap().len(), kept.all().count()), (1, 0));
    }

    #[test]
    fn a_big_answer_is_an_outline_and_a_resource() {
        let (result, kept) = said(json!({"schema": "x/1", "rows": vec![0; WHOLE]}));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("24576 items"), "{text}");
        assert_eq!(kept.all().count(), 1);
    }
}
