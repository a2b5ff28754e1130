//! The map on Vulkan, as a grid of short words.

use crate::asked::dry::Ask;
use crate::asked::dry::vulkan::{ended, head, heed, place, survey, tail};
use crate::context::{Context, Format};
use dryrun::{VulkanCardMap, VulkanMaps};
use report::{Column, Lang, Table};
use std::fmt::Write;
use std::process::ExitCode;

pub fn run(ask: &Ask, context: &Context) -> say::Result<ExitCode> {
    heed(ask, &[])?;
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
