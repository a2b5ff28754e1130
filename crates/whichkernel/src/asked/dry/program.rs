//! Runs of a program that the user names, for `dryrun` and `diff`.

use super::{Ask, DEFAULT_RUNTIME, Lane, card};
use dryrun::{Described, GRAPHS, Outcome, PRODUCTS, Plan, Request, RunRoot, Streams};
use say::ensure;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use sys::interrupt;
use sys::unix::MetadataExt;

/// The program with its arguments, and what is asked about its run.
#[derive(Debug, Clone)]
pub struct Program<'a> {
    pub ask: &'a Ask,
    pub command: &'a [OsString],
    /// Whether the graphs that it computes are recorded.
    pub graphs: bool,
}

impl Program<'_> {
    /// The root to run in: the named one; this machine for a program that is installed here; otherwise the default.
    pub fn place(&self) -> say::Result<RunRoot> {
        if let Some(name) = &self.ask.runtime {
            return Ok(RunRoot::find(name)?);
        }
        let installed = self.command.first().is_some_and(|program| sys::on_path(program).is_some());
        Ok(if installed { RunRoot::Host } else { RunRoot::find(DEFAULT_RUNTIME)? })
    }

    /// Several cards form one machine with several GPUs, each with the kernels of its own target.
    pub fn plans(&self, cards: &[String], place: &RunRoot) -> say::Result<Vec<Plan>> {
        let program = self.command.first().map(Path::new);
        let blas = self.ask.blas != Lane::Recorded;
        let mut plans = Vec::new();
        for given in cards {
            let card = card::find(given, &self.ask.set)?;
            plans.push(Plan::new(place, card, self.ask.strict, blas, program)?);
        }
        ensure!(!plans.is_empty(), "command-gpu-card");
        Ok(plans)
    }

    /// Runs the program on one machine with these devices.
    pub fn perform(&self, place: &RunRoot, plans: &[Plan], streams: Streams) -> say::Result<Outcome> {
        let profiles: Vec<_> = plans.iter().map(|plan| plan.card.profile.clone()).collect();
        let devices: Vec<_> = plans.iter().map(|plan| (&plan.described, plan.strict)).collect();
        let described = Described::of_devices(&devices)?;
        let show = shown(self.command, place);
        let wanted = [Some(PRODUCTS), self.graphs.then_some(GRAPHS)];
        let variables: Vec<_> = wanted.into_iter().flatten().map(|name| (name.to_owned(), "1".to_owned())).collect();
        let request = Request {
            place,
            profiles: &profiles,
            described: &described,
            strict: plans.iter().all(|plan| plan.strict),
            command: self.command,
            show: &show,
            blas: self.ask.blas.into(),
            streams,
            preload: false,
            sparse_read: self.command.iter().any(|word| is_skeleton(Path::new(word))),
            variables: &variables,
        };
        // From here on, a signal ends the program, but not its report.
        interrupt::catch();
        Ok(request.run()?)
    }
}

/// A large, nearly empty sparse file: there are no weights to read.
pub fn is_skeleton(path: &Path) -> bool {
    const LARGE: u64 = 64 << 20;
    std::fs::metadata(path)
        .is_ok_and(|file| file.is_file() && file.len() > LARGE && file.blocks() * 512 < file.len() / 16)
}

/// Arguments that are files or directories here must be visible at the same path inside the tree.
pub fn shown(command: &[OsString], place: &RunRoot) -> Vec<PathBuf> {
    let RunRoot::Tree { .. } = place else { return Vec::new() };
    let mut list = Vec::new();
    for word in command.iter().skip(1) {
        // A number or a flag may be a file name by chance; a word with a slash or a dot is meant as a file.
        let named = word.to_string_lossy().contains(['/', '.']);
        let Ok(path) = std::path::absolute(word) else { continue };
        // Devices such as /dev/null exist inside the tree too.
        if named && (path.is_file() || path.is_dir()) && !list.iter().any(|known: &PathBuf| path.starts_with(known)) {
            list.push(path.to_owned());
        }
    }
    list
}
