//! Without a command: the map of types and column counts on Vulkan, for one card or several.

use super::record;
use super::show::{cells, columns};
use crate::asked::dry::vulkan::{ended, head, place, survey, tail};
use crate::context::Context;
use crate::emit::Show;
use crate::verbs::dryrun::Args;
use dryrun::VulkanMaps;
use report::{Column, Lang, Table};
use std::process::ExitCode;

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let place = place(&args.ask)?;
    let maps = survey(&args.ask, &place, context)?;
    if args.record {
        let time = observe::now();
        let model = args.ask.model.as_ref().map_or(args.ask.arch_of.clone(), |model| model.display().to_string());
        for (_, map) in &maps {
            let record = record(&place, map.card, map.driver.as_deref(), (&model, &time))?;
            context.record(record.survey(&map.cells)?, "dryrun-recorded")?;
        }
    }
    let answer = VulkanMaps::new(place.name(), &maps);
    context.emit(args.ask.format, &answer)?;
    Ok(ended(&maps))
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
