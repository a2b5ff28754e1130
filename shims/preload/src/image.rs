//! A library in memory: its SONAME, its definitions, its imports. Read without the loader, whose own functions are
//! found the same way.

use crate::sys;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::AtomicPtr;

const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;

/// The dynamic section's addresses; 0 if it has none.
#[derive(Clone, Copy)]
pub struct Image {
    base: usize,
    strings: usize,
    symbols: usize,
    hash: usize,
    gnu_hash: usize,
    soname: usize,
}

impl Image {
    /// SAFETY: `info` must be an entry of the loader's list.
    pub unsafe fn of(info: &sys::DlPhdrInfo) -> Option<Image> {
        // SAFETY: the loader's list; the section ends with a zero.
        unsafe {
            let header = (0..usize::from(info.count)).map(|place| &*info.headers.add(place)).find(|header| header.kind == DYNAMIC)?;
            let mut image = Image { base: info.base, strings: 0, symbols: 0, hash: 0, gnu_hash: 0, soname: 0 };
            let mut entry = (info.base + header.vaddr as usize) as *const [usize; 2];
            while (*entry)[0] != 0 {
                let [tag, value] = *entry;
                // glibc has relocated its offsets to addresses, except in the kernel's own library.
                let at = if value < info.base { info.base + value } else { value };
                match tag {
                    5 => image.strings = at,
                    6 => image.symbols = at,
                    4 => image.hash = at,
                    0x6fff_fef5 => image.gnu_hash = at,
                    14 => image.soname = value,
                    _ => {}
                }
                entry = entry.add(1);
            }
            (image.strings != 0 && image.symbols != 0).then_some(image)
        }
    }

    /// The library's SONAME, independent of its path; empty if it has none.
    pub fn soname(&self) -> &'static [u8] {
        if self.soname == 0 {
            return b"";
        }
        // SAFETY: a string of the library's table, which stays mapped as long as the library.
        unsafe { CStr::from_ptr((self.strings + self.soname) as *const c_char) }.to_bytes()
    }

    /// SAFETY: `place` must be in the table. Symbols have 24 bytes: the name's offset, four bytes, and the section,
    /// which is 0 for an import.
    unsafe fn symbol(&self, place: usize) -> (*const c_char, bool, usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let symbol = (self.symbols + place * 24) as *const u8;
            let name = (self.strings + symbol.cast::<u32>().read() as usize) as *const c_char;
            (name, symbol.add(6).cast::<u16>().read() == 0, symbol.add(8).cast::<usize>().read())
        }
    }

    /// The address of the library's own definition of this name.
    pub fn defines(&self, name: &[u8]) -> Option<usize> {
        if self.gnu_hash == 0 {
            return None;
        }
        let wanted = name.iter().fold(5381_u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(u32::from(*byte)));
        // SAFETY: the layout of DT_GNU_HASH: four numbers, the filter's words, the buckets, the chains.
        unsafe {
            let [buckets, first, filter, _] = (self.gnu_hash as *const [u32; 4]).read();
            let table = (self.gnu_hash + 16 + filter as usize * 8) as *const u32;
            let chains = table.add(buckets as usize);
            if buckets == 0 {
                return None;
            }
            let mut place = table.add((wanted % buckets) as usize).read();
            while place >= first && place != 0 {
                let chain = chains.add((place - first) as usize).read();
                let (text, imported, value) = self.symbol(place as usize);
                if chain | 1 == wanted | 1 && !imported && CStr::from_ptr(text).to_bytes() == name {
                    return Some(self.base + value);
                }
                if chain & 1 == 1 {
                    return None;
                }
                place += 1;
            }
        }
        None
    }

    /// Every name that the library imports.
    pub fn imports(&self, mut each: impl FnMut(*const c_char)) {
        // SAFETY: in the table, a library's definitions follow its imports; the newer hash table contains their start.
        let count = unsafe {
            match (self.gnu_hash, self.hash) {
                (0, 0) => 0,
                (0, hash) => (hash as *const u32).add(1).read(),
                (gnu, _) => (gnu as *const u32).add(1).read(),
            }
        };
        for place in 1..count as usize {
            // SAFETY: inside the table.
            let (name, imported, _) = unsafe { self.symbol(place) };
            if imported {
                each(name);
            }
        }
    }
}

/// The library that contains an address.
pub fn holding(address: usize) -> Option<Image> {
    find(|info| holds(info, address))
}

/// A function of the C library itself, ignoring wrappers. Before glibc 2.34 the loader's functions were in a separate
/// library.
pub fn of_libc(name: &[u8]) -> usize {
    let mut found = 0;
    find(|info| {
        // SAFETY: the loader's list.
        let image = unsafe { Image::of(info) }.filter(|image| [&b"libc.so.6"[..], b"libdl.so.2"].contains(&image.soname()));
        found = image.and_then(|image| image.defines(name)).unwrap_or(0);
        found != 0
    });
    found
}

/// A function of any loaded library, except the one that contains `ours`.
pub fn anywhere(name: &[u8], ours: &AtomicPtr<c_void>) -> *mut c_void {
    let ours = core::ptr::from_ref(ours) as usize;
    let mut found = 0;
    find(|info| {
        // SAFETY: the loader's list.
        let image = unsafe { Image::of(info) }.filter(|_| !holds(info, ours));
        found = image.and_then(|image| image.defines(name)).unwrap_or(0);
        found != 0
    });
    found as *mut c_void
}

fn holds(info: &sys::DlPhdrInfo, address: usize) -> bool {
    // SAFETY: the loader's list.
    let headers = || (0..usize::from(info.count)).map(|place| unsafe { &*info.headers.add(place) });
    headers().any(|header| {
        header.kind == LOAD && address.wrapping_sub(info.base.wrapping_add(header.vaddr as usize)) < header.memsz as usize
    })
}

fn find(mut wanted: impl FnMut(&sys::DlPhdrInfo) -> bool) -> Option<Image> {
    struct Search<'a> {
        wanted: &'a mut dyn FnMut(&sys::DlPhdrInfo) -> bool,
        found: Option<Image>,
    }
    extern "C" fn each(info: *mut sys::DlPhdrInfo, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: the loader's entry, and the structure below.
        unsafe {
            let search = &mut *data.cast::<Search<'_>>();
            let hit = (search.wanted)(&*info);
            if hit {
                search.found = Image::of(&*info);
            }
            c_int::from(hit)
        }
    }
    let mut search = Search { wanted: &mut wanted, found: None };
    // SAFETY: the structure lives for the call.
    unsafe { sys::dl_iterate_phdr(each, (&raw mut search).cast()) };
    search.found
}
