//! The content of a file for NVIDIA GPUs, in the same terms as for AMD: kernels of one target, and how much was read.

use codeobject::nvidia::{Inventory, Region, Row};
use evidence::{Canary, Coverage};
use findings::shipped::KernelFact;
use inventory::FileReport;
use say::{Say as _, say};

/// The kernels for one target (`sm_90a`, `compute_90`). Registers per thread are recorded as `vgpr`, static shared
/// memory as `lds`, as in `inspect --kernels`. SASS is not decoded: whether a kernel is a stub is unknown.
pub fn kernels(report: &FileReport, target: &str) -> Vec<KernelFact> {
    let rows = report.nvidia.iter().flat_map(|found| &found.rows);
    let rows = rows.filter(|row| row.region.is_loadable() && row.target() == target);
    rows.flat_map(of_image).collect()
}

fn of_image(row: &Row) -> Vec<KernelFact> {
    let fact = |mangled: &str| KernelFact {
        name: launch::grammar::read(mangled).readable,
        mangled: mangled.to_owned(),
        bundle: Some(row.container),
        sgpr: None,
        vgpr: None,
        lds: None,
        scratch: None,
        wavefront: None,
        stub: None,
    };
    match &row.cubin {
        Some(cubin) => {
            let kernels = cubin.kernels.iter();
            let lds = |shared: u64| u32::try_from(shared).ok();
            kernels
                .map(|it| KernelFact {
                    vgpr: it.registers,
                    lds: lds(it.shared),
                    scratch: it.stack_bytes(),
                    ..fact(&it.name)
                })
                .collect()
        }
        None => row.kernels().map(fact).collect(),
    }
}

/// Bytes of the sections, and how many of them were understood.
pub fn bytes(found: &Inventory) -> (u64, u64) {
    let total = found.sections.iter().map(|walked| walked.section.size).sum();
    let lost: u64 = found.sections.iter().flat_map(|walked| &walked.unknown).map(|(_, len)| len).sum();
    (total, lost.min(total))
}

/// Adds the unreadable parts to the coverage.
pub fn missing(found: &Inventory, mut coverage: Coverage) -> Coverage {
    for walked in &found.sections {
        for (offset, len) in &walked.unknown {
            let start = walked.section.offset.saturating_add(*offset);
            let place = format!("{start:#x}..{:#x}", start.saturating_add(*len));
            coverage = coverage.missing(place, say!("missed-no-fatbin"));
        }
        for error in &walked.errors {
            coverage = coverage.missing(say!("missed-fatbin"), error.message());
        }
    }
    for row in &found.rows {
        if let Some(error) = &row.error {
            coverage = coverage.missing(
                say!("missed-in-container", target = row.target().to_string(), container = row.container),
                error.message(),
            );
        }
    }
    coverage
}

/// A correct walk through containers finds an image in each: fatbinary writes no empty one.
pub fn canary(found: &Inventory) -> Canary {
    let containers: usize = found.sections.iter().map(|walked| walked.containers.len()).sum();
    let mut met: Vec<(Region, usize)> = found.rows.iter().map(|row| (row.region, row.container)).collect();
    met.sort_unstable();
    met.dedup();
    if containers > 0 && met.len() == containers {
        return Canary::in_target(say!("canary-images", count = containers));
    }
    Canary::None
}

#[cfg(test)]
mod tests {
    use crate::shipped::look;
    use codeobject::TargetId;
    use evidence::{Finding, Rung};
    use made_files as make;
    use std::fs;

    const PTX: &[u8] = b"//\n.version 8.7\n.target sm_90\n.address_size 64\n.visible .entry _Z1aPf(\n)\n{\nret;\n}\n";

    #[test]
    fn the_kernels_of_a_fatbin_are_recorded_as_shipped() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x.fatbin");
        fs::write(&path, make::nvidia_container(&[(1, 90, 0x11, PTX, 0)])).expect("written");
        let target = TargetId::parse("compute_90");
        let (report, seen) = look(&path, None, target.as_ref(), None, "2026-11-15T00:00:00Z").expect("readable");
        assert!(report.is_complete());
        let facts: Vec<String> = seen
            .iter()
            .filter_map(|sighting| sighting.observation.fact())
            .map(|fact| format!("{} {:?}", fact.topic, fact.value))
            .collect();
        assert!(facts.iter().any(|fact| fact.starts_with("file.target Int(1")), "{facts:?}");
        assert!(facts.iter().any(|fact| fact.starts_with("kernel Bool(true")), "{facts:?}");
        assert!(!facts.iter().any(|fact| fact.starts_with("kernel.stub")), "nobody looked: {facts:?}");
        assert!(seen.iter().all(|sighting| sighting.observation.rung() == Rung::Shipped));
        // Every byte of the container counts as examined, so that absence can be concluded.
        let swept = seen.iter().find(|it| matches!(it.observation.finding(), Finding::Swept)).expect("a sweep");
        assert!(swept.observation.coverage().is_complete(), "{:?}", swept.observation.coverage());
        assert!(swept.observation.coverage().seen > 0);
    }
}
