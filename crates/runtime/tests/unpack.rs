//! Hostile archives: whatever they contain, nothing is created outside the cache.

use runtime::{
    Cache, Error,
    add::{add, default_name},
};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};
use tar::{Builder, EntryType, Header};

fn header(path: &str, kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    // set_path would reject the path of a hostile archive.
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o4755);
    header.set_size(size);
    header
}

fn finish(builder: &mut Builder<Vec<u8>>, mut header: Header, content: &[u8]) {
    header.set_cksum();
    builder.append(&header, content).unwrap();
}

fn link(builder: &mut Builder<Vec<u8>>, path: &str, target: &str, kind: EntryType) {
    let mut header = header(path, kind, 0);
    header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
    finish(builder, header, b"");
}

fn hostile() -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    finish(&mut tar, header("lib/good.so", EntryType::Regular, 4), b"good");
    finish(&mut tar, header("../climbed", EntryType::Regular, 3), b"bad");
    finish(&mut tar, header("/absolute", EntryType::Regular, 2), b"ok");
    finish(&mut tar, header("dev/sda", EntryType::Block, 0), b"");
    finish(&mut tar, header("pipe", EntryType::Fifo, 0), b"");
    link(&mut tar, "lib/good.so.1", "good.so", EntryType::Symlink);
    link(&mut tar, "lib/hard.so", "lib/good.so", EntryType::Link);
    link(&mut tar, "up", "../../../../etc", EntryType::Symlink);
    link(&mut tar, "root-link", "/lib", EntryType::Symlink);
    // This link is inside by its text, but outside by its target: a/b/up is the root, and its parent is not inside.
    link(&mut tar, "a/b/up", "../..", EntryType::Symlink);
    link(&mut tar, "sneaky", "a/b/up/..", EntryType::Symlink);
    // The path leads through a link, which must not be followed for writing.
    finish(&mut tar, header("root-link/written", EntryType::Regular, 3), b"bad");
    link(&mut tar, "stolen", "/etc/passwd", EntryType::Link);
    tar.into_inner().unwrap()
}

#[test]
fn only_inward_files_and_links_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("hostile.tar");
    fs::write(&archive, hostile()).unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let index = add(&cache, "hostile", &[archive], &[], &|_| ()).unwrap();
    let root = cache.root("hostile").unwrap();
    assert_eq!(fs::read(root.join("lib/good.so")).unwrap(), b"good");
    assert_eq!(fs::read(root.join("lib/hard.so")).unwrap(), b"good");
    assert_eq!(fs::read(root.join("lib/good.so.1")).unwrap(), b"good");
    assert_eq!(fs::read(root.join("absolute")).unwrap(), b"ok");
    assert_eq!(fs::read_link(root.join("root-link")).unwrap(), Path::new("lib"));
    for gone in ["dev/sda", "pipe", "up", "sneaky", "stolen", "lib/written"] {
        assert!(fs::symlink_metadata(root.join(gone)).is_err(), "{gone}");
    }
    assert!(!dir.path().join("cache/runtimes/climbed").exists() && !dir.path().join("climbed").exists());
    assert_eq!(index.refused.len(), 7, "{:?}", index.refused);
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(root.join("lib/good.so")).unwrap().permissions());
    assert_eq!(mode & 0o7777, 0o755, "no set-user-id bit");
    assert!(matches!(add(&cache, "hostile", &[PathBuf::from("/")], &[], &|_| ()), Err(Error::Taken { .. })));
}

#[test]
fn every_packing_is_told_by_its_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut tar = Builder::new(Vec::new());
    finish(&mut tar, header("x_gfx900", EntryType::Regular, 2), b"hi");
    let tar = tar.into_inner().unwrap();
    let gz = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&tar).unwrap();
        encoder.finish().unwrap()
    };
    let zst = zstd::encode_all(tar.as_slice(), 1).unwrap();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("x_gfx900", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"hi").unwrap();
    zip.start_file("../out", zip::write::SimpleFileOptions::default()).unwrap();
    let zip = zip.finish().unwrap().into_inner();
    let cache = Cache::at(dir.path().join("cache"));
    for (name, data) in [("tar", tar.clone()), ("gz", gz), ("zst", zst), ("zip", zip)] {
        // The file name is deliberately wrong.
        let path = dir.path().join(format!("{name}.txt"));
        fs::write(&path, data).unwrap();
        add(&cache, name, &[path], &[], &|_| ()).unwrap();
        assert_eq!(fs::read(cache.root(name).unwrap().join("x_gfx900")).unwrap(), b"hi", "{name}");
    }
    let path = dir.path().join("cut.tar");
    fs::write(&path, &tar[..700]).unwrap();
    assert!(add(&cache, "cut", &[path], &[], &|_| ()).is_ok_and(|i| i.bytes == 2) || cache.root("cut").is_none());
    let path = dir.path().join("nonsense");
    fs::write(&path, "nonsense").unwrap();
    assert!(matches!(add(&cache, "no", &[path], &[], &|_| ()), Err(Error::UnknownArchive { .. })));
    assert!(!cache.runtime("no").exists(), "nothing half done is left");
}

/// Zeros compress well: 300 MiB into a few kilobytes. Nothing of it remains.
#[test]
fn an_archive_that_swells_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bomb.tar.zst");
    let size = 300_u64 << 20;
    let mut head = header("lib/zeros.so", EntryType::Regular, size);
    head.set_cksum();
    let mut packed = zstd::stream::write::Encoder::new(fs::File::create(&path).unwrap(), 1).unwrap();
    packed.write_all(head.as_bytes()).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), size + 1024), &mut packed).unwrap();
    packed.finish().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 1 << 20);
    let cache = Cache::at(dir.path().join("cache"));
    let error = add(&cache, "bomb", &[path], &[], &|_| ()).expect_err("it swells");
    assert!(matches!(error, Error::Swollen { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("more than 268435456") && said.contains("runtime add DIR"), "{said}");
    assert!(cache.root("bomb").is_none() && !cache.runtimes().join(".part-bomb").exists(), "nothing is left");
}

#[test]
fn a_directory_is_linked_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("lib/ollama");
    fs::create_dir_all(&bundle).unwrap();
    fs::write(bundle.join("libggml-hip.so"), "x").unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let index = add(&cache, &default_name(&bundle), std::slice::from_ref(&bundle), &[], &|_| ()).unwrap();
    assert_eq!((index.name.as_str(), index.linked, index.files), ("ollama", true, 1));
    assert!(cache.root("ollama").unwrap().join("libggml-hip.so").is_file());
    assert_eq!(default_name(Path::new("/x/ollama-linux-amd64-rocm.tgz")), "ollama-linux-amd64-rocm");
}

/// A real package, unpacked by our reader and by dpkg-deb: the same files.
#[test]
fn a_real_package_unpacks_as_dpkg_does() {
    let Some(runtime) = test_artifacts::need("debian-sid") else { return };
    let index = runtime::Index::read(&runtime).unwrap();
    let package = index.package("llama.cpp-tools").expect("one of its packages");
    let Some(deb) = test_artifacts::file("debian-sid", &format!("debs/{}", package.deb)) else { return };
    let Some(dpkg) = test_artifacts::program("dpkg-deb", "only Debian and its kin have it") else { return };
    let output = std::process::Command::new(dpkg).arg("--contents").arg(&deb).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let theirs = text.lines().filter(|line| line.starts_with('-')).count();
    assert_eq!(package.files as usize, theirs);
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path());
    let again = add(&cache, "tools", &[deb], &[], &|_| ()).unwrap();
    assert_eq!((again.files, again.bytes), (package.files, package.bytes));
    assert_eq!(again.packages[0].sha256, package.sha256);
    for line in text.lines().filter(|line| line.starts_with('-')) {
        let mut fields = line.split_whitespace();
        let (size, path) = (fields.nth(2).unwrap(), fields.nth(2).unwrap());
        let meta = fs::metadata(cache.root("tools").unwrap().join(path)).unwrap();
        assert_eq!(meta.len().to_string(), size, "{path}");
    }
}
