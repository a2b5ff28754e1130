//! One product on the terminal: the kernel, the reason for the choice, and alternatives.

use crate::asked::gemm::{Catalog, Product, Reading, described, headline, ops, read_code, reason, short, tile};
use crate::context::Context;
use crate::graded::text::pad;
use report::{Column, Table, thousands};
use say::say;
use std::fmt::Write;
use tensile::kernel_name;
use tensile::select::{Call, Choice, Chosen, Selector, Trace};

#[derive(Debug)]
pub struct Screen<'a> {
    pub catalog: &'a Catalog,
    pub selector: &'a Selector<'a>,
    pub product: &'a Product,
    pub context: &'a Context,
}

/// The maximum number of rejected solutions that are shown; the rest is counted.
const REJECTED: usize = 3;

impl Screen<'_> {
    pub fn text(&self) -> (String, Choice) {
        let (choice, trace) = self.selector.explain(&self.product.call);
        let lang = &self.context.lang;
        let catalog = self.catalog;
        let asked = say!(
            "gemm-asked",
            product = described(&self.product.call),
            gpu = catalog.profile.title,
            target = catalog.profile.processor(),
            library = catalog.library.name(),
            version = catalog.version_text(),
            runtime = catalog.runtime
        );
        let mut out = format!("{}\n{}\n\n", lang.say(&asked), headline(&choice, lang));
        if let Choice::Determined(chosen) = &choice {
            out += &self.kernel(chosen);
        }
        if let Choice::OneOf(all) = &choice {
            for chosen in all {
                let _ = writeln!(out, "  {:>10}  {}", chosen.index, tile(chosen));
            }
        }
        out += &self.reasons(&choice, &trace);
        if !matches!(choice, Choice::NotComputed(_)) {
            out += &format!("\n{}\n{}", lang.text("gemm-otherwise"), self.otherwise(&choice));
        }
        (out + &format!("\n{}\n", lang.text("gemm-limits")), choice)
    }

    fn line(&self, key: &str, text: &str) -> String {
        format!("  {}  {text}\n", pad(&self.context.lang.text(key), 18))
    }

    fn kernel(&self, chosen: &Chosen) -> String {
        let lang = &self.context.lang;
        let mut out = self.line("gemm-kernel", &chosen.kernel);
        let [m, n] = chosen.macro_tile;
        let name = kernel_name::parse(&chosen.kernel);
        let shape = match name.as_ref().and_then(|name| name.matrix_instruction) {
            Some(instruction) => say!("gemm-tile-matrix", m, n, k = chosen.depth_u, instruction),
            None => say!("gemm-tile-text", m, n, k = chosen.depth_u),
        };
        out += &self.line("gemm-tile", &lang.say(&shape));
        let threads = self.selector.solution(chosen, |solution| solution.sizes.work_group.iter().product::<i64>());
        if let (Some(threads @ 1..), true) = (threads, m > 0 && n > 0) {
            let call = &self.product.call;
            let groups = call.m.div_ceil(m).saturating_mul(call.n.div_ceil(n)).saturating_mul(call.batch);
            let text = say!("gemm-groups-text", groups = thousands(groups), threads);
            out += &self.line("gemm-groups", &lang.say(&text));
        }
        out + &self.code(read_code(self.catalog, chosen, self.context))
    }

    fn code(&self, reading: Option<Reading>) -> String {
        let lang = &self.context.lang;
        let Some(reading) = reading else { return self.line("gemm-code", &lang.text("gemm-code-absent")) };
        let number = |value: Option<u32>| value.map_or("?".to_owned(), |value| value.to_string());
        let text = say!(
            "gemm-code-text",
            vgprs = number(reading.vgprs),
            sgprs = number(reading.sgprs),
            lds = number(reading.lds),
            wave = number(reading.wavefront)
        );
        let matrix: Vec<String> = reading.matrix.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let matrix = if matrix.is_empty() { lang.text("gemm-matrix-none") } else { matrix.join(", ") };
        self.line("gemm-code", &lang.say(&text)) + &self.line("gemm-matrix", &matrix)
    }

    fn reasons(&self, choice: &Choice, trace: &Trace) -> String {
        let lang = &self.context.lang;
        let mut out = String::new();
        if let Choice::Determined(chosen) = choice {
            out += &self.line("gemm-why", &reason(chosen, lang));
            let listed = self.catalog.dir.is_listed(&format!("{}.dat", chosen.leaf));
            let checked = if listed { "gemm-catalog-checked" } else { "gemm-catalog-unchecked" };
            out += &self.line("gemm-catalog", &lang.text(checked));
        }
        for (index, predicate) in trace.rejected.iter().take(REJECTED) {
            let text = lang.say(&say!("gemm-rejected-text", index, predicate));
            out += &self.line("gemm-rejected", &text);
        }
        let more = trace.rejected.len().saturating_sub(REJECTED);
        if more > 0 {
            out += &self.line("gemm-rejected", &lang.say(&say!("gemm-rejected-more", count = more)));
        }
        if let Choice::Determined(chosen) = choice {
            let second = self.selector.choose_without(&self.product.call, &[chosen.index]);
            out += &self.line("gemm-runner-up", &short(&second, lang));
        }
        out
    }

    /// Alternatives: one more column, the other transposes, the other releases in the cache.
    fn otherwise(&self, choice: &Choice) -> String {
        let lang = &self.context.lang;
        let mut table = Table::new(vec![
            Column::left("what", lang.text("gemm-column-what")),
            Column::left("index", lang.text("gemm-column-index")),
        ]);
        let mut row = |what: String, other: &Choice| {
            let same = other == choice;
            table.row([what, if same { lang.text("gemm-same") } else { short(other, lang) }]);
        };
        let call = &self.product.call;
        let wider = Call { n: call.n + 1, ..call.clone() };
        row(format!("N = {}", wider.n), &self.selector.choose(&repacked(wider, call)));
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            if (a, b) != (call.trans_a, call.trans_b) {
                let other = Call { trans_a: a, trans_b: b, ..call.clone() };
                row(ops(&other), &self.selector.choose(&repacked(other, call)));
            }
        }
        for other in self.other_runtimes() {
            let text = say!(
                "gemm-of-runtime",
                library = other.library.name(),
                version = other.version_text(),
                runtime = other.runtime
            );
            row(lang.say(&text), &other.selector().choose(call));
        }
        table.text(self.context.width)
    }

    /// Catalogs in the cache of the same library in another version.
    fn other_runtimes(&self) -> Vec<Catalog> {
        let cache = runtime::Cache::from_env();
        let entries = std::fs::read_dir(cache.runtimes()).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        let usual = |name: &&String| name.starts_with("debian-") && **name != self.catalog.runtime;
        let open = |name: &String| Catalog::open(Some(name), self.catalog.library, &self.catalog.profile.name).ok();
        let others = names.iter().filter(usual).filter_map(open);
        others.filter(|other| other.version != self.catalog.version && other.selector().serves()).collect()
    }
}

/// Packs the matrices again, if they were packed.
fn repacked(mut other: Call, was: &Call) -> Call {
    if was.ld == was.packed() {
        other.ld = other.packed();
    }
    other
}
