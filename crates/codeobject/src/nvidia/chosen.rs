//! The code that one device uses, from every container of a host file. Other code is not unpacked.

use rayon::prelude::*;

use super::container::{Entry, EntryKind, walk};
use super::cubin::{CubinKernel, cubin};
use super::inventory::{Region, walk_sections};
use crate::{ReadAt, Result};

/// One container, with the kernels of the code that was chosen from it.
#[derive(Debug)]
pub struct Chosen {
    /// The address of the container in the file's memory image, which a program registers.
    pub address: u64,
    /// The index of the container in its section.
    pub index: usize,
    /// The targets of all its entries: `sm_90a`, `compute_90`.
    pub targets: Vec<String>,
    pub kernels: Vec<CubinKernel>,
    /// Whether an image of the chosen target could not be read.
    pub damaged: bool,
}

fn target(entry: &Entry) -> String {
    let kind = if entry.kind == EntryKind::Ptx { "compute" } else { "sm" };
    format!("{kind}_{}{}", entry.sm, entry.letter().map(String::from).unwrap_or_default())
}

/// Reads the containers that a runtime registers. `pick` gets the targets of a container's machine code and names the one to
/// read. Several images may have that target; the kernels of all are listed, and the first of a name wins.
pub fn chosen(
    source: &dyn ReadAt,
    limit: usize,
    pick: impl Fn(&[String]) -> Option<String> + Sync,
) -> Result<Vec<Chosen>> {
    let mut found = Vec::new();
    for walked in walk_sections(source)?.into_iter().filter(|walked| walked.section.region == Region::Linked) {
        let section = walked.section;
        let ends = walked.containers.iter().skip(1).copied().chain([section.size]);
        let spans: Vec<(usize, u64, u64)> =
            walked.containers.iter().zip(ends).enumerate().map(|(index, (start, end))| (index, *start, end)).collect();
        let read = spans.par_iter().map(|&(index, start, end)| {
            let data = source.bytes(section.offset + start, end.saturating_sub(start), "fatbin container")?;
            let address = section.address + start;
            let entries: Vec<Entry> =
                walk(&data).containers.into_iter().next().map(|one| one.entries).unwrap_or_default();
            let targets: Vec<String> = entries.iter().map(target).collect();
            let mut one = Chosen { address, index, targets, kernels: Vec::new(), damaged: false };
            let wanted = pick(&one.targets);
            let own = |entry: &&Entry| entry.kind == EntryKind::Cubin && Some(target(entry)) == wanted;
            for entry in entries.iter().filter(own) {
                let Some(image) = entry.image(&data, limit).ok().and_then(|image| cubin(&image)) else {
                    one.damaged = true;
                    continue;
                };
                for kernel in image.kernels {
                    if !one.kernels.iter().any(|known| known.name == kernel.name) {
                        one.kernels.push(kernel);
                    }
                }
            }
            Ok(one)
        });
        found.extend(read.collect::<Result<Vec<Chosen>>>()?);
    }
    Ok(found)
}
