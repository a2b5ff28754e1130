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
