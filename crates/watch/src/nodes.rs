//! The GPU device files that a process holds, from its descriptors and mappings in /proc.

use launch::trace::Held;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use sys::abi;
use sys::unix::{FileTypeExt, MetadataExt};

/// A device file of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    /// AMD's compute driver, which every HIP launch needs (ROCR, hsaKmtOpenKFD).
    Kfd,
    Render(u32),
    /// A card. /dev/nvidiactl and -uvm are also open in processes that use no card.
    Nvidia(u32),
    /// The host's GPU in WSL.
    Dxg,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Kfd => f.write_str("/dev/kfd"),
            Node::Render(n) => write!(f, "/dev/dri/renderD{n}"),
            Node::Nvidia(n) => write!(f, "/dev/nvidia{n}"),
            Node::Dxg => f.write_str("/dev/dxg"),
        }
    }
}

/// Why a process's files could not be checked.
#[derive(Debug)]
pub(super) enum Unlooked {
    Ended,
    Refused { pid: u32, file: &'static str, source: io::Error },
}

say::worded! { Unlooked {
    Ended => "watch-nodes-ended",
    Refused { pid, file, source } => "watch-nodes-refused",
}}

/// The device files that the process holds now.
pub(super) fn held(pid: u32) -> Result<Vec<Node>, Unlooked> {
    let refused = |file: &'static str| {
        move |source: io::Error| match source.kind() {
            ErrorKind::NotFound => Unlooked::Ended,
            // The process no longer has any memory to read from.
            _ if source.raw_os_error() == Some(abi::ESRCH) || ended(pid) => Unlooked::Ended,
            _ => Unlooked::Refused { pid, file, source },
        }
    };
    let drivers = Drivers::read();
    let mut nodes = Vec::new();
    let mut files = 0_usize;
    for entry in fs::read_dir(format!("/proc/{pid}/fd")).map_err(refused("fd"))? {
        let path = entry.map_err(refused("fd"))?.path();
        files += 1;
        let Ok(name) = fs::read_link(&path) else { continue };
        // Checks the device number and not only the name: in another mount namespace any file may have this name.
        let Some(node) = named(&name) else { continue };
        if let Ok(file) = fs::metadata(&path)
            && file.file_type().is_char_device()
            && drivers.serve(node, file.rdev())
        {
            nodes.push(node);
        }
    }
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).map_err(refused("maps"))?;
    if files == 0 && maps.is_empty() && ended(pid) {
        return Err(Unlooked::Ended);
    }
    // Queues and doorbells stay mapped from the device file after its descriptor is closed.
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace().skip(5);
        if let Some(node) = words.next().and_then(|path| named(Path::new(path)))
            && let Some(range) = line.split(' ').next()
            && let Ok(file) = fs::metadata(format!("/proc/{pid}/map_files/{range}"))
            && file.file_type().is_char_device()
            && drivers.serve(node, file.rdev())
        {
            nodes.push(node);
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

/// Of the files that a process reported to have held, those whose device numbers match their names.
pub(super) fn told(files: &[Held]) -> Vec<Node> {
    let drivers = Drivers::read();
    let nodes = files.iter().filter_map(|file| Some((named(Path::new(&file.path))?, file.number)));
    let mut nodes: Vec<Node> =
        nodes.filter(|(node, number)| drivers.serve(*node, *number)).map(|(node, _)| node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Whether the process is a zombie, which keeps only its process id.
fn ended(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| matches!(rest.trim_start().chars().next(), Some('Z' | 'X') | None))
}

fn named(path: &Path) -> Option<Node> {
    let name = path.to_str()?.strip_prefix("/dev/")?;
    let number = |start: &str| name.strip_prefix(start)?.parse::<u32>().ok();
    match name {
        "kfd" => Some(Node::Kfd),
        "dxg" => Some(Node::Dxg),
        _ => number("dri/renderD").map(Node::Render).or_else(|| number("nvidia").map(Node::Nvidia)),
    }
}

/// The kernel's own list of character devices, by major number (proc(5), /proc/devices); empty if it cannot be read.
struct Drivers(BTreeMap<u64, Vec<String>>);

impl Drivers {
    fn read() -> Drivers {
        let text = fs::read_to_string("/proc/devices").unwrap_or_default();
        Drivers::parse(&text)
    }

    fn parse(text: &str) -> Drivers {
        let mut list: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for line in text.lines().take_while(|line| !line.starts_with("Block")) {
            let mut words = line.split_ascii_whitespace();
            if let (Some(Ok(major)), Some(name)) = (words.next().map(str::parse), words.next()) {
                list.entry(major).or_default().push(name.to_owned());
            }
        }
        Drivers(list)
    }

    /// Whether a file with this device number matches its name.
    fn serve(&self, node: Node, rdev: u64) -> bool {
        // WSL's device is one of many under "misc".
        let start = match node {
            Node::Kfd => "kfd",
            Node::Render(_) => "drm",
            Node::Nvidia(_) => "nvidia",
            Node::Dxg => "misc",
        };
        let major = u64::from(abi::major(rdev));
        self.0.is_empty() || self.0.get(&major).is_some_and(|names| names.iter().any(|name| name.starts_with(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_device_files() {
        let of = |path: &str| named(Path::new(path));
        assert_eq!(of("/dev/kfd"), Some(Node::Kfd));
        assert_eq!(of("/dev/dri/renderD128"), Some(Node::Render(128)));
        assert_eq!(of("/dev/nvidia0"), Some(Node::Nvidia(0)));
        for other in ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/dri/card0", "/home/x/dev/kfd", "/dev/kfd (deleted)"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_name_alone_is_no_device() {
        let drivers =
            Drivers::parse("Character devices:\n  1 mem\n195 nvidia\n226 drm\n235 kfd\n\nBlock devices:\n  7 loop\n");
        let (null, kfd, loop0) = (abi::makedev(1, 3), abi::makedev(235, 0), abi::makedev(7, 0));
        assert!(drivers.serve(Node::Kfd, kfd) && drivers.serve(Node::Nvidia(0), abi::makedev(195, 0)));
        assert!(!drivers.serve(Node::Kfd, null), "/dev/null, mounted over /dev/kfd");
        assert!(!drivers.serve(Node::Kfd, loop0) && !drivers.serve(Node::Nvidia(0), kfd));
    }

    #[test]
    fn this_process_can_be_looked_at_and_one_that_is_over_cannot() {
        held(std::process::id()).expect("our own files");
        let mut child = std::process::Command::new("true").spawn().expect("a program");
        let over = || ended(child.id());
        while !over() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(matches!(held(child.id()), Err(Unlooked::Ended)), "nobody has waited for it");
        child.wait().expect("its end");
    }
}
