//! `inspect FILE --fingerprint [--against PIN]`: which build is this, and can that source have produced it?

use super::Args;
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use crate::emit::Plain;
use inventory::File;
use observe::answers::Fingerprinted;
use report::Lang;
use runtime::fingerprint::{
    Against, FingerprintTable, Shape, Span, Tools, Window, against_table, against_tree, ggml_kernels, is_cuda,
    kernel_names, shapes_in_text, shapes_in_tree, tools, window,
};
use say::{Context as _, bail, say};
use std::{collections::BTreeSet, path::Path, process::ExitCode};

/// Longer lists are cut; JSON has them all.
const SHOWN: usize = 5;

struct Fingerprint {
    tools: Tools,
    shapes: Option<BTreeSet<Shape>>,
    window: Option<Window>,
    against: Option<Against>,
}

pub fn run(path: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let table = FingerprintTable::committed();
    let file = File::open(path)?;
    let base = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let found = tools(&file, &base)?;
    context.progress(&context.lang.text("inspect-fingerprint-reading"));
    let shapes = ggml_kernels(&kernel_names(&file)?, &table);
    let against = match (&args.against, &shapes) {
        (Some(pin), Some(shapes)) => Some(compare(pin, shapes, &table)?),
        (Some(_), None) => {
            bail!("command-no-ggml-kernel", path)
        }
        (None, _) => None,
    };
    let window = shapes.as_ref().map(|shapes| window(shapes, &table));
    let print = Fingerprint { tools: found, shapes, window, against };
    let whole = || Fingerprinted::new(path, &print.tools, print.window.as_ref(), &table, print.against.as_ref());
    context.emit_as(args.format, whole, |plain| match plain {
        Plain::Text => Ok(text(path, &print, &table, args, &context.lang)),
        Plain::Csv | Plain::Md => bail!("command-formats-fingerprint"),
    })?;
    Ok(match print.against {
        Some(Against::Impossible { .. }) => ExitCode::from(CHECK_FAILED),
        // A comparison was requested, but its result is unknown.
        Some(Against::Unknown { .. }) => ExitCode::from(COULD_NOT_RUN),
        _ => ExitCode::SUCCESS,
    })
}

/// Compares with a build (`b6841`, `6841`) from the table, or with a source tree.
fn compare(pin: &str, shapes: &BTreeSet<Shape>, table: &FingerprintTable) -> say::Result<Against> {
    let path = Path::new(pin);
    if path.is_dir() {
        let source = shapes_in_tree(path).about(pin)?;
        return Ok(against_tree(shapes, &source));
    }
    if let Ok(build) = pin.strip_prefix('b').unwrap_or(pin).parse() {
        return Ok(against_table(shapes, table, build));
    }
    let neither = || say!("command-neither-build-nor-source", pin);
    let tree = ::source::Tree::open(pin).with_context(neither)?;
    let mut declared = BTreeSet::new();
    for path in tree.paths().filter(|path| is_cuda(path)) {
        declared.append(&mut shapes_in_text(&tree.text(path)?));
    }
    Ok(against_tree(shapes, &declared))
}

fn text(path: &Path, print: &Fingerprint, table: &FingerprintTable, args: &Args, lang: &Lang) -> String {
    let mut out = format!("{}\n", path.display());
    let mut say = |key: &str, args: &[(&str, String)]| {
        let args: Vec<_> = args.iter().map(|(name, value)| (*name, value.clone().into())).collect();
        out.push_str(&lang.text_with(key, &args));
        out.push('\n');
    };
    if print.tools.releases.is_empty() {
        say("inspect-fingerprint-no-release", &[]);
    }
    for (release, says) in &print.tools.releases {
        say("inspect-fingerprint-release", &[("release", release.clone()), ("says", says.clone())]);
    }
    for tool in &print.tools.host {
        say("inspect-fingerprint-host", &[("tool", tool.clone())]);
    }
    for tool in &print.tools.device {
        say("inspect-fingerprint-device", &[("tool", tool.clone())]);
    }
    for need in &print.tools.required {
        say("inspect-fingerprint-required", &[("need", need.clone())]);
    }
    match &print.window {
        None => say("inspect-fingerprint-no-ggml", &[]),
        Some(window) => {
            let end = [("end", table.end.to_string()), ("every", table.sampled_from.to_string())];
            match window.spans.as_slice() {
                [] => say("inspect-fingerprint-conflict", &[]),
                [Span { from, to: None }] => {
                    say("inspect-fingerprint-open", &[&[("from", from.to_string())], &end[..]].concat());
                }
                spans => say("inspect-fingerprint-window", &[("spans", words(spans))]),
            }
            if let Some((build, kernel)) = &window.lower {
                say("inspect-fingerprint-lower", &[("build", build.to_string()), ("kernel", kernel.clone())]);
            }
            if let Some((build, kernel)) = &window.upper {
                say("inspect-fingerprint-upper", &[("build", build.to_string()), ("kernel", kernel.clone())]);
            }
            let shapes = print.shapes.as_ref().map_or(0, BTreeSet::len);
            say("inspect-fingerprint-known", &[("known", window.known.to_string()), ("shapes", shapes.to_string())]);
            if !window.unknown.is_empty() {
                let list = lang.list(window.unknown.iter().take(SHOWN));
                let count = window.unknown.len().to_string();
                let key = if window.newer { "inspect-fingerprint-newer" } else { "inspect-fingerprint-unknown" };
                say(key, &[("count", count), ("list", list), end[0].clone()]);
            }
        }
    }
    let pin = args.against.clone().unwrap_or_default();
    match &print.against {
        None => {}
        Some(Against::Possible { judged }) => {
            say("inspect-against-possible", &[("pin", pin), ("judged", judged.to_string())]);
        }
        Some(Against::Impossible { missing }) => {
            let list = lang.list(missing.iter().take(SHOWN));
            say("inspect-against-impossible", &[("pin", pin), ("count", missing.len().to_string()), ("list", list)]);
        }
        Some(Against::Unknown { why }) => say("inspect-against-unknown", &[("pin", pin), ("why", lang.written(why))]),
    }
    out
}

fn words(spans: &[Span]) -> String {
    let word = |span: &Span| match span.to {
        Some(to) if to == span.from => format!("b{to}"),
        Some(to) => format!("b{}..b{to}", span.from),
        None => format!("b{}..", span.from),
    };
    spans.iter().map(word).collect::<Vec<_>>().join(", ")
}
