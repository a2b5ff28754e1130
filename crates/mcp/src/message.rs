//! JSON-RPC 2.0: parses requests and writes answers.

use serde_json::{Map, Value, json};

pub const PARSE: i64 = -32700;
pub const INVALID: i64 = -32600;
pub const NO_METHOD: i64 = -32601;
pub const BAD_PARAMS: i64 = -32602;
/// Our own code: too many calls are waiting.
pub const BUSY: i64 = -32000;
/// The protocol's error for a missing resource.
pub const NO_RESOURCE: i64 = -32002;

/// A number or a string, as the protocol requires; kept as the client wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct Id(Value);

impl Id {
    /// None for values that cannot be an id: null, fractions, objects.
    pub fn of(value: &Value) -> Option<Id> {
        (value.is_string() || value.is_i64() || value.is_u64()).then(|| Id(value.clone()))
    }
}

#[derive(Debug)]
pub enum Message {
    Request {
        id: Id,
        method: String,
        params: Map<String, Value>,
    },
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// An answer to one of our own requests; we send none.
    Answer,
    /// With the id if there is one, so that the client can match it with its request.
    Wrong {
        id: Option<Id>,
        why: &'static str,
    },
}

impl Message {
    pub fn read(value: Value) -> Message {
        let Value::Object(mut fields) = value else {
            return Message::Wrong { id: None, why: "a message is an object" };
        };
        let id = fields.get("id").map(Id::of);
        let wrong = |why| Message::Wrong { id: id.clone().flatten(), why };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return wrong("jsonrpc must be \"2.0\"");
        }
        if !fields.contains_key("method") && (fields.contains_key("result") || fields.contains_key("error")) {
            return Message::Answer;
        }
        let Some(Value::String(method)) = fields.remove("method") else { return wrong("method must be a string") };
        let params = match fields.remove("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return wrong("params must be an object"),
        };
        match id {
            None => Message::Notification { method, params },
            Some(Some(id)) => Message::Request { id, method, params },
            Some(None) => wrong("id must be a string or an integer"),
        }
    }
}

/// An error in the protocol's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: i64,
    pub why: String,
}

impl Fault {
    pub fn new(code: i64, why: impl Into<String>) -> Fault {
        Fault { code, why: why.into() }
    }
}

pub fn answer(id: Option<&Id>, result: Result<Value, Fault>) -> Value {
    let id = id.map_or(Value::Null, |id| id.0.clone());
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(fault) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": fault.code, "message": fault.why}}),
    }
}
