//! System libraries that are loaded into this process by their plain name.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// The library is never unloaded, because threads that it started may still run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DynamicLibrary(NonNull<c_void>);

impl DynamicLibrary {
    /// The loader's own search path (ld.so(8)); a name with a directory is refused.
    pub(crate) fn open(name: &CStr) -> Result<DynamicLibrary, String> {
        if name.to_bytes().contains(&b'/') {
            return Err("a path, where a library of the system's is looked for by its name".to_owned());
        }
        // SAFETY: the name is NUL-terminated. The library's initialisers run, as in every other program that loads it.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        NonNull::new(handle).map(DynamicLibrary).ok_or_else(|| {
            // SAFETY: no arguments.
            let text = unsafe { libc::dlerror() };
            if text.is_null() {
                return "not found".to_owned();
            }
            // SAFETY: the string is valid until the next dlerror call, which is made by us.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        })
    }

    pub(crate) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: an open handle and a NUL-terminated name.
        NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_by_the_systems_own_name() {
        assert!(DynamicLibrary::open(c"/lib/x86_64-linux-gnu/libm.so.6").is_err_and(|why| why.starts_with("a path")));
        let why = DynamicLibrary::open(c"libwhichkernel-there-is-none.so").expect_err("no such library");
        assert!(why.contains("libwhichkernel-there-is-none.so"), "{why}");
        let found = DynamicLibrary::open(c"libm.so.6").expect("glibc's");
        assert!(found.symbol(c"cos").is_some() && found.symbol(c"no such function").is_none());
    }
}
