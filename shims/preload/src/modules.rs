//! The sources of kernels: fat binaries that libraries register at start, and images that they load later.

use crate::record::{self, kind};
use crate::{args, kernels, launch::NOT_SUPPORTED, lock::Lock, memory, sys, trace, unknown};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

#[repr(C)]
pub struct Module {
    pub id: u32,
    generation: AtomicU32,
    /// The runtime's handle; 0 after it was unloaded.
    handle: AtomicUsize,
    path: &'static [u8],
    address: u64,
    hash: u64,
    size: u64,
    pub build_id: &'static [u8],
    pub kernels: AtomicPtr<kernels::Kernel>,
    next: AtomicPtr<Module>,
}

static LATEST: AtomicPtr<Module> = AtomicPtr::new(core::ptr::null_mut());
static WRITING: Lock<()> = Lock::new(());

/// The known facts about a module's origin.
#[derive(Clone, Copy)]
pub struct Origin {
    pub path: &'static [u8],
    pub address: u64,
    pub hash: u64,
    pub size: u64,
    pub build_id: &'static [u8],
}

impl Module {
    /// Recorded before its first kernel, once per trace file.
    pub fn note(&self) {
        let now = trace::generation().load(Ordering::Acquire);
        if self.generation.swap(now, Ordering::AcqRel) == now {
            return;
        }
        let (path_len, address) = (self.path.len() as u32, self.address);
        let record = record::Module { id: self.id, path_len, address, hash: self.hash, size: self.size };
        trace::write(kind::MODULE, &[trace::bytes(&record), self.path]);
    }
}

pub fn add(handle: usize, origin: Origin) {
    unknown::look();
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let at = memory::take(size_of::<Module>()).cast::<Module>();
    if at.is_null() || handle == 0 {
        return;
    }
    let guard = WRITING.lock();
    let module = Module {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        generation: AtomicU32::new(0),
        handle: AtomicUsize::new(handle),
        path: origin.path,
        address: origin.address,
        hash: origin.hash,
        size: origin.size,
        build_id: origin.build_id,
        kernels: AtomicPtr::new(core::ptr::null_mut()),
        next: AtomicPtr::new(LATEST.load(Ordering::Acquire)),
    };
    // SAFETY: fresh memory of that size.
    unsafe { at.write(module) };
    LATEST.store(at, Ordering::Release);
    drop(guard);
}

/// Registration refers to the most recent module, so the latest is checked first.
pub fn find(handle: usize) -> Option<&'static Module> {
    let mut at = LATEST.load(Ordering::Acquire);
    // SAFETY: modules are never freed.
    while let Some(module) = unsafe { at.as_ref() } {
        if module.handle.load(Ordering::Acquire) == handle {
            return Some(module);
        }
        at = module.next.load(Ordering::Acquire);
    }
    None
}

pub fn forget(handle: usize) {
    if let Some(module) = find(handle) {
        module.handle.store(0, Ordering::Release);
        kernels::forget(module);
    }
}

/// In a forked child the owner of the lock does not exist.
pub fn after_fork() {
    WRITING.reset();
}

/// The file that contains an address, its load address, and its build id.
pub fn owner(address: usize) -> (Origin, usize) {
    struct Search {
        address: usize,
        found: bool,
        path: *const c_char,
        base: usize,
        note: (usize, usize),
    }
    extern "C" fn each(info: *mut sys::DlPhdrInfo, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: both pointers come from the call below.
        let (info, search) = unsafe { (&*info, &mut *data.cast::<Search>()) };
        let mut note = (0, 0);
        for i in 0..info.count {
            // SAFETY: the loader's list.
            let header = unsafe { &*info.headers.add(usize::from(i)) };
            let start = info.base.wrapping_add(header.vaddr as usize);
            if header.kind == 1 && search.address.wrapping_sub(start) < header.memsz as usize {
                search.found = true;
            }
            // The build id has a separate note, or is first in a larger one.
            if header.kind == 4 && note.1 == 0 && !build_id(start, header.memsz as usize).is_empty() {
                note = (start, header.memsz as usize);
            }
        }
        if search.found {
            (search.path, search.base, search.note) = (info.name, info.base, note);
        }
        c_int::from(search.found)
    }
    let mut search = Search { address, found: false, path: core::ptr::null(), base: 0, note: (0, 0) };
    // SAFETY: the structure lives for the call.
    unsafe { sys::dl_iterate_phdr(each, (&raw mut search).cast()) };
    let mut origin = Origin { path: &[], address: 0, hash: 0, size: 0, build_id: &[] };
    if search.path.is_null() {
        return (origin, 0);
    }
    // SAFETY: the loader's string.
    let name = unsafe { CStr::from_ptr(search.path) }.to_bytes();
    let mut program = [0; 1024];
    let name = if name.is_empty() { sys::program(&mut program) } else { name };
    origin.path = memory::keep(name).unwrap_or(&[]);
    origin.build_id = memory::keep(build_id(search.note.0, search.note.1)).unwrap_or(&[]);
    (origin, search.base)
}

/// NT_GNU_BUILD_ID in a note segment: {name size 4, size, type 3, "GNU\0", bytes}.
fn build_id(start: usize, len: usize) -> &'static [u8] {
    let mut at = 0;
    while at + 16 <= len {
        // SAFETY: a mapped note segment of that length.
        let [name, size, kind, text] = unsafe { ((start + at) as *const [u32; 4]).read_unaligned() };
        let (name, size) = (name as usize, size as usize);
        let body = at + 12 + name.next_multiple_of(4);
        if kind == 3 && name == 4 && text == u32::from_le_bytes(*b"GNU\0") && size <= 64 && body + size <= len {
            // SAFETY: as above.
            return unsafe { core::slice::from_raw_parts((start + body) as *const u8, size) };
        }
        at = body.saturating_add(size.next_multiple_of(4)).max(at + 16);
    }
    &[]
}

/// The size of an ELF image up to the end of its section table (the last part of a code object); 0 if it is not an ELF
/// file.
///
/// SAFETY: `image` must have been accepted by the runtime.
unsafe fn elf_size(image: *const u8) -> usize {
    // SAFETY: the caller's promise; offsets by the ELF specification.
    unsafe {
        if image.cast::<[u8; 4]>().read_unaligned() != *b"\x7fELF" {
            return 0;
        }
        let sections = image.add(40).cast::<u64>().read_unaligned() as usize;
        let (size, count) = (image.add(58).cast::<u16>().read_unaligned(), image.add(60).cast::<u16>().read_unaligned());
        sections + usize::from(size) * usize::from(count)
    }
}

/// SAFETY: `image` must have been accepted by the runtime.
unsafe fn loaded(to: *mut *mut c_void, image: *const u8, path: &'static [u8]) {
    // SAFETY: guaranteed by the caller.
    let (handle, bytes) = unsafe {
        let size = if image.is_null() { 0 } else { elf_size(image) };
        (*to as usize, core::slice::from_raw_parts(if size == 0 { [].as_ptr() } else { image }, size))
    };
    let hash = if bytes.is_empty() { 0 } else { record::fnv(record::FNV, bytes) };
    add(handle, Origin { path, address: 0, hash, size: bytes.len() as u64, build_id: &[] });
}

wrap! {
    fn __hipRegisterFunction(
        modules: *mut *mut c_void, handle: *const c_void, stub: *const c_char, name: *const c_char, threads: c_uint,
        tid: *mut c_void, bid: *mut c_void, block: *mut c_void, grid: *mut c_void, wave: *mut c_int,
    ), or (); |real| {
        // SAFETY: forwards the caller's own arguments.
        unsafe { real(modules, handle, stub, name, threads, tid, bid, block, grid, wave) };
        if !name.is_null() {
            // SAFETY: a string in the library's data.
            let name = unsafe { CStr::from_ptr(name) }.to_bytes();
            let module = find(modules as usize);
            let layout = module.map_or(&[][..], |module| args::layout(module.build_id, name));
            kernels::learn(handle as usize, name, module, layout, false);
        }
    }
    fn __hipUnregisterFatBinary(modules: *mut *mut c_void), or (); |real| {
        forget(modules as usize);
        // SAFETY: forwards the caller's own argument.
        unsafe { real(modules) }
    }
    fn hipModuleGetFunction(to: *mut *mut c_void, module: *mut c_void, name: *const c_char) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, module, name) };
        if status == 0 && !to.is_null() && !name.is_null() {
            // SAFETY: the caller's string, and the value that the runtime has just written.
            let (name, function) = unsafe { (CStr::from_ptr(name).to_bytes(), *to as usize) };
            kernels::learn(function, name, find(module as usize), &[], true);
        }
        status
    }
    fn hipModuleLoad(to: *mut *mut c_void, path: *const c_char) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, path) };
        if status == 0 && !to.is_null() && !path.is_null() {
            // SAFETY: the caller's string, and the value that the runtime has just written.
            unsafe { loaded(to, core::ptr::null(), memory::keep(CStr::from_ptr(path).to_bytes()).unwrap_or(&[])) };
        }
        status
    }
    fn hipModuleLoadData(to: *mut *mut c_void, image: *const c_void) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, image) };
        if status == 0 && !to.is_null() {
            // SAFETY: the runtime accepted the image.
            unsafe { loaded(to, image.cast(), &[]) };
        }
        status
    }
    fn hipModuleLoadDataEx(
        to: *mut *mut c_void, image: *const c_void, count: c_uint, options: *mut c_void, values: *mut *mut c_void,
    ) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, image, count, options, values) };
        if status == 0 && !to.is_null() {
            // SAFETY: the runtime accepted the image.
            unsafe { loaded(to, image.cast(), &[]) };
        }
        status
    }
    fn hipModuleUnload(module: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own argument.
        let status = unsafe { real(module) };
        if status == 0 {
            forget(module as usize);
        }
        status
    }
    fn __hipRegisterFatBinary(wrapper: *const c_void) -> *mut *mut c_void, or core::ptr::null_mut(); |real| {
        // SAFETY: forwards the caller's own argument.
        let modules = unsafe { real(wrapper) };
        if !wrapper.is_null() {
            // SAFETY: the wrapper is {u32 magic, u32 version, u64 bundle, u64}, emitted by the compiler.
            let (magic, bundle) = unsafe {
                (wrapper.cast::<u32>().read_unaligned(), wrapper.cast::<u64>().add(1).read_unaligned() as usize)
            };
            let bundle = if magic == record::PACKED_WRAPPER { wrapper as usize } else { bundle };
            let (origin, base) = owner(bundle);
            add(modules as usize, Origin { address: bundle.wrapping_sub(base) as u64, ..origin });
        }
        modules
    }
}
