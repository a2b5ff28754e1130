//! Functions that a program gets by name from the runtime (`hipGetProcAddress`, `cuGetProcAddress`). The address need
//! not be that of an exported function; it then has no probe until it is handed out.

use crate::bpf::backend::Backend;
use crate::bpf::instrument::Pointed;
use crate::bpf::wire::Event;
use crate::events::name_in;
use crate::probes::attached::by_descriptor;
use crate::probes::entries::{ENTRIES, Home, Role, suspect};
use crate::probes::exits::exits;
use crate::probes::symbols::{entries_of, unknown_of};
use crate::target::mapped_file::reachable;
use crate::target::proc::clock;
use crate::target::processes::Mapping;
use crate::watcher::Watcher;
use codeobject::elf::Elf;
use codeobject::launch_map::Image;
use std::collections::BTreeSet;
use std::io;
use sys::unix::{AsRawFd, RawFd};
use watch::{Gap, Late};

impl Watcher {
    /// A program received a function's address. If the function launches, it has a probe when this returns, or a gap is
    /// recorded.
    pub(crate) fn pointed(&mut self, event: &Event<'_>) {
        let (process, pointer) = (event.key.tgid, event.aux);
        let Some(call) = name_in(event.bytes).map(str::to_owned) else { return };
        let Some(wanted) = wanted(&call).filter(|_| pointer != 0 && self.resolver.processes.knows(process)) else {
            return;
        };
        let inside = |mapping: &&Mapping| (mapping.start..mapping.end).contains(&pointer);
        let Some(mapping) = self.resolver.processes.mapped(process).iter().find(inside).cloned() else {
            self.window.missed(Gap::Pointer { process, call }, 1);
            return;
        };
        let offset = pointer - mapping.start + mapping.offset;
        if !self.attached.pointers.insert((mapping.file(), offset)) {
            return;
        }
        match self.equip_pointer(process, &mapping, offset, wanted) {
            Ok(true) if !self.attached.stands_still(process) => {
                let late = Late(clock().saturating_sub(event.time) / 1000);
                self.window.gap(Gap::LatePointer { call, late });
            }
            Ok(_) => {}
            Err(_) => self.window.missed(Gap::Pointer { process, call }, 1),
        }
    }

    /// Places a probe; false if calls of the function are already seen.
    fn equip_pointer(&mut self, pid: u32, mapping: &Mapping, offset: u64, wanted: Option<usize>) -> io::Result<bool> {
        let held = self.hold_file(pid, mapping)?;
        let path = by_descriptor(held);
        let file = inventory::File::open(&path).map_err(io::Error::other)?;
        let elf = Elf::parse(&file).map_err(io::Error::other)?;
        let home = self.attached.probed.get(&mapping.file()).copied();
        let symbols = home.and_then(|home| entries_of(&file, home).ok()).unwrap_or_default();
        let counted = home.and_then(|home| unknown_of(&file, home, &symbols).ok()).unwrap_or_default();
        let offsets = symbols.iter().map(|symbol| symbol.offset).chain(counted.iter().map(|export| export.offset));
        if offsets.into_iter().any(|known| known == offset) {
            return Ok(false);
        }
        let entry = wanted.ok_or(io::ErrorKind::Unsupported)?;
        let holds = |segment: &&codeobject::elf::Segment| offset.wrapping_sub(segment.offset) < segment.file_size;
        let segment = elf.segments().iter().find(holds).ok_or(io::ErrorKind::NotFound)?;
        let address = offset - segment.offset + segment.address;
        let image = Image::read(&file).map_err(io::Error::other)?;
        let exported = symbols.iter().find(|symbol| symbol.entry == entry);
        if exported.is_some_and(|exported| reaches(&image, address, exported.address)) {
            return Ok(false);
        }
        let path = path.to_string_lossy().into_owned();
        let passes_on = exported.filter(|exported| reaches(&image, exported.address, address));
        let instead = passes_on.map(|exported| (path.as_str(), exported.offset));
        let code = image.bytes_at(address).unwrap_or(&[]);
        let code = code.get(..code.len().min(256)).unwrap_or(code);
        let Backend::Bpf(instrument) = &mut self.attached.backend else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        instrument.probe_pointer(&Pointed { entry, path: &path, offset, address, code }, &image, instead)?;
        Ok(true)
    }

    fn hold_file(&mut self, pid: u32, mapping: &Mapping) -> io::Result<RawFd> {
        if let Some(held) = self.attached.by_file.get(&mapping.file()) {
            return Ok(*held);
        }
        let reached = reachable(pid, mapping).ok_or(io::ErrorKind::NotFound)?;
        let file = sys::regular_file::open(&reached.path())?;
        let held = file.as_raw_fd();
        self.attached.held.push(file);
        self.attached.by_file.insert(mapping.file(), held);
        Ok(held)
    }
}

/// The entry for a name: nothing if it neither launches nor concerns graphs, an unknown entry if its name suggests a launch.
fn wanted(name: &str) -> Option<Option<usize>> {
    let concerns = |role: Role| {
        role.launches() || role.is_of_graphs() || matches!(role, Role::BeginCapture | Role::BeginCaptureTo)
    };
    let named = |symbol: &str| {
        ENTRIES.iter().position(|entry| entry.symbol == symbol && entry.home.launches() && concerns(entry.role))
    };
    let found = named(name).or_else(|| named(&format!("{name}_v2")));
    let suspected = || suspect(Home::Hip, name).or_else(|| suspect(Home::Cuda, name)).is_some();
    (found.is_some() || suspected()).then_some(found)
}

/// Whether one function calls or jumps to another, directly or through a few other functions of the file.
fn reaches(image: &Image<'_>, from: u64, to: u64) -> bool {
    const MOST: usize = 32;
    let (mut seen, mut waiting) = (BTreeSet::new(), vec![from]);
    while let Some(at) = waiting.pop() {
        if seen.len() >= MOST || !seen.insert(at) {
            continue;
        }
        let calls = exits(image, at, 0).calls;
        if calls.contains(&to) {
            return true;
        }
        waiting.extend(calls);
    }
    false
}
