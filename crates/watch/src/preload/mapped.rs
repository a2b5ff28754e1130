//! The abilities of a file mapped as code, according to its tables: launch, call a launch function, or look one up
//! itself.

use codeobject::ReadAt;
use codeobject::elf::{Elf, SHT_DYNSYM, SHT_SYMTAB, Symbols};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;
use sys::unix::MetadataExt;

/// The maximum number of bytes per file that are searched for names.
const LIMIT: u64 = 256 << 20;
/// Functions that return the address of a library, with which a program can read its symbol table itself.
const WALKERS: [&str; 5] = ["dl_iterate_phdr", "dlinfo", "dladdr1", "_r_debug", "_dl_find_object"];
/// Functions of other interfaces that submit work to a GPU, bypassing HIP and CUDA.
const OTHERS: [&str; 5] = [
    "hsa_queue_create",
    "clEnqueueNDRangeKernel",
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "zeCommandQueueExecuteCommandLists",
];
/// System libraries, which use these functions to unwind stacks and load libraries.
const SYSTEM: [&str; 9] =
    ["ld-linux", "libc.so", "libc-", "libdl", "libgcc_s", "libstdc++", "libc++", "libunwind", "libwhichkernel-"];

#[derive(Debug, Clone, Default)]
pub struct Mapped {
    /// None if the file could not be read or has changed since.
    pub tables: Option<Tables>,
}

#[derive(Debug, Clone, Default)]
pub struct Tables {
    pub soname: String,
    pub needed: Vec<String>,
    /// Launch functions that the file exports.
    pub exports: BTreeSet<String>,
    /// Whether the file contains launch functions itself.
    pub runtime_inside: bool,
    /// Like `runtime_inside`, without CUDA's runtime, which is often linked in and launches through the driver, a
    /// separate library.
    pub inside: bool,
    /// Whether the file has only dynamic symbols.
    pub stripped: bool,
    /// Whether the file imports launch functions.
    pub imports: bool,
    /// Whether its data contain the name of a launch function: it can then look the function up itself.
    pub names: bool,
    /// Whether the file can walk the loader's tables, or submit work to a GPU through another interface.
    pub walks: bool,
    /// The loader that the program requests.
    pub loader: Option<String>,
}

/// Whether a function of this name launches kernels of a GPU. The same rule as in the shim.
fn launches(name: &str) -> bool {
    const ABOVE: [&str; 7] = ["hipblas", "hipsparse", "cublas", "cudnn", "cusparse", "cufft", "cusolver"];
    (name.starts_with("hip") || name.starts_with("cu"))
        && name.contains("Launch")
        && !name.contains("LaunchHostFunc")
        && !ABOVE.iter().any(|above| name.starts_with(above))
}

/// The names of launch functions as a program would contain them; the longer ones also without their prefix.
static NAME: LazyLock<Option<regex::bytes::Regex>> = LazyLock::new(|| {
    let launch = "(Ext|Module|Drv|Graph|Hcc)*Launch(Cooperative)?";
    let (whole, part) = (format!("(hip|cuda|cu){launch}(Kernel)?"), format!("(^|\\x00){launch}Kernel"));
    regex::bytes::Regex::new(&format!("(?-u)({whole}|{part})(Ex|ExC)?(_spt|_ptsz)?\\x00")).ok()
});

impl Mapped {
    /// The file of this path, if it is still the one with this inode.
    pub fn of(path: &str, inode: u64) -> Mapped {
        let path = Path::new(path);
        let same = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.ino() == inode);
        let tables = same.then(|| inventory::File::open(path).ok()).flatten().and_then(|file| tables(&file));
        Mapped { tables }
    }
}

fn tables(source: &dyn ReadAt) -> Option<Tables> {
    const INTERPRETER: u32 = 3;
    let elf = Elf::parse(source).ok()?;
    // A file without section headers cannot be examined.
    if elf.sections().is_empty() {
        return None;
    }
    let mut found = Tables::default();
    if let Some(segment) = elf.segments().iter().find(|segment| segment.kind == INTERPRETER) {
        let loader = source.bytes(segment.offset, segment.file_size.min(4096), "program interpreter").ok()?;
        found.loader = Some(String::from_utf8_lossy(&loader).trim_end_matches('\0').to_owned());
    }
    if let Some(symbols) = elf.symbols_of_kind(SHT_DYNSYM).ok()? {
        dynamic(&symbols, &mut found);
    }
    match elf.symbols_of_kind(SHT_SYMTAB).ok()? {
        Some(symbols) => {
            let own = || symbols.iter().filter(|symbol| symbol.section != 0 && launches(symbol.name));
            found.runtime_inside = own().next().is_some();
            found.inside = own().any(|symbol| !symbol.name.starts_with("cuda"));
        }
        None => found.stripped = true,
    }
    names_needed(&elf, &mut found);
    found.walks |= codeobject::reads_loader_handles(&elf).ok()?;
    found.names = names(&elf)?;
    Some(found)
}

fn dynamic(symbols: &Symbols<'_>, found: &mut Tables) {
    for symbol in symbols.iter() {
        match symbol.section {
            0 if launches(symbol.name) => found.imports = true,
            0 if WALKERS.contains(&symbol.name) || OTHERS.contains(&symbol.name) => found.walks = true,
            0 => {}
            _ if launches(symbol.name) => drop(found.exports.insert(symbol.name.to_owned())),
            _ => {}
        }
    }
}

/// DT_NEEDED and DT_SONAME.
fn names_needed(elf: &Elf<'_>, found: &mut Tables) {
    const STRINGS: &str = ".dynstr";
    let part = |name: &str| elf.section(name).and_then(|section| elf.data(section).ok()).unwrap_or_default();
    let (entries, strings) = (part(".dynamic"), part(STRINGS));
    for entry in entries.chunks_exact(16) {
        let number =
            |at: usize| entry.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b));
        let text = || {
            let rest = usize::try_from(number(8)).ok().and_then(|at| strings.get(at..)).unwrap_or_default();
            String::from_utf8_lossy(rest.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
        };
        match number(0) {
            1 => found.needed.push(text()),
            14 => found.soname = text(),
            _ => {}
        }
    }
}

/// Whether the file's data contain the name of a launch function; None if the data are too large. Device code is not host data.
fn names(elf: &Elf<'_>) -> Option<bool> {
    const PROGBITS: u32 = 1;
    const ALLOCATED: u64 = 2;
    let mut left = LIMIT;
    for section in elf.sections() {
        let device = ["fatbin", "FatBin"].iter().any(|word| section.name.contains(word));
        if section.kind != PROGBITS || section.flags & ALLOCATED == 0 || device {
            continue;
        }
        left = left.checked_sub(section.size)?;
        let data = elf.data(section).ok()?;
        if NAME.as_ref().is_some_and(|name| name.is_match(&data)) {
            return Some(true);
        }
    }
    Some(false)
}

/// Files that were examined, by path and inode.
#[derive(Debug, Default)]
pub struct Library {
    known: BTreeMap<(String, u64), Mapped>,
}

impl Library {
    pub fn get(&mut self, path: &str, inode: u64) -> Mapped {
        let key = (path.to_owned(), inode);
        self.known.entry(key).or_insert_with(|| Mapped::of(path, inode)).clone()
    }
}

impl Tables {
    /// Whether the file can find a launch function without the loader's lookup.
    pub fn looks_up(&self, name: &str) -> bool {
        let system = SYSTEM.iter().any(|start| name.starts_with(start));
        !system && (self.names || self.walks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn made(dir: &Path, name: &str, code: &str, flags: &[&str]) -> Tables {
        let (source, to) = (dir.join(format!("{name}.c")), dir.join(name));
        std::fs::write(&source, code).expect("written");
        let done = Command::new("cc").arg("-o").arg(&to).arg(&source).args(flags).status().expect("a C compiler");
        assert!(done.success());
        let inode = std::fs::metadata(&to).expect("made").ino();
        Mapped::of(&to.to_string_lossy(), inode).tables.expect("an ELF file")
    }

    #[test]
    fn a_file_is_known_by_what_it_can_do() {
        let dir = tempfile::tempdir().expect("a directory");
        let shared = ["-shared", "-fPIC"];
        let runtime = made(dir.path(), "libany.so", "int cuLaunchKernel(void) { return 0; }", &shared);
        assert!(runtime.exports.contains("cuLaunchKernel") && !runtime.imports && !runtime.names);
        let user = made(
            dir.path(),
            "libuser.so",
            "int cuLaunchKernel(void); int f(void) { return cuLaunchKernel(); }",
            &shared,
        );
        assert!(
            user.exports.is_empty() && user.imports && !user.names,
            "an import is no name among its data: {user:?}"
        );
        let asks = made(dir.path(), "libasks.so", "const char *f(void) { return \"hipModuleLaunchKernel\"; }", &shared);
        assert!(asks.names && asks.looks_up("libasks.so") && !asks.imports);
        let words = "const char *f(void) { return \"hipLaunchKernel failed\"; }";
        assert!(!made(dir.path(), "libwords.so", words, &shared).names, "a message is no name");
        let walks = "int dl_iterate_phdr(void *, void *); int f(void) { return dl_iterate_phdr(0, 0); }";
        assert!(made(dir.path(), "libwalks.so", walks, &shared).walks);
        let part = "const char *f(void) { return \"LaunchKernel\"; }";
        assert!(made(dir.path(), "libpart.so", part, &shared).names, "the rest of a name is one");
        let inside = "int hipLaunchKernel(void) { return 0; } int main(void) { return hipLaunchKernel(); }";
        let inside = made(dir.path(), "inside", inside, &["-static"]);
        assert!(inside.loader.is_none() && inside.inside && !inside.stripped);
    }
}
