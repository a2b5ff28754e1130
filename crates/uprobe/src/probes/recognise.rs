//! Which runtime a file is: by its file name, else by its SONAME, independent of its directory.
//!
//! A file that exports a launch function, but has neither name, may be a runtime or a wrapper that forwards every
//! launch. If it were probed, forwarded launches would count twice. So it gets no probe, and is reported as a gap.

use crate::probes::entries::Home;
use codeobject::ReadAt;
use codeobject::elf::{Elf, SymbolKind};
use runtime::linkage::Dynamic;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognised {
    Home(Home),
    /// The library exports this launch function.
    Launches(&'static str),
    /// A program that contains this launch function, or a sign of one.
    Contains(&'static str),
    /// A program without libraries and without symbols: its calls are unknown.
    Opaque,
    Nothing,
}

/// The functions through which every launch of a runtime, or of a library in front of it, passes.
const TELLING: [&str; 4] = ["hipLaunchKernel", "hipModuleLaunchKernel", "cuLaunchKernel", "vkCmdDispatch"];

/// `name`: the file's own name, independent of the path.
pub fn recognise(name: &str, path: &Path) -> Recognised {
    if let Some(home) = Home::of(name) {
        return Recognised::Home(home);
    }
    let Ok(file) = inventory::File::open(path) else { return Recognised::Nothing };
    of_file(&file)
}

/// The kind of runtime, by file name or SONAME.
pub fn home_of(path: &Path) -> Option<Home> {
    match recognise(&path.file_name()?.to_string_lossy(), path) {
        Recognised::Home(home) => Some(home),
        _ => None,
    }
}

fn of_file(file: &dyn ReadAt) -> Recognised {
    let soname = Dynamic::read(file).ok().and_then(|dynamic| dynamic.soname);
    if let Some(home) = soname.and_then(|soname| Home::of(&soname)) {
        return Recognised::Home(home);
    }
    let exported = |name: &&&str| exports(file, name).unwrap_or(false);
    if let Some(name) = TELLING.iter().find(exported) {
        return Recognised::Launches(name);
    }
    contains(file).unwrap_or(Recognised::Nothing)
}

/// A runtime that is linked into its program has its functions among the local symbols. A program without symbols is
/// recognised by the device files and functions that it names; if it names none, the question stays open.
fn contains(file: &dyn ReadAt) -> Option<Recognised> {
    const SYMTAB: u32 = 2;
    const MOST: u64 = 256 << 20;
    const SIGNS: [&str; 3] = ["/dev/kfd", "/dev/nvidia", "/dev/dxg"];
    let elf = Elf::parse(file).ok()?;
    let all = |signs: &[&'static str], has: &dyn Fn(&str) -> bool| signs.iter().find(|sign| has(sign)).copied();
    let small = |section: &&codeobject::elf::Section| section.kind == SYMTAB && section.size < MOST;
    if elf.sections().iter().any(|section| small(&section)) {
        let symbols = elf.symbols_of_kind(SYMTAB).ok()??;
        let defined: std::collections::HashSet<&str> = symbols
            .iter()
            .filter(|symbol| symbol.section != 0 && symbol.kind == SymbolKind::Function)
            .filter_map(|symbol| TELLING.iter().find(|name| **name == symbol.name).copied())
            .collect();
        return all(&TELLING, &|name| defined.contains(name)).map(Recognised::Contains);
    }
    let dynamic = Dynamic::read(file).ok()?;
    if dynamic.interpreter.is_some() || dynamic.soname.is_some() || !dynamic.needed.is_empty() || has_exports(&elf) {
        return None;
    }
    let bytes = file.bytes(0, file.len().min(MOST), "program").ok()?;
    let names = |sign: &str| memchr::memmem::find(&bytes, sign.as_bytes()).is_some();
    Some(all(&TELLING, &names).or_else(|| all(&SIGNS, &names)).map_or(Recognised::Opaque, Recognised::Contains))
}

fn has_exports(elf: &Elf<'_>) -> bool {
    const DYNSYM: u32 = 11;
    let table = elf.symbols_of_kind(DYNSYM).ok().flatten();
    table.is_some_and(|table| table.iter().any(|symbol| symbol.section != 0))
}

/// Whether a file defines a dynamic symbol. The hash table's filter (`.gnu.hash`) rules out nearly every file after
/// reading a few bytes; the symbols are read only if the filter matches.
fn exports(file: &dyn ReadAt, name: &str) -> Option<bool> {
    const DYNSYM: u32 = 11;
    let elf = Elf::parse(file).ok()?;
    let table = elf.section(".gnu.hash")?;
    let word = |at: u64| {
        Some(u32::from_le_bytes(
            file.bytes(table.offset.checked_add(at)?, 4, "hash table").ok()?.as_ref().try_into().ok()?,
        ))
    };
    let (words, shift) = (word(8)?, word(12)?);
    let hash = name.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(u32::from(byte)));
    let place = u64::from((hash / 64).checked_rem(words)?) * 8 + 16;
    let filter = u64::from(word(place)?) | u64::from(word(place + 4)?) << 32;
    let bits = 1_u64 << (hash % 64) | 1_u64 << (hash.checked_shr(shift)? % 64);
    if filter & bits != bits {
        return Some(false);
    }
    let symbols = elf.symbols_of_kind(DYNSYM).ok()??;
    Some(symbols.iter().any(|symbol| symbol.section != 0 && symbol.name == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_runtime_is_known_by_what_it_calls_itself_and_a_launcher_by_what_it_exports() {
        let dir = tempfile::tempdir().expect("a directory");
        let source = dir.path().join("x.c");
        let built = |name: &str, text: &str, words: &[&str]| {
            std::fs::write(&source, text).expect("written");
            let path = dir.path().join(name);
            let done = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&path).arg(&source).args(words).status();
            assert!(done.expect("a C compiler").success());
            path
        };
        let odd = built("q7.bin", "int f(void) { return 0; }", &["-Wl,-soname,libcuda.so.1"]);
        assert_eq!((recognise("q7.bin", &odd), home_of(&odd)), (Recognised::Home(Home::Cuda), Some(Home::Cuda)));
        let before = built("before.so", "int hipLaunchKernel(void) { return 0; }", &[]);
        assert_eq!(recognise("before.so", &before), Recognised::Launches("hipLaunchKernel"));
        let user = built("user.so", "int hipLaunchKernel(void); int g(void) { return hipLaunchKernel(); }", &[]);
        assert_eq!(recognise("user.so", &user), Recognised::Nothing, "it only calls");
        assert_eq!(recognise("x.c", &source), Recognised::Nothing, "no library");
        let program = |name: &str, text: &str, words: &[&str]| {
            std::fs::write(&source, text).expect("written");
            let path = dir.path().join(name);
            let done = Command::new("cc").arg("-o").arg(&path).arg(&source).args(words).status();
            assert!(done.expect("a C compiler").success());
            recognise(name, &path)
        };
        let inside = "__attribute__((used)) static int hipLaunchKernel(void) { return 0; } int main(void) { return hipLaunchKernel(); }";
        assert_eq!(program("a", inside, &["-static"]), Recognised::Contains("hipLaunchKernel"));
        assert_eq!(program("b", inside, &[]), Recognised::Contains("hipLaunchKernel"));
        assert_eq!(program("c", inside, &["-static", "-s"]), Recognised::Opaque);
        let device = "#include <stdio.h>\nint main(void) { return !fopen(\"/dev/kfd\", \"r\"); }";
        assert_eq!(program("d", device, &["-static", "-s"]), Recognised::Contains("/dev/kfd"));
        assert_eq!(
            program("e", "int main(void) { return 0; }", &["-s"]),
            Recognised::Nothing,
            "its libraries are read"
        );
        assert_eq!(home_of(Path::new("/nowhere/at/all")), None);
    }
}
