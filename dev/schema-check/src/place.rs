//! Checks one position of a document against one schema.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub(crate) struct Checker<'a> {
    pub(crate) root: &'a Value,
}

/// The fields that the schemas of one position name, combined over references and alternatives.
#[derive(Default)]
struct Named {
    fields: BTreeSet<String>,
    /// The schema accepts everything.
    anything: bool,
}

/// Keywords that do not constrain the value.
const REMARKS: [&str; 8] =
    ["$schema", "$defs", "title", "description", "default", "examples", "format", "unevaluatedProperties"];

impl Checker<'_> {
    pub(crate) fn place(&self, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        let mut named = Named::default();
        self.check(schema, value, path, &mut named, found);
        if let Value::Object(fields) = value
            && !named.anything
        {
            let unknown = fields.keys().filter(|key| !named.fields.contains(*key));
            found.extend(unknown.map(|key| format!("{path}/{key}: a field that the schema does not have")));
        }
    }

    fn check(&self, schema: &Value, value: &Value, path: &str, named: &mut Named, found: &mut Vec<String>) {
        let rules = match schema {
            Value::Object(rules) => rules,
            Value::Bool(true) => {
                named.anything = true;
                return;
            }
            other => return found.push(format!("{path}: nothing fits the schema {other}")),
        };
        let says = |key: &&String| !REMARKS.contains(&key.as_str());
        if rules.keys().filter(says).count() == 0 {
            named.anything = true;
        }
        for (keyword, rule) in rules {
            let fits = match keyword.as_str() {
                "$ref" => {
                    match rule.as_str().and_then(|at| self.root.pointer(at.strip_prefix('#')?)) {
                        Some(target) => self.check(target, value, path, named, found),
                        None => found.push(format!("{path}: the reference {rule} leads nowhere")),
                    }
                    true
                }
                "type" => match rule {
                    Value::Array(all) => all.iter().any(|one| is(value, one)),
                    one => is(value, one),
                },
                "const" => value == rule,
                "enum" => rule.as_array().is_some_and(|all| all.contains(value)),
                "minimum" => value.as_f64().zip(rule.as_f64()).is_none_or(|(value, least)| value >= least),
                "maximum" => value.as_f64().zip(rule.as_f64()).is_none_or(|(value, most)| value <= most),
                "minItems" => value.as_array().zip(rule.as_u64()).is_none_or(|(all, least)| all.len() as u64 >= least),
                "maxItems" => value.as_array().zip(rule.as_u64()).is_none_or(|(all, most)| all.len() as u64 <= most),
                "uniqueItems" => value.as_array().is_none_or(|all| {
                    *rule != Value::Bool(true) || all.iter().enumerate().all(|(i, one)| !all[..i].contains(one))
                }),
                "anyOf" | "oneOf" => self.one_of(keyword == "oneOf", rule, value, path, named, found),
                "allOf" => {
                    for one in rule.as_array().into_iter().flatten() {
                        self.check(one, value, path, named, found);
                    }
                    true
                }
                "required" => {
                    if let Value::Object(fields) = value {
                        let all = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
                        let missing = all.filter(|key| !fields.contains_key(*key));
                        found.extend(missing.map(|key| format!("{path}: lacks the field '{key}'")));
                    }
                    true
                }
                "properties" => {
                    self.fields(rule, value, path, named, found);
                    true
                }
                "additionalProperties" => {
                    self.others(rules, rule, value, path, named, found);
                    true
                }
                "items" | "prefixItems" => {
                    self.items(rules, keyword, rule, value, path, found);
                    true
                }
                remark if REMARKS.contains(&remark) => true,
                other => {
                    found.push(format!("{path}: this checker does not know the keyword '{other}'"));
                    true
                }
            };
            if !fits {
                found.push(format!("{path}: {} is not {keyword} {rule}", short(value)));
            }
        }
    }

    fn one_of(
        &self,
        only: bool,
        rule: &Value,
        value: &Value,
        path: &str,
        named: &mut Named,
        found: &mut Vec<String>,
    ) -> bool {
        let mut fitting = 0;
        let mut nearest: Option<Vec<String>> = None;
        for one in rule.as_array().into_iter().flatten() {
            let (mut here, mut problems) = (Named::default(), Vec::new());
            self.check(one, value, path, &mut here, &mut problems);
            if problems.is_empty() {
                fitting += 1;
                named.anything |= here.anything;
                named.fields.extend(here.fields);
            } else if nearest.as_ref().is_none_or(|before| problems.len() < before.len()) {
                nearest = Some(problems);
            }
        }
        if fitting == 0 {
            found.extend(nearest.unwrap_or_default());
        }
        fitting == 1 || (fitting > 1 && !only)
    }

    fn fields(&self, rule: &Value, value: &Value, path: &str, named: &mut Named, found: &mut Vec<String>) {
        for (key, schema) in rule.as_object().into_iter().flatten() {
            named.fields.insert(key.clone());
            if let Some(value) = value.get(key) {
                self.place(schema, value, &format!("{path}/{key}"), found);
            }
        }
    }

    fn others(
        &self,
        rules: &Map<String, Value>,
        rule: &Value,
        value: &Value,
        path: &str,
        named: &mut Named,
        found: &mut Vec<String>,
    ) {
        let Value::Object(fields) = value else { return };
        let own = |key: &&String| rules.get("properties").and_then(|own| own.get(key.as_str())).is_none();
        for key in fields.keys().filter(own) {
            if *rule != Value::Bool(false) {
                named.fields.insert(key.clone());
                self.place(rule, &fields[key], &format!("{path}/{key}"), found);
            }
        }
    }

    fn items(
        &self,
        rules: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: &Value,
        path: &str,
        found: &mut Vec<String>,
    ) {
        let Value::Array(all) = value else { return };
        let first = rules.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        for (i, item) in all.iter().enumerate() {
            let schema = match (keyword, i < first) {
                ("prefixItems", true) => &rule[i],
                ("items", false) => rule,
                _ => continue,
            };
            self.place(schema, item, &format!("{path}/{i}"), found);
        }
    }
}

fn is(value: &Value, name: &Value) -> bool {
    match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 80 { text } else { text.chars().take(77).chain("...".chars()).collect() }
}

#[cfg(test)]
mod tests {
    use crate::problems;
    use serde_json::json;

    fn schema() -> serde_json::Value {
        json!({
            "type": "object",
            "properties": {
                "schema": {"const": "whichkernel.it/1"},
                "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
                "head": {"type": ["string", "null"]}
            },
            "required": ["schema", "rows"],
            "$defs": {"Row": {
                "type": "object",
                "properties": {"n": {"type": "integer", "format": "uint64", "minimum": 0}},
                "required": ["n"],
                "oneOf": [
                    {"type": "object", "properties": {"seen": {"type": "boolean"}}, "required": ["seen"]},
                    {"type": "object", "properties": {"lost": {"type": "array", "maxItems": 2}}, "required": ["lost"]}
                ]
            }}
        })
    }

    #[test]
    fn what_fits_is_quiet() {
        let value =
            json!({"schema": "whichkernel.it/1", "rows": [{"n": 1, "seen": true}, {"n": 2, "lost": []}], "head": null});
        assert_eq!(problems(&schema(), &value), Vec::<String>::new());
    }

    #[test]
    fn everything_that_does_not_fit_is_named_with_its_place() {
        for (value, place) in [
            (json!({"rows": []}), "lacks the field 'schema'"),
            (json!({"schema": "whichkernel.it/2", "rows": []}), "/schema: "),
            (json!({"schema": "whichkernel.it/1", "rows": [{"n": -1, "seen": true}]}), "/rows/0/n: -1"),
            (json!({"schema": "whichkernel.it/1", "rows": [{"n": 1.5, "seen": true}]}), "/rows/0/n: 1.5"),
            (json!({"schema": "whichkernel.it/1", "rows": [{"n": 1}]}), "/rows/0: lacks the field 'seen'"),
            (json!({"schema": "whichkernel.it/1", "rows": [{"n": 1, "lost": [1, 2, 3]}]}), "/rows/0/lost: "),
            (
                json!({"schema": "whichkernel.it/1", "rows": [], "haed": "x"}),
                "/haed: a field that the schema does not have",
            ),
            (
                json!({"schema": "whichkernel.it/1", "rows": [{"n": 1, "seen": true, "lots": 1}]}),
                "/rows/0/lots: a field",
            ),
            (json!({"schema": "whichkernel.it/1", "rows": [], "head": 1}), "/head: 1 is not type"),
        ] {
            let found = problems(&schema(), &value);
            assert!(found.iter().any(|one| one.contains(place)), "{place} in {found:?}");
        }
    }

    #[test]
    fn what_must_be_there_once_is_not_there_twice() {
        let schema = json!({"type": "array", "uniqueItems": true});
        assert_eq!(problems(&schema, &json!(["a", "b"])), Vec::<String>::new());
        assert!(!problems(&schema, &json!(["a", "b", "a"])).is_empty());
    }

    #[test]
    fn a_keyword_that_is_not_checked_is_a_problem() {
        let found = problems(&json!({"type": "string", "pattern": "^a"}), &json!("b"));
        assert!(found[0].contains("does not know the keyword 'pattern'"), "{found:?}");
    }
}
