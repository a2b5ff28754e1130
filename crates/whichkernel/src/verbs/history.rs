//! `whichkernel history TREE`: every commit of a clone that changed a choice, the deciding lines, and whether Ollama
//! has it.

use crate::asked::tree::Ask;
use crate::context::{Context, Format};
use crate::emit::Plain;
use evidence::{Says, Word};
use report::{Column, Table, conclusion_text};
use say::bail;
use source::Question;
use source::answers::{Compared, EventAnswer, HistoryAnswer, conclude};
use source::history::{History, history, lines};
use source::pins;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A git clone of llama.cpp, ggml or Ollama, or REPO@REV to end at that revision
    pub tree: String,

    /// The first tag or commit [default: the first commit that touches the backend]
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,

    /// GPUs: cards (rx-9070-xt) or targets (gfx1201, sm_90), comma-separated [default: 13 from AMD and NVIDIA]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub gpu: Vec<String>,

    #[command(flatten)]
    pub ask: Ask,

    /// A git clone of Ollama, to find the release that includes a commit [default: a built-in list]
    #[arg(long, value_name = "CLONE")]
    pub ollama: Option<PathBuf>,

    /// Show only the changes, without the deciding lines
    #[arg(long)]
    pub brief: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let (repo, until) = match args.tree.rsplit_once('@') {
        Some((repo, rev)) if !Path::new(&args.tree).exists() => (repo, rev),
        _ => (args.tree.as_str(), "HEAD"),
    };
    let repo = Path::new(repo);
    if !repo.is_dir() {
        bail!("command-history-clone", path = repo);
    }
    let question = args.ask.question(&args.gpu)?;
    let overrides = args.ask.overrides()?;
    let pins = match &args.ollama {
        Some(clone) => pins::read(clone, repo)?.0,
        None => pins::built_in(),
    };
    let found = history(repo, &question, &overrides, args.since.as_deref(), until)?;
    let causes = if args.brief { Vec::new() } else { lines(repo, &found.events, &question, &overrides)? };
    let mut causes = causes.into_iter();
    let operation = args.ask.operation().name();
    let events = found.events.iter();
    let events = events.map(|event| EventAnswer::new(event, (&question, &operation), causes.next(), &pins)).collect();
    let ends = Compared { operation: &operation, question: &question, found: &found.ends };
    let ends = conclude([&found.first.id, &found.last.id], &[ends], &found.ends_unread, &args.ask.other_operations());
    let answer = HistoryAnswer::new(&found, events, ends, &pins);
    let plain = |plain| match plain {
        Plain::Csv => changes(&answer, context).csv(),
        Plain::Md => changes(&answer, context).markdown(),
        Plain::Text => text(&answer, &found, &question, context),
    };
    context.emit_as(args.format, || &answer, |format| Ok(plain(format)))?;
    Ok(ExitCode::SUCCESS)
}

/// One row for every change of every event.
fn changes(answer: &HistoryAnswer, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("date", title("history-column-date")),
        Column::left("tag", title("history-column-tag")),
        Column::left("commit", title("history-column-commit")),
        Column::left("ollama", title("history-column-ollama")),
        Column::left("target", title("source-column-gpu")),
        Column::left("type", title("source-column-type")),
        Column::left("columns", title("source-column-columns")),
        Column::left("path_before", title("history-column-before")),
        Column::right("tile_before", title("history-column-tile-before")),
        Column::left("path_after", title("history-column-after")),
        Column::right("tile_after", title("history-column-tile-after")),
        Column::left("kernel_before", title("history-column-kernel-before")),
        Column::left("kernel_after", title("history-column-kernel-after")),
        Column::left("differs", title("source-column-differs")),
        Column::left("shape_before", title("history-column-shape-before")),
        Column::left("shape_after", title("history-column-shape-after")),
    ]);
    for event in &answer.events {
        for change in &event.changes {
            table.row([
                event.date.clone(),
                event.tag.clone().unwrap_or_default(),
                short(&event.commit),
                event.ollama.as_ref().map(|pin| pin.release.clone()).unwrap_or_default(),
                change.target.clone(),
                change.ty.clone(),
                columns(change.from, change.to),
                change.a.path.clone(),
                change.a.tile.to_string(),
                change.b.path.clone(),
                change.b.tile.to_string(),
                change.a.kernel.clone().unwrap_or_default(),
                change.b.kernel.clone().unwrap_or_default(),
                change.differs.join(" "),
                change.a.shape.as_ref().map_or(String::new(), |shape| shape.told([true; 3])),
                change.b.shape.as_ref().map_or(String::new(), |shape| shape.told([true; 3])),
            ]);
        }
    }
    table
}

/// One row per event: shown first if there are several.
fn events(answer: &HistoryAnswer, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("date", title("history-column-date")),
        Column::left("tag", title("history-column-tag")),
        Column::left("commit", title("history-column-commit")),
        Column::left("ollama", title("history-column-ollama")),
        Column::right("cells", title("history-column-cells")),
        Column::left("target", title("source-column-gpu")),
        Column::left("type", title("source-column-type")),
        Column::left("subject", title("history-column-subject")),
    ]);
    for event in &answer.events {
        let targets: BTreeSet<&str> = event.changes.iter().map(|change| change.target.as_str()).collect();
        let types: BTreeSet<&str> = event.changes.iter().map(|change| change.ty.as_str()).collect();
        table.row([
            event.date.clone(),
            event.tag.clone().unwrap_or_default(),
            short(&event.commit),
            event.ollama.as_ref().map(|pin| pin.release.clone()).unwrap_or_default(),
            event.changes.iter().map(|change| change.cells).sum::<u64>().to_string(),
            few(&targets, context),
            few(&types, context),
            event.subject.clone(),
        ]);
    }
    table
}

fn few(names: &BTreeSet<&str>, context: &Context) -> String {
    few_of(&names.iter().copied().collect::<Vec<_>>(), context)
}

fn few_of<T: AsRef<str>>(names: &[T], context: &Context) -> String {
    let first: Vec<&str> = names.iter().map(AsRef::as_ref).take(3).collect();
    let args = [("first", context.lang.list(&first).into()), ("count", names.len().saturating_sub(3).into())];
    if names.len() > 3 { context.lang.text_with("gap-list", &args) } else { first.join(", ") }
}

fn short(id: &str) -> String {
    id.chars().take(10).collect()
}

fn columns(from: i64, to: i64) -> String {
    if from == to { from.to_string() } else { format!("{from}-{to}") }
}

/// The number of rows per event in text; the rest is only counted.
const ROWS: usize = 6;

fn text(answer: &HistoryAnswer, found: &History, question: &Question, context: &Context) -> String {
    let mut out = String::new();
    let changed = match answer.changed.says() {
        Says::Found { count } => *count,
        _ => 0,
    };
    let between = [
        ("first", short(&answer.first).into()),
        ("last", short(&answer.last).into()),
        ("commits", answer.commits.into()),
        ("evaluated", answer.evaluated.into()),
        ("cells", found.ends.asked.into()),
        ("events", changed.into()),
        ("gpus", question.devices.len().into()),
        ("types", question.types.len().into()),
        ("columns", question.columns.len().into()),
    ];
    // "Did not change" requires that every commit was read and decides every cell.
    let key = match answer.changed.word() {
        Word::Yes => "history-some",
        Word::No => "history-none",
        Word::Partly | Word::NotKnown => "history-none-seen",
    };
    let _ = writeln!(out, "{}", context.lang.text_with(key, &between));
    if answer.events.len() > 1 {
        let _ = write!(out, "\n{}", events(answer, context).text(context.width));
    }
    for event in &answer.events {
        let tag = event.tag.as_deref().unwrap_or("");
        let _ = write!(out, "\n{} {tag} {} {}\n", event.date, short(&event.commit), event.subject);
        for change in event.changes.iter().take(ROWS) {
            let parts = source::SHAPE_PARTS.map(|part| change.differs.contains(&part));
            let side = |side: &source::answers::Served| {
                let kernel = side.kernel.as_ref().map_or(String::new(), |kernel| format!(" {kernel}"));
                let shape = side.shape.as_ref().filter(|_| parts.contains(&true));
                let shape = shape.map_or(String::new(), |shape| format!(", {}", shape.told(parts)));
                format!("{}{kernel}{shape}", side.brief())
            };
            let (before, after) = (side(&change.a), side(&change.b));
            let what = format!("{} {} {}", change.target, change.ty, columns(change.from, change.to));
            let differs =
                if change.differs.is_empty() { String::new() } else { format!(" ({})", change.differs.join(", ")) };
            let _ = writeln!(out, "  {what}{differs}: {before} -> {after}");
        }
        let more = event.changes.len().saturating_sub(ROWS);
        if more > 0 {
            let _ = writeln!(out, " {}", context.lang.text_with("diff-source-more", &[("count", more.into())]));
        }
        for (side, line) in event.lines.iter().flat_map(|lines| [("-", &lines.a), ("+", &lines.b)]) {
            if !line.text.is_empty() {
                let _ = writeln!(out, "    {side} {}", line.text);
            }
        }
        if !event.unread.is_empty() {
            let commits: Vec<String> = event.unread.iter().map(|commit| short(commit)).collect();
            let says = [("count", commits.len().into()), ("commits", few_of(&commits, context).into())];
            let _ = writeln!(out, "  {}", context.lang.text_with("history-event-unread", &says));
        }
        let _ = writeln!(out, "  {}", had(event, answer, context));
    }
    let _ = write!(
        out,
        "\n{} {}\n",
        context.lang.text_with("history-ends", &between),
        conclusion_text(&context.lang, &answer.ends)
    );
    if let Some((commit, why)) = answer.unreadable.first() {
        let says =
            [("count", answer.unreadable.len().into()), ("commit", short(commit).into()), ("why", why.clone().into())];
        let _ = writeln!(out, "{}", context.lang.text_with("history-unreadable", &says));
    }
    out
}

/// Whether Ollama has an event, as far as its pins are known.
fn had(event: &EventAnswer, answer: &HistoryAnswer, context: &Context) -> String {
    let until = answer.ollama_until.clone().unwrap_or_default();
    match (&event.ollama, &event.tag) {
        (Some(pin), _) => {
            let args = [
                ("release", pin.release.clone().into()),
                ("date", pin.date.clone().into()),
                ("build", pin.build.clone().into()),
            ];
            context.lang.text_with("history-ollama", &args)
        }
        (None, Some(tag)) if pins::number(tag).is_some() => {
            context.lang.text_with("history-ollama-none", &[("until", until.into())])
        }
        _ => context.lang.text("history-ollama-unknown"),
    }
}
