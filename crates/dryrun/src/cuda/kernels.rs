//! The kernel table of a program's fatbins for one device.

use crate::error::DryrunError;
use crate::kernel_cache;
use crate::kernels::Described;
use codeobject::ReadAt;
use codeobject::nvidia::{Chosen, CubinKernel, chosen};
use gpu::arch::Nvidia;
use gpu::{Arch, How, Profile};
use inventory::File;
use launch::table::{Builder, KernelInfo};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Larger images than any library has are not unpacked.
const LIMIT: usize = 1 << 30;

/// Describes the kernels of `libraries` (path here, path as the program sees it). Where a library has only PTX for the card,
/// the machine code of the nearest other target describes the kernel, and it is marked.
pub(crate) fn describe(
    libraries: &[(PathBuf, String)],
    profile: &Profile,
    cache: &Path,
) -> Result<Described, DryrunError> {
    if libraries.is_empty() {
        // Without libraries, nothing suggests that the code is for another card.
        return Ok(Described { ships: true, ..Described::default() });
    }
    let kept = cache.join("kernels").join(kernel_cache::name(libraries, &profile.gcn_arch_name, false)?);
    if let Some(known) = kernel_cache::read(&kept) {
        return Ok(known);
    }
    let Some(device) = profile.arch() else { return Ok(Described::default()) };
    let mut builder = Builder::default();
    let mut described = Described::default();
    for (path, seen_as) in libraries {
        let file = File::open(path)?;
        let source: &dyn ReadAt = &file;
        let found = chosen(source, LIMIT, |targets| code_for(&device, targets).map(|(code, _)| code.to_owned()));
        let found = match found {
            Ok(found) => found,
            // A library that cannot be read is not an error: the program may never use it. Launches of its kernels
            // would be listed as unknown.
            Err(error) => {
                described.missing.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        builder.file(seen_as);
        for one in &found {
            add(&mut builder, &mut described, &device, one);
            if one.damaged {
                described.missing.push(format!("{}: fatbin {}", path.display(), one.index));
            }
        }
    }
    described.table = builder.finish();
    kernel_cache::write(&kept, &described);
    Ok(described)
}

fn add(builder: &mut Builder, described: &mut Described, device: &Arch, one: &Chosen) {
    let how = device.takes(one.targets.iter().map(String::as_str));
    let foreign = how.as_ref().is_none_or(|taken| taken.how <= How::Compiled);
    if let Some(taken) = how.as_ref().filter(|_| !foreign) {
        described.ships = true;
        // `sm_90a` and `sm_90` are both the card's own.
        let own = |code: &str| matches!((Nvidia::parse(code), device), (Some(code), Arch::Nvidia(own)) if code.number == own.number);
        if !own(taken.code) {
            described.taken.insert(taken.code.to_owned());
        }
    } else if let Some((near, _)) = code_for(device, &one.targets) {
        described.near.get_or_insert_with(|| near.to_owned());
    }
    described.shipped.extend(one.targets.iter().cloned());
    builder.bundle(one.address, u32::try_from(one.index).unwrap_or(u32::MAX), how.is_some());
    // The version that a function reports is that of the code that the card uses, also if it is PTX.
    let version = how.as_ref().and_then(|taken| Nvidia::parse(taken.code)).map_or(0, |code| code.number);
    let mut known = BTreeSet::new();
    for kernel in one.kernels.iter().filter(|kernel| known.insert(kernel.name.as_str())) {
        builder.kernel(&info(kernel, foreign, version));
    }
}

/// The machine code that describes the kernels: the code that the card runs, otherwise that of the nearest target in
/// the same container.
fn code_for<'t>(device: &Arch, targets: &'t [String]) -> Option<(&'t str, How)> {
    let Arch::Nvidia(own) = device else { return None };
    let machine = || targets.iter().map(String::as_str).filter(|target| target.starts_with("sm_"));
    if let Some(taken) = device.takes(machine()) {
        return Some((taken.code, taken.how));
    }
    let distance = |target: &&str| Nvidia::parse(target).map_or(u32::MAX, |code| code.number.abs_diff(own.number));
    machine().min_by_key(distance).map(|target| (target, How::Compiled))
}

/// The table has no field for the version of the code. Scalar registers, which NVIDIA's kernels do not have, take its place.
pub(super) fn info(kernel: &CubinKernel, foreign: bool, version: u32) -> KernelInfo {
    KernelInfo {
        name: kernel.name.clone(),
        vgprs: kernel.reported_registers().unwrap_or(0),
        sgprs: version,
        lds: u32::try_from(kernel.shared).unwrap_or(u32::MAX),
        kernarg: kernel.parameters.unwrap_or(0),
        private: kernel.frame.unwrap_or(0),
        max_block: kernel.max_threads.unwrap_or(0),
        wavefront: 32,
        wgp_mode: false,
        stub: false,
        foreign,
        args: kernel.arguments.clone(),
    }
}
