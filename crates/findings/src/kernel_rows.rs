//! One row per kernel, written as the bundles are read.

use crate::answers::KernelRow;
use crate::select::Select;
use codeobject::nvidia::{CubinKernel, Inventory, Row};
use codeobject::{CodeObject, Detail, Kernel, demangle};
use inventory::{Found, Look};
use std::collections::HashMap;

/// How a row is written.
pub trait RowFormat: Sync {
    fn detail(&self) -> Detail;
    /// `first`: no row precedes it in this text.
    fn amd(&self, of: &AmdRow<'_>, first: bool, out: &mut String);
    fn nvidia(&self, of: &NvidiaRow<'_>, first: bool, out: &mut String);
}

/// An AMD kernel, its location, and its demangled name.
#[derive(Debug, Clone, Copy)]
pub struct AmdRow<'a> {
    pub found: &'a Found<'a>,
    pub object: &'a CodeObject<'a>,
    pub kernel: &'a Kernel,
    pub name: &'a str,
}

/// A kernel of one of NVIDIA's images; `kernel` is None for PTX.
#[derive(Debug, Clone, Copy)]
pub struct NvidiaRow<'a> {
    pub row: &'a Row,
    pub kernel: Option<&'a CubinKernel>,
    pub mangled: &'a str,
    pub name: &'a str,
}

/// The kernels of a file that the selection wants.
#[derive(Debug)]
pub struct KernelRows<F> {
    pub select: Select,
    pub format: F,
}

/// The rows of one bundle. The same kernel occurs once per target, so each name is demangled once.
#[derive(Debug, Default)]
pub struct RowText {
    pub rows: String,
    pub count: u64,
    names: HashMap<String, String>,
}

impl<F: RowFormat> Look for KernelRows<F> {
    type Out = RowText;

    fn entry(&self, found: &Found<'_>, _: &mut RowText) -> bool {
        self.select.object(found)
    }

    fn detail(&self) -> Detail {
        self.format.detail()
    }

    fn weight(&self, out: &RowText) -> usize {
        out.rows.len()
    }

    fn split(&self, out: &mut RowText) -> RowText {
        RowText { rows: std::mem::take(&mut out.rows), count: std::mem::take(&mut out.count), ..RowText::default() }
    }

    fn kernel(&self, found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, out: &mut RowText) {
        let mangled = kernel.mangled();
        if !out.names.contains_key(mangled) {
            out.names.insert(mangled.to_owned(), demangle(mangled).unwrap_or_else(|| mangled.to_owned()));
        }
        let name = out.names.get(mangled).map_or(mangled, String::as_str);
        if self.select.kernel(mangled, name) {
            self.format.amd(&AmdRow { found, object, kernel, name }, out.count == 0, &mut out.rows);
            out.count += 1;
        }
    }
}

impl<F: RowFormat> KernelRows<F> {
    /// The kernels of NVIDIA's images.
    pub fn nvidia(&self, found: &Inventory) -> RowText {
        let mut out = RowText::default();
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
                    let of = NvidiaRow { row, kernel, mangled, name: &name };
                    self.format.nvidia(&of, out.count == 0, &mut out.rows);
                    out.count += 1;
                }
            }
        }
        out
    }
}

/// One object per row, as in [`Kernels`](crate::answers::Kernels).
#[derive(Debug, Clone, Copy)]
pub struct JsonRows;

impl JsonRows {
    fn put(row: &KernelRow, first: bool, out: &mut String) {
        out.push_str(if first { "" } else { ",\n" });
        // A row contains only numbers and text, so serialising cannot fail.
        out.push_str(&serde_json::to_string(row).unwrap_or_default());
    }
}

impl RowFormat for JsonRows {
    fn detail(&self) -> Detail {
        Detail::Whole
    }

    fn amd(&self, of: &AmdRow<'_>, first: bool, out: &mut String) {
        JsonRows::put(&KernelRow::amd(of.found, of.object, of.kernel, of.name), first, out);
    }

    fn nvidia(&self, of: &NvidiaRow<'_>, first: bool, out: &mut String) {
        JsonRows::put(&KernelRow::nvidia(of.row, of.kernel, of.mangled, of.name), first, out);
    }
}
