//! `dryrun --backend vulkan`: a program on RADV and Mesa's stand-in, and which pipelines it dispatched.

use super::command::{is_skeleton, shown};
use super::{Args, DEFAULT_RUNTIME};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use crate::emit::Show;
use dryrun::{Place, Streams, VulkanCard, VulkanRequest, VulkanRow, VulkanSelection};
use report::{Column, Lang, Table};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use sys::interrupt;

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let [given] = args.ask.gpu.as_slice() else { anyhow::bail!(context.lang.text("dryrun-vulkan-one")) };
    anyhow::ensure!(!args.command.is_empty(), context.lang.text("dryrun-vulkan-command"));
    let ask = &args.ask;
    let unheeded: Vec<&str> = [
        ("--record", args.record),
        ("--trace", args.trace.is_some()),
        ("--bench-lines", args.bench_lines),
        ("--strict", ask.strict),
        ("--set", !ask.set.is_empty()),
        ("--blas", ask.blas != super::Lane::Recorded),
        ("--model", ask.model.is_some()),
    ]
    .into_iter()
    .filter_map(|(flag, given)| given.then_some(flag))
    .collect();
    let refusal = || context.lang.text_with("dryrun-vulkan-unheeded", &[("flags", unheeded.join(", ").into())]);
    anyhow::ensure!(unheeded.is_empty(), refusal());
    let card = VulkanCard::find(given)?;
    let place = Place::find(args.ask.runtime.as_deref().unwrap_or(DEFAULT_RUNTIME))?;
    let show = shown(args, &place);
    let request = VulkanRequest {
        place: &place,
        card,
        command: &args.command,
        show: &show,
        streams: Streams::Shown,
        sparse_read: args.command.iter().any(|word| is_skeleton(Path::new(word))),
        code: true,
    };
    interrupt::catch();
    let outcome = request.run()?;
    let answer = VulkanSelection::of(&outcome, card, place.name());
    context.emit(args.ask.format, &answer)?;
    Ok(match outcome.interrupted {
        Some(_) => ExitCode::from(COULD_NOT_RUN),
        None if answer.is_whole() => ExitCode::SUCCESS,
        // The program's own failure, or one that never came to the card, is an answer about the program.
        None => ExitCode::from(CHECK_FAILED),
    })
}

impl Show for VulkanSelection {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let title = |key: &str| lang.text(key);
        let mut table = Table::new(vec![
            Column::left("type", title("dryrun-type")),
            Column::right("columns", title("map-columns")),
            Column::left("path", title("dryrun-class")),
            Column::left("kernel", title("dryrun-kernel")),
            Column::left("features", title("dryrun-vulkan-features")),
            Column::right("launches", title("dryrun-count")),
            Column::right("vgprs", title("dryrun-vulkan-registers")),
            Column::right("lds", title("dryrun-vulkan-lds")),
            Column::left("matrix", title("dryrun-vulkan-matrix")),
        ]);
        let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        for row in &self.selected {
            let code = row.code.as_ref();
            let counted = |of: &BTreeMap<String, u64>| {
                of.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>()
            };
            let matrix: Vec<String> =
                code.map(|code| [counted(&code.matrix), counted(&code.dot)].concat()).unwrap_or_default();
            table.row([
                row.kind.clone().unwrap_or_default(),
                row.columns.map(|columns| columns.to_string()).unwrap_or_default(),
                row.path.clone().unwrap_or_default(),
                row.kernel.clone(),
                row.features.join(" "),
                row.launches.to_string(),
                number(code.and_then(|code| code.vgprs)),
                number(code.and_then(|code| code.lds)),
                matrix.join(", "),
            ]);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = String::new();
        let mut say = |line: String| {
            out.push_str(
                &(line
                    + "
"),
            )
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
        if self.lost > 0 {
            say(lang.text_with("dryrun-lost", &[("count", self.lost.into())]));
        }
        if self.refused > 0 {
            say(lang.text_with("dryrun-vulkan-refused", &[("count", self.refused.into())]));
        }
        if !self.gaps.is_empty() {
            say(lang.text_with("dryrun-vulkan-gaps", &[("list", self.gaps.join(", ").into())]));
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
