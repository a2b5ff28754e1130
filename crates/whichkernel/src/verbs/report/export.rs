//! `--export`: the report for other tools: Markdown for a static-site generator, JSON for programs, Parquet for a lake,
//! traces of launches for Perfetto and the Firefox Profiler.

use super::args::{Export, Given};
use crate::context::Context;
use crate::graded::markdown;
use crate::pages::Gathered;
use investigate::Reported;
use report::Lang;
use say::{Context as _, ensure, say};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use sys::files::{self, Access};

pub fn write(
    gathered: &Gathered,
    what: Export,
    given: &Given,
    out: Option<&Path>,
    context: &Context,
) -> say::Result<PathBuf> {
    match what {
        Export::Parquet => {
            let dir = out.unwrap_or(Path::new("lake"));
            let claims: Vec<_> = gathered.graded.claims().collect();
            let title = &gathered.graded.investigation.title.en;
            let machine = export::machine();
            let origin = export::Origin { host: given.host.as_deref(), machine: &machine, title, claims: &claims };
            let exported = export::write(&ledger::Reader::open(gathered.ledger())?, &origin, dir)?;
            let args = [
                ("name", exported.stem.as_str().into()),
                ("seal", exported.seal.as_str().into()),
                ("new", exported.new_rows.into()),
                ("rows", exported.rows.into()),
                ("beside", exported.beside.clone().unwrap_or_default().into()),
            ];
            if exported.beside.is_some() {
                context.note(&context.lang.text_with("lake-forked", &args));
            }
            let key = if exported.kept_later { "lake-kept-later" } else { "lake-sealed" };
            context.note(&context.lang.text_with(key, &args));
            Ok(dir.to_owned())
        }
        Export::Perfetto | Export::Profiler => {
            let from = given.launches.as_deref().context(say!("command-export-needs-launches"))?;
            let timeline = timeline(from)?;
            let missing = timeline.lost.saturating_add(timeline.damaged);
            for (key, count) in [("report-launches-missing", missing), ("report-launches-unplaced", timeline.unplaced)]
            {
                if count > 0 {
                    context.note(&context.lang.text_with(key, &[("count", count.into())]));
                }
            }
            if timeline.endless {
                context.note(&context.lang.text("report-launches-endless"));
            }
            let (name, bytes) = match what {
                Export::Perfetto => ("launches.perfetto-trace", export::perfetto(&timeline)),
                _ => ("launches.profile.json", export::profiler(&timeline)?),
            };
            let path = out.unwrap_or(Path::new(name));
            files::replace(path, Access::Public, bytes).with_context(|| say!("command-cannot-write", path))?;
            Ok(path.to_owned())
        }
        Export::Json => {
            let path = out.unwrap_or(Path::new("report.json"));
            let whole = Reported::of(&gathered.graded, gathered.problem.as_deref(), gathered.observations());
            files::replace(path, Access::Public, answer::json(&whole)?)
                .with_context(|| say!("command-cannot-write", path))?;
            Ok(path.to_owned())
        }
        Export::Md => {
            let dir = out.unwrap_or(Path::new("report-md"));
            for code in ["en", "ja"] {
                let lang = Lang::new(code);
                let folder = dir.join(code);
                files::create_dir_all(&folder, Access::Public)
                    .with_context(|| say!("command-cannot-make", path = folder))?;
                let title = gathered.graded.investigation.title.in_language(code).replace('"', "'");
                let text = format!(
                    "---\ntitle: \"{title}\"\nlang: {code}\n---\n\n{}",
                    plain(&markdown(&gathered.graded, &lang))
                );
                let path = folder.join("index.md");
                files::replace(&path, Access::Public, text).with_context(|| say!("command-cannot-write", path))?;
            }
            Ok(dir.to_owned())
        }
    }
}

/// The maximum number of bytes in memory.
const MOST: u64 = 1 << 30;

fn timeline(path: &Path) -> say::Result<export::Timeline> {
    let file = sys::regular_file::open(path).about(path.display())?;
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).about(path.display())?;
    ensure!(bytes.len() as u64 <= MOST, "command-longer", path, most = MOST);
    export::Timeline::read(bytes).about(path.display())
}

/// Markdown passes HTML through, so external names are escaped.
fn plain(text: &str) -> String {
    text.replace('<', "&lt;")
}
