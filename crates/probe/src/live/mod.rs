//! A live server, asked: who it is, prompts of exact lengths, the ladder, and what came of it.

mod client;
mod ladder;
mod prompts;
mod who;

pub use client::{Client, Ended, Question};
pub use ladder::{LADDER, Plan};

use crate::Answer;
use crate::gather::{Wanted, answer};
use crate::model::Mix;
use crate::replay::Recording;
use crate::server::{Identity, Kind};
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use sys::http::Address;
use watch::claims::{Claims, Gatherer, Meaning};

/// What a run needs to know.
#[derive(Debug, Clone)]
pub struct Live {
    pub to: Address,
    pub model: Option<String>,
    pub patience: Duration,
    pub logs: Vec<std::path::PathBuf>,
    /// The server's process, where it is known: its command line is read for claims.
    pub pids: Vec<u32>,
    /// Its command line, for the sizes of its batches.
    pub command: Vec<String>,
    pub wanted: Wanted,
}

/// A run that ended: the answer from everything that was asked until then, the raw exchanges, and why it ended early.
#[derive(Debug)]
pub struct Run {
    pub answer: Answer,
    pub recording: Recording,
    pub ended: Option<Ended>,
}

/// Asks. An error only where nobody could be asked at all.
pub fn run(live: &Live, plan: &mut Plan, whole_ladder: bool, progress: &mut dyn FnMut(&str)) -> Result<Run, Ended> {
    let mut client = Client::new(live.to.clone(), live.patience);
    let url = format!("http://{}", live.to);
    let identity = who::identify(&mut client, live.model.as_deref())?;
    let gatherer = Gatherer::new(live.pids.clone(), Some(&url), &live.logs)
        .map_err(|(path, error)| Ended::Server(format!("{}: {error}", path.display())))?;
    let mut wanted = live.wanted.clone();
    wanted.url = Some(url);
    if wanted.model.is_none() {
        wanted.model = local_model(&live.to, &identity);
    }
    let shown = client.exchanges.iter().find(|exchange| exchange.route() == "/api/show");
    let mix = wanted.model.clone().or_else(|| Mix::from_show(&shown?.json()?));
    let begins = mix.as_ref().and_then(|mix| mix.begins);
    let ended = match prompts::prepare(&mut client, &identity) {
        Ok(mut prompts) => {
            if whole_ladder {
                plan.tokens.extend(thresholds(&client, &wanted, mix.as_ref()));
                plan.tokens.sort_unstable();
                plan.tokens.dedup();
            }
            ladder::climb(&mut client, &identity, begins, &mut prompts, plan, progress).err()
        }
        Err(error) => Some(error),
    };
    let mut claims = gatherer.finish();
    claims.unread.clear();
    let logs = live.logs.iter().filter_map(|path| {
        let bytes = sys::regular_file::whole(path, 64 << 20).ok()?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((name, String::from_utf8_lossy(&bytes).into_owned()))
    });
    let mut logs: Vec<(String, String)> = logs.collect();
    let said = batches(&live.command, &claims);
    if !said.is_empty() {
        // First of all, so that what a log says of the load itself replaces it.
        logs.insert(0, ("gathered.log".to_owned(), said));
    }
    let recording = Recording { exchanges: client.exchanges, logs, missing: Vec::new() };
    let answer = finished(&recording, &wanted, claims, ended.as_ref());
    Ok(Run { answer, recording, ended })
}

/// Batch sizes that were said elsewhere than in a log that was named, in the words of such a log: a recording keeps them so.
fn batches(command: &[String], claims: &Claims) -> String {
    let mut lines = String::new();
    for claim in &claims.list {
        if let Meaning::MicroBatch(most) = claim.meaning {
            lines.push_str(&format!("n_ubatch = {most} ({}: {})\n", claim.origin, claim.said));
        }
    }
    let after = |name: &str| command.iter().skip_while(|word| *word != name).nth(1)?.parse::<u64>().ok();
    if let Some(batch) = after("-b").or_else(|| after("--batch-size")) {
        lines.push_str(&format!("n_batch = {batch} (command line)\n"));
    }
    lines
}

/// The answer with how the run ended in it.
fn finished(recording: &Recording, wanted: &Wanted, claims: Claims, ended: Option<&Ended>) -> Answer {
    let mut answer = answer(recording, wanted, claims);
    answer.ended = ended.map(ToString::to_string);
    answer
}

/// Both sides of every change of path that the rules declare for this GPU and these types.
fn thresholds(client: &Client, wanted: &Wanted, mix: Option<&Mix>) -> Vec<u64> {
    let recording = Recording { exchanges: client.exchanges.clone(), ..Recording::default() };
    let wanted = Wanted { model: mix.cloned(), ..wanted.clone() };
    crate::gather::thresholds(&recording, &wanted)
        .into_iter()
        .flat_map(|last| [last, last + 1])
        .filter(|n| *n <= 1024)
        .collect()
}

/// llama-server says where its model lies: on this machine, its header can be read.
fn local_model(to: &Address, identity: &Identity) -> Option<Mix> {
    let here = matches!(to.host.as_str(), "localhost" | "127.0.0.1" | "::1");
    let path = identity.model_path.as_deref().filter(|_| here && identity.kind == Kind::LlamaServer)?;
    model_file(Path::new(path))
}

/// A model's matrices by type, from the beginning of its file.
pub fn model_file(path: &Path) -> Option<Mix> {
    let mut size = 1 << 20;
    loop {
        let bytes = sys::regular_file::start(path, size).ok()?;
        match gguf::Gguf::parse(&bytes) {
            Ok(file) => return Some(Mix::from_gguf(&file)),
            Err(gguf::Error::Truncated { .. }) if bytes.len() as u64 == size && size < 256 << 20 => size *= 4,
            Err(_) => return None,
        }
    }
}

/// Gives the model up at once (Ollama docs/api.md, "Unload a model").
fn unload(model: &str) -> Question {
    let body = json!({"model": model, "keep_alive": 0, "stream": false});
    Question { name: "unload".into(), path: "/api/generate", body, asked: None }
}
