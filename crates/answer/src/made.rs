//! Generates schemas from the types. Tests compare the checked-in schema files with them.

use crate::Answer;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The schema of the serialized form (not of the form that is read), including the `schema` field that [`crate::json`]
/// adds.
pub fn made<A: Answer>() -> Value {
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
    // Definitions come last, so that readers see the answer first.
    if let Some(definitions) = whole.shift_remove("$defs") {
        whole.insert("$defs".to_owned(), definitions);
    }
    schema
}
