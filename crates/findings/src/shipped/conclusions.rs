//! The conclusions from the inventory of a file: code is there, it is not, or the list is complete.

use evidence::{Account, Basis, Conclusion, LeftOutWhy, Rung, Unit, Witness};
use inventory::{FileReport, Serves};
use say::say;
use std::path::Path;

/// Covers everything in the file; unreadable and unexamined parts are listed as left out.
pub fn basis(path: &Path, report: &FileReport) -> Basis {
    let name = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let lost = report.coverage.lost().min(report.size);
    let mut basis = Basis::new(super::NAME, [&name], Rung::Shipped, Unit::Bytes, report.size, report.size - lost);
    for gap in report.coverage.not_understood.iter().take(3) {
        let place = say!("observe-at", name, at = format!("{:#x}", gap.range.start));
        basis = basis.without(place, Some(gap.range.len()), LeftOutWhy::Unreadable);
    }
    for problem in report.problems.iter().take(3) {
        basis = basis.without(say!("about-why", what = name, why = problem), None, LeftOutWhy::Unreadable);
    }
    let nvidia = report.nvidia.iter().filter(|found| !found.is_complete());
    for _ in nvidia {
        basis = basis.without(format!("{name}: NVIDIA fatbins"), None, LeftOutWhy::Unreadable);
    }
    if !report.searched {
        return basis.without(say!("observe-outside-sections", name), None, LeftOutWhy::NotAsked);
    }
    basis.account(byte_map(&name, report))
}

/// A second account of the file. The map comes from the headers, and the rest of the file is searched for signatures
/// and noise; neither reads device code the way the inventory does.
fn byte_map(name: &str, report: &FileReport) -> Account {
    let mapped: u64 = report.map.totals().values().sum();
    let account = Account::counted(Witness::ByteMap, mapped, report.size);
    report.opaque.iter().take(3).fold(account, |account, opaque| {
        let at = say!("observe-at", name, at = format!("{:#x}", opaque.range.start));
        let place = say!("about-why", what = at, why = opaque.what);
        account.found(place, Some(opaque.range.len()), LeftOutWhy::Unreadable)
    })
}

/// Is there anything for the device? Kernels with code are counted; code that is compiled at load time is counted by
/// entry point.
pub fn presence(path: &Path, report: &FileReport, serves: &Serves) -> Conclusion {
    let found = if serves.kernels == 0 { serves.uncounted } else { serves.live() };
    let basis = serves.open.iter().fold(basis(path, report), |basis, open| {
        // If the two places that name a GPU's code disagree, the target is undetermined.
        basis.without(open.as_str(), None, LeftOutWhy::Undetermined)
    });
    basis.presence(found)
}

/// Does the list contain everything there is?
pub fn completeness(path: &Path, report: &FileReport) -> Conclusion {
    basis(path, report).completeness()
}
