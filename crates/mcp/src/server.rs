//! The server: one thread reads and answers quick requests, another runs the calls in order.
//!
//! A call that is cancelled while it waits is not run. A running call is finished and its answer discarded; it has no
//! side effects, because the tools are read-only.

use crate::large_answers::Kept;
use crate::line::{self, Line};
use crate::message::{self, BAD_PARAMS, BUSY, Fault, Id, Message, NO_METHOD, NO_RESOURCE, PARSE};
use crate::{Document, Offer, Tool, outcome};
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The newest first. A request for another version is answered with the newest, and the client decides.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The maximum number of waiting calls.
const WAITING: usize = 64;

struct Call {
    id: Id,
    tool: Tool,
    arguments: Map<String, Value>,
}

#[derive(Default)]
struct State {
    /// Calls that are neither answered nor cancelled.
    open: Vec<Id>,
    kept: Kept,
}

struct Server<'a, W> {
    offer: &'a dyn Offer,
    output: Mutex<W>,
    state: Mutex<State>,
}

/// Serves until the input ends; earlier requests are still answered.
pub fn serve<W: Write + Send>(mut input: impl BufRead, output: W, offer: &dyn Offer) -> io::Result<()> {
    let server = Server { offer, output: Mutex::new(output), state: Mutex::default() };
    let (calls, waiting) = channel();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| server.work(waiting));
        let read = server.read(&mut input, &calls);
        drop(calls);
        let worked = worker.join().unwrap_or_else(|_| Err(io::Error::other("the worker ended")));
        read.and(worked)
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: Write> Server<'_, W> {
    fn read(&self, input: &mut impl BufRead, calls: &Sender<Call>) -> io::Result<()> {
        loop {
            let line = match line::next(input)? {
                Line::End => return Ok(()),
                Line::TooLong => {
                    let why = format!("a line of more than {} bytes", line::LONGEST);
                    self.write(&message::answer(None, Err(Fault::new(PARSE, why))))?;
                    continue;
                }
                Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => continue,
                Line::Whole(line) => line,
            };
            match serde_json::from_slice(&line) {
                Err(error) => {
                    self.write(&message::answer(None, Err(Fault::new(PARSE, format!("no JSON: {error}")))))?;
                }
                // Revision 2025-03-26 has batches. Their calls are answered one by one as they finish.
                Ok(Value::Array(batch)) if !batch.is_empty() => {
                    for one in batch {
                        self.message(one, calls)?;
                    }
                }
                Ok(one) => self.message(one, calls)?,
            }
        }
    }

    fn message(&self, value: Value, calls: &Sender<Call>) -> io::Result<()> {
        match Message::read(value) {
            Message::Answer => Ok(()),
            Message::Notification { method, params } => {
                if method == "notifications/cancelled" {
                    let id = params.get("requestId").and_then(Id::of);
                    locked(&self.state).open.retain(|open| Some(open) != id.as_ref());
                }
                Ok(())
            }
            Message::Wrong { id, why } => {
                self.write(&message::answer(id.as_ref(), Err(Fault::new(message::INVALID, why))))
            }
            Message::Request { id, method, params } if method == "tools/call" => match self.queue(&id, params, calls) {
                Ok(()) => Ok(()),
                Err(fault) => self.write(&message::answer(Some(&id), Err(fault))),
            },
            Message::Request { id, method, params } => {
                self.write(&message::answer(Some(&id), self.answer(&method, &params)))
            }
        }
    }

    fn queue(&self, id: &Id, mut params: Map<String, Value>, calls: &Sender<Call>) -> Result<(), Fault> {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(tool) = self.offer.tools().into_iter().find(|tool| tool.name == name) else {
            return Err(Fault::new(BAD_PARAMS, format!("there is no tool '{}'", shortened(name))));
        };
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err(Fault::new(BAD_PARAMS, "arguments must be an object")),
        };
        let mut state = locked(&self.state);
        if state.open.contains(id) {
            return Err(Fault::new(message::INVALID, "a call with this id is under way"));
        }
        if state.open.len() >= WAITING {
            return Err(Fault::new(BUSY, format!("{WAITING} calls are waiting")));
        }
        state.open.push(id.clone());
        drop(state);
        calls.send(Call { id: id.clone(), tool, arguments }).map_err(|_| Fault::new(BUSY, "the server is ending"))
    }

    fn work(&self, waiting: Receiver<Call>) -> io::Result<()> {
        for call in waiting {
            if !locked(&self.state).open.contains(&call.id) {
                continue;
            }
            let done = self.offer.call(&call.tool.name, &call.arguments);
            let mut state = locked(&self.state);
            let before = state.open.len();
            state.open.retain(|open| *open != call.id);
            if state.open.len() == before {
                continue;
            }
            let result = outcome::result(&call.tool.name, done, &mut state.kept);
            drop(state);
            self.write(&message::answer(Some(&call.id), Ok(result)))?;
        }
        Ok(())
    }

    fn answer(&self, method: &str, params: &Map<String, Value>) -> Result<Value, Fault> {
        match method {
            "initialize" => Ok(self.initialize(params)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({"tools": self.offer.tools().iter().map(listed).collect::<Vec<_>>()})),
            "resources/list" => {
                let state = locked(&self.state);
                let all = self.offer.documents().iter().chain(state.kept.all()).map(entry).collect::<Vec<_>>();
                Ok(json!({"resources": all}))
            }
            "resources/templates/list" => Ok(json!({"resourceTemplates": []})),
            "resources/read" => self.document(params.get("uri").and_then(Value::as_str).unwrap_or_default()),
            _ => Err(Fault::new(NO_METHOD, format!("there is no method '{}'", shortened(method)))),
        }
    }

    fn initialize(&self, params: &Map<String, Value>) -> Value {
        let [name, version, instructions] = self.offer.about();
        let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let chosen = VERSIONS.into_iter().find(|known| *known == asked).unwrap_or(VERSIONS[0]);
        json!({
            "protocolVersion": chosen,
            "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": name, "version": version},
            "instructions": instructions,
        })
    }

    fn document(&self, uri: &str) -> Result<Value, Fault> {
        let documents = self.offer.documents();
        let state = locked(&self.state);
        let found = documents.iter().chain(state.kept.all()).find(|document| document.uri == uri);
        let none = || Fault::new(NO_RESOURCE, format!("there is no resource '{}' (any more)", shortened(uri)));
        let found = found.ok_or_else(none)?;
        Ok(json!({"contents": [{"uri": found.uri, "mimeType": "application/json", "text": found.text}]}))
    }

    fn write(&self, answer: &Value) -> io::Result<()> {
        let mut output = locked(&self.output);
        writeln!(output, "{answer}")?;
        output.flush()
    }
}

fn listed(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input,
        "annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false},
    })
}

fn entry(document: &Document) -> Value {
    json!({
        "uri": document.uri, "name": document.name, "description": document.description,
        "mimeType": "application/json", "size": document.text.len(),
    })
}

/// Shortens a client's text before it is echoed.
fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
