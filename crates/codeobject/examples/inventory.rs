//! The kernels of a HIP library, counted per target: `cargo run -p codeobject --example inventory FILE`.

use codeobject::{CodeObject, Piece, ccob, elf::Elf, host, walk};
use std::collections::BTreeMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::fs::read(std::env::args().nth(1).ok_or("FILE is missing")?)?;
    let elf = Elf::parse(&file)?;
    let mut targets: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    let mut bundles = 0;
    for section in host::fatbin_sections(&elf) {
        for piece in walk(&file, host::range_of(&elf, section), bundles) {
            let Piece::Bundle(bundle) = piece else { continue };
            bundles += 1;
            let opened = bundle.open(&file, ccob::DEFAULT_LIMIT)?;
            for entry in opened.table.entries.iter().filter(|entry| !entry.id.is_host()) {
                let contents = opened.contents(entry)?;
                let object = CodeObject::parse(&contents)?;
                let counts =
                    targets.entry(object.target.as_ref().map(ToString::to_string).unwrap_or_default()).or_default();
                for kernel in object.kernels() {
                    let kernel = kernel?;
                    counts.0 += 1;
                    counts.1 += usize::from(kernel.stub.is_stub());
                    counts.2 +=
                        usize::from(kernel.metadata.arguments.iter().any(|a| a.value_kind == "hidden_hostcall_buffer"));
                }
            }
        }
    }
    println!("{bundles} bundles, {} wrappers", host::wrappers(&elf)?.len());
    for (target, (kernels, stubs, hostcall)) in targets {
        println!("{target}: {kernels} kernels, {stubs} stubs, {hostcall} hostcall");
    }
    Ok(())
}
