//! Reads recorded answers again: a folder with an `index.json`, the bodies and the server's logs.

use crate::exchange::Exchange;
use crate::launches::Account;
use say::{Key, Message, key};
use serde_json::{Value, json};
use server::Request;
use std::io::Read;
use std::path::{Path, PathBuf};
use sys::files::{self, Access};
use sys::regular_file;

/// The maximum number of bytes read of one file and in total.
const MOST_FILE: u64 = 64 << 20;
const MOST_ALL: u64 = 512 << 20;
const MOST_EXCHANGES: usize = 100_000;

#[derive(Debug)]
pub enum ReplayError {
    Io { path: PathBuf, source: std::io::Error },
    Json { path: PathBuf, source: serde_json::Error },
    Shape { path: PathBuf, what: Key },
}

say::worded! { ReplayError {
    Io { path, source } => "about-why" (what = path, why = source),
    Json { path, source } => "about-why" (what = path, why = Message::verbatim(source)),
    Shape { path, what } => "about-why" (what = path, why = what),
}}

/// A recording.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// The exchanges, in the order in which they happened.
    pub exchanges: Vec<Exchange>,
    /// Logs that do not belong to a single exchange: name and text.
    pub logs: Vec<(String, String)>,
    /// Files that the index names but the folder does not have.
    pub missing: Vec<String>,
    /// Why a live run ended before its last request.
    pub ended: Option<Message>,
    /// The number of planned requests of a live run.
    pub planned: Option<u64>,
    /// The observer's report of a watched run. Never read from a file.
    pub account: Option<Account>,
}

pub fn open(dir: &Path) -> Result<Recording, ReplayError> {
    let index = dir.join("index.json");
    let bytes =
        regular_file::whole(&index, MOST_FILE).map_err(|source| ReplayError::Io { path: index.clone(), source })?;
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|source| ReplayError::Json { path: index.clone(), source })?;
    let shape = |what: Key| ReplayError::Shape { path: index.clone(), what };
    let entries: Vec<(String, Value)> = match value {
        Value::Object(map) => map.into_iter().collect(),
        Value::Array(list) => list
            .into_iter()
            .enumerate()
            .map(|(i, entry)| (field(&entry, "name").unwrap_or_else(|| i.to_string()), entry))
            .collect(),
        _ => return Err(shape(key!("probe-replay-form"))),
    };
    if entries.len() > MOST_EXCHANGES {
        return Err(shape(key!("probe-replay-too-many")));
    }
    let mut left = MOST_ALL;
    let mut recording = Recording::default();
    let mut ordered: Vec<(u64, usize, Exchange)> = Vec::new();
    for (place, (name, entry)) in entries.into_iter().enumerate() {
        let Some(exchange) = exchange(dir, &name, &entry, &mut left, &mut recording.missing) else { continue };
        let order = entry.get("n").and_then(Value::as_u64).unwrap_or(u64::MAX);
        ordered.push((order, place, exchange));
    }
    ordered.sort_by_key(|(order, place, _)| (*order, *place));
    recording.exchanges = ordered.into_iter().map(|(_, _, exchange)| exchange).collect();
    if recording.exchanges.is_empty() {
        return Err(shape(key!("probe-replay-empty")));
    }
    recording.logs = logs(dir, &mut left);
    Ok(recording)
}

/// A recording as the `index.json` of a folder that can be read again.
pub fn text(recording: &Recording) -> String {
    let mut index = Vec::new();
    for (n, exchange) in recording.exchanges.iter().enumerate() {
        let body = match &exchange.request {
            Request::None => Value::Null,
            Request::Json(value) => value.clone(),
            Request::Text(text) => Value::from(text.as_str()),
        };
        index.push(json!({
            "n": n, "name": exchange.name, "request": format!("{} {}", exchange.method, exchange.path), "body": body,
            "status": exchange.status, "answer": exchange.answer, "log": exchange.log, "asked": exchange.asked,
            "wall_ms": exchange.wall_ms, "beside": exchange.beside,
        }));
    }
    // One exchange per line, so that a person can read it.
    let lines: Vec<String> = index.iter().map(Value::to_string).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// Writes a folder for `--replay`: the index, and the logs that were read.
pub fn write(dir: &Path, recording: &Recording) -> std::io::Result<()> {
    files::create_dir_all(dir, Access::Private)?;
    files::replace(&dir.join("index.json"), Access::Private, text(recording))?;
    for (name, log) in &recording.logs {
        let name = if name.ends_with(".log") { name.clone() } else { format!("{name}.log") };
        files::replace(&dir.join(name), Access::Private, log)?;
    }
    Ok(())
}

fn field(entry: &Value, key: &str) -> Option<String> {
    entry.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn exchange(dir: &Path, name: &str, entry: &Value, left: &mut u64, missing: &mut Vec<String>) -> Option<Exchange> {
    let line = field(entry, "request")?;
    let (method, path) = line.split_once(' ')?;
    let request = match entry.get("body") {
        None | Some(Value::Null) => Request::None,
        Some(Value::String(body)) => match serde_json::from_str(body) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => Request::Json(value),
            _ => Request::Text(body.clone()),
        },
        Some(value) => Request::Json(value.clone()),
    };
    let status = entry.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok()).unwrap_or(0);
    let answer = match field(entry, "file") {
        Some(file) => match read_below(dir, Path::new(&file), left) {
            Ok(answer) => answer,
            Err(error) => {
                missing.push(format!("{file}: {error}"));
                return None;
            }
        },
        None => field(entry, "answer").unwrap_or_default(),
    };
    let plain = Path::new(name).file_name().is_some_and(|file| file == name);
    let log = plain.then(|| read_below(dir, &Path::new("log").join(format!("{name}.log")), left).ok()).flatten();
    Some(Exchange::from(server::Exchange {
        name: name.to_owned(),
        method: method.to_owned(),
        path: path.to_owned(),
        request,
        status,
        answer,
        log: log.or_else(|| field(entry, "log")).unwrap_or_default(),
        asked: entry.get("asked").and_then(Value::as_u64),
        wall_ms: entry.get("wall_ms").and_then(Value::as_f64),
        beside: entry.get("beside").and_then(Value::as_u64).unwrap_or(0),
    }))
}

/// The creator of the folder chooses the file names: nothing outside of it is opened, and the size read is limited.
fn read_below(dir: &Path, path: &Path, left: &mut u64) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    regular_file::open_below(dir, path)?.take(MOST_FILE.min(*left)).read_to_end(&mut bytes)?;
    *left = left.saturating_sub(bytes.len() as u64);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `*.log` files next to the index, the start before the load.
fn logs(dir: &Path, left: &mut u64) -> Vec<(String, String)> {
    let names =
        std::fs::read_dir(dir).into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".log")).collect();
    names.sort_by_key(|name| (!name.starts_with("start"), name.clone()));
    names.into_iter().filter_map(|name| Some((name.clone(), read_below(dir, Path::new(&name), left).ok()?))).collect()
}
