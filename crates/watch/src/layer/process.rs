//! One process under the layer: reads its records, counts its dispatches, and checks its device.

use crate::dispatches::{Dispatches, Each};
use crate::growing_trace::GrowingTrace;
use crate::preload::is_of_session;
use crate::{Maker, Tally};
use say::say;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

#[derive(Debug)]
pub(super) struct Process {
    pub trace: GrowingTrace,
    pub counted: Dispatches,
    /// Why reading stopped.
    pub broken: Option<say::Message>,
    /// Records and dispatches that were already counted as lost.
    lost: u64,
}

impl Process {
    /// None while the writer has not written its header yet.
    pub fn open(path: &Path) -> io::Result<Option<Process>> {
        let Some(trace) = GrowingTrace::open(path)? else { return Ok(None) };
        if trace.writer != vulkan::WRITER {
            return Err(io::Error::other(say!("watch-record-not-layer")));
        }
        Ok(Some(Process { counted: Dispatches::new(trace.pid), trace, broken: None, lost: 0 }))
    }

    /// Reads the available records; returns whether there were any. `gone`: the process has ended.
    pub fn drain(&mut self, tally: &mut Tally, gone: bool, each: &mut Each<'_>) -> io::Result<bool> {
        let mut any = false;
        loop {
            let chunk = self.trace.next(gone)?;
            if chunk.is_empty() {
                break;
            }
            any = true;
            for (record, body) in chunk.iter() {
                let ended = self.counted.stream.feed(record, body);
                self.counted.settle(tally, ended, each);
            }
            self.counted.count(tally, false, each);
        }
        if gone {
            self.counted.finish(tally, each);
        }
        let lost = self.trace.lost + self.counted.stream.dropped() + if gone { self.trace.torn } else { 0 };
        tally.lost += lost.saturating_sub(self.lost);
        self.lost = self.lost.max(lost);
        self.counted.refusals(tally);
        Ok(any)
    }

    /// Checks which devices the process dispatched to. Its open files are known only while it runs.
    pub fn look_at_device(&self, session: &Path, tally: &mut Tally) {
        let pid = self.trace.pid;
        let devices = &self.counted.stream.run().devices;
        let used: Vec<_> = devices.iter().filter(|device| self.counted.used.contains(&device.handle)).collect();
        if used.is_empty() {
            return;
        }
        if used.iter().all(|device| device.is_processor()) {
            let names: BTreeSet<&str> = used.iter().map(|device| device.name.as_str()).collect();
            return tally.devices.computes(pid, &names.into_iter().collect::<Vec<_>>().join(", "));
        }
        if !tally.devices.wants_look(pid, Maker::Vulkan) {
            return;
        }
        let gone = !Path::new(&format!("/proc/{pid}")).exists();
        if gone || is_of_session(pid, session) {
            tally.devices.launched(pid, Maker::Vulkan, has_stand_in(pid));
        } else {
            let why = say::say!("watch-device-other-namespace");
            tally.devices.unlooked(pid, Maker::Vulkan, why);
        }
    }
}

/// Mesa's stand-ins for kernel drivers (`libamdgpu_noop_drm_shim.so` and others) are preloaded.
pub fn has_stand_in(pid: u32) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.lines().any(|line| line.ends_with("_drm_shim.so"))
}
