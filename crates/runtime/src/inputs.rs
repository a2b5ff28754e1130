//! Resolves the user's inputs (files, patterns, static libraries and packages) to the files to examine.
//!
//! A package (wheel, zip, deb, tar) is unpacked into a private directory that is removed with the value; only files
//! that can contain GPU code are written. A static library is not unpacked: its members are read as parts of it.

use crate::deb;
use crate::unpack::{Bound, Compression, Unpacker, decompress, unpack_zip};
use codeobject::kpack::Reference;
use inventory::{Contents, File, Met, Nothing, OpenError, Options, Pack, Sniff, Unread};
use std::convert::Infallible;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use sys::private_dir::SessionDir;

#[derive(Debug)]
pub enum InputError {
    NoMatch(PathBuf),
    Open(OpenError),
    Unpack { path: PathBuf, source: io::Error },
    Deb { path: PathBuf, source: deb::DebError },
    Kind { path: PathBuf, kind: &'static str },
    Ar { path: PathBuf, source: codeobject::Error },
}

say::worded! { InputError {
    NoMatch(path) => "runtime-input-no-match",
    Open(error) => error,
    Unpack { path, source } => "runtime-input-unpack",
    Deb { path, source } => "runtime-input-deb",
    Kind { path, kind } => "runtime-input-kind",
    Ar { path, source } => "about-why" (what = path, why = source),
}}

say::wraps! { InputError { Open(OpenError) }}

/// A package, unpacked as long as this value exists.
#[derive(Debug)]
pub struct Unpacked {
    dir: SessionDir,
    /// Files that were not unpacked because they cannot contain GPU code.
    pub passed_over: u64,
    /// Entries that were not written, with the reason.
    pub refused: Vec<String>,
}

impl Unpacked {
    pub fn root(&self) -> &Path {
        self.dir.inner()
    }
}

/// The package kind of a file; None for anything else, and for files that cannot be opened.
pub fn pack(path: &Path) -> Option<Pack> {
    File::open(path).ok().and_then(|file| Pack::of(&file))
}

/// Expands patterns (`lib*.so`) to the matching files; other inputs are unchanged.
pub fn expand(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, InputError> {
    let mut all = Vec::new();
    for input in inputs {
        let text = input.to_string_lossy();
        if fs::symlink_metadata(input).is_ok() || !text.contains(['*', '?']) {
            all.push(input.clone());
            continue;
        }
        let mut found = vec![PathBuf::new()];
        for part in input.components() {
            match part {
                // A root, or a drive of Windows.
                Component::Prefix(_) | Component::RootDir => found.iter_mut().for_each(|path| path.push(part)),
                _ => {
                    let name = part.as_os_str().to_string_lossy();
                    found = found.iter().flat_map(|dir| step(dir, &name)).collect();
                }
            }
        }
        if found.is_empty() {
            return Err(InputError::NoMatch(input.clone()));
        }
        found.sort();
        all.extend(found);
    }
    Ok(all)
}

/// The matches of one part of a pattern in a directory. A name that begins with a dot must be matched explicitly.
fn step(dir: &Path, part: &str) -> Vec<PathBuf> {
    if !part.contains(['*', '?']) {
        let path = dir.join(part);
        return if fs::symlink_metadata(&path).is_ok() { vec![path] } else { Vec::new() };
    }
    let here = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let names = fs::read_dir(here).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let pattern: Vec<char> = part.chars().collect();
    let wanted = |name: &str| (part.starts_with('.') || !name.starts_with('.')) && matches(&pattern, name);
    names.filter(|name| wanted(&name.to_string_lossy())).map(|name| dir.join(name)).collect()
}

/// `*` matches any characters, `?` one. The time is bounded by the product of the lengths, for any pattern.
fn matches(pattern: &[char], name: &str) -> bool {
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    let stars = |reached: &mut Vec<bool>| {
        for (i, c) in pattern.iter().enumerate() {
            if *c == '*' && reached[i] {
                reached[i + 1] = true;
            }
        }
    };
    stars(&mut reached);
    for c in name.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for (i, p) in pattern.iter().enumerate().filter(|(i, _)| reached[*i]) {
            match p {
                '*' => next[i] = true,
                '?' => next[i + 1] = true,
                p if *p == c => next[i + 1] = true,
                _ => {}
            }
        }
        stars(&mut next);
        reached = next;
    }
    reached[pattern.len()]
}

/// The files below a directory with AMD device code, without following symlinks; and the files that may have some but
/// could not be examined: damaged or locked files, and archives.
pub fn device_files(dir: &Path) -> (Vec<PathBuf>, Vec<Unread>) {
    let (mut found, mut packed) = (Vec::new(), Vec::new());
    let mut unread = inventory::walk_files(dir, &[], &mut |file, what| {
        let device = match what {
            Met::Code(Contents::Host { fatbins, elf }) => !fatbins.is_empty() || Reference::of_elf(&elf).is_some(),
            Met::Code(Contents::Windows { fatbins, .. }) => !fatbins.is_empty(),
            Met::Code(_) => true,
            Met::Pack(pack) => {
                let why = say::say!("runtime-archive-closed", kind = pack.key());
                packed.push(Unread::new(file.path(), why));
                false
            }
            Met::Other => false,
        };
        found.extend(device.then(|| file.path().to_owned()));
    });
    unread.extend(packed);
    unread.sort();
    found.sort();
    (found, unread)
}

/// The members of a static library that contain GPU code or may do so, including damaged ones; and the total number of
/// members.
pub fn members(file: &File) -> Result<(Vec<File>, usize), InputError> {
    let ar = |source| InputError::Ar { path: file.path().to_owned(), source };
    let all = codeobject::ar::members(file).map_err(ar)?;
    let count = all.len();
    let mut found = Vec::new();
    for member in all {
        let part = file.part(&member.name, member.range)?;
        let device = match inventory::sniff(&part) {
            Sniff::Known(Contents::Host { fatbins, .. }) => {
                let sections =
                    !fatbins.is_empty() || codeobject::nvidia::host_sections(&part).map_or(true, |it| !it.is_empty());
                sections || has_any(&part)
            }
            Sniff::Known(_) | Sniff::Damaged(_) => true,
            Sniff::Other => false,
        };
        if device {
            found.push(part);
        }
    }
    Ok((found, count))
}

/// A member without device sections may have code elsewhere: clang's new driver writes `.llvm.offloading`.
fn has_any(part: &File) -> bool {
    let report = inventory::inspect::<_, Infallible>(part, &Options::all(), false, &Nothing, |_, ()| Ok(()));
    let Ok(report) = report;
    !report.targets().is_empty() || !report.modules.is_empty() || !report.is_complete()
}

/// Unpacks a package. Files whose names show that they cannot contain GPU code are skipped.
pub fn unpack(path: &Path, pack: Pack) -> Result<Unpacked, InputError> {
    let failed = |source| InputError::Unpack { path: path.to_owned(), source };
    let mut file = sys::regular_file::open(path).map_err(failed)?;
    let bound = Bound::of_stranger(file.metadata().map_err(failed)?.len());
    let dir = SessionDir::new("inspect", &std::env::temp_dir()).map_err(failed)?;
    let unpacker =
        Unpacker { root: dir.inner(), merged_usr: false, keep: &may_hold_code, bound: &bound, progress: &|_| () };
    let done = match pack {
        Pack::Zip => unpack_zip(&unpacker, &mut file),
        Pack::Deb => {
            let mut data = deb::data(file).map_err(|source| InputError::Deb { path: path.to_owned(), source })?;
            unpacker.unpack_tar(&mut data)
        }
        Pack::Tar => unpacker.unpack_tar(&mut file),
        Pack::Compressed => {
            let mut magic = [0; 4];
            file.read_exact(&mut magic).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(failed)?;
            let compression = match magic {
                [0x1f, 0x8b, ..] => Compression::Gzip,
                [0x28, 0xb5, ..] => Compression::Zstd,
                _ => Compression::Xz,
            };
            decompress(file, compression).and_then(|mut data| unpacker.unpack_tar(&mut data))
        }
        Pack::Ar | Pack::Rpm => return Err(InputError::Kind { path: path.to_owned(), kind: pack.key() }),
    };
    let done = done.map_err(failed)?;
    Ok(Unpacked { dir, passed_over: done.skipped_files, refused: done.refused })
}

/// Whether a file may contain code, by its name. Text and pictures are skipped; everything else is opened.
fn may_hold_code(path: &Path) -> bool {
    const NEVER: [&str; 22] = [
        "py", "pyi", "pyc", "txt", "md", "rst", "html", "css", "js", "json", "h", "hpp", "cuh", "cpp", "c", "cu",
        "hip", "png", "svg", "toml", "yaml", "gz",
    ];
    !path.extension().is_some_and(|extension| NEVER.iter().any(|never| extension.eq_ignore_ascii_case(never)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        let hit = |pattern: &str, name: &str| matches(&pattern.chars().collect::<Vec<_>>(), name);
        assert!(hit("lib*.so", "libggml-hip.so") && hit("*", "") && hit("a?c*", "abc") && hit("*.so*", "x.so.1"));
        assert!(!hit("lib*.so", "libx.so.1") && !hit("?", "") && !hit("a*b", "ac"));
        assert!(!hit(&"*a".repeat(200), &"b".repeat(2000)));
    }

    #[test]
    fn a_pattern_becomes_its_files_and_one_that_matches_nothing_is_an_error() {
        let dir = tempfile::tempdir().expect("a directory");
        for name in ["b.so", "a.so", "c.txt", ".hidden.so"] {
            fs::write(dir.path().join(name), b"x").expect("written");
        }
        let found = expand(&[dir.path().join("*.so")]).expect("two");
        assert_eq!(found, [dir.path().join("a.so"), dir.path().join("b.so")]);
        assert!(matches!(expand(&[dir.path().join("*.dll")]), Err(InputError::NoMatch(_))));
        assert_eq!(expand(&[PathBuf::from("4711")]).expect("as it is"), [PathBuf::from("4711")]);
    }
}
