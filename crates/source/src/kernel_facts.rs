//! The resources that a kernel needs on a multiprocessor, as numbers for the evaluator.

use gpu::cuda_occupancy::CubinNeeds;
use gpu::occupancy::Resources;

/// The resources that a compiler assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Amd(Resources),
    Nvidia(CubinNeeds),
}

pub(crate) fn numbers(needs: &Needs) -> Vec<i64> {
    match *needs {
        Needs::Amd(Resources { vgprs, sgprs, lds, wavefront, wgp_mode }) => {
            vec![vgprs.into(), sgprs.into(), lds.into(), wavefront.into(), wgp_mode.into()]
        }
        Needs::Nvidia(CubinNeeds { registers, shared }) => vec![registers.into(), shared.into()],
    }
}

/// The reverse conversion; None for unknown resources.
pub(crate) fn resources(numbers: &[i64]) -> Option<Needs> {
    let number = |number: i64| u32::try_from(number).ok();
    match *numbers {
        [registers, shared] => {
            Some(Needs::Nvidia(CubinNeeds { registers: number(registers)?, shared: number(shared)? }))
        }
        [vgprs, sgprs, lds, wavefront, wgp_mode] => Some(Needs::Amd(Resources {
            vgprs: number(vgprs)?,
            sgprs: number(sgprs)?,
            lds: number(lds)?,
            wavefront: number(wavefront)?,
            wgp_mode: wgp_mode != 0,
        })),
        _ => None,
    }
}
