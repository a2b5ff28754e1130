//! The Python wheel for `uvx`, `uv tool install` and `pipx`: a zip archive whose `data/scripts` go into `bin`
//! (<https://packaging.python.org/en/latest/specifications/binary-distribution-format/>).

use super::compress::Effort;
use super::contents::{Contents, Entry};
use super::release::{DESCRIPTION, Release};
use super::{Package, build::top};
use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};
use zip::write::SimpleFileOptions;

/// The C library that the program needs (`glibc::FLOOR`), in the notation of wheels.
const PLATFORM: &str = "manylinux_2_34_x86_64";

pub fn package(release: &Release, contents: &Contents, effort: Effort) -> anyhow::Result<Package> {
    let stem = format!("{}-{}", release.name, release.version);
    let (data, info) = (format!("{stem}.data"), format!("{stem}.dist-info"));
    let mut entries = vec![Entry::program(format!("{data}/scripts/whichkernel"), &contents.binary)];
    for entry in contents.installed("usr/share/zsh/site-functions", "usr/share/doc/whichkernel")? {
        if let Some(shared) = entry.path.strip_prefix("usr/share/").filter(|path| !path.starts_with("doc/")) {
            entries.push(Entry::new(format!("{data}/data/share/{shared}"), entry.bytes));
        }
    }
    let is_licence = |name: &str| name.starts_with("LICENSE") || name == "NOTICE" || name == "THIRD-PARTY.txt";
    let (licences, rest): (Vec<_>, Vec<_>) = contents.docs.iter().partition(|(name, _)| is_licence(name));
    entries.extend(licences.iter().map(|(name, text)| Entry::new(format!("{info}/licenses/{name}"), text.as_slice())));
    let sbom = rest.iter().filter(|(name, _)| name == "sbom.cdx.json");
    entries.extend(sbom.map(|(name, text)| Entry::new(format!("{info}/sboms/{name}"), text.as_slice())));
    let names: Vec<&str> = licences.iter().map(|(name, _)| name.as_str()).collect();
    entries.push(Entry::new(format!("{info}/METADATA"), metadata(release, &names)?));
    let wheel =
        format!("Wheel-Version: 1.0\nGenerator: whichkernel-xtask\nRoot-Is-Purelib: false\nTag: py3-none-{PLATFORM}\n");
    entries.push(Entry::new(format!("{info}/WHEEL"), wheel));
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let record = format!("{info}/RECORD");
    let mut lines = String::new();
    for entry in &entries {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.bytes));
        writeln!(lines, "{},sha256={digest},{}", entry.path, entry.bytes.len())?;
    }
    writeln!(lines, "{record},,")?;
    entries.push(Entry::new(record, lines));
    Ok(Package { name: format!("{stem}-py3-none-{PLATFORM}.whl"), bytes: zipped(release, &entries, effort)? })
}

fn metadata(release: &Release, licences: &[&str]) -> anyhow::Result<String> {
    let mut text = String::from("Metadata-Version: 2.4\n");
    writeln!(text, "Name: {}\nVersion: {}\nSummary: {}", release.name, release.version, release.summary)?;
    writeln!(text, "License-Expression: {}", release.licence)?;
    licences.iter().try_for_each(|name| writeln!(text, "License-File: {name}"))?;
    if !release.repository.is_empty() {
        writeln!(text, "Project-URL: Repository, {}", release.repository)?;
    }
    writeln!(text, "Classifier: Operating System :: POSIX :: Linux\nRequires-Python: >=3.8")?;
    writeln!(text, "Description-Content-Type: text/markdown\n\n{DESCRIPTION}\n")?;
    // Only the first example of the README: its pictures and linked pages are only in the repository.
    let readme = fs::read_to_string(top().join("README.md"))?;
    let start = readme.find("```text").context("README.md has no example")?;
    let example = readme[start..].split_inclusive("```").take(2).collect::<String>();
    writeln!(text, "{example}")?;
    Ok(text)
}

pub fn zipped(release: &Release, entries: &[Entry], effort: Effort) -> anyhow::Result<Vec<u8>> {
    let number = |from: usize, to: usize| release.time()[from..to].parse::<u8>();
    let year: u16 = release.time()[..4].parse()?;
    let time =
        zip::DateTime::from_date_and_time(year, number(5, 7)?, number(8, 10)?, number(11, 13)?, number(14, 16)?, 0)?;
    let level = if effort == Effort::Small { 9 } else { 1 };
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for entry in entries {
        let options = SimpleFileOptions::default().compression_level(Some(level)).last_modified_time(time);
        out.start_file(&entry.path, options.unix_permissions(entry.mode))?;
        out.write_all(&entry.bytes)?;
    }
    Ok(out.finish()?.into_inner())
}
