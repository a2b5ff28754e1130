//! `cargo xtask fetch`: fetches the test artifacts to the tests' cache.

use runtime::fetch::{Planned, Request, plan};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use test_artifacts::{Artifact, FetchError, Kind, Tier};

/// Fetches every artifact of the quick tier (and of the deep one, if requested). Unavailable artifacts are named; the
/// tests that need them are then skipped, or fail with `CI=true`.
pub fn run(deep: bool) -> anyhow::Result<ExitCode> {
    let mut missing = 0;
    for artifact in test_artifacts::manifest() {
        if artifact.is_here() || artifact.tier == Tier::Deep && !deep {
            continue;
        }
        let name = artifact.name();
        eprintln!("fetching {name}");
        let outcome = match artifact.kind {
            Kind::Runtime => test_artifacts::settle(&artifact, |work| bring(&artifact, work)),
            _ => test_artifacts::fetch(&artifact),
        };
        match outcome {
            Ok(place) => eprintln!("fetched {name} -> {}", place.display()),
            Err(error) => {
                eprintln!("missing {name}: {error}");
                missing += 1;
            }
        }
    }
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Fetches a runtime with the product's own code, in a separate cache where an interrupted download continues. Only the
/// packages that tests need are kept.
fn bring(artifact: &Artifact, work: &Path) -> Result<PathBuf, FetchError> {
    let refused = |said: &dyn std::fmt::Display| FetchError::Client {
        program: "runtime fetch",
        artifact: artifact.name(),
        said: said.to_string(),
    };
    let cache = runtime::Cache::at(work);
    let request = Request {
        suite: artifact.package.clone(),
        parts: artifact.parts.clone(),
        targets: Some(artifact.targets.clone()),
        ..Request::default()
    };
    let index = match plan(&cache, &request, false).map_err(|error| refused(&error))? {
        Planned::Here(index) => *index,
        Planned::Fetch(plan) => {
            eprintln!("  {} MB of packages", plan.download_bytes() / 1_000_000);
            plan.carry_out(&cache, &|_| ()).map_err(|error| refused(&error))?
        }
    };
    let made = cache.runtime(&artifact.package);
    let (archives, debs) = (cache.apt(&artifact.package).join("cache/archives"), made.join("debs"));
    fs::create_dir_all(&debs).map_err(|error| refused(&error))?;
    for name in &artifact.debs {
        let package = index.package(name).ok_or_else(|| refused(&format!("{name} is not among its packages")))?;
        fs::copy(archives.join(&package.deb), debs.join(&package.deb)).map_err(|error| refused(&error))?;
    }
    Ok(made)
}
