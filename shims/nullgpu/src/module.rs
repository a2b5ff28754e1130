//! The sources of kernels: fat binaries that libraries register at start, and images that they load later.

use crate::device::current;
use crate::error::{FILE_NOT_FOUND, INVALID_HANDLE, INVALID_IMAGE, INVALID_VALUE, NO_BINARY_FOR_GPU, NOT_FOUND, SUCCESS, Status, keep};
use crate::function::{self, Function};
use crate::nullgpu_input::{Arg, Entry, MOST_TABLES};
use crate::record::{self, kind};
use crate::world::world;
use crate::{elf, registry, sys, trace, variables};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

const MARK: u64 = u64::from_le_bytes(*b"WKMODULE");
/// Marks a bundle that is not in the list.
pub const UNKNOWN: u32 = u32::MAX;

#[repr(C)]
pub struct Module {
    mark: u64,
    pub id: u32,
    /// Index of its bundle in each table that was handed over.
    pub bundles: [u32; MOST_TABLES],
    path: &'static [u8],
    address: u64,
    hash: u64,
    image: &'static [u8],
    /// The bundle in memory, if no handed-over table contains it.
    registered: &'static [u8],
    generation: AtomicU32,
}

impl Module {
    /// The bytes of a loaded image; empty if it was registered.
    pub fn image(&self) -> &'static [u8] {
        self.image
    }

    /// A kernel by the metadata of the image itself, for the only device. With several devices, each has a table.
    pub fn kernel(&self, name: &[u8]) -> Option<(&'static Entry, &'static [Arg])> {
        let [device] = world().devices else { return None };
        let image = if self.image.is_empty() { self.registered } else { self.image };
        match elf::code(image, target(&device.arch), target(&device.generic)) {
            elf::Code::Elf(code) => elf::kernel(code, name),
            _ => None,
        }
    }

    /// Recorded before its first kernel, once per trace file.
    pub fn note(&self) {
        let now = trace::generation().load(Ordering::Acquire);
        if self.generation.swap(now, Ordering::AcqRel) == now {
            return;
        }
        let record = record::Module {
            id: self.id,
            path_len: self.path.len() as u32,
            address: self.address,
            hash: self.hash,
            size: self.image.len() as u64,
        };
        trace::write(kind::MODULE, &[trace::bytes(&record), self.path]);
    }

    /// Whether it contains the current device's target: according to the parent, which read the file, else to the
    /// bundle's own list. The content of a compressed bundle cannot be determined here: it is accepted, and the parent
    /// examines it afterwards.
    pub fn ships(&self) -> bool {
        let place = self.bundles.get(world().table_number()).copied().unwrap_or(UNKNOWN);
        if let Some(bundle) = world().table().bundles.get(place as usize) {
            return bundle.ships != 0;
        }
        let Some(device) = current().filter(|_| !self.registered.is_empty()) else { return true };
        !matches!(elf::code(self.registered, target(&device.arch), target(&device.generic)), elf::Code::Absent)
    }
}

fn make(path: &'static [u8], address: u64, image: &'static [u8]) -> Option<&'static mut Module> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let module = registry::new::<Module>()?;
    *module = Module {
        mark: MARK,
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        bundles: [UNKNOWN; MOST_TABLES],
        path,
        address,
        hash: if image.is_empty() { 0 } else { record::fnv(record::FNV, image) },
        image,
        registered: &[],
        generation: AtomicU32::new(0),
    };
    Some(module)
}

fn find(handle: *mut c_void) -> Option<&'static mut Module> {
    // SAFETY: a handle from the program.
    unsafe { registry::known(handle, MARK) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFatBinary(wrapper: *const c_void) -> *mut *mut c_void {
    let world = world();
    // SAFETY: the wrapper is {u32 magic, u32 version, u64 bundle, u64}, emitted by the compiler.
    let (magic, bundle) =
        unsafe { (wrapper.cast::<u32>().read_unaligned(), wrapper.cast::<u64>().add(1).read_unaligned() as usize) };
    let bundle = if magic == record::PACKED_WRAPPER { wrapper as usize } else { bundle };
    let (path, base) = owner(bundle);
    let address = bundle.wrapping_sub(base) as u64;
    let Some(module) = make(path, address, &[]) else { return core::ptr::null_mut() };
    for (bundle, table) in module.bundles.iter_mut().zip(world.tables()) {
        *bundle = table.bundle(path, address).unwrap_or(UNKNOWN);
    }
    if magic != record::PACKED_WRAPPER && bundle != 0 && module.bundles.iter().all(|bundle| *bundle == UNKNOWN) {
        // SAFETY: a bundle that the compiler put into the library; it is not read beyond the size in its own header.
        module.registered = unsafe { elf::image_size(bundle as *const u8).map_or(&[], |size| core::slice::from_raw_parts(bundle as *const u8, size)) };
    }
    core::ptr::from_mut(module).cast()
}

#[unsafe(no_mangle)]
pub extern "C" fn __hipUnregisterFatBinary(modules: *mut *mut c_void) {
    // The names are kept, because a launch may already have been recorded.
    let _ = find(modules.cast());
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFunction(
    modules: *mut *mut c_void,
    handle: *const c_void,
    _stub: *const c_char,
    name: *const c_char,
    _threads: c_uint,
    _tid: *mut c_void,
    _bid: *mut c_void,
    _block: *mut c_void,
    _grid: *mut c_void,
    _wave: *mut c_int,
) {
    let Some(module) = find(modules.cast()) else { return };
    if name.is_null() {
        return;
    }
    // SAFETY: a string in the library's own data.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    function::register(handle as usize, name, module);
}

/// The file that contains an address, and its load address.
pub fn owner(address: usize) -> (&'static [u8], usize) {
    struct Search {
        address: usize,
        path: *const c_char,
        base: usize,
    }
    extern "C" fn each(info: *mut sys::DlPhdrInfo, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: both pointers come from the call below.
        let (info, search) = unsafe { (&*info, &mut *data.cast::<Search>()) };
        for i in 0..info.count {
            // SAFETY: the loader's list.
            let header = unsafe { &*info.headers.add(usize::from(i)) };
            let start = info.base.wrapping_add(header.vaddr as usize);
            if header.kind == 1 && search.address.wrapping_sub(start) < header.memsz as usize {
                (search.path, search.base) = (info.name, info.base);
                return 1;
            }
        }
        0
    }
    let mut search = Search { address, path: core::ptr::null(), base: 0 };
    // SAFETY: the structure lives for the call.
    unsafe { sys::dl_iterate_phdr(each, (&raw mut search).cast()) };
    if search.path.is_null() {
        return (&[], 0);
    }
    // SAFETY: the loader's string.
    let name = unsafe { CStr::from_ptr(search.path) }.to_bytes();
    let mut program = [0; 1024];
    let name = if name.is_empty() { sys::program(&mut program) } else { name };
    let Some(kept) = registry::bytes(name.len()) else { return (&[], search.base) };
    kept.copy_from_slice(name);
    (kept, search.base)
}

/// SAFETY: `to` is null or the caller's variable; `at` points to an image.
unsafe fn load(to: *mut *mut c_void, at: *const u8, path: &'static [u8]) -> Status {
    if to.is_null() || at.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: guaranteed by the caller.
    let Some(size) = (unsafe { elf::image_size(at) }) else { return INVALID_IMAGE };
    let Some(device) = current() else { return crate::error::NO_DEVICE };
    // The caller may free its copy.
    let Some(kept) = registry::bytes(size) else { return crate::error::OUT_OF_MEMORY };
    // SAFETY: the image has `image_size` bytes.
    kept.copy_from_slice(unsafe { core::slice::from_raw_parts(at, size) });
    let Some(module) = make(path, 0, kept) else { return crate::error::OUT_OF_MEMORY };
    if matches!(elf::code(kept, target(&device.arch), target(&device.generic)), elf::Code::Absent) {
        return NO_BINARY_FOR_GPU;
    }
    if matches!(elf::code(kept, target(&device.arch), target(&device.generic)), elf::Code::Opaque) {
        // Not a file address: marks that the content was not examined.
        module.address = 1;
    }
    if path.is_empty() {
        crate::images::keep(kept, module.hash);
    }
    module.note();
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_mut(module).cast() };
    SUCCESS
}

/// The bytes of a loaded image, and their hash.
pub fn loaded(handle: *mut c_void) -> Option<(&'static [u8], u64)> {
    find(handle).map(|module| (module.image, module.hash))
}

/// Whether the content of a loaded image could not be examined.
pub fn is_opaque(handle: *mut c_void) -> bool {
    find(handle).is_some_and(|module| module.hash != 0 && module.address != 0)
}

fn target(arch: &'static [u8]) -> &'static [u8] {
    arch.split(|&b| b == 0).next().unwrap_or(&[])
}

forward! {
    extern fn hipModuleLoadData(to: *mut *mut c_void, image: *const c_void) = keep(load(to, image.cast(), &[]));
    extern fn hipModuleLoadDataEx(
        to: *mut *mut c_void, image: *const c_void, _count: c_uint, _options: *mut c_void, _values: *mut *mut c_void
    ) = keep(load(to, image.cast(), &[]));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoad(to: *mut *mut c_void, path: *const c_char) -> Status {
    if path.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's string.
    let path = unsafe { CStr::from_ptr(path) };
    let (Some(file), Some(kept)) = (sys::map_file(path), registry::bytes(path.count_bytes())) else {
        return keep(FILE_NOT_FOUND);
    };
    kept.copy_from_slice(path.to_bytes());
    if file.len() < 64 {
        return keep(INVALID_IMAGE);
    }
    // SAFETY: a whole file; `load` reads no further than `image_size`, which depends only on the image's own fields.
    keep(unsafe { load(to, file.as_ptr(), kept) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleUnload(module: *mut c_void) -> Status {
    keep(if find(module).is_some() { SUCCESS } else { INVALID_HANDLE })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(to: *mut *mut c_void, module: *mut c_void, name: *const c_char) -> Status {
    let Some(module) = find(module) else { return keep(INVALID_HANDLE) };
    let Some(device) = current() else { return keep(crate::error::NO_DEVICE) };
    if to.is_null() || name.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's string.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let there = match elf::code(module.image, target(&device.arch), target(&device.generic)) {
        elf::Code::Elf(code) => elf::defines(code, name) == Some(true),
        elf::Code::Opaque => true,
        elf::Code::Absent => false,
    };
    let found: Option<&'static Function> = if there { function::of_module(name, module) } else { None };
    let Some(function) = found else { return keep(NOT_FOUND) };
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_ref(function).cast_mut().cast() };
    SUCCESS
}

/// A variable of a loaded image. Its memory starts with the content of the image.
///
/// SAFETY: `to` and `size` are null or the caller's variables; `name` is null or a string.
unsafe fn global(to: *mut *mut c_void, size: *mut usize, handle: *mut c_void, name: *const c_char) -> Status {
    let (Some(module), Some(device), false) = (find(handle), current(), name.is_null()) else { return INVALID_VALUE };
    // SAFETY: guaranteed by the caller.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let elf::Code::Elf(code) = elf::code(module.image, target(&device.arch), target(&device.generic)) else { return NOT_FOUND };
    let Some((len, content)) = elf::variable(code, name) else { return NOT_FOUND };
    let key = core::ptr::from_ref(module) as usize ^ record::fnv(record::FNV, name) as usize;
    let is_new = !variables::is_known(key);
    variables::register(key, len);
    let Some((at, len)) = variables::find(key) else { return crate::error::OUT_OF_MEMORY };
    // SAFETY: memory of `len` bytes that the program does not know yet if it is new; the caller's variables.
    unsafe {
        if is_new && content.len() == len {
            core::ptr::copy_nonoverlapping(content.as_ptr(), at as *mut u8, len);
        }
        if !to.is_null() {
            *to = at as *mut c_void;
        }
        if !size.is_null() {
            *size = len;
        }
    }
    SUCCESS
}

forward! {
    extern fn hipModuleGetGlobal(to: *mut *mut c_void, size: *mut usize, module: *mut c_void, name: *const c_char)
        = keep(global(to, size, module, name));
    extern fn hipModuleGetFunctionCount(to: *mut c_uint, module: *mut c_void) = keep(match (find(module), to.is_null()) {
        (Some(_), false) => crate::stubs::unsupported(b"hipModuleGetFunctionCount"),
        _ => INVALID_VALUE,
    });
}
