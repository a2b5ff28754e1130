//! `source TREE --backend vulkan`: the choices of ggml's Vulkan backend for a product with weights.

use super::Args;
use crate::asked::dry::vulkan::reported;
use crate::asked::tree::{Operation, columns};
use crate::context::{CHECK_FAILED, Context};
use crate::emit::Show;
use report::{Column, Lang, Table, conclusion_text};
use say::{ensure, say};
use source::{ALL_TYPES, DEFAULT_COLUMNS, DEFAULT_TYPES, Shape, Tree, VulkanDeclared, VulkanProfile, VulkanRules};
use std::fmt::Write;
use std::process::ExitCode;

/// The default card.
const CARD: &str = "rx-9070-xt";

pub fn run(tree: &Tree, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let ask = &args.ask;
    let others = [
        ("--op", !matches!(ask.operation(), Operation::MulMat | Operation::MulMatId)),
        ("--chain", args.chain),
        ("--record", args.record),
        ("--thresholds", args.thresholds),
        ("--against", args.against.is_some()),
        ("--smem", ask.smem.is_some()),
        ("--code", args.code.is_some()),
    ];
    let given: Vec<&str> = others.iter().filter_map(|(flag, given)| given.then_some(*flag)).collect();
    ensure!(given.is_empty(), "dryrun-vulkan-unheeded", flags = given);
    let types: Vec<String> = match ask.types.as_slice() {
        [] => DEFAULT_TYPES.iter().map(|ty| (*ty).to_owned()).collect(),
        [all] if all == "all" => ALL_TYPES.iter().map(|ty| (*ty).to_owned()).collect(),
        some => some.iter().map(|ty| ty.to_ascii_uppercase()).collect(),
    };
    let counts = ask.columns.as_deref().map(columns).transpose()?.unwrap_or_else(|| DEFAULT_COLUMNS.to_vec());
    let shape = match ask.operation() {
        Operation::MulMatId => {
            Shape::MulMatId { rows: ask.rows, k: ask.k, experts: ask.experts, used: ask.experts_used }
        }
        _ => Shape::MulMat { rows: ask.rows, k: ask.k },
    };
    let mut cards = args.vulkan_device.as_deref().map(reported).transpose()?.into_iter().collect::<Vec<_>>();
    let named = if args.gpu.is_empty() && cards.is_empty() { vec![CARD.to_owned()] } else { args.gpu.clone() };
    for given in &named {
        let unknown = || {
            let known: Vec<String> = VulkanProfile::known().map(|(card, _)| card.to_owned()).collect();
            say!("source-vulkan-card", given, known)
        };
        cards.push(VulkanProfile::find(given).ok_or_else(unknown)?);
    }
    let given = ask.overrides()?;
    let valued = given.define.iter().map(|define| {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        (name.to_owned(), Some(value.to_owned()))
    });
    let defines: Vec<_> = valued.chain(given.undefine.iter().map(|name| (name.clone(), None))).collect();
    let cmake = given.cmake;
    let mut rules = VulkanRules::open_with(tree, &cmake, &defines)?;
    let wanted: Vec<(String, i64)> =
        types.iter().flat_map(|kind| counts.iter().map(move |&count| (kind.clone(), count))).collect();
    let mut cells = Vec::new();
    for mut card in cards {
        for variable in &ask.env {
            let (name, value) = variable.split_once('=').unwrap_or((variable, "1"));
            ensure!(rules.reads(name), "source-vulkan-env", name);
            card.under(name, value);
        }
        cells.extend(rules.choices(&card, &shape, &wanted)?);
    }
    let answer = VulkanDeclared::new(tree.identity(), cells);
    context.emit(args.format, &answer)?;
    Ok(if answer.complete.answered() == 0 { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

impl Show for VulkanDeclared {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("card", lang.text("dryrun-card")),
            Column::left("type", lang.text("dryrun-type")),
            Column::right("columns", lang.text("map-columns")),
            Column::left("path", lang.text("dryrun-class")),
            Column::left("kernel", lang.text("dryrun-kernel")),
        ]);
        for cell in &self.cells {
            let undetermined = || "UNDETERMINED".to_owned();
            table.row([
                cell.card.clone(),
                cell.kind.clone(),
                cell.columns.to_string(),
                cell.path.clone().unwrap_or_else(undetermined),
                cell.kernel.clone().unwrap_or_else(undetermined),
            ]);
        }
        Some(table)
    }

    fn text(&self, context: &crate::context::Context) -> String {
        let mut out = self.table(&context.lang).map(|table| table.text(context.width)).unwrap_or_default();
        let open = self.cells.iter().filter_map(|cell| cell.undetermined.as_ref());
        let mut reasons: Vec<String> = open.map(|why| why.in_words(&context.lang)).collect();
        reasons.sort_unstable();
        reasons.dedup();
        for reason in reasons {
            let _ = writeln!(out, "UNDETERMINED: {reason}");
        }
        let _ = writeln!(out, "{}", conclusion_text(&context.lang, &self.complete));
        out
    }
}
