//! The three ways to receive probe hits, behind one interface.

use crate::bpf::instrument::{Calls, Instrument, Probed};
use crate::bpf::perf_backend::{Sampled, Whose};
use crate::bpf::wire::{Count, Key};
use crate::coverage::Window;
use crate::options::{How, Options};
use crate::probes::arm::{Armed, armed};
use crate::probes::entries::Home;
use codeobject::ReadAt;
use say::{Message, say};
use std::fs;
use std::io;
use std::path::Path;
use sys::abi;
use sys::unix::MetadataExt;
use watch::{Gap, WatchError};

#[derive(Debug)]
pub enum Backend {
    Bpf(Box<Instrument>),
    Perf(Sampled),
    /// Uses existing probes, without privileges.
    Armed(Sampled, Vec<Armed>),
}

fn refused(error: io::Error) -> WatchError {
    let call = "perf_event_open";
    let refused = WatchError::new(say!("uprobe-call-refused", call), error).fix(say!("uprobe-root-or-armed"));
    WatchError { call: Some(call), ..refused }
}

impl Backend {
    pub fn new(options: &Options) -> Result<Backend, WatchError> {
        match options.how {
            How::Bpf => {
                let mut instrument = Instrument::new(options.room, options.choice, options.machine)?;
                let shipped = instrument.ship_arguments(options.arguments);
                shipped.map_err(|error| WatchError::new(say!("uprobe-map"), error))?;
                Ok(Backend::Bpf(Box::new(instrument)))
            }
            How::Perf => Ok(Backend::Perf(Sampled::new(Whose::Everyone).map_err(refused)?)),
            How::Armed => {
                let probes = armed();
                if probes.is_empty() {
                    let fix = Message::verbatim("sudo whichkernel watch arm /path/to/libamdhip64.so.6");
                    return Err(WatchError::new(say!("uprobe-without-root"), say!("uprobe-none-armed")).fix(fix));
                }
                // Programs that we start from now on inherit the probes.
                let mut sampled = Sampled::new(Whose::Children).map_err(refused)?;
                sampled.adopt(&probes, Whose::Children).map_err(refused)?;
                Ok(Backend::Armed(sampled, probes))
            }
        }
    }

    /// Follows an existing process. Without privileges, each of its threads is opened separately.
    pub fn follow(&mut self, pid: u32, window: &mut Window) -> Result<(), WatchError> {
        let Backend::Armed(sampled, probes) = self else { return Ok(()) };
        // Processes that we started inherit the probes.
        if parent(pid) == Some(std::process::id()) {
            return Ok(());
        }
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).map_err(refused)?;
        for task in tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse::<i32>().ok()) {
            let whose = Whose::Thread(task);
            match sampled.adopt(probes, whose) {
                Err(error) if error.raw_os_error() == Some(abi::ESRCH) => {}
                Err(error) => return Err(refused(error)),
                Ok(()) => {}
            }
        }
        window.gap(Gap::NewThreads);
        Ok(())
    }

    pub fn probe(&mut self, path: &Path, home: Home, file: &dyn ReadAt, calls: Calls) -> Result<Probed, WatchError> {
        let text = path.to_string_lossy();
        match self {
            Backend::Bpf(instrument) => instrument.probe(&text, home, file, calls),
            Backend::Perf(sampled) => sampled.probe(&text, home, file),
            Backend::Armed(_, probes) => {
                let inode = fs::metadata(path).map_or(0, |meta| meta.ino());
                let count = probes.iter().filter(|probe| probe.inode == inode).count();
                // Vulkan calls pass their data through pointers, so without BPF its loader gets no probe.
                if count == 0 && home.launches() && home != Home::Vulkan {
                    let fix = say::shell::CommandLine::new("sudo whichkernel watch arm {}", [path.to_string_lossy()]);
                    return Err(WatchError::about(text, say!("uprobe-no-probes")).fix(Message::verbatim(fix)));
                }
                let functions = vec![("", crate::probes::site::Site::ENTRY); count];
                Ok(Probed { functions, ..Probed::default() })
            }
        }
    }

    pub fn watch_returns(&mut self, on: bool) -> io::Result<()> {
        if let Backend::Bpf(instrument) = self { instrument.watch_returns(on) } else { Ok(()) }
    }

    pub fn watch_outer(&mut self, on: bool) -> io::Result<()> {
        if let Backend::Bpf(instrument) = self { instrument.watch_outer(on) } else { Ok(()) }
    }

    /// Without a runtime in addition to the driver there is nothing to enable.
    pub fn watches_outer(&self) -> bool {
        if let Backend::Bpf(instrument) = self { instrument.watches_outer() } else { false }
    }

    pub fn set_quiet(&mut self, on: bool) -> io::Result<()> {
        if let Backend::Bpf(instrument) = self { instrument.set_quiet(on) } else { Ok(()) }
    }

    pub fn watches_returns(&self) -> bool {
        if let Backend::Bpf(instrument) = self { instrument.watches_returns() } else { false }
    }

    pub fn set_layout(&mut self, tgid: u32, handle: u64, layout: &[u8]) -> io::Result<()> {
        if let Backend::Bpf(instrument) = self { instrument.set_layout(tgid, handle, layout) } else { Ok(()) }
    }

    pub fn forget_layout(&self, tgid: u32, handle: u64) {
        if let Backend::Bpf(instrument) = self {
            instrument.forget_layout(tgid, handle);
        }
    }

    /// A counter of the programs; 0 without BPF.
    pub fn counter(&self, number: i32) -> u64 {
        if let Backend::Bpf(instrument) = self { instrument.counter(number) } else { 0 }
    }

    pub fn counted(&self) -> Vec<(Key, Count)> {
        if let Backend::Bpf(instrument) = self { instrument.counted() } else { Vec::new() }
    }

    pub fn wait(&self, milliseconds: i32) {
        match self {
            Backend::Bpf(instrument) => instrument.ring.wait(milliseconds),
            Backend::Perf(sampled) | Backend::Armed(sampled, _) => sampled.wait(milliseconds),
        }
    }

    pub fn disarm(&mut self) {
        match self {
            Backend::Bpf(instrument) => instrument.disarm(),
            Backend::Perf(sampled) | Backend::Armed(sampled, _) => sampled.disarm(),
        }
    }
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::fake::{Call, fail};

    fn refusal(how: How) -> WatchError {
        Backend::new(&Options { how, ..Options::default() }).expect_err("refused")
    }

    /// A user without capabilities always gets these errors; root never does.
    #[test]
    fn a_refusal_names_the_call_the_reason_and_the_way_out() {
        let (_bpf, _perf) = (fail(Call::BpfMap, abi::EPERM), fail(Call::PerfEventOpen, abi::EACCES));
        let (bpf, perf) = (refusal(How::Bpf), refusal(How::Perf));
        assert_eq!(bpf.call, Some("bpf (map)"));
        let text = bpf.to_string();
        assert!(text.contains("Operation not permitted") && text.contains("CAP_BPF and CAP_PERFMON"), "{text}");
        assert_eq!(perf.call, Some("perf_event_open"));
        let text = perf.to_string();
        assert!(text.contains("Permission denied") && text.contains("whichkernel watch arm"), "{text}");
    }
}
