//! The resources that a kernel needs on a multiprocessor, as numbers for the evaluator.

use gpu::occupancy::Resources;

pub(crate) fn numbers(needs: &Resources) -> Vec<i64> {
    let Resources { vgprs, sgprs, lds, wavefront, wgp_mode } = *needs;
    vec![vgprs.into(), sgprs.into(), lds.into(), wavefront.into(), wgp_mode.into()]
}

/// The reverse conversion; None for unknown resources.
pub(crate) fn resources(numbers: &[i64]) -> Option<Resources> {
    let &[vgprs, sgprs, lds, wavefront, wgp_mode] = numbers else { return None };
    let number = |number: i64| u32::try_from(number).ok();
    Some(Resources {
        vgprs: number(vgprs)?,
        sgprs: number(sgprs)?,
        lds: number(lds)?,
        wavefront: number(wavefront)?,
        wgp_mode: wgp_mode != 0,
    })
}
