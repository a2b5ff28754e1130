//! Without BPF: each probe hit is a sample with the caller's registers and the top of its stack.
//!
//! Samples give handle, grid, block, shared memory and stream of every launch. Data behind pointers are out of reach:
//! argument bytes, the column counts in them, and results of calls, so replayed graphs cannot be expanded.

use crate::bpf::instrument::Probed;
use crate::bpf::wire::{Event, Key, key, kind};
use crate::probes::arm::Armed;
use crate::probes::entries::{ENTRIES, Entry, Gemm, Home, Role, Shape};
use crate::probes::site;
use crate::probes::site::Site;
use crate::probes::symbols::{entries_of, unknown_of};
use codeobject::ReadAt;
use say::{Message, Say, say};
use std::collections::HashMap;
use std::io;
use sys::abi;
use sys::perf_event;
use sys::perf_event::{Attr, Buffer, Event as Probe, UprobePlace, bit, sample};
use watch::WatchError;

/// CX, DX, SI, DI, SP, R8, R9 (arch/x86/include/uapi/asm/perf_regs.h), in the order in which samples contain them.
const REGISTERS: u64 = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 16 | 1 << 17;
/// Bytes of the stack per sample: the frames of the known functions and the arguments above them.
const STACK: u32 = 512;
/// Pages per CPU. Without privileges, `perf_event_mlock_kb` allows 516 kB.
const PAGES: usize = 64;
const PAGES_OF_ROOT: usize = 2048;
const TRACEPOINT: u32 = 2;
const SOFTWARE: u32 = 1;
const DUMMY: u64 = 9;

/// The processes whose hits are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Everyone,
    /// A thread and all threads and processes that it starts.
    Thread(i32),
    /// Programs that this process starts, from their first instruction.
    Children,
}

#[derive(Debug)]
pub struct Sampled {
    buffers: Vec<Buffer>,
    probes: Vec<Probe>,
    /// Entry and frame by the id in the samples.
    by_id: HashMap<u64, (usize, i16)>,
    captures: HashMap<(u32, u64), u32>,
    next_capture: u32,
    dropped: u64,
    hits: u64,
    /// The final values of the kernel's counters.
    counted: u64,
}

impl Sampled {
    /// Buffers for all processes (with privileges), for one thread, or for the programs that we start.
    pub fn new(whose: Whose) -> io::Result<Sampled> {
        let mut buffers = Vec::new();
        for cpu in perf_event::processors() {
            let attr = Attr { kind: SOFTWARE, config: DUMMY, ..attr(whose) };
            let event = Probe::open(&attr, pid(whose), cpu)?;
            let pages = if whose == Whose::Everyone { PAGES_OF_ROOT } else { PAGES };
            buffers.push(Buffer::new(event, pages)?);
        }
        let (by_id, captures) = (HashMap::new(), HashMap::new());
        Ok(Sampled { buffers, probes: Vec::new(), by_id, captures, next_capture: 0, dropped: 0, hits: 0, counted: 0 })
    }

    /// Probes a library for all processes, through the uprobe PMU.
    pub fn probe(&mut self, path: &str, home: Home, file: &dyn ReadAt) -> Result<Probed, WatchError> {
        let failed = |what: &str, why: Message| {
            WatchError::about(format!("{path}: {what}"), why).fix(say!("uprobe-run-as-root"))
        };
        let pmu = perf_event::pmu().ok_or_else(|| failed("uprobes", say!("uprobe-no-events")))?;
        let mut symbols = entries_of(file, home).map_err(|error| failed("symbols", error.message()))?;
        let unknown = unknown_of(file, home, &symbols).map_err(|error| failed("symbols", error.message()))?;
        let uncounted = unknown.into_iter().map(|export| export.symbol).collect();
        let mut probed = Probed { uncounted, ..Probed::default() };
        symbols.sort_by_key(|symbol| ENTRIES.get(symbol.entry).is_some_and(|entry| entry.role.launches()));
        for symbol in &symbols {
            let Some(entry) = ENTRIES.get(symbol.entry).filter(|entry| tells(entry)) else { continue };
            let site = site::cheapest(&symbol.code, false);
            let place = UprobePlace { pmu, path, offset: symbol.offset + site.offset, at_return: false };
            self.open(symbol.entry, site, Whose::Everyone, |attr, pid, cpu| Probe::uprobe(&place, attr, pid, cpu))
                .map_err(|error| failed(entry.symbol, error.message()))?;
            probed.functions.push((entry.symbol, site));
        }
        Ok(probed)
    }

    /// Opens armed probes.
    pub fn adopt(&mut self, armed: &[Armed], whose: Whose) -> io::Result<()> {
        for probe in armed {
            let Some(entry) = ENTRIES.iter().position(|entry| entry.symbol == probe.symbol) else { continue };
            let site = Site { pushed: probe.pushed, ..Site::ENTRY };
            self.open(entry, site, whose, |attr, pid, cpu| {
                Probe::open(&Attr { kind: TRACEPOINT, config: probe.id, ..*attr }, pid, cpu)
            })?;
        }
        Ok(())
    }

    fn open(
        &mut self,
        entry: usize,
        site: Site,
        whose: Whose,
        open: impl Fn(&Attr, i32, i32) -> io::Result<Probe>,
    ) -> io::Result<()> {
        for (cpu, buffer) in perf_event::processors().into_iter().zip(&self.buffers) {
            let event = open(&attr(whose), pid(whose), cpu)?;
            event.redirect(buffer)?;
            self.by_id.insert(event.id()?, (entry, site.pushed));
            if whose != Whose::Children {
                event.enable()?;
            }
            self.probes.push(event);
        }
        Ok(())
    }

    pub fn disarm(&mut self) {
        self.counted += self.probes.iter().filter_map(|probe| probe.hits().ok()).sum::<u64>();
        perf_event::release(std::mem::take(&mut self.probes));
    }

    /// Hits that gave no sample. A full buffer reports its losses only when it has space again; the counters always do.
    pub fn lost(&self) -> u64 {
        self.counted.saturating_sub(self.hits).max(self.dropped)
    }

    pub fn wait(&self, milliseconds: i32) {
        perf_event::wait(&self.buffers, milliseconds);
    }

    /// Returns all events since the last call, in order.
    pub fn read(&mut self) -> Vec<Event<'static>> {
        const LOST: u32 = 2;
        const SAMPLE: u32 = 9;
        let mut samples = Vec::new();
        let mut lost = 0;
        for buffer in &mut self.buffers {
            buffer.read(|kind, _, body| match kind {
                SAMPLE => samples.extend(Hit::read(body)),
                LOST => lost += long(body, 8),
                _ => {}
            });
        }
        self.dropped += lost;
        samples.sort_by_key(|hit| hit.time);
        self.hits += samples.len() as u64;
        samples.iter().filter_map(|hit| self.event(hit)).collect()
    }

    fn event(&mut self, hit: &Hit) -> Option<Event<'static>> {
        let (number, pushed) = *self.by_id.get(&hit.id)?;
        let entry = ENTRIES.get(number)?;
        let [cx, dx, si, di, _, r8, r9] = hit.registers;
        let above = usize::try_from(8 + i64::from(pushed)).unwrap_or(usize::MAX);
        let stack = |place: u64| long(&hit.stack, above.saturating_add(8 * place as usize));
        let mut key = Key {
            handle: di,
            tgid: hit.pid,
            entry: u32::try_from(number).ok()?,
            grid: [0; 3],
            block: [0; 3],
            shared: 0,
            columns: key::NONE,
            graph: 0,
        };
        let low = |value: u64| value as u32;
        let high = |value: u64| (value >> 32) as u32;
        let mut stream = 0;
        match entry.role {
            Role::Launch(Shape::Dim3) => {
                (key.grid, key.block) = ([low(si), high(si), low(dx)], [low(cx), high(cx), low(r8)]);
                (key.shared, stream) = (low(stack(0)), stack(1));
            }
            Role::Launch(Shape::Flat) => {
                (key.grid, key.block) = ([low(si), low(dx), low(cx)], [low(r8), low(r9), low(stack(0))]);
                (key.shared, stream) = (low(stack(1)), stack(2));
            }
            // Grid and stream are behind a pointer.
            Role::Launch(Shape::Config) => key.handle = si,
            Role::Gemm(Gemm { type_a, batch }) => {
                let of = |place: Option<u8>, none: u32| place.map_or(none, |place| low(stack(place.into())));
                (key.handle, key.grid) = (0, [low(cx), low(r8), low(r9)]);
                key.block = [of(batch, 1), of(type_a, u32::MAX), 0];
            }
            // The extents are in descriptors.
            Role::LtMatmul => (key.handle, key.grid, key.block) = (0, [key::NONE; 3], [1, key::NONE, 0]),
            Role::Launch(Shape::Bare(_)) => {}
            Role::BeginCapture | Role::BeginCaptureTo => {
                self.next_capture += 1;
                self.captures.insert((hit.pid, di), self.next_capture);
                return None;
            }
            Role::EndCapture => {
                self.captures.remove(&(hit.pid, di));
                return None;
            }
            Role::Copy if cx & 7 != 2 => return None,
            _ => {}
        }
        key.graph = self.captures.get(&(hit.pid, stream)).copied().unwrap_or(0);
        let (kind, tid, time, aux, status) = (kind::CALL, hit.tid, hit.time, 0, 0);
        Some(Event { kind, tid, time, key, stream, aux, status, bytes: &[] })
    }
}

/// Entries for which registers and stack alone give information.
pub fn tells(entry: &Entry) -> bool {
    matches!(
        entry.role,
        Role::Launch(_)
            | Role::Gemm(_)
            | Role::LtMatmul
            | Role::BeginCapture
            | Role::BeginCaptureTo
            | Role::EndCapture
            | Role::Replay
            | Role::Copy
            | Role::CopyBack
    )
}

fn pid(whose: Whose) -> i32 {
    match whose {
        Whose::Everyone => -1,
        Whose::Thread(tid) => tid,
        Whose::Children => 0,
    }
}

fn attr(whose: Whose) -> Attr {
    let base = bit::DISABLED | bit::EXCLUDE_KERNEL | bit::SAMPLE_ID_ALL | bit::USE_CLOCKID;
    let flags = match whose {
        Whose::Everyone => base,
        Whose::Thread(_) => base | bit::INHERIT,
        Whose::Children => base | bit::INHERIT | bit::ENABLE_ON_EXEC,
    };
    Attr {
        sample_period: 1,
        sample_type: sample::TID | sample::TIME | sample::ID | sample::REGS_USER | sample::STACK_USER,
        flags,
        wakeup: 1,
        regs_user: REGISTERS,
        stack_user: STACK,
        clockid: abi::CLOCK_MONOTONIC,
        ..Attr::default()
    }
}

/// One sample: `pid tid, time, id, abi registers, size stack dyn_size`.
struct Hit {
    pid: u32,
    tid: u32,
    time: u64,
    id: u64,
    registers: [u64; 7],
    stack: Vec<u8>,
}

impl Hit {
    fn read(body: &[u8]) -> Option<Hit> {
        let (first, abi) = (long(body, 0), long(body, 24));
        if abi == 0 {
            return None;
        }
        let mut registers = [0; 7];
        for (place, register) in registers.iter_mut().enumerate() {
            *register = long(body, 32 + 8 * place);
        }
        let at = 32 + 8 * registers.len();
        let size = usize::try_from(long(body, at)).ok()?;
        let stack = body.get(at + 8..)?.get(..size).unwrap_or(&[]).to_vec();
        Some(Hit {
            pid: first as u32,
            tid: (first >> 32) as u32,
            time: long(body, 8),
            id: long(body, 16),
            registers,
            stack,
        })
    }
}

fn long(body: &[u8], at: usize) -> u64 {
    body.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
