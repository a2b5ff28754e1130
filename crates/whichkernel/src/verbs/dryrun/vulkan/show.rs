//! The Vulkan selections for users.

use crate::asked::dry::{head, reach_line};
use crate::context::Context;
use crate::emit::Show;
use dryrun::{VulkanRow, VulkanSelection};
use report::{Column, Lang, Table};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The columns that a run and a map share.
pub fn columns(lang: &Lang) -> Vec<Column> {
    let title = |key: &str| lang.text(key);
    vec![
        Column::left("type", title("dryrun-type")),
        Column::right("columns", title("map-columns")),
        Column::left("path", title("dryrun-class")),
        Column::left("kernel", title("dryrun-kernel")),
        Column::left("features", title("dryrun-vulkan-features")),
        Column::right("launches", title("dryrun-count")),
        Column::right("vgprs", title("dryrun-vulkan-registers")),
        Column::right("lds", title("dryrun-vulkan-lds")),
        Column::left("matrix", title("dryrun-vulkan-matrix")),
    ]
}

/// One row, in the order of the columns.
pub fn cells(row: &VulkanRow) -> [String; 9] {
    let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let code = row.code.as_ref();
    let counted =
        |of: &BTreeMap<String, u64>| of.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>();
    let matrix: Vec<String> = code.map(|code| [counted(&code.matrix), counted(&code.dot)].concat()).unwrap_or_default();
    [
        row.kind.clone().unwrap_or_default(),
        row.columns.map(|columns| columns.to_string()).unwrap_or_default(),
        row.path.clone().unwrap_or_default(),
        row.kernel.clone(),
        row.features.join(" "),
        row.launches.to_string(),
        number(code.and_then(|code| code.vgprs)),
        number(code.and_then(|code| code.lds)),
        matrix.join(", "),
    ]
}

impl Show for VulkanSelection {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(columns(lang));
        for row in &self.selected {
            table.row(cells(row));
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = String::new();
        let mut say = |line: String| {
            let _ = writeln!(out, "{line}");
        };
        match (&self.device, &self.driver) {
            (Some(device), Some(driver)) => {
                let args = [
                    ("device", device.as_str().into()),
                    ("driver", driver.as_str().into()),
                    ("runtime", self.runtime.as_str().into()),
                ];
                say(lang.text_with("dryrun-vulkan-head", &args));
            }
            _ => say(lang.text("dryrun-vulkan-none")),
        }
        for (kind, list) in products(&self.selected) {
            say(lang.text_with("dryrun-vulkan-products", &[("type", kind.into()), ("list", list.into())]));
        }
        if self.seen > 0 {
            say(lang.text("dryrun-speed"));
        }
        say(reach_line(&self.reach, lang));
        head::elsewhere(self.products.as_ref(), lang).lines().for_each(|line| say(line.to_owned()));
        if self.lost > 0 {
            say(lang.text_with("dryrun-lost", &[("count", self.lost.into())]));
        }
        if self.refused > 0 {
            say(lang.text_with("dryrun-vulkan-refused", &[("count", self.refused.into())]));
        }
        if !self.gaps.is_empty() {
            say(lang.text_with("dryrun-vulkan-gaps", &[("list", lang.list(&self.gaps).into())]));
        }
        match (self.exit, self.signal) {
            (_, Some(signal)) => say(lang.text_with("dryrun-killed", &[("signal", signal.to_string().into())])),
            (Some(code), _) if code != 0 => say(lang.text_with("dryrun-ended", &[("code", code.to_string().into())])),
            _ => {}
        }
        if let Some(table) = self.table(lang).filter(|_| self.seen > 0) {
            out.push('\n');
            out.push_str(&table.text(context.width));
        }
        out
    }
}

/// The first lines: each type's kernels by column count.
fn products(rows: &[VulkanRow]) -> BTreeMap<String, String> {
    let mut lists: BTreeMap<String, BTreeMap<u32, Vec<&str>>> = BTreeMap::new();
    for row in rows {
        let (Some(kind), Some(columns)) = (&row.kind, row.columns) else { continue };
        let names = lists.entry(kind.clone()).or_default().entry(columns).or_default();
        if !names.contains(&row.kernel.as_str()) {
            names.push(&row.kernel);
        }
    }
    let words = |of: BTreeMap<u32, Vec<&str>>| {
        of.into_iter()
            .map(|(columns, names)| format!("{columns}: {}", names.join(" / ")))
            .collect::<Vec<_>>()
            .join(" | ")
    };
    lists.into_iter().map(|(kind, of)| (kind, words(of))).collect()
}
