//! Tuning tables of vLLM and AITER: which shapes of a model have a row for a card.

use super::Args;
use crate::context::{CHECK_FAILED, Context};
use crate::emit::Show;
use report::{Column, Lang, Table};
use say::{Context as _, bail, say};
use std::path::Path;
use std::process::ExitCode;
use vllm::tables::{Shapes, Tuned, TunedShape, Verdict, tuned};

pub fn run(folder: &Path, model: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    if !folder.is_dir() {
        bail!("vllm-tables-directory");
    }
    let Some(gpu) = args.gpu.as_deref().or(args.gpu_target.as_deref()) else { bail!("vllm-tables-card") };
    let card = gpu::find(gpu)?;
    let config = vllm::Model::read(model)?.config()?;
    let shown = model.display().to_string();
    let shapes = Shapes::of(&config, u64::from(args.tp)).about(&shown)?;
    let answer = tuned(folder, &card, &shapes, &shown)?;
    context.emit(args.format, &answer)?;
    let missing = answer.rows.iter().any(|row| row.verdict != Verdict::Tuned);
    let strict = args.strict && (missing || !answer.unreadable.is_empty());
    Ok(if strict { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

impl Show for Tuned {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("layer", lang.text("vllm-tables-layer")),
            Column::left("shape", lang.text("vllm-tables-shape")),
            Column::left("tables", lang.text("vllm-tables-family")),
            Column::left("row", lang.text("vllm-tables-verdict")),
            Column::left("tokens", lang.text("vllm-tables-tokens")),
            Column::left("elsewhere", lang.text("vllm-tables-elsewhere")),
        ]);
        for row in &self.rows {
            let verdict = match row.verdict {
                Verdict::Tuned => "vllm-tables-tuned",
                Verdict::OtherCards => "vllm-tables-other-cards",
                Verdict::Missing => "vllm-tables-missing",
            };
            table.row([
                row.layer.clone(),
                row.shape.clone(),
                row.family.clone(),
                lang.text(verdict),
                tokens(row, lang),
                row.elsewhere.join(", "),
            ]);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let (model, path, tables) = (&self.model, &self.path, self.tables);
        let (gpu, target, units) = (&self.card, &self.target, self.compute_units);
        let asked = say!("vllm-tables-asked", model, gpu, target, units, tables, path);
        let name = &self.device_name;
        let named = match self.device_name_known {
            true => say!("vllm-tables-name", name),
            false => say!("vllm-tables-name-assumed", name),
        };
        let mut out = format!("{}\n{}\n\n", lang.say(&asked), lang.say(&named));
        out += &self.table(lang).map(|table| table.text(context.width)).unwrap_or_default();
        let missing = self.rows.iter().filter(|row| row.verdict != Verdict::Tuned).count();
        let summary = say!("vllm-tables-summary", missing, count = self.rows.len());
        out += &format!("\n{}\n", lang.say(&summary));
        for file in &self.unreadable {
            out += &format!("{}\n", lang.say(&say!("vllm-tables-unreadable", file)));
        }
        out + &format!("{}\n", lang.text("vllm-tables-default"))
    }
}

fn tokens(row: &TunedShape, lang: &Lang) -> String {
    match row.tokens.as_slice() {
        [] => String::new(),
        [one] => one.to_string(),
        [first, .., last] => lang.say(&say!("vllm-tables-range", count = row.tokens.len(), first, last)),
    }
}
