//! `report --publish`: pages for publication, from a copy of the ledger in which names and local paths are replaced.

use super::{Args, bundle};
use crate::context::Context;
use crate::pages::Gathered;
use evidence::Investigation;
use ledger::Reader;
use say::{Context as _, ensure, say};
use site::Publication;
use std::path::Path;
use std::process::ExitCode;
use sys::private_dir::SessionDir;

pub fn run(args: &Args, dir: &Path, investigation: Investigation, context: &Context) -> say::Result<ExitCode> {
    let reader = Reader::open(&context.ledger)?;
    ensure!(reader.exists(), "command-nothing-to-publish", path = context.ledger);
    if let Some(url) = &args.url {
        ensure!(url.starts_with("https://") || url.starts_with("http://"), "command-publish-url", url);
    }
    let work = SessionDir::new("publish", &std::env::temp_dir()).context(say!("command-no-work-directory"))?;
    let copy = work.inner().join("ledger");
    let mut names = bundle::names();
    let bundled = reader.bundle(&mut names, &copy, &mut std::io::sink())?;
    let before = Gathered::from_ledger(investigation.clone(), &context.ledger);
    let replaced = investigation.mapped(&|text| names.text(text));
    let after = Gathered::for_strangers(replaced, &copy);
    let grades =
        |gathered: &Gathered| -> Vec<_> { gathered.graded.readings.iter().map(|one| one.grade.name()).collect() };
    // A grade changes if the claim depends on a replaced name, or on evidence that isn't text.
    let changed = grades(&before).into_iter().zip(grades(&after)).filter(|(before, after)| before != after).count();
    let own = |text: &Option<String>| text.as_ref().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let publication = Publication { title: own(&args.title), note: own(&args.note), url: args.url.clone() };
    let mut site = after.published(before.facts(), &publication);
    if let Some(module) = crate::web_module::read(args.web.as_deref())? {
        site.add_module(module);
    }
    let path = site.write(dir)?;
    super::say(&path, site.size(), context)?;
    let (left, evidence) = (bundled.left_out + bundled.notes, bundled.evidence_left_out);
    context.print(&format!("{}\n", context.lang.say(&say!("report-published", left, evidence))))?;
    if changed > 0 {
        context.note(&context.lang.say(&say!("report-published-grades", changed)));
    }
    Ok(ExitCode::SUCCESS)
}
