//! `--kernels`: one row per kernel, written as the bundles are read.

use super::select::Select;
use crate::context::Format;
use codeobject::nvidia::{CubinKernel, Inventory, Row};
use codeobject::{CodeObject, Detail, Kernel, demangle};
use inventory::{Found, Look};
use observe::answers::{KernelRow, agprs, code_size};
use report::{csv_line, plain};
use std::collections::HashMap;
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

pub struct Rows {
    pub select: Select,
    pub format: Format,
}

/// The rows of one bundle. The same kernel occurs once per target, so each name is demangled once.
#[derive(Default)]
pub struct Text {
    pub rows: String,
    pub count: u64,
    names: HashMap<String, String>,
}

impl Look for Rows {
    type Out = Text;

    fn entry(&self, found: &Found<'_>, _: &mut Text) -> bool {
        self.select.object(found)
    }

    fn detail(&self) -> Detail {
        if self.format == Format::Json { Detail::Whole } else { Detail::Brief }
    }

    fn weight(&self, out: &Text) -> usize {
        out.rows.len()
    }

    fn split(&self, out: &mut Text) -> Text {
        Text { rows: std::mem::take(&mut out.rows), count: std::mem::take(&mut out.count), ..Text::default() }
    }

    fn kernel(&self, found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, out: &mut Text) {
        let mangled = kernel.mangled();
        if !out.names.contains_key(mangled) {
            out.names.insert(mangled.to_owned(), demangle(mangled).unwrap_or_else(|| mangled.to_owned()));
        }
        let name = out.names.get(mangled).map_or(mangled, String::as_str);
        if !self.select.kernel(mangled, name) {
            return;
        }
        let json = || KernelRow::amd(found, object, kernel, name);
        write_row(&mut out.rows, &mut out.count, self.format, json, || cells(found, object, kernel, name));
    }
}

impl Rows {
    /// The kernels of NVIDIA's images, in the same columns: registers are under `vgpr`, static shared memory under
    /// `lds`, the stack of a thread under `scratch`. PTX has none of them. Machine code is not decoded, so stubs are
    /// unknown.
    pub fn nvidia(&self, found: &Inventory) -> Text {
        let mut out = Text::default();
        for row in found.rows.iter().filter(|row| row.region.is_loadable() && self.select.named(&row.target())) {
            let cubin: HashMap<&str, &CubinKernel> = row
                .cubin
                .iter()
                .flat_map(|cubin| &cubin.kernels)
                .map(|kernel| (kernel.name.as_str(), kernel))
                .collect();
            for mangled in row.kernels() {
                let name = demangle(mangled).unwrap_or_else(|| mangled.to_owned());
                if self.select.kernel(mangled, &name) {
                    let kernel = cubin.get(mangled).copied();
                    let json = || KernelRow::nvidia(row, kernel, mangled, &name);
                    write_row(&mut out.rows, &mut out.count, self.format, json, || {
                        nvidia_cells(row, kernel, mangled, &name)
                    });
                }
            }
        }
        out
    }
}

/// The values of a kernel for tables.
struct Cells {
    all: [String; 19],
    /// If it is a stub, its proof is shown.
    is_stub: bool,
}

fn write_row(
    rows: &mut String,
    count: &mut u64,
    format: Format,
    json: impl FnOnce() -> KernelRow,
    cells: impl FnOnce() -> Cells,
) {
    let first = *count == 0;
    *count += 1;
    match format {
        Format::Json => {
            rows.push_str(if first { "" } else { ",\n" });
            // A row contains only numbers and text, so serialising cannot fail.
            rows.push_str(&serde_json::to_string(&json()).unwrap_or_default());
        }
        Format::Csv => csv_line(rows, cells().all.iter().map(String::as_str)),
        Format::Md => {
            let cells = cells().all.map(|cell| plain(&cell).replace('|', "\\|"));
            let _ = writeln!(rows, "| {} |", cells.join(" | "));
        }
        Format::Text => text_row(rows, &cells()),
    }
}

fn nvidia_cells(row: &Row, kernel: Option<&CubinKernel>, mangled: &str, name: &str) -> Cells {
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

fn cells(found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, name: &str) -> Cells {
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
