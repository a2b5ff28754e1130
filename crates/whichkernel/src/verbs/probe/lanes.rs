//! `probe --lane`: one server under several settings, in turn, and whether the difference is more than chance.

use super::{Args, launch_observer};
use crate::context::{COULD_NOT_RUN, Context};
use crate::emit::Show;
use probe::Wanted;
use probe::lanes::{Children, Compared, Lane, Lanes, STRIKING, Starts, Told, Trial};
use probe::live::{Live, Plan};
use report::{Column, Lang, Table, conclusion_text};
use say::{Context as _, say};
use server::Endpoint;
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;
use sys::http::Address;

/// Prompt lengths on both sides of the first limits, and the long prompt of the field notes.
const LENGTHS: &[u64] = &[1, 8, 9, 64, 290, 512];
/// The number of requests per length to each start of a server. Their median is not affected by the first request,
/// which is often slower.
const REQUESTS: u64 = 3;

pub fn run(args: &Args, wanted: Wanted, context: &Context) -> say::Result<ExitCode> {
    let lanes = Lane::all(&args.lane)?;
    // Missing variables are reported before any server is started.
    lanes.iter().try_for_each(|lane| lane.fill(&args.serve, 0).map(drop))?;
    let tokens = if args.tokens.is_empty() { LENGTHS.to_vec() } else { args.tokens.clone() };
    let plan = Plan {
        tokens,
        rounds: REQUESTS,
        predict: 1,
        decode: args.tokens.is_empty(),
        parallel: 1,
        cold: false,
        until_seen: false,
    };
    let live = Live {
        at: Endpoint { key: args.key.read(true)?, ..Endpoint::new(Address::tcp("", 0)) },
        model: args.model.clone(),
        patience: Duration::from_secs(args.timeout),
        logs: args.log.clone(),
        journal: None,
        pids: Vec::new(),
        command: Vec::new(),
        wanted,
    };
    let home =
        sys::private_dir::SessionDir::new("lanes", &std::env::temp_dir()).context(say!("command-place-for-logs"))?;
    let mut look = |pid: u32| launch_observer::open(vec![pid], args.record);
    let eyes = args.watch.then_some(&mut look as &mut probe::lanes::Eyes<'_>);
    sys::interrupt::catch();
    let starts = Starts::wanted(args.repeat);
    let starter = Children { command: &args.serve, key: live.at.key.clone(), home: home.outer() };
    let trial = Trial { lanes: &lanes, starter: &starter, live: &live, plan: &plan, starts };
    let (mut answer, runs) = trial.run(eyes, &mut |told| tell(context, told));
    for lane in &mut answer.lanes {
        lane.command = ledger::redact::command(&lane.command);
        lane.variables.iter_mut().for_each(|one| *one = hidden(one));
    }
    if let Some(dir) = &args.save {
        for (lane, starts) in lanes.iter().zip(&runs) {
            for (start, run) in (1..).zip(starts) {
                let place = dir.join(lane.name.replace('/', "_")).join(format!("{start}"));
                probe::replay::write(&place, &run.recording).about(place.display())?;
            }
        }
    }
    context.emit(args.format, &answer)?;
    if let Some(why) = &answer.ended {
        context.note(&context.lang.say(&say!("probe-ended", why)));
    }
    let failed = answer.lanes.iter().filter_map(|lane| lane.answer.as_ref()).any(|answer| !answer.failed.is_empty());
    let fine = answer.ended.is_none() && !answer.lengths.is_empty() && !failed;
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::from(COULD_NOT_RUN) })
}

/// Prints progress, or a line that stays on the screen.
fn tell(context: &Context, told: Told) {
    match told {
        Told::Progress(line) => context.progress(&context.lang.say(&line)),
        Told::Note(line) => context.note(&context.lang.say(&line)),
    }
}

/// `NAME=VALUE`, with the value hidden if the name marks it as a secret.
fn hidden(variable: &str) -> String {
    let Some((name, value)) = variable.split_once('=') else { return variable.to_owned() };
    format!("{name}={}", ledger::redact::variable(name, value))
}

impl Show for Lanes {
    fn table(&self, lang: &Lang) -> Option<Table> {
        Some(compared(&self.lengths, lang))
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = String::new();
        for lane in &self.lanes {
            let says = |answer: &probe::Answer| {
                let (kind, version) = (answer.server.kind, answer.server.version.clone().unwrap_or_default());
                let backend = answer.server.backend.clone().unwrap_or_else(|| lang.text("probe-unknown"));
                format!("{kind} {version}, {backend}")
            };
            let server = lane.answer.as_ref().map_or_else(|| lang.text("probe-lane-no-answer"), says);
            let variables = if lane.variables.is_empty() { "-".to_owned() } else { lane.variables.join(" ") };
            let args = [
                ("name", lane.name.as_str().into()),
                ("variables", variables.into()),
                ("command", lane.command.join(" ").into()),
                ("server", server.into()),
            ];
            let _ = writeln!(out, "{}", lang.text_with("probe-lane", &args));
            let answer = lane.answer.iter();
            answer.clone().for_each(|answer| out.push_str(&super::text::missing(answer, lang)));
            for failure in answer.flat_map(|answer| &answer.failed) {
                let (name, why) = (&failure.name, &failure.why);
                let _ = writeln!(out, "{}", lang.say(&say!("probe-failed", name, why)));
            }
        }
        if let Some(table) = self.table(lang).filter(|_| !self.lengths.is_empty()) {
            let _ = write!(out, "\n{}", table.without("differs").fitted(context.width, &[]));
            // Names of kernels are too long for a column of a terminal.
            for one in &self.lengths {
                for differs in differs(one) {
                    let (lane, tokens) = (&one.lane, one.asked);
                    let _ = writeln!(out, "{}", lang.say(&say!("probe-lanes-differs", lane, tokens, differs)));
                }
            }
            let limit = format!("{STRIKING}");
            let p = [("share", confidence(self).into()), ("limit", limit.into())];
            let _ = writeln!(out, "{}", lang.text_with("probe-lanes-p", &p));
            let _ = writeln!(out, "{}", lang.say(&noise(self)));
            let _ = writeln!(out, "{} {}", lang.text("probe-lanes-paths"), conclusion_text(lang, &self.paths));
            if self.lanes.iter().filter_map(|lane| lane.answer.as_ref()).all(|answer| answer.watch.is_none()) {
                let _ = writeln!(out, "{}", lang.text("probe-lanes-unwatched"));
            }
        }
        out
    }
}

/// Each length of each lane, compared with the first lane.
fn compared(lengths: &[Compared], lang: &Lang) -> Table {
    let title = |key: &str| lang.text(&format!("probe-column-{key}"));
    let right = |key: &'static str| Column::right(key, title(key));
    let mut out = Table::new(vec![
        right("asked"),
        Column::left("what", title("what")),
        Column::left("lane", title("lane")),
        // A value with its spread may take several lines; numbers in right-aligned columns are never broken.
        Column::left("first_ms", title("first_ms")),
        Column::left("other_ms", title("other_ms")),
        Column::left("ratio", title("ratio")),
        right("p"),
        Column::left("verdict", title("verdict")),
        Column::left("differs", title("differs")),
    ]);
    let spread = |spread: probe::Spread| format!("{:.2} ({:.2} - {:.2})", spread.median, spread.least, spread.most);
    for one in lengths {
        let of = &one.difference;
        out.row([
            one.asked.to_string(),
            lang.text(&format!("probe-what-{}", super::text::key(&one.what))),
            format!("{} / {}", one.lane, one.against),
            spread(one.first_ms),
            spread(one.other_ms),
            format!("{:.3} ({:.3} - {:.3})", of.ratio, of.low, of.high),
            format!("{:.3}", one.p_adjusted),
            lang.text(&format!("probe-verdict-{}", one.verdict.key())),
            lang.list(differs(one)),
        ]);
    }
    out
}

/// The lowest confidence of the intervals.
fn confidence(lanes: &Lanes) -> String {
    let least = lanes.lengths.iter().map(|one| one.difference.confidence).fold(1.0, f64::min);
    format!("{:.0}", least * 100.0)
}

/// The smallest difference that these starts can detect, by the noisiest length.
fn noise(lanes: &Lanes) -> say::Message {
    let all = || lanes.lengths.iter().map(|one| one.noise);
    let most = |list: &mut dyn Iterator<Item = f64>| {
        list.reduce(f64::max).map_or_else(|| "?".to_owned(), |share| format!("{:.1}", share * 100.0))
    };
    let between = most(&mut all().filter_map(|noise| noise.between));
    let within = most(&mut all().filter_map(|noise| noise.within));
    let smallest = most(&mut all().filter_map(|noise| noise.smallest));
    let starts = lanes.starts;
    match all().filter_map(|noise| noise.starts_for_tenth).max() {
        Some(needed) => say!("probe-lanes-noise", starts, between, within, smallest, needed),
        None => say!("probe-lanes-one-start"),
    }
}

/// Paths and kernels that differ.
fn differs(one: &Compared) -> Vec<String> {
    let paths = one.paths.iter().map(|pair| {
        // `-` if one of the lanes does not have this width, `?` if the path is unknown.
        let word = |path: &Option<String>| path.clone().unwrap_or_else(|| if pair.both { "?" } else { "-" }.to_owned());
        let rung = pair.rung.name();
        format!("{} x{}: {} / {} ({rung})", pair.ty, pair.columns, word(&pair.other), word(&pair.first))
    });
    let kernels = |sign: &'static str, list: &[String]| -> Vec<String> {
        list.iter().map(|kernel| format!("{sign}{kernel}")).collect()
    };
    let all = paths.chain(kernels("+", &one.only_other)).chain(kernels("-", &one.only_first));
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use probe::Spread;
    use probe::lanes::{Difference, Noise, Verdict, What};
    use unicode_width::UnicodeWidthStr as _;

    /// Long times, names and kernels fit into 80 columns in both languages.
    #[test]
    fn the_table_of_lanes_fits_into_80_columns() {
        let spread = Spread { median: 12345.67, least: 12000.12, most: 13000.34, runs: 24, outliers: 0 };
        let one = |what| Compared {
            asked: 16384,
            what,
            lane: "new-driver".into(),
            against: "baseline".into(),
            first_ms: spread,
            other_ms: spread,
            difference: Difference { ratio: 1.123, low: 1.001, high: 1.234, confidence: 0.95, p: 0.01 },
            noise: Noise { between: None, within: None, smallest: None, starts_for_tenth: None },
            p_adjusted: 0.021,
            verdict: Verdict::Undecided,
            paths: Vec::new(),
            only_first: Vec::new(),
            only_other: vec!["mul_mat_q_stream_k_fixup<Q4_K,128,false>".into()],
        };
        let lengths = [one(What::Prompt), one(What::Decode)];
        for lang in [Lang::new("en"), Lang::new("ja")] {
            let shown = compared(&lengths, &lang).without("differs").fitted(Some(80), &[]);
            assert!(shown.lines().all(|line| line.width() <= 80), "{shown}");
            assert!(shown.contains("12345.67") && shown.contains("13000.34)") && shown.contains("0.021"), "{shown}");
        }
        assert_eq!(differs(&lengths[0]), ["+mul_mat_q_stream_k_fixup<Q4_K,128,false>"]);
    }
}
