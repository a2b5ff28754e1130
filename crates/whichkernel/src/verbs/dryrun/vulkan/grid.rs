//! Without a command: the map of types and column counts on Vulkan, for one card or several.

use super::show::{cells, columns, reach_line};
use super::{heed, keep, place, record};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use crate::emit::Show;
use crate::verbs::dryrun::{Args, Ask, grid};
use dryrun::{Place, VulkanCard, VulkanCardMap, VulkanDiff, VulkanMap, VulkanMaps, VulkanSurvey};
use evidence::Word;
use report::{Column, Lang, Table, conclusion_text};
use std::fmt::Write;
use std::process::ExitCode;
use sys::interrupt;

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let place = place(&args.ask)?;
    let maps = survey(&args.ask, &place, context)?;
    if args.record {
        let time = observe::now();
        let model = args.ask.model.as_ref().map_or(args.ask.arch_of.clone(), |model| model.display().to_string());
        for (_, map) in &maps {
            let record = record(&place, map.card, map.driver.as_deref(), (&model, &time))?;
            keep(context, record.survey(&map.cells)?)?;
        }
    }
    let answer = VulkanMaps::new(place.name(), &maps);
    context.emit(args.ask.format, &answer)?;
    Ok(ended(&maps))
}

/// The same as a grid of short words, for `map`.
pub fn map(ask: &Ask, context: &Context) -> anyhow::Result<ExitCode> {
    heed(ask, &[], context)?;
    let place = place(ask)?;
    let maps = survey(ask, &place, context)?;
    let answer = VulkanMaps::new(place.name(), &maps);
    match ask.format {
        Format::Text | Format::Md => {
            let mut out = String::new();
            for map in &answer.maps {
                head(map, &answer.runtime, &mut out, &context.lang);
                let table = words(map, &context.lang);
                out.push_str(&if ask.format == Format::Md { table.markdown() } else { table.text(context.width) });
                tail(map, &mut out, &context.lang);
            }
            let _ = writeln!(out, "{}", context.lang.text("map-vulkan-legend"));
            context.print(&out)?;
        }
        format => context.emit(format, &answer)?,
    }
    Ok(ended(&maps))
}

/// Two cards in one runtime.
pub fn diff(a: &str, b: &str, ask: &Ask, context: &Context) -> anyhow::Result<ExitCode> {
    heed(ask, &[], context)?;
    let place = place(ask)?;
    let of = |card: &str| survey(&Ask { gpu: vec![card.to_owned()], ..ask.clone() }, &place, context);
    let (left, right) = (of(a)?, of(b)?);
    let (Some((_, left)), Some((_, right))) = (left.first(), right.first()) else {
        anyhow::bail!("--gpu needs a card");
    };
    let answer = VulkanDiff::of((a, left), (b, right), place.name());
    context.emit(ask.format, &answer)?;
    let whole = answer.conclusion.unanswered() == 0 && answer.conclusion.lost() == 0;
    Ok(match answer.conclusion.word() {
        Word::NotKnown => ExitCode::from(COULD_NOT_RUN),
        _ if answer.differences.is_empty() && whole => ExitCode::SUCCESS,
        _ => ExitCode::from(CHECK_FAILED),
    })
}

fn ended(maps: &[(String, VulkanMap)]) -> ExitCode {
    if interrupt::signal().is_some() {
        return ExitCode::from(COULD_NOT_RUN);
    }
    if maps.iter().all(|(_, map)| map.is_answered()) { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) }
}

pub fn survey(ask: &Ask, place: &Place, context: &Context) -> anyhow::Result<Vec<(String, VulkanMap)>> {
    let kinds = grid::kinds(ask)?;
    grid::check_columns(ask)?;
    interrupt::catch();
    let mut maps = Vec::new();
    for given in &ask.gpu {
        let shape = gguf::known(&ask.arch_of)?;
        let survey = VulkanSurvey { place, card: VulkanCard::find(given)?, shape, layers: ask.layers.clamp(1, 200) };
        let color = context.color;
        let progress = |line: &str| {
            if color {
                crate::context::tell(format_args!("dryrun: {line}"));
            }
        };
        let map = match &ask.model {
            Some(model) => survey.model(model, &ask.columns)?,
            None => survey.run(&kinds, &ask.columns, &progress)?,
        };
        maps.push((given.clone(), map));
    }
    Ok(maps)
}

fn head(map: &VulkanCardMap, runtime: &str, out: &mut String, lang: &Lang) {
    let line = match (&map.device, &map.driver) {
        (Some(device), Some(driver)) => {
            let args =
                [("device", device.as_str().into()), ("driver", driver.as_str().into()), ("runtime", runtime.into())];
            lang.text_with("dryrun-vulkan-head", &args)
        }
        _ => format!("{} ({}): {}", map.card, map.target, lang.text("dryrun-vulkan-none")),
    };
    let _ = writeln!(out, "{line}");
}

fn tail(map: &VulkanCardMap, out: &mut String, lang: &Lang) {
    let mut told = Vec::new();
    for cell in &map.cells {
        let Some(problem) = &cell.problem else { continue };
        let line = format!("! {}: {problem}", cell.kind);
        if !told.contains(&line) {
            let _ = writeln!(out, "{line}");
            told.push(line);
        }
    }
    let _ = writeln!(out, "{}\n", reach_line(&map.reach, lang));
}

/// Types down, column counts across.
fn words(map: &VulkanCardMap, lang: &Lang) -> Table {
    let mut counts: Vec<u64> = map.cells.iter().map(|cell| cell.columns).collect();
    counts.sort_unstable();
    counts.dedup();
    let mut kinds: Vec<String> = Vec::new();
    for kind in map.cells.iter().flat_map(dryrun::VulkanCell::kinds) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let mut titles = vec![Column::left("type", lang.text("dryrun-type"))];
    titles.extend(counts.iter().map(|count| Column::left("columns", count.to_string())));
    let mut table = Table::new(titles);
    for kind in kinds {
        let mut row = vec![kind.clone()];
        for count in &counts {
            let of = |cell: &&dryrun::VulkanCell| cell.columns == *count && (cell.kind == kind || cell.kind.is_empty());
            row.push(map.cells.iter().find(of).map(|cell| cell.label_of(&kind)).unwrap_or_default());
        }
        table.row(row);
    }
    table
}

impl Show for VulkanMaps {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let card = [Column::left("card", lang.text("dryrun-card")), Column::left("asked", lang.text("map-asked"))];
        let mut table = Table::new(card.into_iter().chain(columns(lang)).collect());
        for map in &self.maps {
            for cell in &map.cells {
                for row in cell.products() {
                    table.row([map.card.clone(), cell.columns.to_string()].into_iter().chain(cells(row)));
                }
            }
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = String::new();
        for map in &self.maps {
            head(map, &self.runtime, &mut out, lang);
            let mut table = Table::new(columns(lang));
            for row in map.cells.iter().flat_map(dryrun::VulkanCell::products) {
                table.row(cells(row));
            }
            if !table.is_empty() {
                out.push_str(&table.text(context.width));
            }
            tail(map, &mut out, lang);
        }
        out
    }
}

impl Show for VulkanDiff {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("type", lang.text("dryrun-type")),
            Column::right("columns", lang.text("map-columns")),
            Column::left("what", lang.text("diff-runtime-what")),
            Column::left("a", self.a.clone()),
            Column::left("b", self.b.clone()),
        ]);
        for of in &self.differences {
            table.row([of.kind.clone(), of.columns.to_string(), of.what.to_owned(), of.a.clone(), of.b.clone()]);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let table = self.table(&context.lang).filter(|table| !table.is_empty());
        let table = table.map(|table| table.text(context.width) + "\n").unwrap_or_default();
        format!("{table}{}\n", conclusion_text(&context.lang, &self.conclusion))
    }
}
