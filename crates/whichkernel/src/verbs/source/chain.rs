//! `source TREE --chain`: from the HTTP handler to the kernel launch, with file and line at each step.

use crate::asked::gemm::in_source;
use crate::asked::record_declared;
use crate::asked::tree::tell_skipped;
use crate::asked::tree_record::USUAL_ROUTES;
use crate::context::{CHECK_FAILED, Context, Format};
use crate::emit::Plain;
use callchain::{Chain, ChainStep, Chains, CodeLocation, Fact, File, Subject};
use evidence::{Conclusion, Word};
use report::{Column, Table, conclusion_text};
use say::bail;
use source::{Survey, Tree};
use std::process::ExitCode;

/// Follows `route` (or the first usual one that the tree serves) through all trees together.
pub fn run(trees: &[Tree], args: &super::Args, context: &Context) -> say::Result<ExitCode> {
    let (texts, skipped) = source::tree::collect(trees, callchain::wanted);
    let files: Vec<File> = texts.into_iter().map(File::from).collect();
    for tree in trees {
        tell_skipped(&tree.skipped, context);
    }
    tell_skipped(&skipped, context);
    let unread: Vec<String> =
        trees.iter().flat_map(|tree| &tree.skipped.told).chain(&skipped.told).map(ToString::to_string).collect();
    let index = callchain::index(&files);
    if let (Some(from), Some(to)) = (&args.from, &args.to) {
        return between(trees, &index, (from, to), (files.len(), &unread), args, context);
    }
    let route = args.route.as_deref();
    let served = |path: &&str| index.routes.iter().any(|entry| entry.path == **path);
    let Some(route) = route.or_else(|| USUAL_ROUTES.into_iter().find(served)) else {
        bail!("command-chain-no-server", routes = USUAL_ROUTES);
    };
    if !served(&route) {
        let mut known: Vec<&str> = index.routes.iter().map(|entry| entry.path.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        bail!("command-chain-not-served", route, known = if known.is_empty() { vec!["-"] } else { known });
    }
    let chains = callchain::trace(&index, route);
    let facts = callchain::facts(&files);
    if args.record
        && let Some(tree) = trees.first()
    {
        record_declared::chains(tree, &chains, &facts, files.len(), context)?;
    }
    let whole = || {
        let found = callchain::ways_found(&labels(trees), &chains, files.len(), &unread);
        answer(trees, route, chains.clone(), found, &facts)
    };
    let plain = |plain| match plain {
        Plain::Csv => steps_table(&chains, context).csv(),
        Plain::Md => markdown(route, &chains, &facts, context),
        Plain::Text => text(route, &chains, &facts, context) + &blas_kernels(trees, args, context),
    };
    context.emit_as(args.format, whole, |format| Ok(plain(format)))?;
    Ok(ExitCode::SUCCESS)
}

fn labels(trees: &[Tree]) -> Vec<&str> {
    trees.iter().map(|tree| tree.label.as_str()).collect()
}

/// `--from A --to B`: one call path between two functions by name. If there is none, that is an answer, and the
/// requested check fails.
fn between(
    trees: &[Tree],
    index: &callchain::Index,
    ends: (&str, &str),
    (files, unread): (usize, &[String]),
    args: &super::Args,
    context: &Context,
) -> say::Result<ExitCode> {
    let (from, to) = ends;
    let unknown = [from, to].into_iter().find(|name| index.named(name).is_empty());
    if let Some(name) = unknown {
        bail!("command-chain-no-function", name);
    }
    let found = callchain::between(index, from, to);
    if args.record
        && let Some(tree) = trees.first()
    {
        let name = if index.files.iter().any(|path| path.ends_with(".go")) { "ollama" } else { "llama.cpp" };
        let way = record_declared::Way { from, to, steps: found.as_deref() };
        record_declared::ways(tree, name, &[way], files, context)?;
    }
    let chains: Vec<Chain> =
        found.into_iter().map(|steps| Chain { legs: vec![callchain::Leg { steps }], ..Chain::default() }).collect();
    let found = callchain::ways_found(&labels(trees), &chains, files, unread);
    let is_there = found.word() == Word::Yes;
    let ends = [("from", from.into()), ("to", to.into())];
    let says = context.lang.text_with(if is_there { "chain-between" } else { "chain-no-way" }, &ends);
    let table = steps_table(&chains, context);
    let plain = |plain| match (plain, is_there) {
        (Plain::Csv, _) => table.csv(),
        (Plain::Md, true) => table.markdown(),
        (Plain::Md, false) => format!("{says}\n\n{}\n", conclusion_text(&context.lang, &found)),
        (Plain::Text, true) => format!("{says}\n{}", table.text(context.width)),
        (Plain::Text, false) => format!("{says}\n{}\n", conclusion_text(&context.lang, &found)),
    };
    let whole = || answer(trees, "", chains.clone(), found.clone(), &[]);
    context.emit_as(args.format, whole, |format| Ok(plain(format)))?;
    if args.format == Format::Csv && !is_there {
        context.note(&says);
    }
    Ok(if is_there { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

fn at(place: &CodeLocation) -> String {
    format!("{}:{}", place.file, place.line)
}

fn steps_table(chains: &[Chain], context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::right("chain", title("chain-column-chain")),
        Column::right("step", title("chain-column-step")),
        Column::left("kind", title("chain-column-kind")),
        Column::left("from", title("chain-column-from")),
        Column::left("to", title("chain-column-to")),
        Column::left("at", title("chain-column-at")),
        Column::left("candidates", title("chain-column-others")),
    ]);
    for (number, chain) in chains.iter().enumerate() {
        for (step, taken) in chain.legs.iter().flat_map(|leg| &leg.steps).enumerate() {
            table.row(cells(number + 1, step + 1, taken));
        }
        let main = chain.legs.iter().map(|leg| leg.steps.len()).sum::<usize>();
        for way in chain.branches.iter().flat_map(|branch| &branch.ways) {
            for (step, taken) in way.iter().enumerate() {
                table.row(cells(number + 1, main + step + 1, taken));
            }
        }
    }
    table
}

fn cells(chain: usize, number: usize, step: &ChainStep) -> [String; 7] {
    let kind = step.kind.word().to_owned();
    [
        chain.to_string(),
        number.to_string(),
        kind,
        step.from.clone(),
        step.to.clone(),
        at(&step.at),
        step.others.join(" "),
    ]
}

fn text(route: &str, chains: &[Chain], facts: &[Fact], context: &Context) -> String {
    let lang = &context.lang;
    let mut out =
        format!("{}\n", lang.text_with("chain-title", &[("route", route.into()), ("count", chains.len().into())]));
    for (number, chain) in chains.iter().enumerate() {
        let args = [("number", (number + 1).into()), ("count", chains.len().into())];
        out.push_str(&format!("\n{}\n", lang.text_with("chain-way", &args)));
        let mut table = Table::new(vec![
            Column::right("step", ""),
            Column::left("kind", ""),
            Column::left("to", ""),
            Column::left("at", ""),
        ]);
        let mut count = 0;
        for (leg, part) in chain.legs.iter().enumerate() {
            for step in &part.steps {
                count += 1;
                table.row([count.to_string(), step.kind.word().to_owned(), target(step, context), at(&step.at)]);
            }
            if leg + 1 < chain.legs.len() {
                table.row(["", "", &lang.text("chain-next-process"), ""]);
            }
        }
        let lines = table.text(context.width);
        out.push_str(lines.split_once('\n').map_or("", |(_, rows)| rows));
        for line in stops(chain, context) {
            out.push_str(&format!("{line}\n"));
        }
        if !chain.branches.is_empty() {
            out.push_str(&format!("\n{}\n", lang.text("chain-branches")));
            out.push_str(&branches(chain, context));
            if calls_blas(chain) {
                out.push_str(&format!("{}\n", lang.text("chain-blas")));
            }
        }
    }
    out.push_str(&format!("\n{}\n", lang.text("chain-beside")));
    out.push_str(&facts_table(facts, context).text(context.width));
    for note in notes(facts, context) {
        out.push_str(&format!("{note}\n"));
    }
    out.push_str(&format!("\n{}\n", lang.text("chain-cannot-show")));
    out
}

/// With --gpu: the products that the tree passes to BLAS on this card, and rocBLAS' kernels for them.
fn blas_kernels(trees: &[Tree], args: &super::Args, context: &Context) -> String {
    let [gpu] = args.gpu.as_slice() else { return String::new() };
    let mut ask = args.ask.clone();
    if ask.types.is_empty() {
        ask.types.push("F16".to_owned());
    }
    ask.columns.get_or_insert_with(|| "512".to_owned());
    let survey = trees.iter().find_map(|tree| {
        let overrides = ask.overrides().ok()?;
        Survey::run(tree, ask.question(&args.gpu).ok()?, &overrides).ok()
    });
    survey.map_or_else(String::new, |survey| in_source(&survey, gpu, context))
}

/// Whether a branch ends in a matrix product of hipBLAS: the chain continues in the catalog of rocBLAS.
fn calls_blas(chain: &Chain) -> bool {
    let steps = chain.branches.iter().flat_map(|branch| &branch.ways).flatten();
    steps.map(|step| step.to.as_str()).any(|name| name.starts_with("hipblas") && name.to_lowercase().contains("gemm"))
}

/// Why a chain stops, and the nearest calls that were not followed because their target is unknown.
fn stops(chain: &Chain, context: &Context) -> Vec<String> {
    let lang = &context.lang;
    let mut out: Vec<String> =
        chain.open.iter().map(|open| lang.text_with("chain-open", &[("why", open.in_words(lang).into())])).collect();
    if chain.unresolved_calls > 0 {
        let named: Vec<String> = chain.unresolved.iter().map(|open| lang.noted(&open.call, &at(&open.at))).collect();
        let args = [("count", chain.unresolved_calls.into()), ("named", lang.list(named).into())];
        out.push(lang.text_with("chain-unresolved", &args));
    }
    out
}

/// The target of a step; other candidates for the same name are counted, and named if there are few.
fn target(step: &ChainStep, context: &Context) -> String {
    match step.others.len() {
        0 => step.to.clone(),
        1 => {
            let names = context.lang.list(&step.others);
            context.lang.text_with("chain-or", &[("name", step.to.as_str().into()), ("others", names.into())])
        }
        count => {
            context.lang.text_with("chain-or-count", &[("name", step.to.as_str().into()), ("count", count.into())])
        }
    }
}

/// One row per branch and end: the launch or call, and the lines on the path.
fn branches(chain: &Chain, context: &Context) -> String {
    let mut table = Table::new(vec![
        Column::left("branch", context.lang.text("chain-column-branch")),
        Column::left("ends", context.lang.text("chain-column-ends")),
        Column::left("lines", context.lang.text("chain-column-lines")),
    ]);
    for branch in &chain.branches {
        for (number, way) in branch.ways.iter().enumerate() {
            let name = if number == 0 { branch.name.as_str() } else { "" };
            let ends: Vec<String> =
                way.iter().rev().take_while(|step| ends_way(step)).map(|step| step.to.clone()).collect();
            let ends: Vec<String> = ends.into_iter().rev().collect();
            let lines: Vec<String> = way.iter().map(|step| short(&step.at)).collect();
            table.row([name, &ends.join(" = "), &lines.join(" > ")]);
        }
    }
    table.text(context.width)
}

fn ends_way(step: &ChainStep) -> bool {
    matches!(step.kind, callchain::Kind::Launch | callchain::Kind::Vendor) || step.to.starts_with("cublas")
}

/// The file name without directories, which would repeat in every line of a branch.
fn short(place: &CodeLocation) -> String {
    format!("{}:{}", place.file.rsplit('/').next().unwrap_or(&place.file), place.line)
}

fn facts_table(facts: &[Fact], context: &Context) -> Table {
    let mut table = Table::new(vec![
        Column::left("subject", context.lang.text("chain-column-subject")),
        Column::left("at", context.lang.text("chain-column-at")),
        Column::left("line", context.lang.text("chain-column-line")),
    ]);
    for fact in facts {
        table.row([fact.subject.word().to_owned(), at(&fact.at), fact.text.clone()]);
    }
    table
}

/// Summarises the lines that accompany the chain, if there are any.
fn notes(facts: &[Fact], context: &Context) -> Vec<String> {
    let has = |subject: Subject| facts.iter().any(|fact| fact.subject == subject);
    let asked_in_go = facts.iter().any(|fact| fact.subject == Subject::SplitRequest && fact.at.file.ends_with(".go"));
    let go = facts.iter().any(|fact| fact.at.file.ends_with(".go"));
    let mut out = Vec::new();
    if has(Subject::SplitDefault) && go && !asked_in_go {
        out.push(context.lang.text("chain-note-split-default"));
    }
    if has(Subject::GraphSplits) && has(Subject::SplitBuffer) {
        out.push(context.lang.text("chain-note-graph-splits"));
    }
    out
}

fn markdown(route: &str, chains: &[Chain], facts: &[Fact], context: &Context) -> String {
    let lang = &context.lang;
    let title = lang.text_with("chain-title", &[("route", route.into()), ("count", chains.len().into())]);
    let mut out = format!("# {title}\n\n{}\n", steps_table(chains, context).markdown());
    for line in chains.iter().flat_map(|chain| stops(chain, context)) {
        out.push_str(&format!("{line}\n\n"));
    }
    out.push_str(&format!("## {}\n\n{}\n", lang.text("chain-beside"), facts_table(facts, context).markdown()));
    for note in notes(facts, context) {
        out.push_str(&format!("{note}\n\n"));
    }
    out.push_str(&format!("{}\n", lang.text("chain-cannot-show")));
    out
}

fn answer(trees: &[Tree], route: &str, chains: Vec<Chain>, found: Conclusion, facts: &[Fact]) -> Chains {
    let tree = |tree: &Tree| callchain::Tree { label: tree.label.clone(), commit: tree.commit.clone() };
    Chains {
        trees: trees.iter().map(tree).collect(),
        rung: evidence::Rung::Declared,
        route: route.to_owned(),
        chains,
        found,
        beside: facts.iter().map(Into::into).collect(),
    }
}
