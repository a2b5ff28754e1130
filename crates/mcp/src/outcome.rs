//! What a tool gave, as a client gets it: whole where it is small, its outline and an address where it is big.

use crate::large_answers::Kept;
use serde_json::{Map, Value, json};

/// A larger answer is not put into a message: the client reads it in parts.
const WHOLE: usize = 24 << 10;
/// A field of a large answer that is smaller than this is in the outline unchanged.
const SMALL: usize = 1 << 10;

/// What a tool gave.
#[derive(Debug, Default)]
pub struct Done {
    /// The answer, an object; None if there is none.
    pub answer: Option<Value>,
    /// Remarks beside it, or what went wrong.
    pub notes: Vec<String>,
    /// It could not run; `notes` says why.
    pub failed: bool,
}

impl Done {
    pub fn failed(why: impl Into<String>) -> Done {
        Done { answer: None, notes: vec![why.into()], failed: true }
    }
}

/// The replacement of an answer that is too large for a message.
const OUTLINE: &str = "whichkernel.outline/1";

/// JSON Schema of that: the one more shape that every tool's answer can have.
pub fn outline_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "schema": {"const": OUTLINE},
            "resource": {"type": "string", "description": "The address of the whole answer, for resources/read."},
            "size": {"type": "integer", "description": "Bytes of the whole answer."},
            "outline": {"type": "object", "description": "Its fields: small ones as they are, of big ones how much there is."},
        },
        "required": ["schema", "resource", "size", "outline"],
    })
}

/// The result of `tools/call`. `typed`: the tool promised a shape, so something of that shape must be there.
pub fn result(tool: &str, done: Done, typed: bool, kept: &mut Kept) -> Value {
    let mut content = Vec::new();
    let mut structured = None;
    if let Some(answer) = done.answer {
        let text = answer.to_string();
        if text.len() <= WHOLE {
            content.push(json!({"type": "text", "text": text}));
            structured = Some(answer);
        } else {
            let (size, outline) = (text.len(), outline(&answer));
            let said = format!("The answer has {size} bytes: it is a resource of its own. Its outline:\n{outline:#}");
            let uri = kept.keep(tool, format!("The whole answer of {tool}, {size} bytes"), text);
            content.push(json!({"type": "text", "text": said}));
            content.push(json!({
                "type": "resource_link", "uri": uri, "name": tool, "mimeType": "application/json", "size": size,
            }));
            structured = typed.then(|| json!({"schema": OUTLINE, "resource": uri, "size": size, "outline": outline}));
        }
    }
    content.extend(done.notes.into_iter().map(|note| json!({"type": "text", "text": note})));
    let mut result = Map::new();
    result.insert("content".into(), content.into());
    if let Some(answer) = structured {
        result.insert("structuredContent".into(), answer);
    }
    result.insert("isError".into(), done.failed.into());
    result.into()
}

/// The fields of a big answer: small ones as they are, of big ones how much there is.
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

    /// A tool that promised a shape keeps to it also where the answer is too big to send.
    #[test]
    fn the_outline_of_a_typed_answer_is_structured_too() {
        let done = |answer: Value| Done { answer: Some(answer), ..Done::default() };
        let big = json!({"schema": "x/1", "rows": vec![0; WHOLE]});
        let said = result("big", done(big.clone()), true, &mut Kept::default());
        let outline = &said["structuredContent"];
        for name in outline_schema()["required"].as_array().unwrap() {
            assert!(outline.get(name.as_str().unwrap()).is_some(), "{name}: {outline}");
        }
        assert_eq!(outline["resource"], said["content"][1]["uri"]);
        assert_eq!(outline["size"], big.to_string().len());
        let small = result("small", done(json!({"schema": "x/1"})), true, &mut Kept::default());
        assert_eq!(small["structuredContent"]["schema"], "x/1");
    }
}
