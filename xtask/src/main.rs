//! The project's own commands, the same on a laptop and in CI: `cargo xtask test`, `cargo xtask fetch`.
#![deny(unsafe_code)]

mod changes;
mod decision_tables;
mod deep;
mod dist;
mod fetch;
mod fingerprint_table;
mod fuzz;
mod isa_oracle;
mod isa_tables;
mod ollama_pins;
mod packages;
mod ports;
mod python;
mod test;
mod web;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  test [ARGS...]   install and fetch what the tests need, run them all, say what was skipped and why (ARGS go to cargo test)
  deep [NAME...]   the long comparisons with other tools, over everything in the tests' cache
  fuzz [--seconds N] [--target NAME] [--seed N]
                   mutated files against the parsers
  isa-tables [--check] [TARGET...]
                   the instruction decoder's tables, asked out of LLVM
  isa-oracle random [COUNT] [TARGET...] | file FILE [TARGET] | quick
                   the instruction decoder against LLVM
  fingerprint-table REPO [bN=TREE...]
                   when each ggml kernel existed, from a clone of llama.cpp and sources of later builds
  ollama-pins [--check] --llama REPO --ollama REPO
                   the list of which llama.cpp each Ollama release has, from clones of both
  decision-tables [--check] [--llama REPO] [--ollama REPO] [NAME...]
                   the embedded decision tables, extracted from the sources
  changes REPO DIR [--since RELEASE]
                   the list of releases at which a path changed, from an atlas of a clone of llama.cpp in DIR
  dist [--binary FILE] [--out DIR] [KIND...]
                   the packages of a release: tar.gz, deb, rpm, wheel, container image, web page, manifests
  dist-check DIR [ROOT.tar...]
                   installs these packages into clean roots, asks each, and prints the seconds (needs root)
  web [--out DIR]  the web page with its WebAssembly module
  ports [windows|arm64|wasm...]
                   builds for other systems with Debian sid's Rust in a root of its own (needs root and mmdebstrap)
  fetch [--deep]   bring the test artifacts into the tests' cache
";

fn main() -> anyhow::Result<ExitCode> {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    match command.as_str() {
        "test" => test::run(&rest),
        "deep" => deep::run(&rest),
        "isa-tables" => isa_tables::run(&rest),
        "isa-oracle" => isa_oracle::run(&rest),
        "fuzz" => fuzz::run(&rest),
        "fingerprint-table" => fingerprint_table::run(&rest),
        "decision-tables" => decision_tables::run(&rest),
        "changes" => changes::run(&rest),
        "ollama-pins" => ollama_pins::run(&rest),
        "dist" => dist::run(&rest),
        "dist-check" => dist::trial::run(&rest),
        "web" => web::run(&rest),
        "ports" => ports::run(&rest),
        "fetch" => fetch::run(rest.iter().any(|arg| arg == "--deep")),
        _ => {
            eprint!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}
