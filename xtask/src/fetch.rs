//! `cargo xtask fetch`: the test artifacts, into the cache.

use artifacts::Tier;
use std::process::{Command, ExitCode};

/// Runtimes that the tests run on, brought by the tool itself. Two targets of rocBLAS are enough for the quick tier:
/// all of them are 4 GB.
const RUNTIMES: &[(&str, Tier, &[&str])] = &[
    ("debian-sid", Tier::Quick, &["--parts", "ggml,tools,hip,rocblas", "--targets", "gfx1100,gfx900"]),
    ("debian-sid", Tier::Deep, &["--parts", "hipblaslt", "--targets", "gfx1201"]),
    ("debian-experimental", Tier::Deep, &["--parts", "rocblas", "--targets", "gfx1201,gfx942"]),
    ("debian-trixie", Tier::Deep, &["--parts", "rocblas", "--targets", "gfx900"]),
];

/// Fetches every artifact of the quick tier (and of the deep one, if asked). What cannot be had is named; the tests
/// that need it are then skipped, or fail with `CI=true`.
pub fn run(deep: bool) -> anyhow::Result<ExitCode> {
    let mut missing = 0;
    for artifact in artifacts::manifest() {
        if artifact.tier == Tier::Deep && !deep {
            continue;
        }
        let name = artifact.name();
        let cached = artifacts::directory(&name).is_dir();
        match artifacts::fetch(&artifact) {
            Ok(_) if cached => {}
            Ok(place) => eprintln!("fetched {name} -> {}", place.display()),
            Err(error) => {
                eprintln!("missing {name}: {error}");
                missing += 1;
            }
        }
    }
    for (name, tier, args) in RUNTIMES {
        if *tier == Tier::Deep && !deep {
            continue;
        }
        // A cached runtime that has these parts is taken as it is, without asking the network.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["run", "--quiet", "-p", "whichkernel", "--", "runtime", "fetch", name, "--yes"])
            .args(*args)
            .status()?;
        if !status.success() {
            eprintln!("missing {name}: see above");
            missing += 1;
        }
    }
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
