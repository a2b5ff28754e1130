//! Tensile library directories on disk: their locations, and their files for `tensile` to read.

use crate::linkage::{Dynamic, FileAt};
use crate::package_sums::Sums;
use codeobject::{
    CodeObject, Piece, Range, ReadAt, TargetId, ccob,
    elf::{EM_AMDGPU, Elf, SHT_DYNSYM, SHT_SYMTAB},
    walk,
};
use std::{
    cell::OnceCell,
    fs, io,
    path::{Path, PathBuf},
};
use sys::regular_file;
use tensile::{Files, Listing, ReadError};

/// The maximum depth of the search for catalogs.
const DEPTH: usize = 12;

/// A directory with Tensile files, and the names in it.
#[derive(Debug)]
pub struct LibraryDir {
    dir: PathBuf,
    listing: Listing,
    /// Read when a catalog file is first checked.
    sums: OnceCell<Option<Sums>>,
}

impl LibraryDir {
    /// None if nothing in it belongs to a Tensile library.
    pub fn open(dir: &Path) -> io::Result<Option<LibraryDir>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                names.extend(entry.file_name().into_string().ok());
            }
        }
        let listing = Listing::new(names);
        Ok(listing.is_catalog().then(|| LibraryDir { dir: dir.to_owned(), listing, sums: OnceCell::new() }))
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// `rocblas` or `hipblaslt`, from the files, otherwise from the path.
    pub fn library(&self) -> &'static str {
        let path = self.dir.to_string_lossy();
        if self.listing.is_hipblaslt() || path.contains("hipblaslt") { "hipblaslt" } else { "rocblas" }
    }

    /// The library's version, major and minor at least: from the name of the shared library next to the catalog
    /// (`librocblas.so.4.4`), or from the catalog's own path (`rocblas/4.4.1/library`). A symlink to a missing library
    /// is enough.
    pub fn version(&self) -> Option<String> {
        let stem = format!("lib{}.so.", self.library());
        let above = self.dir.ancestors().skip(1).take(4);
        let beside = above.flat_map(|dir| [dir.to_owned(), dir.join("lib")]).flat_map(|dir| versions(&dir, &stem));
        let in_path =
            self.dir.ancestors().skip(1).take(2).filter_map(|dir| dir.file_name()?.to_str().map(str::to_owned));
        beside.chain(in_path).find(|version| {
            let mut parts = version.split('.');
            parts.by_ref().take(2).filter(|part| part.parse::<u32>().is_ok()).count() == 2
        })
    }

    /// Whether the library may pass products on to hipBLASLt. rocBLAS may if it is linked to hipBLASLt
    /// (BUILD_WITH_HIPBLASLT). Debian's rocBLAS is not linked to it. If the library itself is missing, the answer is
    /// known only for Debian's directories.
    pub fn hands_over(&self) -> bool {
        if self.library() != "rocblas" {
            return false;
        }
        let above = self.dir.ancestors().skip(1).take(4);
        let files = above.flat_map(|dir| [dir.to_owned(), dir.join("lib")]).flat_map(|dir| below(&dir));
        let is = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("librocblas.so."))
        };
        let read = |path: PathBuf| Dynamic::read(&regular_file::open(&path).and_then(FileAt::new).ok()?).ok();
        match files.filter(is).find_map(read) {
            Some(library) => library.needed.iter().any(|name| name.starts_with("libhipblaslt.so")),
            None => !self.dir.components().any(|part| part.as_os_str().to_string_lossy().ends_with("-linux-gnu")),
        }
    }

    fn sums(&self) -> Option<&Sums> {
        self.sums.get_or_init(|| Sums::of(&self.dir, &format!("lib{}", self.library()))).as_ref()
    }

    /// Whether the package of the catalog lists a checksum for this file.
    pub fn is_listed(&self, name: &str) -> bool {
        self.sums().is_some_and(|sums| sums.lists(name))
    }

    pub fn open_file(&self, name: &str) -> io::Result<FileAt> {
        regular_file::open(&self.dir.join(name)).and_then(FileAt::new)
    }
}

impl Files for LibraryDir {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let file = self.open_file(name).map_err(|error| error.to_string())?;
        if file.len() > tensile::limits::FILE {
            return Err(format!("{} bytes are more than any catalog has", file.len()));
        }
        file.bytes(0, file.len(), "catalog").map(|data| data.into_owned()).map_err(|error| error.to_string())
    }

    fn read_checked(&self, name: &str) -> Result<Vec<u8>, ReadError> {
        let data = self.read(name).map_err(ReadError::Unreadable)?;
        match self.sums().and_then(|sums| sums.agrees(name, &data)) {
            Some(false) => Err(ReadError::Altered),
            _ => Ok(data),
        }
    }

    fn kernels(&self, name: &str, target: &str) -> Result<Vec<String>, String> {
        let file = self.open_file(name).map_err(|error| error.to_string())?;
        kernels_in(&file, target).map_err(|error| error.to_string())
    }
}

/// The kernel symbols of a code object: a bare ELF, or the entries for `target` of bundles, plain or compressed.
pub fn kernels_in(source: &dyn ReadAt, target: &str) -> codeobject::Result<Vec<String>> {
    let magic = source.bytes(0, source.len().min(4), "magic")?;
    if &*magic == b"\x7fELF" {
        return symbols(source, target);
    }
    let mut out = Vec::new();
    let wanted = TargetId::new(target);
    for piece in walk(source, Range { start: 0, end: source.len() }, 0) {
        match piece {
            Piece::Bundle(bundle) => {
                let opened = bundle.open(source, ccob::DEFAULT_LIMIT)?;
                for entry in &opened.table.entries {
                    if entry.id.target.as_ref().is_some_and(|own| own.processor == wanted.processor) {
                        out.append(&mut symbols(&opened.contents(entry)?, target)?);
                    }
                }
            }
            Piece::NotUnderstood(_, why) => return Err(why),
            Piece::Padding(_) => {}
        }
    }
    Ok(out)
}

/// `name.kd` is the descriptor that the runtime looks up for the kernel `name`.
fn symbols(source: &dyn ReadAt, target: &str) -> codeobject::Result<Vec<String>> {
    let elf = Elf::parse(source)?;
    if elf.header.machine != EM_AMDGPU {
        return Ok(Vec::new());
    }
    // The file's name and e_flags may name different targets: e_flags decide what the GPU accepts.
    let object = CodeObject::parse(source)?;
    if object.processor() != target {
        return Ok(Vec::new());
    }
    let table = match elf.symbols_of_kind(SHT_SYMTAB)? {
        Some(table) => Some(table),
        None => elf.symbols_of_kind(SHT_DYNSYM)?,
    };
    let Some(table) = table else { return Ok(Vec::new()) };
    Ok(table.iter().filter_map(|symbol| symbol.name.strip_suffix(".kd")).map(str::to_owned).collect())
}

/// The version suffixes of a shared library in a directory; for a symlink, also the suffix of its target.
fn versions(dir: &Path, stem: &str) -> Vec<String> {
    let suffix = |name: &Path| Some(name.file_name()?.to_str()?.strip_prefix(stem)?.to_owned());
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if let Some(own) = suffix(&path) {
            out.extend(fs::read_link(&path).ok().and_then(|named| suffix(&named)));
            out.push(own);
        }
    }
    out
}

fn below(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The directories in which distributions and AMD's packages install the catalogs of a library.
fn usual_places(root: &Path, library: &str) -> Vec<PathBuf> {
    let mut libs = vec![root.to_owned(), root.join("lib"), root.join("usr/lib")];
    libs.extend(below(&root.join("usr/lib")).into_iter().filter(|dir| dir.to_string_lossy().contains("linux-gnu")));
    libs.extend(below(&root.join("opt")).into_iter().map(|dir| dir.join("lib")));
    let mut out = Vec::new();
    for lib in libs.iter().map(|lib| lib.join(library)) {
        out.extend(below(&lib).into_iter().map(|dir| dir.join("library")));
        out.push(lib.join("library"));
    }
    out
}

/// The catalog of `rocblas` or `hipblaslt` in a runtime's tree; `root` may also be the catalog's own directory. The
/// usual directories are searched first, because a whole tree has hundreds of thousands of files.
pub fn of_library(root: &Path, library: &str) -> io::Result<Option<LibraryDir>> {
    match in_usual_place(root, library) {
        Some(found) => Ok(Some(found)),
        None => Ok(find(root)?.into_iter().find(|dir| dir.library() == library)),
    }
}

/// Like [`of_library`], but only looks in the usual directories: for roots that may be a whole system.
pub fn in_usual_place(root: &Path, library: &str) -> Option<LibraryDir> {
    let usual = [root.to_owned()].into_iter().chain(usual_places(root, library));
    usual.filter_map(|dir| LibraryDir::open(&dir).ok().flatten()).find(|dir| dir.library() == library)
}

/// Every Tensile library directory below `dir`, including itself. Unreadable directories below it are skipped: the caller that
/// lists the files reports them (`dir` itself is an error).
pub fn find(dir: &Path) -> io::Result<Vec<LibraryDir>> {
    fs::read_dir(dir)?;
    let mut out = Vec::new();
    let mut queue = vec![(dir.to_owned(), 0)];
    while let Some((dir, depth)) = queue.pop() {
        out.extend(LibraryDir::open(&dir).ok().flatten());
        if depth == DEPTH {
            continue;
        }
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                queue.push((entry.path(), depth + 1));
            }
        }
    }
    out.sort_by(|a, b| a.dir.cmp(&b.dir));
    Ok(out)
}
