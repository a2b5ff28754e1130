//! Tests code that was moved out of its library: Debian's libggml-hip, split by our own writer, on simulated cards.

use codeobject::{CodeObject, Kernel, ReadAt};
use dryrun::{Blas, Described, Ending, Request, RunRoot, Selected, Streams, describe, last_words, select};
use gguf::{TensorType, known, skeleton};
use inventory::{File, Found, Look, Options, inspect};
use launch::table::KernelTable;
use made_files as make;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const LIBRARY: &str = "usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so";
const TARGET: &str = "gfx1100";

/// The code objects of one target, by bundle.
struct Objects;

impl Look for Objects {
    type Out = Vec<(usize, Vec<u8>)>;

    fn wants(&self, target: &codeobject::TargetId) -> bool {
        target.to_string() == TARGET
    }

    fn entry(&self, found: &Found<'_>, out: &mut Self::Out) -> bool {
        if found.target.is_some_and(|target| self.wants(target)) {
            let bytes = found.contents.bytes(0, found.contents.len(), "object").expect("readable").into_owned();
            out.push((found.bundle.unwrap_or(0), bytes));
        }
        false
    }

    fn kernel(&self, _: &Found<'_>, _: &CodeObject<'_>, _: &Kernel, _: &mut Self::Out) {}
}

/// Hard-links the tree `from`, except for the library. The library's code for one target is moved to an archive called
/// `archive`.
fn split_tree(from: &Path, to: &Path, archive: &str) {
    let library = File::open(&from.join(LIBRARY)).expect("the library");
    let mut entries = Vec::new();
    let Ok(_) = inspect(&library, &Options::default(), false, &Objects, |_, found: Vec<(usize, Vec<u8>)>| {
        for (bundle, bytes) in found {
            entries.push((format!("lib/libggml-hip.so#{bundle}"), archive.to_owned(), bytes));
        }
        Ok::<(), Infallible>(())
    });
    assert!(entries.len() > 100, "{} code objects", entries.len());
    let status = std::process::Command::new("cp").arg("-al").arg(from).arg(to).status().expect("cp");
    assert!(status.success());
    let path = to.join(LIBRARY);
    fs::remove_file(&path).expect("a link of ours");
    let reference = make::kpack_reference("lib/libggml-hip.so", &["../.kpack/ggml_@GFXARCH@.kpack"]);
    let split = make::split_of(&library, &reference).expect("a library with wrappers");
    // The removed parts become holes in the file.
    let out = fs::File::create_new(&path).expect("a file");
    let mut at = 0;
    for hole in split.emptied.iter().chain([&codeobject::Range { start: library.len(), end: library.len() }]) {
        let bytes = library.bytes(at, hole.start - at, "library").expect("readable");
        out.write_all_at(&bytes, at).expect("written");
        at = hole.end;
    }
    for (at, bytes) in &split.written {
        out.write_all_at(bytes, *at).expect("written");
    }
    let dir = path.parent().and_then(Path::parent).expect("a directory").join(".kpack");
    fs::create_dir_all(&dir).expect("a directory");
    fs::write(dir.join(format!("ggml_{archive}.kpack")), make::kpack(&entries, true)).expect("written");
}

fn described(place: &RunRoot, card: &str, cache: &Path) -> Described {
    let libraries: Vec<(PathBuf, String)> = place.libraries(false, None).expect("libraries with device code");
    let target = gpu::find(card).expect("a card").target().expect("a target");
    describe(&libraries, &target, true, cache).expect("a kernel table")
}

/// Every kernel of the library by bundle, with everything that the stand-in gets to know about it.
fn kernels(described: &Described) -> Vec<(u32, String)> {
    let table = KernelTable::parse(&described.table).expect("a table");
    let of = |(kernel, place): (&launch::table::KernelInfo, &u32)| {
        let place = table.places.get(*place as usize).expect("a place");
        place.path.contains("libggml-hip").then(|| (place.bundle, format!("{kernel:?} {}", place.ships)))
    };
    let mut all: Vec<(u32, String)> = table.kernels.iter().zip(&table.of).filter_map(of).collect();
    all.sort();
    all
}

fn run(place: &RunRoot, described: &Described, home: &Path) -> Vec<(String, u64)> {
    let profile = gpu::find(TARGET).expect("a card");
    let model = home.join("model.gguf");
    let shape = known("qwen2-7b").expect("a shape");
    let made = skeleton(&shape, TensorType::parse("Q4_K").expect("a type"), 2, false).expect("a skeleton");
    fs::write(&model, &made.header).expect("a file");
    fs::OpenOptions::new().write(true).open(&model).expect("the file").set_len(made.file_size).expect("sparse");
    let words = ["-r", "1", "--no-warmup", "-t", "1", "-p", "12", "-n", "2"].map(OsString::from);
    let command: Vec<OsString> = ["llama-bench".into(), "-m".into(), model.into()].into_iter().chain(words).collect();
    let show = [home.to_owned()];
    let request = Request {
        place,
        profiles: std::slice::from_ref(&profile),
        described,
        strict: true,
        command: &command,
        show: &show,
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        sparse_read: true,
        variables: &[],
    };
    let outcome = request.run().expect("a run");
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    let rows: Vec<Selected> = select(&outcome, std::slice::from_ref(&profile));
    assert!(rows.iter().all(|row| row.needs.is_some() && !row.foreign), "every kernel is in the table");
    let mut rows: Vec<(String, u64)> = rows.into_iter().map(|row| (row.kernel, row.count)).collect();
    rows.sort();
    rows
}

#[test]
fn the_stand_in_loads_code_that_left_the_library() {
    let Some(dir) = test_artifacts::need("debian-sid") else { return };
    // The directory is beside the tree, because hard links do not cross file systems.
    let temporary = tempfile::tempdir_in(&dir).expect("a directory");
    let (home, cache) = (temporary.path().join("home"), temporary.path().join("cache"));
    fs::create_dir_all(&home).expect("a directory");
    let whole = RunRoot::Tree { name: "whole".into(), root: dir.join("root") };
    let before = described(&whole, TARGET, &cache);

    let root = temporary.path().join("own");
    split_tree(&dir.join("root"), &root, TARGET);
    let place = RunRoot::Tree { name: "split".into(), root: root.clone() };
    let after = described(&place, TARGET, &cache);
    assert!(after.ships && after.taken.is_empty() && after.missing.is_empty(), "{:?}", after.missing);
    let (listed, again) = (kernels(&before), kernels(&after));
    assert!(listed.len() > 7_000 && listed == again, "{} kernels, then {}", listed.len(), again.len());
    assert_eq!(run(&place, &after, &home), run(&whole, &before, &home));
    // For a card without an archive, there is no code, and only the metadata of another target can replace it.
    let other = described(&place, "gfx1030", &cache);
    assert_eq!((other.ships, other.near.as_deref()), (false, Some(TARGET)));

    // Code for the generic target fits the card but is not its own.
    let archives = root.join(LIBRARY).parent().and_then(Path::parent).expect("a directory").join(".kpack");
    fs::remove_dir_all(&archives).expect("ours");
    let gone = described(&place, TARGET, &cache);
    assert!(!gone.ships && gone.missing.iter().any(|what| what.contains("ggml_@GFXARCH@.kpack")), "{:?}", gone.missing);
    let root = temporary.path().join("generic");
    split_tree(&dir.join("root"), &root, "gfx11-generic");
    let place = RunRoot::Tree { name: "generic".into(), root };
    let generic = described(&place, TARGET, &cache);
    assert_eq!(generic.taken.iter().map(String::as_str).collect::<Vec<_>>(), ["gfx11-generic"]);
    assert!(generic.ships && generic.near.is_none());
    assert_eq!(kernels(&generic), listed);
}
