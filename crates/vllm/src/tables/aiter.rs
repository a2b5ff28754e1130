//! AITER's CSV tables. A row applies to one target (`gfx`) and one number of compute units (`cu_num`).

use std::collections::HashMap;

/// The key columns of a row that a shape needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    Gemm { n: u64, k: u64 },
    Moe { model: u64, inner: u64, experts: u64, top: u64, quantization: &'static str },
}

impl Wanted {
    pub fn text(&self) -> String {
        match self {
            Wanted::Gemm { n, k } => format!("N={n},K={k}"),
            Wanted::Moe { model, inner, experts, top, quantization } => {
                format!("E={experts},topk={top},model_dim={model},inter_dim={inner},q_type={quantization}")
            }
        }
    }
}

/// The family of a tuned table: `a8w8_blockscale` of `a8w8_blockscale_tuned_gemm_ds_v3.csv`; `fmoe` for all MoE tables.
/// Lists of shapes that are still to be tuned (`_untuned_`) are not tables.
pub fn family(name: &str) -> Option<String> {
    let stem = name.strip_suffix(".csv")?;
    if stem.contains("untuned") {
        return None;
    }
    if stem.contains("tuned_fmoe") {
        return Some("fmoe".to_owned());
    }
    stem.split_once("_tuned_gemm").map(|(family, _)| family.to_owned())
}

/// A table with its header.
#[derive(Debug)]
pub struct Table<'t> {
    columns: HashMap<&'t str, usize>,
    text: &'t str,
}

#[derive(Debug)]
pub struct Row<'t> {
    columns: &'t HashMap<&'t str, usize>,
    cells: Vec<&'t str>,
}

impl<'t> Table<'t> {
    /// None if the header lacks the key columns.
    pub fn new(text: &'t str) -> Option<Table<'t>> {
        let header = text.lines().next()?;
        let columns: HashMap<&str, usize> = header.split(',').map(str::trim).zip(0..).collect();
        let gemm = ["M", "N", "K"].iter().all(|name| columns.contains_key(name));
        let moe = ["token", "model_dim", "inter_dim", "expert", "topk"].iter().all(|name| columns.contains_key(name));
        (columns.contains_key("cu_num") && (gemm || moe)).then_some(Table { columns, text })
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        // The key columns come before kernel names, which may contain quoted commas.
        self.text.lines().skip(1).map(|line| Row { columns: &self.columns, cells: line.split(',').collect() })
    }
}

impl Row<'_> {
    fn cell(&self, name: &str) -> Option<&str> {
        self.cells.get(*self.columns.get(name)?).map(|cell| cell.trim())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.cell(name)?.parse().ok()
    }

    /// The number of tokens, if the row is for this shape.
    pub fn matches(&self, wanted: &Wanted) -> Option<u64> {
        match wanted {
            Wanted::Gemm { n, k } => {
                (self.number("N") == Some(*n) && self.number("K") == Some(*k)).then(|| self.number("M")).flatten()
            }
            Wanted::Moe { model, inner, experts, top, quantization } => {
                let sizes = self.number("model_dim") == Some(*model)
                    && self.number("inter_dim") == Some(*inner)
                    && self.number("expert") == Some(*experts)
                    && self.number("topk") == Some(*top);
                let kind = self.cell("q_type").is_none_or(|kind| kind == *quantization);
                (sizes && kind).then(|| self.number("token")).flatten()
            }
        }
    }

    /// Tables from before the column `gfx` are matched by compute units alone, as AITER does.
    pub fn is_for(&self, target: &str, units: i64) -> bool {
        let gfx = self.cell("gfx").filter(|gfx| !matches!(*gfx, "" | "0"));
        gfx.is_none_or(|gfx| gfx == target) && self.cell("cu_num").and_then(|units| units.parse().ok()) == Some(units)
    }

    pub fn place(&self) -> String {
        let gfx = self.cell("gfx").unwrap_or("?");
        format!("{gfx}:{}", self.cell("cu_num").unwrap_or("?"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_for_one_target_and_number_of_compute_units() {
        let text = "gfx,cu_num,M,N,K,libtype\ngfx942,304,16,512,7168,ck\ngfx950,256,32,512,7168,asm\nshort\n";
        let table = Table::new(text).expect("a table");
        let wanted = Wanted::Gemm { n: 512, k: 7168 };
        let found: Vec<_> =
            table.rows().filter_map(|row| Some((row.matches(&wanted)?, row.is_for("gfx942", 304)))).collect();
        assert_eq!(found, [(16, true), (32, false)]);
        let legacy = Table::new("cu_num,M,N,K\n304,1,512,7168\n").expect("a table");
        assert!(legacy.rows().next().is_some_and(|row| row.is_for("gfx942", 304) && !row.is_for("gfx942", 80)));
        assert!(Table::new("").is_none() && Table::new("a,b\n").is_none());
    }

    #[test]
    fn families_are_named_as_the_files() {
        assert_eq!(family("a8w8_blockscale_tuned_gemm_ds_v3.csv").as_deref(), Some("a8w8_blockscale"));
        assert_eq!(family("tuned_fmoe.csv").as_deref(), Some("fmoe"));
        assert_eq!(family("bf16_untuned_gemm.csv"), None);
        assert_eq!(family("bf16_tuned_gemm.json"), None);
    }
}
