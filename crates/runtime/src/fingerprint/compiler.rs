//! Traces of compilers and runtimes in files: `.comment` sections, symbol versions, sonames.

use crate::{library_names, linkage::Dynamic};
use codeobject::{Piece, ReadAt, Result, ccob, elf::Elf, host, walk};
use std::collections::BTreeSet;

const SHT_GNU_VERNEED: u32 = 0x6fff_fffe;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    /// Host compilers and linkers, by the names in their comments.
    pub host: BTreeSet<String>,
    /// Compilers of the device code.
    pub device: BTreeSet<String>,
    /// ROCm releases, each with its evidence.
    pub releases: BTreeSet<(String, String)>,
    /// The newest symbol version required from each GPU library: `libamdhip64.so.6 hip_6.0`.
    pub required: Vec<String>,
    /// How many bundles were read: only the first few.
    pub bundles_read: usize,
}

/// Reads the comments of the host file and of the first bundles; all bundles of a library come from one compiler run.
pub fn tools(source: &dyn ReadAt, file_name: &str) -> Result<Tools> {
    const BUNDLES: usize = 4;
    let mut out = Tools::default();
    let elf = Elf::parse(source)?;
    out.host = comments(&elf)?;
    out.required = required(&elf)?;
    if let Some(release) = library_names::rocm_release(file_name) {
        out.releases.insert((release, format!("file name {file_name}")));
    }
    if let Ok(dynamic) = Dynamic::read(source) {
        for name in dynamic.soname.iter().chain(&dynamic.needed) {
            if let Some(release) = library_names::rocm_release(name) {
                out.releases.insert((release, format!("soname {name}")));
            }
        }
    }
    for section in host::fatbin_sections(&elf) {
        for piece in walk(source, host::range_of(&elf, section), 0) {
            let Piece::Bundle(bundle) = piece else { continue };
            if out.bundles_read == BUNDLES {
                break;
            }
            out.bundles_read += 1;
            let opened = bundle.open(source, ccob::DEFAULT_LIMIT)?;
            for entry in opened.table.entries.iter().filter(|entry| !entry.id.is_host() && entry.size > 0) {
                let object = opened.contents(entry)?;
                if let Ok(device) = Elf::parse(&object) {
                    out.device.append(&mut comments(&device)?);
                }
            }
        }
    }
    for text in out.host.iter().chain(&out.device) {
        if let Some(release) = roc(text) {
            out.releases.insert((release, format!("compiler: {text}")));
        }
    }
    Ok(out)
}

/// `.comment`: NUL-terminated strings, one per tool involved.
fn comments(elf: &Elf<'_>) -> Result<BTreeSet<String>> {
    const LIMIT: u64 = 1 << 20;
    let Some(section) = elf.section(".comment").filter(|section| section.size <= LIMIT) else {
        return Ok(BTreeSet::new());
    };
    let data = elf.data(section)?;
    let texts = data.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).trim().to_owned());
    Ok(texts.filter(|text| !text.is_empty()).collect())
}

/// AMD's compiler names its release: `(... roc-6.3.3 25012 ...)`.
fn roc(text: &str) -> Option<String> {
    let (_, tail) = text.split_once("roc-")?;
    let version: String = tail.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    version.contains('.').then(|| version.trim_end_matches('.').to_owned())
}

/// Version requirements (`.gnu.version_r`) on libraries of a GPU stack; the last version named is the newest.
fn required(elf: &Elf<'_>) -> Result<Vec<String>> {
    let Some(section) = elf.sections().iter().find(|section| section.kind == SHT_GNU_VERNEED) else {
        return Ok(Vec::new());
    };
    let data = elf.data(section)?;
    let names = match elf.sections().get(section.link as usize) {
        Some(names) => elf.data(names)?,
        None => return Ok(Vec::new()),
    };
    let text = |at: u32| {
        let rest = names.get(at as usize..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == 0).unwrap_or(0);
        String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned()
    };
    let word = |at: usize| data.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b));
    let half = |at: usize| data.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u16::from_le_bytes(*b));
    let mut out = Vec::new();
    let mut at = 0_usize;
    // Elf64_Verneed: version, count, file, aux, next; Elf64_Vernaux: hash, flags, other, name, next.
    for _ in 0..section.info.min(4096) {
        let (count, file) = (half(at + 2), text(word(at + 4)));
        if library_names::part(&file).is_some() {
            let mut versions = Vec::new();
            let mut aux = at.saturating_add(word(at + 8) as usize);
            for _ in 0..count {
                versions.push(text(word(aux + 8)));
                aux = aux.saturating_add(word(aux + 12) as usize);
            }
            versions.sort();
            if let Some(newest) = versions.last() {
                out.push(format!("{file} {newest}"));
            }
        }
        match word(at + 12) {
            0 => break,
            next => at = at.saturating_add(next as usize),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::roc;

    #[test]
    fn the_release_in_a_compilers_name() {
        let text =
            "AMD clang version 18.0.0git (https://github.com/RadeonOpenCompute/llvm-project roc-6.3.3 25012 e5bf7e55)";
        assert_eq!(roc(text).as_deref(), Some("6.3.3"));
        assert_eq!(roc("Debian clang version 21.1.8"), None);
    }
}
