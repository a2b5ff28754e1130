//! A file on the second page: whether it has code for a card, its other contents, its kernels and its instructions.

use crate::said::{Said, both, message};
use crate::{catalog, model};
use answer::Answer as _;
use codeobject::{Bundle, ReadAt};
use evidence::{Conclusion, Word};
use findings::answers::{self, FileAnswer, HasTarget, Kernels};
use findings::census::{By, Select as CensusSelect};
use findings::count::{census, nothing, parse_target};
use findings::kernel_rows::{JsonRows, KernelRows, RowText};
use findings::select::Select;
use findings::shipped::{completeness, presence};
use gpu::{Arch, How};
use inventory::{File, FileReport, Form, Nothing, Options, Pack, Serves, inspect};
use report::{conclusion_text, gaps, thousands};
use say::shell::CommandLine;
use say::{Message, Say as _, say};
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// A file that was read, and the facts about it.
#[derive(Debug)]
pub struct Opened {
    file: File,
    report: FileReport,
}

/// The content of the page for a file.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Shown {
    File(Box<About>),
    Model(Box<model::About>),
    Catalog(Box<catalog::About>),
    Package(Box<Package>),
}

/// A file, for one GPU or for none.
#[derive(Debug, Serialize)]
pub struct About {
    kind: &'static str,
    /// The output of `whichkernel inspect --format json`, with `--has-target` if a GPU was asked about.
    json: String,
    command: String,
    /// yes, no or not-known; null without a GPU.
    word: Option<&'static str>,
    verdict: Said,
    detail: Said,
    /// The advice if the answer is not yes.
    advice: Vec<Said>,
    complete: bool,
    completeness: Said,
    size: u64,
    /// The GPU that was requested.
    card: Option<String>,
    target: Option<String>,
    /// The target whose kernels are listed: the one that the GPU would use, otherwise the first.
    list: Option<String>,
    /// Whether instructions of that target can be counted.
    census: bool,
    targets: Vec<TargetRow>,
    bytes: Bytes,
    modules: usize,
}

#[derive(Debug, Serialize)]
struct TargetRow {
    target: String,
    /// The best-known card of this target.
    title: Option<String>,
    kernels: u64,
    stubs: u64,
    bytes: u64,
    /// Whether the requested GPU would use this target.
    mine: bool,
}

#[derive(Debug, Serialize)]
struct Bytes {
    scanned: u64,
    padding: u64,
    not_understood: u64,
}

#[derive(Debug, Serialize)]
pub struct Listed {
    /// The output of `whichkernel inspect --kernels --target TARGET --format json`.
    json: String,
    command: String,
}

#[derive(Debug, Serialize)]
pub struct Counted {
    /// The JSON of `isa` for this target.
    json: String,
    command: String,
    completeness: Said,
}

/// An archive or package, which the page does not unpack.
#[derive(Debug, Serialize)]
pub struct Package {
    kind: &'static str,
    command: String,
    word: &'static str,
    verdict: Said,
    detail: Said,
    advice: Vec<Said>,
}

impl Package {
    fn new(name: &str, pack: Pack) -> Package {
        let what = match pack {
            Pack::Ar => say!("web-package-ar"),
            Pack::Deb => say!("web-package-deb"),
            Pack::Zip => say!("web-package-zip"),
            Pack::Tar => say!("web-package-tar"),
            Pack::Compressed => say!("web-package-compressed"),
            Pack::Rpm => say!("web-package-rpm"),
        };
        let mut advice = vec![say!("web-package-unpack")];
        // The command line tool refuses RPM packages, too.
        if pack != Pack::Rpm {
            advice.push(say!("web-package-command", name));
        }
        Package {
            kind: "package",
            command: CommandLine::new("whichkernel inspect {}", [name]).to_string(),
            word: "not-known",
            verdict: message(&say!("web-package", what)),
            detail: message(&say!("web-package-why")),
            advice: advice.iter().map(message).collect(),
        }
    }
}

impl Opened {
    /// Reads a whole file, or the header of a model.
    pub fn read(name: &str, source: Arc<dyn ReadAt + Send>, gpu: Option<&str>) -> say::Result<(Option<Opened>, Shown)> {
        if let Some(about) = model::read(name, source.as_ref(), gpu)? {
            return Ok((None, Shown::Model(Box::new(about))));
        }
        if let Some(about) = catalog::read(name, source.as_ref(), gpu)? {
            return Ok((None, Shown::Catalog(Box::new(about))));
        }
        if let Some(pack) = Pack::of(source.as_ref()) {
            return Ok((None, Shown::Package(Box::new(Package::new(name, pack)))));
        }
        let file = File::given(Path::new(name), source);
        let step = |_: Option<&Bundle>, ()| Ok::<(), say::Error>(());
        // JSON always has the hash.
        let report = inspect(&file, &Options::all(), true, &Nothing, step)?;
        let opened = Opened { file, report };
        let about = opened.about(gpu)?;
        Ok((Some(opened), Shown::File(Box::new(about))))
    }

    pub fn about(&self, gpu: Option<&str>) -> say::Result<About> {
        let (path, report) = (self.file.path(), &self.report);
        let name = path.to_string_lossy();
        let wanted = gpu.map(Arch::parse).transpose()?;
        let serves = wanted.as_ref().map(|wanted| report.serves(wanted));
        let asked = wanted.as_ref().zip(serves.as_ref());
        let (json, command) = match asked {
            Some((wanted, serves)) => (
                answer::json(&HasTarget::new(path, report, wanted, serves))?,
                CommandLine::new("whichkernel inspect {} --has-target {}", [&*name, &wanted.to_string()]),
            ),
            None => (
                answer::json(&FileAnswer::new(path, report, &|_| true))?,
                CommandLine::new("whichkernel inspect {}", [&*name]),
            ),
        };
        let whole = completeness(path, report);
        let card = gpu.map(card);
        let taken = serves.as_ref().and_then(|serves| serves.taken.clone());
        let found = asked.map(|(_, serves)| presence(path, report, serves));
        let Verdict { word, verdict, detail, advice } = self.verdict(asked, found.as_ref(), card.as_deref());
        let targets = report.targets();
        let list = taken.clone().filter(|taken| targets.contains_key(taken)).or_else(|| targets.keys().next().cloned());
        Ok(About {
            kind: "file",
            json,
            command: command.to_string(),
            word,
            verdict,
            detail,
            advice,
            complete: whole.word() == Word::Yes,
            completeness: both(|lang| self.completeness(&whole, lang)),
            size: report.size,
            card,
            target: wanted.as_ref().map(ToString::to_string),
            census: list.as_deref().is_some_and(|list| list.starts_with("gfx")),
            list,
            targets: targets
                .into_iter()
                .map(|(target, of)| TargetRow {
                    title: gpu::reference(target.split(':').next().unwrap_or(&target)).map(|card| card.title),
                    mine: taken.as_deref() == Some(&target),
                    kernels: of.kernels,
                    stubs: of.stubs,
                    bytes: of.bytes,
                    target,
                })
                .collect(),
            bytes: Bytes {
                scanned: report.coverage.scanned,
                padding: report.coverage.padding,
                not_understood: report.coverage.lost(),
            },
            modules: report.modules.len(),
        })
    }

    /// The sentence that the command line shows under its overview.
    fn completeness(&self, whole: &Conclusion, lang: &say::Lang) -> String {
        if whole.word() == Word::Yes {
            let key = if self.report.searched_spirv { "inspect-complete" } else { "inspect-complete-machine-code" };
            return lang.text(key);
        }
        let problems: Vec<String> = self.report.all_problems().take(3).map(|it| lang.say(&it.message())).collect();
        format!("{} {} {}", conclusion_text(lang, whole), lang.text("inspect-incomplete"), problems.join(" "))
    }

    fn verdict(&self, asked: Option<(&Arch, &Serves)>, found: Option<&Conclusion>, card: Option<&str>) -> Verdict {
        let report = &self.report;
        let any = !report.targets().is_empty() || !report.modules.is_empty();
        let whole = completeness(self.file.path(), report).word() == Word::Yes;
        let size = thousands(report.size);
        if report.form == Form::Unknown && !any {
            let why = report.problems.first().map(|problem| problem.message());
            let why = why.unwrap_or_else(|| say!("web-unknown-format-why"));
            return Verdict::new("not-known", say!("web-unknown-format"), why, vec![say!("web-advice-formats")]);
        }
        if !any && whole && report.kpack.is_none() {
            let advice = vec![say!("web-advice-other-file")];
            return Verdict::new("no", say!("web-no-gpu-code"), say!("web-no-gpu-code-why", size), advice);
        }
        let (Some((wanted, serves)), Some(found), Some(card)) = (asked, found, card) else {
            let count = report.targets().len();
            return Verdict {
                word: None,
                ..Verdict::new("", say!("web-overview", count), say!("web-overview-why"), Vec::new())
            };
        };
        let target = wanted.to_string();
        let (live, stubs) = (thousands(serves.live()), thousands(serves.stubs));
        let taken = serves.taken.clone().unwrap_or_default();
        match (found.word(), serves.how) {
            (Word::Yes, Some(How::Compiled)) => {
                Verdict::new("yes", say!("web-yes", card), say!("web-yes-compiled", target, taken), Vec::new())
            }
            (Word::Yes, Some(How::Generic)) => {
                Verdict::new("yes", say!("web-yes", card), say!("web-yes-generic", target, taken, live), Vec::new())
            }
            (Word::Yes, _) if taken.starts_with("gfx") || taken.starts_with("sm_") => {
                Verdict::new("yes", say!("web-yes", card), say!("web-yes-why", taken, live, stubs), Vec::new())
            }
            (Word::Yes, _) => Verdict::new("yes", say!("web-yes", card), say!("web-yes-modules", taken), Vec::new()),
            (Word::No, _) => {
                let names = wanted.in_order().join(", ");
                let names = if names.is_empty() { target.clone() } else { names };
                let why = match serves.taken {
                    Some(_) => say!("web-no-stubs", size, taken, stubs),
                    None => say!("web-no-why", size, names),
                };
                let advice = vec![say!("web-advice-build", target), say!("web-advice-vulkan")];
                Verdict::new("no", say!("web-no", card), why, advice)
            }
            (Word::Partly | Word::NotKnown, _) => {
                let told = both(|lang| {
                    let gaps = gaps(lang, found).unwrap_or_default();
                    lang.say(&say!("web-not-known-why", target = target, gaps))
                });
                let verdict = Verdict::new(
                    "not-known",
                    say!("web-not-known", card),
                    say!("web-overview-why"),
                    vec![say!("web-advice-again")],
                );
                Verdict { detail: told, ..verdict }
            }
        }
    }

    /// Every kernel for a target.
    pub fn kernels(&self, target: &str) -> say::Result<Listed> {
        let rows = KernelRows { select: Select::new(Some(target), None)?, format: JsonRows };
        // Outside of the device sections there is nothing that the first reading did not find.
        let options = Options { search: !self.report.embedded.is_empty(), ..Options::all() };
        let name = self.file.path().to_string_lossy();
        let (schema, file) = (json!(Kernels::SCHEMA), json!(name));
        let mut json = format!("{{\"schema\":{schema},\"file\":{file},\"kernels\":[\n");
        let mut any = false;
        let mut add = |out: RowText| {
            if any && out.count > 0 {
                json.push_str(",\n");
            }
            any |= out.count > 0;
            json.push_str(&out.rows);
        };
        let report = inspect(&self.file, &options, false, &rows, |_, out| {
            add(out);
            Ok::<(), say::Error>(())
        })?;
        if let Some(found) = &report.nvidia {
            add(rows.nvidia(found));
        }
        json.push_str("\n]}\n");
        let command = CommandLine::new("whichkernel inspect {} --kernels --target {}", [&*name, target]);
        Ok(Listed { json, command: command.to_string() })
    }

    /// Every instruction for a target.
    pub fn census(&self, target: &str) -> say::Result<Counted> {
        let select = CensusSelect { target: Some(parse_target(target)?), kernel: None };
        let (groups, report) = census(&self.file, select, By::Target, (false, false), |_| Ok(()))?;
        let name = self.file.path().to_string_lossy();
        if groups.objects == 0 {
            return Err(nothing(self.file.path(), Some(target), &groups, &report));
        }
        let whole = findings::census::completeness(&groups);
        Ok(Counted {
            json: answer::json(&answers::census(&self.file, &groups, &report))?,
            command: CommandLine::new("whichkernel isa {} --target {}", [&*name, target]).to_string(),
            completeness: both(|lang| conclusion_text(lang, &whole)),
        })
    }
}

struct Verdict {
    word: Option<&'static str>,
    verdict: Said,
    detail: Said,
    advice: Vec<Said>,
}

impl Verdict {
    fn new(word: &'static str, verdict: Message, detail: Message, advice: Vec<Message>) -> Verdict {
        let advice = advice.iter().map(message).collect();
        Verdict { word: Some(word), verdict: message(&verdict), detail: message(&detail), advice }
    }
}

/// A card's name for readers.
pub(crate) fn card(name: &str) -> String {
    source::Device::find(name).map_or_else(|_| name.to_owned(), |device| device.title())
}
