//! The proof, for a person or a program.

use crate::context::{CHECK_FAILED, Context, Format};
use ledger::Reader;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// text or json
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let reader = Reader::open_as_it_is(&context.ledger)?;
    let mut said = Instant::now();
    let proof = reader.verify(&mut |row| {
        if said.elapsed() > Duration::from_secs(1) {
            said = Instant::now();
            context.progress(&context.lang.text_with("ledger-verifying", &[("row", row.into())]));
        }
    })?;
    let lang = &context.lang;
    let out = if args.format == Format::Json {
        let json = serde_json::json!({
            "schema": "whichkernel.ledger-verify/1",
            "ledger": proof.ledger,
            "rows": proof.rows,
            "blobs": proof.blobs,
            "blob_bytes": proof.blob_bytes,
            "head": proof.head.map(|hash| hash.to_string()),
            "unacknowledged": proof.unacknowledged,
            "problems": proof.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        format!("{}\n", serde_json::to_string_pretty(&json)?)
    } else {
        let mut out = String::new();
        for problem in &proof.problems {
            let text = if context.color { format!("\x1b[1;31m{problem}\x1b[0m") } else { problem.to_string() };
            let _ = writeln!(out, "{text}");
        }
        if proof.unacknowledged > 0 {
            let _ =
                writeln!(out, "{}", lang.text_with("ledger-unacknowledged", &[("count", proof.unacknowledged.into())]));
        }
        let key = match (reader.exists(), proof.problems.is_empty()) {
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
        out
    };
    context.print(&out)?;
    Ok(if proof.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}
