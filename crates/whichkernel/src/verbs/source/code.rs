//! `--code LIBRARY`: the registers and shared memory that the compiler assigned to the kernels of a library.

use crate::context::Context;
use codeobject::nvidia::{EntryKind, Inventory, Region, Row};
use gpu::occupancy::Resources;
use launch::table::KernelInfo;
use say::{Context as _, error};
use source::graph::Code;
use source::{CubinNeeds, Device, Vendor};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The maximum size of an unpacked image, far above real files.
const IMAGE_LIMIT: usize = 1 << 30;

/// The kernels of a library that the GPU would load, with their compiled properties. Code for other GPUs is ignored.
pub fn code(path: &Path, device: &Device, context: &Context) -> say::Result<Code> {
    let file = path.display().to_string();
    let (code, has) = match device.vendor {
        Vendor::Hip => amd(path, &file, device)?,
        Vendor::Cuda => nvidia(path, &file, device)?,
    };
    if code.used.kernels == 0 {
        let has = context.lang.list(has);
        let says = [("file", file.into()), ("target", device.target.clone().into()), ("has", has.into())];
        context.note(&context.lang.text_with("source-code-none", &says));
    }
    Ok(code)
}

/// The kernels, and the targets that the file has code for.
fn amd(path: &Path, file: &str, device: &Device) -> say::Result<(Code, BTreeSet<String>)> {
    let target = gpu::TargetId::named(&device.target).map_err(|_| error!("source-code-target"))?;
    let libraries = [(path.to_owned(), file.to_owned())];
    let described = dryrun::describe(&libraries, &target, false, runtime::Cache::from_env().dir())?;
    let tables = launch::tables::Tables::parse(&described.table).about(file)?;
    let kernels = tables.first().map(|table| table.kernels.as_slice()).unwrap_or_default();
    let of = |kernel: &KernelInfo| Resources {
        vgprs: kernel.vgprs,
        sgprs: kernel.sgprs,
        lds: kernel.lds,
        wavefront: kernel.wavefront,
        wgp_mode: kernel.wgp_mode,
    };
    let code = Code::new(file, kernels.iter().map(|kernel| (kernel.name.as_str(), of(kernel))));
    Ok((code, described.shipped.iter().cloned().collect()))
}

/// Of each fatbin, the driver takes the newest cubin that the GPU can run: the same major capability, and no higher
/// minor one. PTX is compiled by the driver, so its registers are unknown.
fn nvidia(path: &Path, file: &str, device: &Device) -> say::Result<(Code, BTreeSet<String>)> {
    let opened = inventory::File::open(path)?;
    let found = Inventory::read(&opened, IMAGE_LIMIT).about(file)?;
    let capability = device.number("major").zip(device.number("minor"));
    let capability = capability.and_then(|(major, minor)| u32::try_from(major * 10 + minor).ok()).unwrap_or_default();
    let runs = |row: &&Row| {
        let same = row.sm / 10 == capability / 10 && row.sm <= capability;
        row.kind == EntryKind::Cubin && same && (row.letter.is_none() || row.sm == capability)
    };
    let mut newest: BTreeMap<(Region, usize), u32> = BTreeMap::new();
    let key = |row: &Row| (row.region, row.container);
    for row in found.rows.iter().filter(runs) {
        let known = newest.entry(key(row)).or_default();
        *known = row.sm.max(*known);
    }
    let taken = found.rows.iter().filter(runs).filter(|row| newest.get(&key(row)) == Some(&row.sm));
    let kernels = taken.flat_map(|row| row.cubin.iter().flat_map(|cubin| &cubin.kernels));
    let needs = kernels.filter_map(|kernel| {
        let registers = kernel.registers.or(kernel.registers_section)?;
        let shared = u32::try_from(kernel.shared).ok()?;
        // The driver gives every kernel at least 16 registers.
        Some((kernel.name.as_str(), CubinNeeds { registers: registers.max(16), shared }))
    });
    let code = Code::of_cubins(file, needs);
    Ok((code, found.rows.iter().map(|row| format!("sm_{} ({})", row.sm, row.kind)).collect()))
}
