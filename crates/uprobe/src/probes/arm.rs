//! One privileged step: creates probes in tracefs that a user may then open on their own processes.
//!
//! They stay until `disarm`, even if whichkernel ends; `doctor` lists them. The ids needed to open them are in a
//! world-readable file, because tracefs cannot be read without privileges.

use crate::bpf::perf_backend::tells;
use crate::probes::entries::ENTRIES;
use crate::probes::recognise::{Recognised, recognise};
use crate::probes::site;
use crate::probes::symbols::entries_of;
use crate::target::mapped_file::Reached;
use say::{Message, Say, say};
use serde::{Deserialize, Serialize};
use std::ffi::CStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use sys::files::{self, Access};
use sys::unix::MetadataExt;
use watch::WatchError;

/// The group name under which whichkernel creates probes in tracefs.
pub const PROBE_GROUP: &str = "whichkernel";

/// A probe in tracefs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Armed {
    pub symbol: String,
    /// The tracepoint's number.
    pub id: u64,
    pub pushed: i16,
    pub path: PathBuf,
    pub inode: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Note {
    probes: Vec<Armed>,
    /// Whether we mounted tracefs; `disarm` then unmounts it.
    mounted: bool,
}

const NOTE: &str = "/run/whichkernel/armed.json";
const TRACEFS: &str = "/sys/kernel/tracing";
const EVENTS: &str = "/sys/kernel/tracing/uprobe_events";
const MOUNT_POINT: &CStr = c"/sys/kernel/tracing";

fn refused(what: Message) -> impl FnOnce(io::Error) -> WatchError {
    move |error| WatchError::new(what, error).fix(Message::verbatim("sudo whichkernel watch arm"))
}

/// Probes the launch functions of these runtime libraries, and of those that a process has mapped.
pub fn arm(libraries: &[PathBuf], mapped: &[Reached]) -> Result<Vec<Armed>, WatchError> {
    let mounted = mount()?;
    let mut note = read();
    note.mounted |= mounted;
    let before = note.probes.len();
    let mut all: Vec<(PathBuf, PathBuf)> = Vec::new();
    for path in libraries {
        let path = path.canonicalize().map_err(refused(say!("uprobe-the-library")))?;
        all.push((path.clone(), path));
    }
    all.extend(mapped.iter().map(|reached| (reached.path(), PathBuf::from(&reached.name))));
    for (path, name) in &all {
        if let Err(error) = one(path, name, &mut note) {
            // Either all probes are created or none: on failure, the probes created by this call are removed again.
            let made = note.probes.split_off(before);
            made.iter().for_each(|probe| drop(remove(probe)));
            return Err(error);
        }
    }
    write(&note)?;
    Ok(note.probes.split_off(before))
}

/// `path`: where the file is found now; `shown`: its name.
fn one(path: &Path, shown: &Path, note: &mut Note) -> Result<(), WatchError> {
    let name = shown.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let wrong = |why: Message| WatchError::about(shown.display(), why);
    // A line of uprobe_events ends at a line break or `#`, and spaces separate its words: such a name would become
    // another command.
    let text = path.to_str().filter(|text| !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '#'));
    let text = text.ok_or_else(|| wrong(say!("uprobe-tracefs-path")))?;
    let Recognised::Home(home) = recognise(&name, path) else {
        return Err(wrong(say!("uprobe-not-a-runtime")));
    };
    let file = inventory::File::open(path).map_err(|error| wrong(error.message()))?;
    let inode = fs::metadata(path).map_err(|error| wrong(error.message()))?.ino();
    let symbols = entries_of(&file, home).map_err(|error| wrong(error.message()))?;
    for symbol in &symbols {
        let Some(entry) = ENTRIES.get(symbol.entry).filter(|entry| tells(entry)) else { continue };
        if note.probes.iter().any(|probe| probe.inode == inode && probe.symbol == entry.symbol) {
            continue;
        }
        let site = site::cheapest(&symbol.code, false);
        let event = event(entry.symbol, inode);
        let offset = symbol.offset + site.offset;
        let line = format!("p:{PROBE_GROUP}/{event} {text}:{offset:#x}\n");
        append(&line).map_err(refused(Message::verbatim(EVENTS)))?;
        let id = fs::read_to_string(format!("{TRACEFS}/events/{PROBE_GROUP}/{event}/id"));
        let id = id.ok().and_then(|text| text.trim().parse().ok());
        let id = id.ok_or_else(|| wrong(say!("uprobe-no-number", event)))?;
        let (symbol, path) = (entry.symbol.to_owned(), shown.to_owned());
        note.probes.push(Armed { symbol, id, pushed: site.pushed, path, inode });
    }
    Ok(())
}

/// Removes all of our probes from tracefs, including those not in the note; returns their number.
pub fn disarm() -> Result<usize, WatchError> {
    let note = read();
    let events = fs::read_to_string(EVENTS).unwrap_or_default();
    let ours = events.lines().filter_map(|line| {
        let name = line.split(' ').next()?.split_once(':')?.1;
        name.starts_with(&format!("{PROBE_GROUP}/")).then(|| name.to_owned())
    });
    let mut count = 0;
    for name in ours {
        append(&format!("-:{name}\n")).map_err(refused(say!("uprobe-removing", events = EVENTS, name)))?;
        count += 1;
    }
    match files::remove(Path::new(NOTE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(Message::verbatim(NOTE))(error)),
        _ => {}
    }
    let _ = fs::remove_dir("/run/whichkernel");
    if note.mounted {
        // Unmounting fails if another process uses tracefs, which then stays mounted.
        let _ = sys::mount::unmount(MOUNT_POINT);
    }
    Ok(count)
}

/// The armed probes, which are available to all users.
pub fn armed() -> Vec<Armed> {
    read().probes
}

fn event(symbol: &str, inode: u64) -> String {
    format!("{symbol}_{inode:x}")
}

fn remove(probe: &Armed) -> io::Result<()> {
    append(&format!("-:{PROBE_GROUP}/{}\n", event(&probe.symbol, probe.inode)))
}

fn append(line: &str) -> io::Result<()> {
    files::append(Path::new(&EVENTS), Access::Private)?.write_all(line.as_bytes())
}

/// True if tracefs had to be mounted.
fn mount() -> Result<bool, WatchError> {
    if Path::new(TRACEFS).join("uprobe_events").exists() {
        return Ok(false);
    }
    sys::mount::tracefs(MOUNT_POINT).map(|()| true).map_err(refused(say!("uprobe-mounting-tracefs")))
}

fn read() -> Note {
    sys::regular_file::whole(Path::new(NOTE), 16 << 20)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

fn write(note: &Note) -> Result<(), WatchError> {
    let bytes = serde_json::to_vec_pretty(note).unwrap_or_default();
    files::create_dir_all(Path::new("/run/whichkernel"), Access::Public)
        .and_then(|()| files::replace(Path::new(NOTE), Access::Public, bytes))
        .map_err(refused(Message::verbatim(NOTE)))
}
