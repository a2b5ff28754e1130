//! `--certify`: unobserved, observed, unobserved again; what differed, and whether what was seen may be believed.

use super::{Args, How, record, window};
use crate::context::{Context, Format};
use evidence::Contamination;
use observe::certify::{Certificate, Runner, Verdict, compare, once};
use report::{Column, Table};
use serde_json::json;
use std::process::ExitCode;

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(!args.command.is_empty(), "--certify runs a program three times: give it after --");
    let foreign = args.with.as_deref();
    anyhow::ensure!(
        foreign.is_some() || args.how == How::Preload,
        "--certify compares --how preload, or a foreign observer given with --with 'rocprofv3 ... --'"
    );
    let (mut runs, mut seen) = (Vec::new(), None);
    for (number, observed) in [false, true, false].into_iter().enumerate() {
        let key = if observed { "watch-certify-running-observed" } else { "watch-certify-running-plain" };
        let words = [("number", (number + 1).to_string().into())];
        context.progress(&context.lang.text_with(key, &words));
        // A foreign observer is judged with our own counting in every run, so that the launches can be compared too.
        let wrapper = foreign.filter(|_| observed);
        let runner = Runner { command: &args.command, wrapper, counted: observed || foreign.is_some() };
        let (run, counted) = once(&runner)?;
        runs.push(run);
        if observed {
            seen = counted;
        }
    }
    let [before, observed, after] = &runs[..] else { anyhow::bail!("three runs were made") };
    let observer = foreign.unwrap_or("preload");
    let certificate = compare(observer, [before, observed, after]);
    match args.format {
        Format::Text => context.print(&text(&certificate, context))?,
        Format::Json => context.print(&format!("{:#}\n", as_json(&certificate)))?,
        Format::Csv => context.print(&table(&certificate, context).csv())?,
        Format::Md => context.print(&table(&certificate, context).markdown())?,
    }
    if let (true, Some(mut seen)) = (args.record, seen) {
        seen.account.contamination = if certificate.safe() {
            let name = launch::record::fnv(launch::record::FNV, as_json(&certificate).to_string().as_bytes());
            Contamination::Certified { certificate: format!("A/B/A {name:016x}") }
        } else {
            Contamination::Contaminated { differences: certificate.differences() }
        };
        seen.account.cost_ns = certificate.added_ns;
        record::keep(context, &seen.tally, &seen.account, &window(args), None)?;
    }
    Ok(if certificate.safe() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn table(certificate: &Certificate, context: &Context) -> Table {
    let lang = &context.lang;
    let title = |key: &str| lang.text(&format!("watch-certify-{key}"));
    let columns = ["what", "before", "observed", "after", "verdict"];
    let mut table = Table::new(columns.map(|key| Column::left(key, title(key))).to_vec());
    for point in &certificate.points {
        let verdict = match point.verdict {
            Verdict::Same => "watch-certify-same",
            Verdict::Differs => "watch-certify-differs",
            Verdict::Unsteady => "watch-certify-unsteady",
            Verdict::Absent => "watch-certify-absent",
            Verdict::Told => "watch-certify-told",
        };
        let [a, b, c] = point.values.clone();
        table.row([point.what.to_owned(), a, b, c, lang.text(verdict)]);
    }
    table
}

fn text(certificate: &Certificate, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = table(certificate, context).text(context.width);
    let mut line = |key: &str, name: &'static str, value: String| {
        out.push_str(&lang.text_with(key, &[(name, value.into())]));
        out.push('\n');
    };
    match certificate.added_ns {
        Some(added) => line("watch-certify-added", "ns", format!("{added:.0}")),
        None => line("watch-certify-added-none", "launches", certificate.launches.to_string()),
    }
    if certificate.safe() {
        line("watch-certify-safe", "observer", certificate.observer.clone());
    } else {
        line("watch-certify-unsafe", "count", certificate.differences().len().to_string());
        certificate.differences().iter().for_each(|difference| out.push_str(&format!("  {difference}\n")));
    }
    out
}

fn as_json(certificate: &Certificate) -> serde_json::Value {
    json!({
        "schema": "whichkernel.certificate/1", "observer": certificate.observer, "points": certificate.points,
        "launches": certificate.launches, "added_ns": certificate.added_ns, "safe": certificate.safe(),
        "differences": certificate.differences(),
    })
}
