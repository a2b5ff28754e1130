//! The static launch map: which host handle launches which kernel of which bundle. It is known before the process runs.
//!
//! The constructors of clang (HIP and CUDA) and nvcc (`__sti____cudaRegisterAll`) call
//! `__hipRegisterFatBinary(wrapper)` once and `__hipRegisterFunction(module, handle, name, name, ...)` for each kernel,
//! or the CUDA functions of the same form. For relocatable device code, nvcc's constructors gather callbacks with
//! `__cudaRegisterLinkedBinary`. The constructors are executed in the loader's order, so registrations happen in the
//! real order, which decides which one takes effect.
//!
//! If the CUDA runtime is linked statically, the called functions have no names in a stripped file. They are recognised
//! by their arguments: first a wrapper of `.nvFatBinSegment`, later the result of that call together with a handle and
//! a name.

use say::{Key, key};
use std::collections::{BTreeSet, HashMap, HashSet};

use super::{
    image::Image,
    machine::{InstructionEffect, Machine, R8, RCX, RDI, RDX, RETURN, RSI, State},
    memory::Memory,
    registration::{Callee, Kind, Registration, Vendor, Wrapper, settle},
    sites::call_sites,
};

/// The result of `__hipRegisterFatBinary` is opaque to the caller. Ours encodes the wrapper that was passed.
const MODULES: u64 = 0x7100_0000_0000_0000;
const MODULE_STRIDE: u64 = 64;

/// The instruction budget of a constructor: small until it registers something, because most constructors are ordinary
/// C++ initialisers, and large after that.
const BUDGET_IDLE: u64 = 200_000;
const BUDGET_REGISTERING: u64 = 50_000_000;
const FORKS: usize = 512;
const DEPTH: u32 = 24;
const NAME_LIMIT: usize = 1 << 16;

/// A registration call that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    pub site: u64,
    pub why: Key,
}

/// How many constructors and calls were found, and how many were decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completeness {
    pub constructors: usize,
    /// The number of constructors that made a registration.
    pub registering: usize,
    /// Calls in the code that register kernels, found by their bytes, plus those reached through a pointer.
    pub sites: usize,
    /// How many of these call sites were reached and decoded. A loop registers many kernels at one call site.
    pub sites_decoded: usize,
    pub unresolved: Vec<Unresolved>,
    /// Wrappers in the file that no constructor registered.
    pub wrappers_unregistered: Vec<u64>,
}

impl Completeness {
    /// Whether every call was decoded and every wrapper is registered.
    pub fn is_complete(&self) -> bool {
        self.sites == self.sites_decoded && self.unresolved.is_empty()
    }
}

/// Handles, names and wrappers of one host file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchMap {
    pub wrappers: Vec<Wrapper>,
    pub registrations: Vec<Registration>,
    pub completeness: Completeness,
}

impl LaunchMap {
    /// Registered kernels, in the order of registration.
    pub fn kernels(&self) -> impl Iterator<Item = &Registration> {
        self.registrations.iter().filter(|r| r.kind == Kind::Kernel)
    }

    /// The kernel that a launch of this handle runs (address at load bias 0).
    pub fn kernel(&self, handle: u64) -> Option<&Registration> {
        self.kernels().find(|r| r.handle == handle && r.wins)
    }

    /// Names that more than one wrapper registers, with the number of wrappers.
    pub fn duplicates(&self) -> HashMap<&str, usize> {
        let mut wrappers: HashMap<&str, HashSet<usize>> = HashMap::new();
        for kernel in self.kernels() {
            wrappers.entry(kernel.name.as_str()).or_default().insert(kernel.wrapper);
        }
        wrappers.into_iter().map(|(name, set)| (name, set.len())).filter(|(_, n)| *n > 1).collect()
    }
}

/// Executes the constructors of a host image and returns their registrations.
pub fn launch_map(image: &Image<'_>) -> LaunchMap {
    let mut reader = Reader::new(image);
    for (index, entry) in image.constructors().iter().enumerate() {
        reader.run(index, *entry);
    }
    reader.finish()
}

struct Reader<'image, 'data> {
    image: &'image Image<'data>,
    machine: Machine<'image, 'data>,
    memory: Memory,
    map: LaunchMap,
    constructor: usize,
    decoded: BTreeSet<u64>,
    failed: HashMap<u64, Key>,
    /// Local functions that were found to register kernels.
    local: BTreeSet<u64>,
    /// Vendors whose runtime is imported by name, so local functions need no check.
    imported: HashSet<Vendor>,
    seen: HashSet<(Kind, u64, String, usize)>,
    registering: BTreeSet<usize>,
}

impl<'image, 'data> Reader<'image, 'data> {
    fn new(image: &'image Image<'data>) -> Self {
        let mut imported = HashSet::new();
        for (vendor, name) in [(Vendor::Amd, "__hipRegisterFatBinary"), (Vendor::Nvidia, "__cudaRegisterFatBinary")] {
            if !image.slots_of(name).is_empty() || !image.defined(name).is_empty() {
                imported.insert(vendor);
            }
        }
        Self {
            image,
            machine: Machine::new(image),
            memory: Memory::default(),
            map: LaunchMap { wrappers: Wrapper::all(image), ..LaunchMap::default() },
            constructor: 0,
            decoded: BTreeSet::new(),
            failed: HashMap::new(),
            local: BTreeSet::new(),
            imported,
            seen: HashSet::new(),
            registering: BTreeSet::new(),
        }
    }

    /// Runs one constructor. If the condition of a branch is unknown, follows both directions, each once.
    fn run(&mut self, index: usize, entry: u64) {
        self.constructor = index;
        let mut first = State::new(entry, std::mem::take(&mut self.memory));
        self.machine.push(&mut first, Some(RETURN));
        let mut paths = vec![first];
        let (mut spent, mut forks) = (0, 0);
        let mut explored: HashSet<u64> = HashSet::new();
        let mut kept: Option<Memory> = None;
        while let Some(mut state) = paths.pop() {
            let finished = loop {
                spent += 1;
                let budget = if self.registering.contains(&index) { BUDGET_REGISTERING } else { BUDGET_IDLE };
                if spent > budget {
                    paths.clear();
                    break false;
                }
                if state.ip == RETURN {
                    break true;
                }
                match self.machine.step(&mut state) {
                    InstructionEffect::Next => {}
                    InstructionEffect::Transfer => {
                        if !self.arrive(&mut state) {
                            break false;
                        }
                    }
                    InstructionEffect::Fork { taken, next } => {
                        let (down, up) = (explored.insert(next), explored.insert(taken));
                        match (down, up) {
                            (true, true) if forks < FORKS => {
                                forks += 1;
                                let mut other = state.clone();
                                other.ip = taken;
                                paths.push(other);
                                state.ip = next;
                            }
                            (true, _) => state.ip = next,
                            (false, true) => state.ip = taken,
                            (false, false) => break false,
                        }
                    }
                    InstructionEffect::Stop(_) => break false,
                }
            };
            if finished && kept.is_none() {
                kept = Some(std::mem::take(&mut state.memory));
            } else if kept.is_none() && paths.is_empty() {
                self.memory = state.memory;
            }
        }
        if let Some(memory) = kept {
            self.memory = memory;
        }
    }

    /// Handles a transfer of control: into a registration function, another library, or a function of this image.
    fn arrive(&mut self, state: &mut State) -> bool {
        let name = self.image.import(state.ip).or_else(|| self.image.symbol(state.ip));
        let callee = name.and_then(Callee::named).or_else(|| self.by_arguments(state));
        let result = match callee {
            Some(Callee::NoReturn) => return false,
            Some(Callee::FatBinary) => self.fat_binary(state),
            Some(Callee::Entity(kind)) => {
                self.entity(state, kind);
                None
            }
            None if self.image.is_code(state.ip) && state.depth <= DEPTH => return true,
            None => match name {
                Some("__cxa_guard_acquire") => Some(1),
                Some("atexit" | "__cxa_atexit") => Some(0),
                _ => None,
            },
        };
        state.clobber(result);
        state.depth = state.depth.saturating_sub(1);
        match self.machine.pop(state) {
            Some(address) => {
                state.ip = address;
                true
            }
            None => false,
        }
    }

    /// Recognises the registration functions of a statically linked runtime by their arguments.
    fn by_arguments(&mut self, state: &State) -> Option<Callee> {
        let first = state.argument(RDI)?;
        if let Some(wrapper) = Wrapper::at(self.image, first) {
            let linked =
                self.image.section_of(wrapper.image).is_some_and(|s| matches!(s, ".nv_fatbin" | ".hip_fatbin"));
            let segment = self.image.section_of(first);
            let gathered = segment.is_some_and(|s| matches!(s, ".nvFatBinSegment" | ".hipFatBinSegment"));
            return (linked && gathered && !self.imported.contains(&wrapper.vendor)).then_some(Callee::FatBinary);
        }
        let wrapper = self.map.wrappers.get(module_of(first)?)?;
        if self.imported.contains(&wrapper.vendor) {
            return None;
        }
        let (handle, name) = (state.argument(RSI)?, state.argument(RCX)?);
        let known = self.image.bytes_at(handle).is_some() || self.image.read_u64(handle & !7).is_some();
        if !known || self.image.c_string(name, NAME_LIMIT).is_none_or(<[u8]>::is_empty) {
            return None;
        }
        let limit = state.argument(R8)? as u32;
        let kind = if limit == u32::MAX && self.image.is_code(handle) { Kind::Kernel } else { Kind::Variable };
        if kind == Kind::Kernel {
            self.local.insert(state.ip);
        }
        Some(Callee::Entity(kind))
    }

    fn fat_binary(&mut self, state: &State) -> Option<u64> {
        let address = state.argument(RDI)?;
        let index = match self.map.wrappers.iter().position(|w| w.address == address) {
            Some(index) => index,
            None => {
                self.map.wrappers.push(Wrapper::at(self.image, address)?);
                self.map.wrappers.len() - 1
            }
        };
        self.registering.insert(self.constructor);
        Some(MODULES + index as u64 * MODULE_STRIDE)
    }

    fn entity(&mut self, state: &State, kind: Kind) {
        match self.read_entity(state, kind) {
            Ok(registration) => {
                if kind == Kind::Kernel {
                    self.decoded.insert(registration.site);
                }
                let key = (kind, registration.handle, registration.name.clone(), registration.wrapper);
                if self.seen.insert(key) {
                    self.map.registrations.push(registration);
                }
            }
            Err(why) if kind == Kind::Kernel => {
                self.failed.insert(state.site, why);
            }
            Err(_) => {}
        }
    }

    fn read_entity(&self, state: &State, kind: Kind) -> Result<Registration, Key> {
        let wrapper = state.argument(RDI).and_then(module_of).filter(|i| *i < self.map.wrappers.len());
        let wrapper = wrapper.ok_or(key!("codeobject-call-module"))?;
        let handle = state.argument(RSI).ok_or(key!("codeobject-call-handle"))?;
        let name = |register| state.argument(register).and_then(|a| self.image.c_string(a, NAME_LIMIT));
        let name = name(RCX).or_else(|| name(RDX)).ok_or(key!("codeobject-call-name"))?;
        let name = std::str::from_utf8(name).map_err(|_| key!("codeobject-call-name-text"))?;
        Ok(Registration {
            kind,
            handle,
            name: name.to_owned(),
            wrapper,
            constructor: self.constructor,
            site: state.site,
            wins: false,
            exported: self.image.exported(handle).is_some(),
        })
    }

    fn finish(mut self) -> LaunchMap {
        settle(&mut self.map.registrations);
        let local: Vec<u64> = self.local.iter().copied().collect();
        let mut sites = call_sites(self.image, &Callee::COUNTED, &local);
        sites.extend(self.decoded.iter().chain(self.failed.keys()));
        let mut unresolved = Vec::new();
        for site in &sites {
            if let Some(why) = self.failed.get(site).filter(|_| !self.decoded.contains(site)) {
                unresolved.push(Unresolved { site: *site, why: *why });
            } else if !self.decoded.contains(site) {
                unresolved.push(Unresolved { site: *site, why: key!("codeobject-call-unreached") });
            }
        }
        let used: HashSet<usize> = self.map.registrations.iter().map(|r| r.wrapper).collect();
        let idle = self.map.wrappers.iter().enumerate().filter(|(i, _)| !used.contains(i));
        self.map.completeness = Completeness {
            constructors: self.image.constructors().len(),
            registering: self.registering.len(),
            sites: sites.len(),
            sites_decoded: sites.iter().filter(|site| self.decoded.contains(site)).count(),
            unresolved,
            wrappers_unregistered: idle.map(|(_, w)| w.address).collect(),
        };
        self.map
    }
}

fn module_of(value: u64) -> Option<usize> {
    let into = value.checked_sub(MODULES)?;
    (into % MODULE_STRIDE == 0).then(|| usize::try_from(into / MODULE_STRIDE).ok())?.filter(|i| *i < 1 << 24)
}
