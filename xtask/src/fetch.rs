//! `cargo xtask fetch`: the test artifacts, into the cache.

use artifacts::Tier;
use std::process::ExitCode;

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
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
