//! The result of `verify`, for users and programs.

use super::sign::small;
use crate::context::{CHECK_FAILED, Context, Format};
use ledger::{Checkpoint, Hash, Proof, Reader, Verdict, Verifier};
use say::Context as _;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// text or json
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// A head hash that you kept elsewhere; exits 1 if the ledger no longer has that row
    #[arg(long, value_name = "HASH", value_parser = hash)]
    expect: Option<Hash>,
    /// A checkpoint from `ledger sign` that you kept elsewhere; exits 1 if rows that it covers are missing or changed
    #[arg(long, value_name = "FILE", requires = "key")]
    checkpoint: Option<PathBuf>,
    /// Verify a lake instead: the folder that `report --export parquet` wrote, with any number of ledgers
    #[arg(long, value_name = "DIR", conflicts_with_all = ["checkpoint", "key"])]
    parquet: Option<PathBuf>,
    /// The public key, or a file with it
    #[arg(long, value_name = "KEY", requires = "checkpoint")]
    key: Option<String>,
}

fn hash(text: &str) -> Result<Hash, say::Message> {
    Hash::parse(text).ok_or_else(|| say::say!("command-hash-form"))
}

/// The result of comparing a separately kept hash with the chain: the row where it was found, or why it does not fit.
enum Held {
    At(u64),
    Not(&'static str),
}

struct Expected {
    /// The signer; None for a bare hash.
    signed: Option<String>,
    hash: Hash,
    held: Held,
}

fn expected(args: &Args, proof: &Proof) -> say::Result<Vec<Expected>> {
    let mut list = Vec::new();
    if let Some(hash) = args.expect {
        let held = proof.row_of(hash).map_or(Held::Not("ledger-not-in-chain"), Held::At);
        list.push(Expected { signed: None, hash, held });
    }
    if let (Some(path), Some(key)) = (&args.checkpoint, &args.key) {
        let key = if key.contains('+') { key.clone() } else { small(key.as_ref())? };
        let verifier = Verifier::parse(&key).about("--key")?;
        let checkpoint = Checkpoint::open(&small(path)?, &verifier).about(path.display())?;
        let held = match proof.row_of(checkpoint.hash) {
            _ if Some(&checkpoint.ledger) != proof.ledger.as_ref() => Held::Not("ledger-another"),
            Some(row) if row == checkpoint.rows => Held::At(row),
            _ => Held::Not("ledger-not-in-chain"),
        };
        list.push(Expected { signed: Some(verifier.name().to_owned()), hash: checkpoint.hash, held });
    }
    Ok(list)
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    if let Some(dir) = &args.parquet {
        return super::lake::run(dir, args.expect, args.format, context);
    }
    let reader = Reader::open_as_it_is(&context.ledger)?;
    let mut said = Instant::now();
    let proof = reader.verify(&mut |row| {
        if said.elapsed() > Duration::from_secs(1) {
            said = Instant::now();
            context.progress(&context.lang.text_with("ledger-verifying", &[("row", row.into())]));
        }
    })?;
    let expected = expected(args, &proof)?;
    let plain = || text(&proof, &expected, reader.exists(), context);
    context.emit_as(args.format, || verdict(&proof, &expected), |_| Ok(plain()))?;
    let held = expected.iter().all(|one| matches!(one.held, Held::At(_)));
    Ok(if held && proof.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

/// The verdict, always in English, like all JSON.
fn verdict(proof: &Proof, expected: &[Expected]) -> Verdict {
    let lang = report::Lang::new("en");
    let one = |one: &Expected| {
        let (row, problem) = match one.held {
            Held::At(row) => (Some(row), None),
            Held::Not(why) => (None, Some(lang.text(why))),
        };
        ledger::Expected { hash: one.hash.to_string(), signed_by: one.signed.clone(), row, problem }
    };
    let key = if expected.is_empty() { "ledger-unproved" } else { "ledger-unproved-after" };
    Verdict {
        ledger: proof.ledger.clone(),
        rows: proof.rows,
        blobs: proof.blobs,
        blob_bytes: proof.blob_bytes,
        head: proof.head.map(|hash| hash.to_string()),
        unacknowledged: proof.unacknowledged,
        problems: proof.problems.iter().map(ToString::to_string).collect(),
        expected: expected.iter().map(one).collect(),
        proved: proof.problems.is_empty().then(|| lang.text("ledger-proved")),
        not_proved: lang.text(key),
    }
}

fn text(proof: &Proof, expected: &[Expected], exists: bool, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = String::new();
    let alarm = |text: &str| if context.color { format!("\x1b[1;31m{text}\x1b[0m") } else { text.to_owned() };
    for problem in &proof.problems {
        let _ = writeln!(out, "{}", alarm(&problem.to_string()));
    }
    if proof.unacknowledged > 0 {
        let _ = writeln!(out, "{}", lang.text_with("ledger-unacknowledged", &[("count", proof.unacknowledged.into())]));
    }
    let key = match (exists, proof.problems.is_empty()) {
        (false, true) => "ledger-empty",
        (_, true) => "ledger-whole",
        (_, false) => "ledger-not-whole",
    };
    let args = [
        ("dir", context.ledger.to_string_lossy().into()),
        ("rows", proof.rows.into()),
        ("blobs", proof.blobs.into()),
        ("bytes", proof.blob_bytes.into()),
        ("problems", proof.problems.len().into()),
        ("head", proof.head.map(|hash| hash.to_string()).unwrap_or_default().into()),
    ];
    let _ = writeln!(out, "{}", lang.text_with(key, &args));
    for one in expected {
        let hash = one.hash.to_string();
        let _ = match one.held {
            Held::At(row) => {
                let key = if one.signed.is_some() { "ledger-signed-held" } else { "ledger-expected-held" };
                let args = [
                    ("hash", hash.into()),
                    ("row", row.into()),
                    ("since", proof.rows.saturating_sub(row).into()),
                    ("name", one.signed.clone().unwrap_or_default().into()),
                ];
                writeln!(out, "{}", lang.text_with(key, &args))
            }
            Held::Not(why) => {
                let args = [("hash", hash.into()), ("why", lang.text(why).into())];
                writeln!(out, "{}", alarm(&lang.text_with("ledger-expected-gone", &args)))
            }
        };
    }
    if exists && proof.problems.is_empty() {
        let unproved = if expected.is_empty() { "ledger-unproved" } else { "ledger-unproved-after" };
        let _ = writeln!(out, "{}\n{}", lang.text("ledger-proved"), lang.text(unproved));
    }
    out
}
