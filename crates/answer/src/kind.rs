//! One kind of answer in the registry: its name, its description, and its JSON Schema.

use crate::Answer;
use serde_json::Value;

/// Created from a type with [`Kind::of`].
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    name: &'static str,
    schema: &'static str,
}

impl Kind {
    /// `schema` is the text of the answer's JSON Schema.
    pub fn of<A: Answer>(schema: &'static str) -> Kind {
        Kind { name: A::SCHEMA, schema }
    }

    /// The name with its version: `whichkernel.NAME/VERSION`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Matches the whole name, or its common short form: `ledger-list` for `whichkernel.ledger-list/1`.
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
        text.split("\n\n").next().unwrap_or_default().replace('\n', " ")
    }
}
