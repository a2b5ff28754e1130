//! One kind of answer, as a registry holds it: its name, what it is, and its JSON Schema.

use crate::Answer;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Made from a type with [`Kind::of`].
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    name: &'static str,
    schema: fn() -> Value,
}

impl Kind {
    pub fn of<A: Answer>() -> Kind {
        Kind { name: A::SCHEMA, schema: schema::<A> }
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
        (self.schema)()
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

/// As it is written (not as it is read), with the field that [`crate::json`] puts first.
fn schema<A: Answer>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<A>().to_value();
    let Some(whole) = schema.as_object_mut() else { return schema };
    whole.insert("title".to_owned(), A::SCHEMA.into());
    let mut properties = Map::new();
    properties.insert("schema".to_owned(), json!({"const": A::SCHEMA}));
    if let Some(Value::Object(rest)) = whole.remove("properties") {
        properties.extend(rest);
    }
    let mut required = vec![Value::from("schema")];
    if let Some(Value::Array(rest)) = whole.remove("required") {
        required.extend(rest);
    }
    whole.insert("type".to_owned(), "object".into());
    whole.insert("properties".to_owned(), Value::Object(properties));
    whole.insert("required".to_owned(), Value::Array(required));
    // Definitions last: a person reads the answer first.
    if let Some(definitions) = whole.shift_remove("$defs") {
        whole.insert("$defs".to_owned(), definitions);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;
    use serde::Serialize;

    mod one {
        /// A row of one.
        #[derive(serde::Serialize, schemars::JsonSchema)]
        pub struct Row {
            /// A field may be called as a remark is.
            pub title: String,
        }
    }

    mod two {
        #[derive(serde::Serialize, schemars::JsonSchema)]
        pub struct Row {
            pub number: u32,
        }
    }

    #[derive(Serialize, JsonSchema)]
    struct First {
        rows: Vec<one::Row>,
    }

    #[derive(Serialize, JsonSchema)]
    struct Second {
        rows: Vec<two::Row>,
    }

    impl Answer for First {
        const SCHEMA: &'static str = "whichkernel.first/1";
    }

    impl Answer for Second {
        const SCHEMA: &'static str = "whichkernel.second/1";
    }

    #[test]
    fn definitions_of_one_name_stay_apart_and_every_reference_leads_somewhere() {
        let both = any_of(&[Kind::of::<First>(), Kind::of::<Second>()], &[json!({"type": "object"})]);
        assert_eq!(both["anyOf"].as_array().map(Vec::len), Some(3));
        for (index, field) in [(0, "title"), (1, "number")] {
            let reference = both["anyOf"][index]["properties"]["rows"]["items"]["$ref"].as_str().unwrap();
            let row = both.pointer(reference.trim_start_matches('#')).expect(reference);
            assert!(row["properties"].get(field).is_some(), "{row}");
            assert!(row.get("description").is_none(), "{row}");
        }
    }
}
