//! The Debian package: an `ar` archive of two tar archives (deb(5)).

use super::compress::{Effort, gzip, xz};
use super::contents::{Contents, Entry};
use super::release::{DESCRIPTION, Release};
use super::{Package, glibc, tarball};
use std::fmt::Write as _;

const DOC: &str = "usr/share/doc/whichkernel";

pub fn package(release: &Release, contents: &Contents, effort: Effort) -> anyhow::Result<Package> {
    let mut entries = contents.installed("usr/share/zsh/vendor-completions", DOC)?;
    entries.push(Entry::new(format!("{DOC}/copyright"), copyright(release)));
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let control = [Entry::new("control", control(release, &entries)?), Entry::new("md5sums", md5sums(&entries)?)];
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&tarball::archive(&control, "./", release.epoch)?, effort)?),
        ("data.tar.xz", xz(&tarball::archive(&entries, "./", release.epoch)?, effort)?),
    ];
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let head = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", release.epoch, 0, 0, "100644", content.len());
        bytes.extend(head.as_bytes());
        bytes.extend(&content);
        if content.len() % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    Ok(Package { name: format!("{}_{}_amd64.deb", release.name, release.version), bytes })
}

fn control(release: &Release, entries: &[Entry]) -> anyhow::Result<String> {
    let kilobytes: usize = entries.iter().map(|entry| entry.bytes.len().div_ceil(1024)).sum();
    let mut text = String::new();
    writeln!(text, "Package: {}\nVersion: {}\nArchitecture: amd64", release.name, release.version)?;
    writeln!(text, "Maintainer: The whichkernel authors\nInstalled-Size: {kilobytes}")?;
    writeln!(text, "Depends: libc6 (>= {}), libgcc-s1\nSection: utils\nPriority: optional", glibc::FLOOR)?;
    if !release.repository.is_empty() {
        writeln!(text, "Homepage: {}", release.repository)?;
    }
    writeln!(text, "Description: {}\n {DESCRIPTION}", release.summary)?;
    Ok(text)
}

/// The checksums for `dpkg --verify`.
fn md5sums(entries: &[Entry]) -> anyhow::Result<String> {
    use md5::Digest as _;
    let mut text = String::new();
    for entry in entries {
        let sum: String = md5::Md5::digest(&entry.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "{sum}  {}", entry.path)?;
    }
    Ok(text)
}

fn copyright(release: &Release) -> String {
    format!(
        "{} is copyright 2026 The whichkernel authors and licensed under {}.\n\
         LICENSE-MIT, LICENSE-APACHE, LICENSE-LLVM, NOTICE and THIRD-PARTY.txt in this directory have all terms.\n",
        release.name, release.licence
    )
}
