//! One kind of answer, as a registry holds it: its name, what it is, and its JSON Schema.

use crate::Answer;
use serde_json::{Map, Value, json};

/// Made from a type with [`Kind::of`].
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    name: &'static str,
    schema: &'static str,
}

impl Kind {
    /// `schema`: the text of its JSON Schema.
    pub fn of<A: Answer>(schema: &'static str) -> Kind {
        Kind { name: A::SCHEMA, schema }
    }

    /// `whichkernel.NAME/VERSION`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The whole name, or the part of it that people say: `ledger-list` for `whichkernel.ledger-list/1`.
    pub fn is(&self, name: &str) -> bool {
        let short = |whole: &'static str| whole.strip_prefix("whichkernel.")?.split('/').next();
        self.name == name || short(self.name) == Some(name)
    }

    /// JSON Schema, draft 2020-12.
    pub fn schema(&self) -> Value {
        serde_json::from_str(self.schema).unwrap_or_default()
    }

    /// The first line of the type's documentation.
    pub fn about(&self) -> String {
        let schema = self.schema();
        let text = schema["description"].as_str().unwrap_or_default();
        text.lines().next().unwrap_or_default().to_owned()
    }
}

/// One schema for whatever is one of these, or `also`: what a tool with several answers promises. Without remarks, which each
/// kind's own schema has; definitions of one name in two kinds stay apart.
pub fn any_of(kinds: &[Kind], also: &[Value]) -> Value {
    let mut definitions = Map::new();
    let mut shapes = Vec::new();
    for kind in kinds {
        let short = kind.name().split('/').next().unwrap_or_default().trim_start_matches("whichkernel.");
        let mut schema = kind.schema();
        let own = schema.as_object_mut().and_then(|whole| whole.shift_remove("$defs"));
        for (name, mut definition) in own.and_then(|own| own.as_object().cloned()).into_iter().flatten() {
            lean(&mut definition, short);
            definitions.insert(format!("{short}.{name}"), definition);
        }
        lean(&mut schema, short);
        schema.as_object_mut().map(|whole| whole.shift_remove("$schema"));
        shapes.push(schema);
    }
    for schema in also {
        let mut schema = schema.clone();
        lean(&mut schema, "");
        shapes.push(schema);
    }
    json!({"type": "object", "anyOf": shapes, "$defs": definitions})
}

/// Takes the remarks out, and leads references to where the definitions of `kind` are now.
fn lean(schema: &mut Value, kind: &str) {
    match schema {
        Value::Object(fields) => {
            // A property may be called so: a remark is a text.
            for remark in ["description", "title"] {
                if fields.get(remark).is_some_and(Value::is_string) {
                    fields.shift_remove(remark);
                }
            }
            for (key, value) in fields {
                match (key.as_str(), &*value) {
                    ("$ref", Value::String(at)) => {
                        *value = at.replacen("#/$defs/", &format!("#/$defs/{kind}."), 1).into();
                    }
                    _ => lean(value, kind),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| lean(item, kind)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    #[derive(Serialize, schemars::JsonSchema)]
    struct First;

    #[derive(Serialize, schemars::JsonSchema)]
    struct Second;

    impl Answer for First {
        const SCHEMA: &'static str = "whichkernel.first/1";
    }

    impl Answer for Second {
        const SCHEMA: &'static str = "whichkernel.second/1";
    }

    // A field may be called as a remark is.
    const FIRST: &str = r##"{"properties": {"rows": {"items": {"$ref": "#/$defs/Row"}}}, "$defs": {"Row": {"description": "A row.", "properties": {"title": {"type": "string"}}}}}"##;
    const SECOND: &str = r##"{"properties": {"rows": {"items": {"$ref": "#/$defs/Row"}}}, "$defs": {"Row": {"properties": {"number": {"type": "integer"}}}}}"##;

    #[test]
    fn definitions_of_one_name_stay_apart_and_every_reference_leads_somewhere() {
        let kinds = [Kind::of::<First>(FIRST), Kind::of::<Second>(SECOND)];
        let both = any_of(&kinds, &[json!({"type": "object"})]);
        assert_eq!(both["anyOf"].as_array().map(Vec::len), Some(3));
        for (index, field) in [(0, "title"), (1, "number")] {
            let reference = both["anyOf"][index]["properties"]["rows"]["items"]["$ref"].as_str().unwrap();
            let row = both.pointer(reference.trim_start_matches('#')).expect(reference);
            assert!(row["properties"].get(field).is_some(), "{row}");
            assert!(row.get("description").is_none(), "{row}");
        }
    }
}
