//! One file of a rocBLAS or hipBLASLt catalog: its solutions and, with a GPU, whether any of them are for that GPU.

use super::Args;
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use crate::emit::Show;
use codeobject::ReadAt as _;
use findings::answers::{CatalogAnswer, CatalogAsked, CatalogFound, catalog};
use gpu::Arch;
use inventory::File;
use launch::NameFilter;
use report::{Column, Lang, Table, plain, thousands};
use say::{Context as _, bail, error};
use std::process::ExitCode;

pub fn run(file: &File, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let path = file.path();
    if args.launch_map || args.bundles || args.modules || args.record || args.strict || args.extract.is_some() {
        bail!("command-inspect-catalog", path);
    }
    let wanted = match &args.has_target {
        Some(target) => Some(Arch::parse(target)?),
        None => args.wanted()?,
    };
    let filter = args.kernel.as_deref().map(NameFilter::new).transpose()?;
    let catalog = catalog(file).about(path.display())?;
    let name = path.to_string_lossy().into_owned();
    let mut answer = CatalogAnswer::new(name, file.len(), &catalog, wanted.as_ref());
    if args.kernels || filter.is_some() {
        let target = wanted.as_ref().map(ToString::to_string);
        answer.list(&catalog, |one| {
            let own = target.as_deref().is_none_or(|target| one.processor.as_deref().is_none_or(|it| it == target));
            own && filter.as_ref().is_none_or(|filter| filter.matches(&one.kernel, &one.name))
        });
        if filter.is_some() && answer.rows.as_ref().is_some_and(Vec::is_empty) {
            return Err(error!("command-catalog-no-kernel", path, kernel = args.kernel.clone().unwrap_or_default()));
        }
    }
    context.emit(args.format, &answer)?;
    let asked = answer.asked.filter(|_| args.has_target.is_some());
    Ok(match asked.map(|asked| asked.found) {
        None | Some(CatalogFound::Own) => ExitCode::SUCCESS,
        Some(CatalogFound::Nothing) => ExitCode::from(CHECK_FAILED),
        Some(CatalogFound::Any | CatalogFound::Leaves) => ExitCode::from(COULD_NOT_RUN),
    })
}

impl Show for CatalogAnswer {
    /// The solutions if they are listed, otherwise the targets.
    fn table(&self, lang: &Lang) -> Option<Table> {
        let target = |target: &Option<String>| target.clone().unwrap_or_else(|| lang.text("inspect-catalog-any"));
        if let Some(rows) = &self.rows {
            let mut table = Table::new(vec![
                Column::right("index", "#"),
                Column::left("target", lang.text("inspect-column-target")),
                Column::left("macro_tile", lang.text("inspect-column-tiles")),
                Column::left("types", lang.text("inspect-column-type")),
                Column::left("kernel", lang.text("inspect-column-kernel")),
            ]);
            for row in rows {
                let tile = row.macro_tile.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
                table.row([row.index.to_string(), target(&row.target), tile, row.types.join(" "), row.kernel.clone()]);
            }
            return Some(table);
        }
        let mut table = Table::new(vec![
            Column::left("target", lang.text("inspect-column-target")),
            Column::right("solutions", lang.text("inspect-column-solutions")),
            Column::right("kernels", lang.text("inspect-column-kernels")),
        ]);
        for of in &self.targets {
            table.row([target(&of.target), thousands(of.solutions as u64), thousands(of.kernels as u64)]);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let words = [
            ("size", thousands(self.size).into()),
            ("solutions", thousands(self.solutions as u64).into()),
            ("kernels", thousands(self.kernels as u64).into()),
            ("leaves", thousands(self.leaves as u64).into()),
        ];
        let mut out = format!("{}\n{}\n", plain(&self.file), lang.text_with("inspect-catalog-file", &words));
        if let Some(asked) = &self.asked {
            out += &format!("{}\n", sentence(asked, &self.file, lang));
        }
        if self.solutions > 0 {
            out += &format!("\n{}", self.table(lang).map(|table| table.text(context.width)).unwrap_or_default());
        }
        out + &format!("\n{}\n", lang.text("inspect-catalog-code"))
    }
}

fn sentence(asked: &CatalogAsked, file: &str, lang: &Lang) -> String {
    let key = match asked.found {
        CatalogFound::Own => "inspect-catalog-own",
        CatalogFound::Any => "inspect-catalog-only-any",
        CatalogFound::Leaves => "inspect-catalog-leaves",
        CatalogFound::Nothing => "inspect-catalog-nothing",
    };
    let words = [
        ("file", plain(file).into()),
        ("target", asked.target.clone().into()),
        ("own", thousands(asked.own as u64).into()),
        ("any", thousands(asked.any as u64).into()),
        ("leaves", thousands(asked.leaves as u64).into()),
    ];
    lang.text_with(key, &words)
}
