//! Finds remains of ended processes: BPF objects that no process holds, probes in tracefs, directories.

use anyhow::{Context, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Kind and id, from the descriptor's information in /proc.
type Object = (&'static str, u64);

pub struct Leftovers {
    lister: PathBuf,
    before: BTreeSet<Object>,
}

impl Leftovers {
    pub fn new(dir: &Path) -> anyhow::Result<Leftovers> {
        let (source, lister) = (dir.join("bpf.c"), dir.join("bpf"));
        std::fs::write(&source, include_str!("fixtures/bpf.c"))?;
        let done = Command::new("cc").arg("-o").arg(&lister).arg(&source).output().context("cc")?;
        ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let mut leftovers = Leftovers { lister, before: BTreeSet::new() };
        leftovers.before = leftovers.orphans()?;
        Ok(leftovers)
    }

    /// Objects that stay without a holder even after a wait: the kernel frees some of them a moment after their
    /// process.
    pub fn bpf(&self) -> anyhow::Result<Vec<String>> {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let left: Vec<Object> = self.orphans()?.difference(&self.before).copied().collect();
            if left.is_empty() || Instant::now() > until {
                return Ok(left.into_iter().map(|(kind, id)| format!("{kind} {id}")).collect());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Objects that no descriptor of any process refers to, directly or through another object.
    fn orphans(&self) -> anyhow::Result<BTreeSet<Object>> {
        let listed = Command::new(&self.lister).output()?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        let mut held = held();
        let mut all: BTreeSet<Object> = BTreeSet::new();
        // Links come first: an open link keeps its program, and a program keeps its maps.
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
        for kind in ["link", "prog", "map"] {
            for line in lines.iter().filter(|line| line[0] == kind) {
                let number = |at: usize| line.get(at).and_then(|text| text.parse::<u64>().ok());
                let Some(id) = number(1) else { continue };
                all.insert((
                    if kind == "link" {
                        "link"
                    } else if kind == "prog" {
                        "prog"
                    } else {
                        "map"
                    },
                    id,
                ));
                let below = if kind == "link" { "prog" } else { "map" };
                if held.contains(&(kind, id)) {
                    held.extend((2..line.len()).filter_map(number).map(|id| (below, id)));
                }
            }
        }
        Ok(all.into_iter().filter(|(kind, id)| !held.contains(&(*kind, *id))).collect())
    }
}

fn held() -> BTreeSet<(&'static str, u64)> {
    let mut out = BTreeSet::new();
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    for process in entries(Path::new("/proc")) {
        for descriptor in entries(&process.path().join("fdinfo")) {
            let text = std::fs::read_to_string(descriptor.path()).unwrap_or_default();
            for line in text.lines() {
                for kind in ["link", "prog", "map"] {
                    let id = line.strip_prefix(kind).and_then(|rest| rest.strip_prefix("_id:"));
                    out.extend(id.and_then(|id| id.trim().parse().ok()).map(|id| (kind, id)));
                }
            }
        }
    }
    out
}

/// Probes of tracefs on files below a directory.
pub fn tracefs(below: &Path) -> usize {
    let places = ["/sys/kernel/tracing/uprobe_events", "/sys/kernel/debug/tracing/uprobe_events"];
    let text = places.iter().find_map(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    text.lines().filter(|line| line.contains(&below.display().to_string())).count()
}

/// The number of the tool's entries in a directory, and their size in bytes.
pub fn directories(place: &Path) -> (usize, u64) {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().contains("whichkernel"));
    ours.fold((0, 0), |(count, bytes), entry| (count + 1, bytes + size(&entry.path())))
}

fn size(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let own = std::fs::symlink_metadata(path).map_or(0, |meta| meta.blocks() * 512);
    let below = std::fs::read_dir(path).into_iter().flatten().flatten();
    own + below.map(|entry| size(&entry.path())).sum::<u64>()
}
