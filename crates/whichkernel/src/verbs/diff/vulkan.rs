//! Compares two cards through Vulkan.

use crate::asked::dry::Ask;
use crate::asked::dry::vulkan::{heed, place, played, survey};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use crate::emit::Show;
use dryrun::VulkanDiff;
use evidence::Word;
use report::{Column, Lang, Table, conclusion_text};
use say::bail;
use std::path::Path;
use std::process::ExitCode;

/// Compares two cards in one runtime.
pub fn cards(a: &str, b: &str, ask: &Ask, context: &Context) -> say::Result<ExitCode> {
    heed(ask, &[])?;
    let place = place(ask)?;
    // A file is never the name of a card.
    let of = |card: &str| {
        let own = card.ends_with(".json").then(|| played(Path::new(card))).transpose()?;
        survey(&Ask { gpu: vec![own.unwrap_or_else(|| card.to_owned())], ..ask.clone() }, &place, context)
    };
    let (left, right) = (of(a)?, of(b)?);
    let (Some((_, left)), Some((_, right))) = (left.first(), right.first()) else {
        bail!("command-gpu-card");
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
            table.row([
                of.kind.clone(),
                of.columns.to_string(),
                of.what.name().to_owned(),
                of.a.in_words(lang),
                of.b.in_words(lang),
            ]);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let table = self.table(&context.lang).filter(|table| !table.is_empty());
        let table = table.map(|table| table.text(context.width) + "\n").unwrap_or_default();
        format!("{table}{}\n", conclusion_text(&context.lang, &self.conclusion))
    }
}
