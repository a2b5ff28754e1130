//! The RPM package: lead, signature header, header, cpio archive
//! (<https://rpm-software-management.github.io/rpm/manual/format_v4.html>). It is not signed: its digests only detect
//! damage.

use super::compress::{Effort, xz};
use super::contents::{Contents, Entry, directories};
use super::release::{DESCRIPTION, Release};
use super::rpm_header::{Header, Value};
use super::{Package, glibc, sha256};
use std::path::Path;

const DOC: &str = "usr/share/doc/whichkernel";
const RELEASE: &str = "1";
/// RPMSENSE_LESS, _EQUAL and _RPMLIB: a feature that rpm itself must have.
const RPMLIB: u32 = 1 << 1 | 1 << 3 | 1 << 24;
const EQUAL: u32 = 1 << 3;
/// RPMSENSE_FIND_REQUIRES: found in the program.
const FOUND: u32 = 1 << 14;

pub fn package(release: &Release, contents: &Contents, effort: Effort) -> anyhow::Result<Package> {
    let entries = contents.installed("usr/share/zsh/site-functions", DOC)?;
    let files = files(entries);
    let archive = cpio(&files, release.epoch);
    let payload = xz(&archive, effort)?;
    let header = header(release, &files, &payload).bytes();
    let mut signature = Header::new(62);
    signature.put(273, Value::Text(sha256(&header)));
    signature.put(1000, Value::Numbers(vec![(header.len() + payload.len()) as u32]));
    signature.put(1007, Value::Numbers(vec![archive.len() as u32]));
    let mut bytes = lead(release);
    bytes.extend(signature.bytes());
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend(header);
    bytes.extend(payload);
    Ok(Package { name: format!("{}-{}-{RELEASE}.x86_64.rpm", release.name, release.version), bytes })
}

/// The package's own directory with its files; system directories belong to other packages.
fn files(entries: Vec<Entry>) -> Vec<Entry> {
    let own = directories(&entries).into_iter().filter(|dir| dir == DOC);
    let dirs: Vec<Entry> = own.map(|path| Entry { path, mode: 0o040_755, bytes: Vec::new() }).collect();
    let files = entries.into_iter().map(|entry| Entry { mode: 0o100_000 | entry.mode, ..entry });
    let mut all: Vec<Entry> = dirs.into_iter().chain(files).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

/// 96 bytes that only `file` still reads.
fn lead(release: &Release) -> Vec<u8> {
    let mut lead = vec![0xed, 0xab, 0xee, 0xdb, 3, 0, 0, 0, 0, 1];
    lead.extend(format!("{}-{}-{RELEASE}", release.name, release.version).bytes().take(65));
    lead.resize(76, 0);
    lead.extend([0, 1, 0, 5]);
    lead.resize(96, 0);
    lead
}

fn header(release: &Release, files: &[Entry], payload: &[u8]) -> Header {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut header = Header::new(63);
    header.put(100, Value::Texts(vec!["C".into()]));
    header.put(1000, text(&release.name));
    header.put(1001, text(&release.version));
    header.put(1002, text(RELEASE));
    header.put(1004, Value::Translated(release.summary.clone()));
    header.put(1005, Value::Translated(DESCRIPTION.to_owned()));
    header.put(1006, Value::Numbers(vec![release.epoch as u32]));
    header.put(1007, text("localhost"));
    header.put(1009, Value::Numbers(vec![files.iter().map(|file| file.bytes.len() as u32).sum()]));
    header.put(1014, text(&release.licence));
    header.put(1016, Value::Translated("Development/Tools".into()));
    if !release.repository.is_empty() {
        header.put(1020, text(&release.repository));
    }
    header.put(1021, text("linux"));
    header.put(1022, text("x86_64"));
    put_files(&mut header, files, release.epoch as u32);
    put_dependencies(&mut header, release);
    header.put(1044, text(&format!("{}-{}-{RELEASE}.src.rpm", release.name, release.version)));
    header.put(1064, text("4.14.0"));
    header.put(1124, text("cpio"));
    header.put(1125, text("xz"));
    header.put(1126, text("6"));
    header.put(5092, Value::Texts(vec![sha256(payload)]));
    header.put(5093, Value::Numbers(vec![8]));
    header
}

fn put_files(header: &mut Header, files: &[Entry], time: u32) {
    let numbers = |of: &dyn Fn(usize, &Entry) -> u32| {
        Value::Numbers(files.iter().enumerate().map(|(at, file)| of(at, file)).collect())
    };
    let texts = |of: &dyn Fn(&Entry) -> String| Value::Texts(files.iter().map(of).collect());
    let is_dir = |file: &Entry| file.mode & 0o040_000 != 0;
    let parent =
        |file: &Entry| Path::new(&file.path).parent().map_or(String::new(), |dir| format!("/{}/", dir.display()));
    let mut dirs: Vec<String> = files.iter().map(parent).collect();
    dirs.sort();
    dirs.dedup();
    header.put(1028, numbers(&|_, file| file.bytes.len() as u32));
    header.put(1030, Value::Shorts(files.iter().map(|file| file.mode as u16).collect()));
    header.put(1033, Value::Shorts(vec![0; files.len()]));
    header.put(1034, numbers(&|_, _| time));
    header.put(1035, texts(&|file| if is_dir(file) { String::new() } else { sha256(&file.bytes) }));
    header.put(1036, texts(&|_| String::new()));
    // RPMFILE_DOC for documentation and manual pages.
    header.put(
        1037,
        numbers(&|_, file| {
            if file.path.starts_with("usr/share/doc") || file.path.starts_with("usr/share/man") { 2 } else { 0 }
        }),
    );
    header.put(1039, texts(&|_| "root".into()));
    header.put(1040, texts(&|_| "root".into()));
    header.put(1045, numbers(&|_, _| u32::MAX));
    header.put(1095, numbers(&|_, _| 1));
    header.put(1096, numbers(&|at, _| at as u32 + 1));
    header.put(1097, texts(&|_| String::new()));
    header.put(1116, numbers(&|_, file| dirs.iter().position(|dir| *dir == parent(file)).unwrap_or_default() as u32));
    let base = |file: &Entry| Path::new(&file.path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    header.put(1117, texts(&base));
    header.put(1118, Value::Texts(dirs));
    header.put(5011, Value::Numbers(vec![8]));
}

fn put_dependencies(header: &mut Header, release: &Release) {
    let glibc = format!("libc.so.6(GLIBC_{})(64bit)", glibc::FLOOR);
    let needs = [
        (glibc.as_str(), FOUND, ""),
        ("libgcc_s.so.1()(64bit)", FOUND, ""),
        ("libm.so.6()(64bit)", FOUND, ""),
        ("rpmlib(CompressedFileNames)", RPMLIB, "3.0.4-1"),
        ("rpmlib(FileDigests)", RPMLIB, "4.6.0-1"),
        ("rpmlib(PayloadFilesHavePrefix)", RPMLIB, "4.0-1"),
        ("rpmlib(PayloadIsXz)", RPMLIB, "5.2-1"),
    ];
    let own = format!("{}-{RELEASE}", release.version);
    header.put(1047, Value::Texts(vec![release.name.clone(), format!("{}(x86-64)", release.name)]));
    header.put(1112, Value::Numbers(vec![EQUAL, EQUAL]));
    header.put(1113, Value::Texts(vec![own.clone(), own]));
    header.put(1048, Value::Numbers(needs.iter().map(|(_, flags, _)| *flags).collect()));
    header.put(1049, Value::Texts(needs.iter().map(|(name, ..)| (*name).to_owned()).collect()));
    header.put(1050, Value::Texts(needs.iter().map(|(.., version)| (*version).to_owned()).collect()));
}

/// The "newc" format: numbers of eight hexadecimal digits, names and contents padded to four bytes.
fn cpio(files: &[Entry], epoch: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut append = |inode: usize, name: &str, mode: u32, bytes: &[u8]| {
        let links = if mode & 0o040_000 == 0 { 1 } else { 2 };
        let fields = [inode, mode as usize, 0, 0, links, epoch as usize, bytes.len(), 0, 0, 0, 0, name.len() + 1, 0];
        out.extend(b"070701");
        fields.iter().for_each(|field| out.extend(format!("{field:08x}").bytes()));
        out.extend(name.bytes().chain([0]));
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(4), 0);
    };
    for (at, file) in files.iter().enumerate() {
        append(at + 1, &format!("./{}", file.path), file.mode, &file.bytes);
    }
    append(0, "TRAILER!!!", 0, &[]);
    out
}
