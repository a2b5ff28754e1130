//! A model file: its tensors by type, and with --gpu the paths that the rules choose for them.

use super::Args;
use crate::asked::gguf_header;
use crate::context::{COULD_NOT_RUN, Context};
use crate::emit::Show;
use report::{Column, Lang, Table, plain, thousands};
use say::bail;
use source::decision_table::tokens;
use source::model::{ModelAnswer, Role};
use source::{Device, decision_table};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

/// Whether a file begins as a GGUF file does.
pub fn is_model(path: &Path) -> bool {
    let mut magic = [0; 4];
    sys::regular_file::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok()) && magic == *b"GGUF"
}

pub fn run(path: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let other = args.kernels || args.launch_map || args.bundles || args.modules || args.record;
    if other || args.extract.is_some() || args.has_target.is_some() {
        bail!("command-inspect-model", path);
    }
    let header = gguf_header::read(path)?;
    let size = path.metadata()?.len();
    let device = args.gpu.as_ref().or(args.gpu_target.as_ref()).map(|name| Device::find(name)).transpose()?;
    let asked = device.as_ref().zip(decision_table::all().last());
    let answer = ModelAnswer::new(path.to_string_lossy().into_owned(), size, &header, asked);
    let cut = answer.missing.is_none_or(|missing| missing > 0);
    context.emit(args.format, &answer)?;
    Ok(if cut { ExitCode::from(COULD_NOT_RUN) } else { ExitCode::SUCCESS })
}

impl Show for ModelAnswer<'_> {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("type", lang.text("inspect-model-type")),
            Column::left("role", lang.text("inspect-model-role")),
            Column::right("tensors", lang.text("inspect-model-tensors")),
            Column::right("bytes", lang.text("inspect-model-bytes")),
            Column::left("paths", lang.text("inspect-model-paths")),
        ]);
        for of in &self.types {
            let stretches: Vec<_> = of.by_columns.iter().map(|one| (one.from, one.to, one.path)).collect();
            let paths = match (&self.rules, of.role) {
                (None, _) => String::new(),
                (_, Role::Vector) => lang.text("inspect-model-no-product"),
                (_, Role::Experts) => lang.text("inspect-model-no-rules"),
                _ if stretches.is_empty() => lang.text("inspect-model-no-rules"),
                _ => tokens(&stretches),
            };
            let role = lang.text(&format!("inspect-model-role-{}", of.role.key()));
            let bytes = of.bytes.map_or_else(|| "-".to_owned(), thousands);
            table.row([of.kind.clone(), role, thousands(of.tensors as u64), bytes, paths]);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = format!("{}\n", plain(&self.file));
        let words = [
            ("size", thousands(self.size).into()),
            ("architecture", plain(&self.architecture).into()),
            ("type", self.file_type.unwrap_or("-").into()),
            ("layers", self.layers.map_or_else(|| "-".to_owned(), |layers| layers.to_string()).into()),
            ("tensors", thousands(self.tensors as u64).into()),
        ];
        out += &format!("{}\n", lang.text_with("inspect-model", &words));
        if self.parts > 1 {
            out += &format!("{}\n", lang.text_with("inspect-model-parts", &[("parts", self.parts.into())]));
        }
        match self.missing {
            None => out += &format!("{}\n", lang.text("inspect-model-size-unknown")),
            Some(0) => {}
            Some(missing) => {
                let words = [("missing", thousands(missing).into())];
                out += &format!("{}\n", lang.text_with("inspect-model-cut", &words));
            }
        }
        out.push('\n');
        out += &self.table(lang).map(|table| table.text(context.width)).unwrap_or_default();
        if let Some(rules) = &self.rules {
            let words = [
                ("gpu", rules.card.clone().unwrap_or_else(|| rules.target.clone()).into()),
                ("version", format!("{} {}", rules.source, rules.version).into()),
            ];
            out += &format!("\n{}\n", lang.text_with("inspect-model-rules", &words));
        }
        out
    }
}
