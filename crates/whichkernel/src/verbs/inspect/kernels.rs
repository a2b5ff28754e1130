//! `--kernels`: one row per kernel, written as the bundles are read.

use crate::context::Format;
use codeobject::Detail;
use codeobject::nvidia::CubinKernel;
use findings::answers::{agprs, code_size};
use findings::kernel_rows::{AmdRow, JsonRows, NvidiaRow, RowFormat};
use inventory::Found;
use report::{csv_line, plain};
use std::fmt::Write;

/// The CSV header; scripts rely on the first twelve columns.
pub const COLUMNS: [&str; 19] = [
    "name",
    "mangled",
    "bundle",
    "sgpr",
    "vgpr",
    "agpr",
    "lds",
    "scratch",
    "wavefront",
    "kernarg_size",
    "max_workgroup",
    "stub",
    "target",
    "sgpr_spills",
    "vgpr_spills",
    "code_size",
    "stub_kind",
    "explicit_kernarg_size",
    "differences",
];

/// The rows in one of the formats.
#[derive(Debug, Clone, Copy)]
pub struct Rows(pub Format);

impl RowFormat for Rows {
    fn detail(&self) -> Detail {
        if self.0 == Format::Json { JsonRows.detail() } else { Detail::Brief }
    }

    fn amd(&self, of: &AmdRow<'_>, first: bool, out: &mut String) {
        match self.0 {
            Format::Json => JsonRows.amd(of, first, out),
            format => write_row(out, format, &cells(of)),
        }
    }

    fn nvidia(&self, of: &NvidiaRow<'_>, first: bool, out: &mut String) {
        match self.0 {
            Format::Json => JsonRows.nvidia(of, first, out),
            format => write_row(out, format, &nvidia_cells(of)),
        }
    }
}

/// The values of a kernel for tables.
struct Cells {
    all: [String; 19],
    /// Whether the kernel is a stub; its proof is then shown.
    is_stub: bool,
}

fn write_row(rows: &mut String, format: Format, cells: &Cells) {
    match format {
        Format::Csv => csv_line(rows, cells.all.iter().map(String::as_str)),
        Format::Md => {
            let cells = cells.all.clone().map(|cell| plain(&cell).replace('|', "\\|"));
            let _ = writeln!(rows, "| {} |", cells.join(" | "));
        }
        Format::Text | Format::Json => text_row(rows, cells),
    }
}

/// The kernels of NVIDIA's images, in the same columns: registers are under `vgpr`, static shared memory under `lds`,
/// the stack of a thread under `scratch`. PTX has none of them. Machine code is not decoded, so stubs are unknown.
fn nvidia_cells(&NvidiaRow { row, kernel, mangled, name }: &NvidiaRow<'_>) -> Cells {
    let cell = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let of = |get: fn(&CubinKernel) -> Option<u32>| cell(kernel.and_then(get).map(u64::from));
    let mut cells = [const { String::new() }; 19];
    let filled = [
        (0, name.to_owned()),
        (1, mangled.to_owned()),
        (2, row.container.to_string()),
        (4, of(|kernel| kernel.registers)),
        (6, cell(kernel.map(|kernel| kernel.shared))),
        (7, of(CubinKernel::stack_bytes)),
        (8, "32".to_owned()),
        (9, of(|kernel| kernel.parameters)),
        (10, of(|kernel| kernel.max_threads)),
        (12, row.target()),
        (15, cell(kernel.map(|kernel| kernel.code))),
        (16, "unknown".to_owned()),
    ];
    for (at, text) in filled {
        if let Some(cell) = cells.get_mut(at) {
            *cell = text;
        }
    }
    Cells { all: cells, is_stub: false }
}

pub fn header(format: Format) -> String {
    match format {
        Format::Csv => COLUMNS.join(",") + "\n",
        Format::Md => format!("| {} |\n|{}\n", COLUMNS.join(" | "), " --- |".repeat(COLUMNS.len())),
        Format::Text => format!(
            "{:>6} {:<12} {:>5} {:>5} {:>5} {:>6} {:>7} {:>4} {:>7} {:>6} {:<9} {}\n",
            "bundle", "target", "sgpr", "vgpr", "agpr", "lds", "scratch", "wave", "kernarg", "max_wg", "stub", "name"
        ),
        Format::Json => String::new(),
    }
}

/// Bundle, target, registers and memory, name: the columns that fit a line. A dash for unknown values.
fn text_row(out: &mut String, cells: &Cells) {
    let stub = if cells.is_stub { 16 } else { usize::MAX };
    let cell = |at: usize| cells.all.get(at).map(String::as_str).filter(|cell| !cell.is_empty()).unwrap_or("-");
    let _ = writeln!(
        out,
        "{:>6} {:<12} {:>5} {:>5} {:>5} {:>6} {:>7} {:>4} {:>7} {:>6} {:<9} {}",
        cell(2),
        cell(12),
        cell(3),
        cell(4),
        cell(5),
        cell(6),
        cell(7),
        cell(8),
        cell(9),
        cell(10),
        cell(stub),
        plain(cell(0)),
    );
}

fn cells(&AmdRow { found, object, kernel, name }: &AmdRow<'_>) -> Cells {
    let m = &kernel.metadata;
    let cell = |value: Option<u32>| value.map_or_else(String::new, |value| value.to_string());
    let differences: Vec<String> = kernel
        .differences(object.processor())
        .iter()
        .map(|d| format!("{}:{}/{}", d.field, d.metadata, d.descriptor))
        .collect();
    let all = [
        name.to_owned(),
        m.name.clone(),
        found.bundle.map_or_else(String::new, |bundle| bundle.to_string()),
        cell(m.sgpr_count),
        cell(m.vgpr_count),
        cell(agprs(object, kernel)),
        cell(m.group_segment_fixed_size),
        cell(m.private_segment_fixed_size),
        cell(m.wavefront_size),
        cell(m.kernarg_segment_size),
        cell(m.max_flat_workgroup_size),
        kernel.stub.is_stub().to_string(),
        target(found),
        cell(m.sgpr_spill_count),
        cell(m.vgpr_spill_count),
        code_size(kernel).map_or_else(String::new, |size| size.to_string()),
        kernel.stub.to_string(),
        cell(m.explicit_kernarg_size()),
        differences.join(" "),
    ];
    Cells { all, is_stub: kernel.stub.is_stub() }
}

fn target(found: &Found<'_>) -> String {
    found.target.map(ToString::to_string).unwrap_or_default()
}
