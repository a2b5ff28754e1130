//! Finds the name of a function in the driver's internal objects.
//!
//! A `CUfunction` or `hipFunction_t` points to an object with an undocumented layout, but the object, or one behind its
//! pointers, contains the function's name. If some functions of a process are known by name, the path from the handle
//! to the name is searched, and accepted only if it leads to the right name for every one of them. The other names are
//! then read along this path.

use crate::target::memory::Memory;

/// Offsets: each is added to the pointer found at the previous one; the last leads to the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(Vec<u64>);

/// Bytes searched of an object, and of the objects it points to.
const OBJECT: usize = 1024;
const BEHIND: usize = 256;
/// Fewer could agree by chance.
const WITNESSES: usize = 3;
const MOST_WITNESSES: usize = 8;

impl Path {
    /// The shortest path that leads from every handle to its name; at least three different names must be given.
    pub fn find(memory: &Memory, known: &[(u64, String)]) -> Option<Path> {
        let mut witnesses: Vec<&(u64, String)> = Vec::new();
        for pair in known {
            if witnesses.len() < MOST_WITNESSES && witnesses.iter().all(|other| other.1 != pair.1) {
                witnesses.push(pair);
            }
        }
        let (first, rest) = witnesses.split_first()?;
        if rest.len() + 1 < WITNESSES {
            return None;
        }
        let leads = |path: &Path| rest.iter().all(|pair| path.follow(memory, pair.0).as_deref() == Some(&*pair.1));
        let (handle, name) = *first;
        let object = pointers(memory, *handle, OBJECT);
        let direct = object.iter().filter(|(_, to)| is_name(memory, *to, name)).map(|(at, _)| Path(vec![*at]));
        direct.into_iter().find(|path| leads(path)).or_else(|| {
            object.iter().find_map(|(at, to)| {
                let behind = pointers(memory, *to, BEHIND);
                let found = behind.iter().filter(|(_, to)| is_name(memory, *to, name));
                found.map(|(then, _)| Path(vec![*at, *then])).find(|path| leads(path))
            })
        })
    }

    pub fn follow(&self, memory: &Memory, handle: u64) -> Option<String> {
        let mut at = handle;
        for offset in &self.0 {
            at = memory.word(at.checked_add(*offset)?)?;
        }
        memory.name(at)
    }
}

/// The words of an object that may be pointers, with their offsets.
fn pointers(memory: &Memory, at: u64, len: usize) -> Vec<(u64, u64)> {
    const LOWEST: u64 = 0x1_0000;
    const HIGHEST: u64 = 1 << 47;
    let bytes = memory.bytes(at, len);
    let words = bytes.chunks_exact(8).filter_map(|word| word.first_chunk().map(|word| u64::from_le_bytes(*word)));
    (0..).step_by(8).zip(words).filter(|(_, word)| (LOWEST..HIGHEST).contains(word)).collect()
}

fn is_name(memory: &Memory, at: u64, name: &str) -> bool {
    let bytes = memory.bytes(at, name.len() + 1);
    bytes.strip_suffix(&[0]) == Some(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[repr(C)]
    struct Inner {
        unused: [u64; 3],
        name: *const std::ffi::c_char,
    }

    #[repr(C)]
    struct Function {
        kind: u64,
        module: *const u64,
        inner: Box<Inner>,
    }

    #[test]
    fn the_path_that_known_names_agree_on_names_another() {
        let module = 7_u64;
        let names: [&CStr; 4] = [c"_Z5firstv", c"_Z6secondPf", c"_Z5thirdv", c"_Z6fourthv"];
        let functions = names.map(|name| {
            let inner = Box::new(Inner { unused: [0; 3], name: name.as_ptr() });
            Box::new(Function { kind: 1, module: &raw const module, inner })
        });
        assert!(functions.iter().all(|f| f.kind == 1 && !f.module.is_null() && f.inner.unused == [0; 3]));
        let at = |place: usize| &raw const *functions[place] as u64;
        let known: Vec<(u64, String)> =
            (0..3).map(|place| (at(place), names[place].to_string_lossy().into_owned())).collect();
        let memory = Memory::open(std::process::id()).expect("our own");
        let path = Path::find(&memory, &known).expect("a path");
        assert_eq!(path, Path(vec![16, 24]));
        assert_eq!(path.follow(&memory, at(3)).as_deref(), Some("_Z6fourthv"));
        assert_eq!(Path::find(&memory, &known[..2]), None, "two may agree by chance");
    }
}
