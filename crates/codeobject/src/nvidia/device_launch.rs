//! Finds kernels that launch other kernels. The relocations of a cubin or the text of PTX show that their code calls
//! the CUDA device runtime (`cudaLaunchDevice` and its successors). Only code linked with the device runtime can do
//! this, and it keeps its relocations.

use super::{EntryKind, Region, cubin, host_sections, walk};
use crate::elf::{Elf, SHT_SYMTAB};
use crate::{ReadAt, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Prefixes of the functions that device code calls to launch: in the device runtime before CUDA 12, since CUDA 12, and
/// for graphs.
const RUNTIME: [&str; 4] = ["cudaLaunchDevice", "cudaGetParameterBuffer", "__cudaCDP2", "cudaGraphLaunch"];

fn launches(name: &str) -> bool {
    RUNTIME.iter().any(|start| name.starts_with(start))
}

/// The names that each function of an image refers to.
#[derive(Debug, Default)]
struct References {
    kernels: BTreeSet<String>,
    /// The referenced names, by function.
    to: BTreeMap<String, BTreeSet<String>>,
    /// Whether the image contains the device runtime, called or not.
    runtime: bool,
}

impl References {
    /// The kernels that reach the device runtime. All kernels, if the image contains the runtime but no references to
    /// it.
    fn launchers(&self) -> BTreeSet<String> {
        if !self.runtime {
            return BTreeSet::new();
        }
        if !self.to.values().flatten().any(|name| launches(name)) {
            return self.kernels.clone();
        }
        self.kernels.iter().filter(|kernel| self.reaches(kernel)).cloned().collect()
    }

    fn reaches(&self, kernel: &str) -> bool {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![kernel]);
        while let Some(name) = waiting.pop() {
            if seen.insert(name)
                && let Some(to) = self.to.get(name)
            {
                if to.iter().any(|name| launches(name)) {
                    return true;
                }
                waiting.extend(to.iter().map(String::as_str));
            }
        }
        false
    }
}

fn of_cubin(data: &[u8]) -> Option<References> {
    let mut found =
        References { kernels: cubin(data)?.kernels.into_iter().map(|k| k.name).collect(), ..References::default() };
    let elf = Elf::parse(&data).ok()?;
    let Some(symbols) = elf.symbols_of_kind(SHT_SYMTAB).ok()? else { return Some(found) };
    found.runtime = symbols.iter().any(|symbol| launches(symbol.name));
    if !found.runtime {
        return Some(found);
    }
    for section in elf.sections() {
        let name = section.name.as_str();
        let Some(function) = name.strip_prefix(".rela.text.").or_else(|| name.strip_prefix(".rel.text.")) else {
            continue;
        };
        let all = elf.relocations(section).unwrap_or_default();
        let names = all.into_iter().filter(|one| one.symbol != 0).filter_map(|one| symbols.get(one.symbol));
        found.to.entry(function.to_owned()).or_default().extend(names.map(|symbol| symbol.name.to_owned()));
    }
    Some(found)
}

/// Finds the functions by their directives, and the names in their bodies.
fn of_ptx(text: &[u8]) -> References {
    let text = String::from_utf8_lossy(text);
    let mut found = References::default();
    let mut at: Option<String> = None;
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_$%".contains(c);
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let entry = line.split_once(".entry").map(|(_, rest)| (true, rest));
        let function = || line.split_once(".func").map(|(_, rest)| (false, rest));
        if let Some((kernel, rest)) = entry.or_else(function) {
            // In PTX, a function's result is in parentheses before its name.
            let rest = rest.trim_start();
            let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest);
            let name: String = rest.trim_start().chars().take_while(|c| is_word(*c)).collect();
            if kernel && !line.contains(".extern") {
                found.kernels.insert(name.clone());
            }
            at = Some(name);
            continue;
        }
        let words = line.split(|c: char| !is_word(c)).filter(|word| word.len() > 2);
        for word in words {
            found.runtime |= launches(word);
            if let Some(at) = &at {
                found.to.entry(at.clone()).or_default().insert(word.to_owned());
            }
        }
    }
    found
}

/// The kernels of one image that launch other kernels.
pub fn launchers_of(image: &[u8]) -> BTreeSet<String> {
    of_cubin(image).unwrap_or_else(|| of_ptx(image)).launchers()
}

/// The kernels of a host file that may launch others. Only a file with relocatable device code can have any, because
/// the device runtime must be linked in.
pub fn device_launchers(source: &dyn ReadAt, limit: usize) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let sections = host_sections(source)?;
    if !sections.iter().any(|section| section.region == Region::Relocatable) {
        return Ok(found);
    }
    for section in sections {
        let data = source.bytes(section.offset, section.size, "fatbin section")?;
        for entry in walk(&data).containers.iter().flat_map(|container| &container.entries) {
            if matches!(entry.kind, EntryKind::Cubin | EntryKind::Ptx)
                && let Ok(image) = entry.image(&data, limit)
            {
                found.extend(launchers_of(&image));
            }
        }
    }
    // Leave out the device runtime's own kernels, which only copy and fill.
    found.retain(|name| !name.contains("cuda_device_runtime"));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_says_which_entry_reaches_the_device_runtime() {
        let text =
            b".version 8.7\n.target sm_90\n.extern .func (.param .b32 r) cudaLaunchDeviceV2\n(\n.param .b64 a\n)\n;\n\
            .func (.param .b32 r) helper(\n.param .b64 a\n)\n{\ncall.uni (r), cudaLaunchDeviceV2, (a);\n}\n\
            .visible .entry _Z6parenti(\n.param .u32 n\n)\n{\ncall.uni (r), helper, (a);\nret;\n}\n\
            .visible .entry _Z5childi(\n.param .u32 n\n)\n{\nret;\n}\n";
        assert_eq!(launchers_of(text), BTreeSet::from(["_Z6parenti".to_owned()]));
        assert_eq!(launchers_of(b".version 8.7\n.target sm_90\n.visible .entry k()\n{\nret;\n}\n"), BTreeSet::new());
    }

    /// Uses the output of `nvcc 13.4 -arch=sm_90 -rdc=true -cubin` for `xtask/src/deep/siege/gpu/cdp.cu`, in which
    /// `parent` launches `child` on the device.
    #[test]
    fn a_cubin_says_which_kernel_launches() {
        let image = include_bytes!("../../tests/data/device-launch.cubin");
        assert_eq!(launchers_of(image), BTreeSet::from(["_Z6parenti".to_owned()]));
        assert_eq!(cubin(image).map(|cubin| cubin.kernels.len()), Some(3));
    }
}
