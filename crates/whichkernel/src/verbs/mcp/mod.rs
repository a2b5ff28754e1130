//! `whichkernel mcp`: the read-only verbs as tools of a Model Context Protocol server on standard input and output.

mod arguments;
mod tools;

use crate::context::{COULD_NOT_RUN, Context, LOOK_ONLY};
use mcp::{Document, Done, Offer, Tool};
use serde_json::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Output, Stdio};
use sys::unix::CommandExt as _;
use tools::{Offered, TOOLS};

/// Offer the read-only commands as tools of a Model Context Protocol server, on standard input and output // An agent's
/// program starts it. It writes nothing, connects to nothing, and starts no program except itself and git, which reads
/// the clones that the client names. If the kernel has Landlock, it enforces this. The server ends with its input.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: &Args, whole: clap::Command, context: &Context) -> say::Result<ExitCode> {
    // A dynamic program is executed by its loader.
    let git = sys::on_path("git".as_ref());
    let mut programs = vec![Path::new("/lib64/ld-linux-x86-64.so.2"), Path::new(OURSELVES)];
    programs.extend(git.as_deref());
    let held = match sys::look_only::look_only(&programs) {
        Ok(_) => true,
        Err(error) => {
            context.note(&context.lang.text_with("mcp-not-held", &[("why", error.to_string().into())]));
            false
        }
    };
    let looking = Looking { ledger: context.ledger.clone(), held, whole };
    mcp::serve(io::BufReader::new(io::stdin().lock()), io::stdout(), &looking)?;
    Ok(ExitCode::SUCCESS)
}

/// The running program itself, even if its file was replaced.
const OURSELVES: &str = "/proc/self/exe";

struct Looking {
    ledger: PathBuf,
    /// Whether the kernel enforces read-only access.
    held: bool,
    whole: clap::Command,
}

impl Offer for Looking {
    fn about(&self) -> [String; 3] {
        let held = if self.held { " The Linux kernel enforces this." } else { "" };
        let use_it = format!(
            "Which GPU kernel runs, and how do we know? Start with explain (no files needed) or check. Every answer states \
             its rung: declared (source), shipped (file), loaded, selected (dry run), launched, completed. Never report a \
             lower rung as a higher one, and repeat what an answer reports as not requested, lost or not observed. Answers \
             omit null fields and other languages; the linked resource has everything, and whichkernel://schema/NAME \
             has the schema. No tool writes files, opens connections or runs programs, except git to read clones.{held}"
        );
        ["whichkernel".into(), env!("CARGO_PKG_VERSION").into(), use_it]
    }

    fn tools(&self) -> Vec<Tool> {
        TOOLS.iter().filter_map(|offered| tool(offered, &self.whole)).collect()
    }

    fn documents(&self) -> Vec<Document> {
        let document = |kind: answer::Kind| Document {
            uri: format!("whichkernel://schema/{}", kind.name()),
            name: kind.name().to_owned(),
            description: kind.about(),
            text: kind.schema().to_string(),
        };
        crate::answers::all().into_iter().map(document).collect()
    }

    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Done {
        let found = TOOLS.iter().find(|offered| offered.verb == tool);
        let Some((offered, verb)) = found.zip(self.whole.find_subcommand(tool)) else {
            return Done::failed("no such tool");
        };
        let words = match arguments::words(offered, verb, arguments) {
            Ok(words) => words,
            Err(why) => return Done::failed(why),
        };
        // Each call runs in a separate process, so that a failure affects nothing else.
        let ran = sys::program::given(OURSELVES)
            .arg0(&words[0])
            .args(["--lang", "en", "--color", "never", "--ledger"])
            .arg(&self.ledger)
            .args(&words[1..])
            .env(LOOK_ONLY, "1")
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .output();
        match ran {
            Ok(ran) => done(&ran),
            Err(error) => Done::failed(format!("the tool could not be started: {error}")),
        }
    }
}

fn done(ran: &Output) -> Done {
    let said = String::from_utf8_lossy(&ran.stderr);
    match ran.status.code() {
        None => Done::failed(format!("the tool crashed ({}); please report this\n{said}", ran.status)),
        Some(code) if code == i32::from(COULD_NOT_RUN) => Done::failed(said.trim_end()),
        Some(_) => {
            let mut notes: Vec<String> = said.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
            let answer = serde_json::from_slice(&ran.stdout).ok();
            if answer.is_none() {
                notes.insert(0, String::from_utf8_lossy(&ran.stdout).into_owned());
            }
            Done { answer, notes, failed: false }
        }
    }
}

fn tool(offered: &Offered, whole: &clap::Command) -> Option<Tool> {
    let verb = whole.find_subcommand(offered.verb)?;
    let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
    let mut kinds = crate::answers::all();
    kinds.retain(|kind| offered.answers.iter().any(|name| kind.is(name)));
    let schemas: Vec<&str> = kinds.iter().map(answer::Kind::name).collect();
    let description = format!("{about}. {} Schemas: {}.", offered.remark, schemas.join(", "));
    Some(Tool { name: offered.verb.to_owned(), description, input: arguments::schema(offered, verb) })
}
