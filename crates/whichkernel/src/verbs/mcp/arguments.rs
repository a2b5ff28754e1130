//! Converts a tool's command-line definition to a JSON Schema, and arguments back to words for the same parser.
//!
//! A value follows `=` or `--`, so that it can never be read as a flag.

use super::tools::Offered;
use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value, json};
use std::any::TypeId;

fn name(arg: &Arg) -> &str {
    arg.get_long().unwrap_or_else(|| arg.get_id().as_str())
}

fn offered<'a>(tool: &'a Offered, verb: &'a Command) -> impl Iterator<Item = &'a Arg> {
    verb.get_arguments().filter(|arg| tool.arguments.contains(&arg.get_id().as_str()))
}

fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

fn is_list(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

fn is_number(arg: &Arg) -> bool {
    let kind = arg.get_value_parser().type_id();
    let numbers = [TypeId::of::<i64>(), TypeId::of::<u64>(), TypeId::of::<u32>(), TypeId::of::<usize>()];
    numbers.iter().any(|number| kind == *number)
}

pub fn schema(tool: &Offered, verb: &Command) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for arg in offered(tool, verb) {
        let one = if is_number(arg) { json!({"type": "integer"}) } else { json!({"type": "string"}) };
        let mut property = match arg {
            arg if is_flag(arg) => json!({"type": "boolean"}),
            arg if is_list(arg) => json!({"type": "array", "items": one}),
            _ => one,
        };
        let values: Vec<String> = match arg {
            arg if is_flag(arg) => Vec::new(),
            arg => arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
        };
        if !values.is_empty() {
            property["enum"] = json!(values);
        }
        property["description"] = json!(arg.get_help().map(ToString::to_string).unwrap_or_default());
        properties.insert(name(arg).to_owned(), property);
        if arg.is_required_set() || tool.required.contains(&arg.get_id().as_str()) {
            required.push(name(arg));
        }
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The command line, or the error in the arguments.
pub fn words(tool: &Offered, verb: &Command, given: &Map<String, Value>) -> Result<Vec<String>, String> {
    let known: Vec<&Arg> = offered(tool, verb).collect();
    if let Some(unknown) = given.keys().find(|key| !known.iter().any(|arg| name(arg) == key.as_str())) {
        let names: Vec<&str> = known.iter().map(|arg| name(arg)).collect();
        let unknown: String = unknown.chars().take(80).collect();
        return Err(format!("{} has no argument '{unknown}' here; it has {}", tool.verb, names.join(", ")));
    }
    let mut words = vec!["whichkernel".to_owned(), tool.verb.to_owned(), "--format=json".to_owned()];
    words.extend(tool.always.iter().map(|word| (*word).to_owned()));
    let absent = |name: &str| given.get(name).is_none_or(Value::is_null);
    words.extend(tool.unless.iter().filter(|(name, _)| absent(name)).map(|(_, word)| (*word).to_owned()));
    let mut positional = Vec::new();
    for arg in known {
        let values = match given.get(name(arg)) {
            None | Some(Value::Null) if tool.required.contains(&arg.get_id().as_str()) => {
                return Err(format!("{} needs '{}' here", tool.verb, name(arg)));
            }
            None | Some(Value::Null) => continue,
            Some(Value::Bool(true)) if is_flag(arg) => {
                words.push(format!("--{}", name(arg)));
                continue;
            }
            Some(Value::Bool(false)) if is_flag(arg) => continue,
            Some(Value::Array(items)) if is_list(arg) => items.iter().map(word).collect::<Option<Vec<String>>>(),
            Some(one) if !is_flag(arg) => word(one).map(|word| vec![word]),
            Some(_) => None,
        };
        let values = values.ok_or_else(|| format!("'{}' does not have the type of its schema", name(arg)))?;
        if arg.is_positional() {
            positional.extend(values);
        } else {
            words.extend(values.iter().map(|value| format!("--{}={value}", name(arg))));
        }
    }
    if !positional.is_empty() {
        words.push("--".to_owned());
        words.extend(positional);
    }
    Ok(words)
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tools::TOOLS;
    use super::*;
    use crate::Cli;
    use clap::CommandFactory as _;

    fn line(tool: &str, given: Value) -> Result<Vec<String>, String> {
        let whole = Cli::command();
        let offered = TOOLS.iter().find(|offered| offered.verb == tool).expect("a tool");
        words(offered, whole.find_subcommand(tool).expect("a verb"), given.as_object().expect("an object"))
    }

    #[test]
    fn arguments_become_words_of_the_same_parser() {
        let words = line("explain", json!({"words": ["9070xt", 290], "type": "Q4_K"})).unwrap();
        assert_eq!(words.join(" "), "whichkernel explain --format=json --type=Q4_K -- 9070xt 290");
        assert_eq!(line("doctor", json!({})).unwrap().last().unwrap(), "--root=/");
        assert_eq!(line("doctor", json!({"root": "/mnt"})).unwrap().last().unwrap(), "--root=/mnt");
    }

    #[test]
    fn a_value_is_never_a_flag() {
        let words = line("inspect", json!({"targets": ["--record"], "kernel": "--extract=/tmp/x"})).unwrap();
        assert_eq!(words.join(" "), "whichkernel inspect --format=json --kernel=--extract=/tmp/x -- --record");
    }

    #[test]
    fn what_writes_or_runs_cannot_be_asked_for() {
        for (tool, given) in [
            ("inspect", json!({"targets": ["x"], "extract": "/tmp"})),
            ("inspect", json!({"targets": ["x"], "record": true})),
            ("probe", json!({"url": "http://127.0.0.1:1"})),
            ("probe", json!({})),
            ("probe", json!({"replay": "x", "save": "/tmp/x"})),
            ("map", json!({})),
            ("map", json!({"source": "x", "command": ["/bin/sh"]})),
            ("check", json!({"ledger": "/etc"})),
            ("check", json!({"claim": {"a": 1}})),
            ("inspect", json!({"targets": ["x"], "kernels": "yes"})),
        ] {
            assert!(line(tool, given.clone()).is_err(), "{tool} {given}");
        }
    }

    #[test]
    fn every_schema_describes_every_argument() {
        let whole = Cli::command();
        for offered in TOOLS {
            let schema = schema(offered, whole.find_subcommand(offered.verb).expect("a verb"));
            for (name, property) in schema["properties"].as_object().expect("properties") {
                assert!(
                    property["description"].as_str().is_some_and(|text| !text.is_empty()),
                    "{}: {name}",
                    offered.verb
                );
            }
        }
    }
}
