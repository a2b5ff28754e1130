//! Converts a recorded file to a tally: one of our traces, a profile, a log, or a server's statements.

use crate::{
    Call, Device, Flow, Gap, Kind, Maker, Name, ObserverKind, ObserverReport, Open, Phase, Pipeline, SecondAccount,
    Tally, Took, Unseen, Word, add_trace, imports, logs,
};
use evidence::{Canary, Contamination, DeviceKind};
use launch::lines::{self, End, Line, Lines};
use launch::record::{api, blas};
use launch::trace::{Event, Trace, Writer};
use say::{Message, say};
use server::claims::{Claims, of_log};
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Debug)]
pub enum RecordError {
    Profile(imports::ImportError),
    Unknown(launch::trace::TraceError),
}

say::worded! { RecordError {
    Profile(error) => error,
    Unknown(error) => "watch-record-unknown",
}}

say::wraps! { RecordError { Profile(imports::ImportError) }}

/// `bytes`: the content of the file; the first bytes suffice for a database. `sha256`: of the whole file.
pub fn read_record(path: &Path, bytes: &[u8], sha256: &str) -> Result<(Tally, ObserverReport), RecordError> {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let word = |maker: &'static str| Word::File { name: file.clone(), sha256: sha256.to_owned(), maker, host: None };
    let source = match Trace::parse(bytes.to_vec()) {
        Ok(found) => return Ok(trace(found, word("whichkernel"))),
        Err(error) => error,
    };
    if let Some(profile) = imports::read(path, bytes, sha256) {
        return Ok(profile?);
    }
    log(bytes, word("unknown"))
        .or_else(|| written_trace(bytes, word("unknown")))
        .or_else(|| words(&file, bytes, word("unknown")))
        .ok_or_else(|| RecordError::Unknown(source))
}

/// A log from another source, mixed with other text.
fn log(bytes: &[u8], word: Word) -> Option<(Tally, ObserverReport)> {
    let mut tally = Tally::default();
    let account = logs::read_log(&String::from_utf8_lossy(bytes), &mut tally, word)?;
    Some((tally, account))
}

/// A file written by `--trace`: one launch per line, with the counts at the end.
fn written_trace(bytes: &[u8], word: Word) -> Option<(Tally, ObserverReport)> {
    let found = lines::read(bytes)?;
    let (mut tally, mut flow) = (Tally::default(), Flow::default());
    let count = |which: fn(&Line) -> bool| found.lines.iter().filter(|line| which(line)).map(Line::count).sum::<u64>();
    let (captured, replays) = (count(|line| line.is_captured() && !line.is_replay()), count(Line::is_replay));
    for line in found.lines.iter().filter(|line| !line.is_captured() && !line.is_replay()) {
        let kind = tally.kind(&kind(line));
        match line.times {
            Some(times) => flow.counted(&mut tally, kind, times, line.times_refused.unwrap_or(0)),
            None if line.is_refused() => tally.rejected(kind, 1),
            None => {
                tally.launched(Phase::Other, 0, kind, 1);
                if let Some(ns) = line.took_ns {
                    tally.took(Phase::Other, 0, kind, Took::once(ns));
                }
            }
        }
    }
    let by_stand_in = |line: &Line| line.by.as_deref() == Some(lines::STAND_IN);
    let stand_in = match found.lines.is_empty() {
        true => found.ends.iter().all(|end| end.by == lines::STAND_IN),
        false => found.lines.iter().all(by_stand_in),
    };
    let makers: BTreeSet<Maker> = found.lines.iter().map(|line| Maker::of_call(&line.api)).collect();
    for maker in makers {
        tally.devices.told(
            maker,
            match stand_in {
                true => Device::StandIn,
                false => Device::Unlooked { why: say!("watch-device-not-in-trace") },
            },
        );
    }
    let observer = if stand_in { ObserverKind::Dryrun } else { ObserverKind::Trace };
    let reach = say!("view-trace");
    let mut account = plain(observer, tally.devices.kind(), reach, word);
    account.gaps = gaps_of(&found, captured, replays, &mut tally);
    let window: u64 = found.ends.iter().map(|end| end.window_ns).fold(0, u64::saturating_add);
    account.seconds = if window > 0 { window } else { found.span_ns() } as f64 / 1e9;
    Some((tally, account))
}

/// The gaps in the lines, found by their numbers and by the final counts. Gaps that are known to be launches count as
/// lost.
fn gaps_of(found: &Lines, captured: u64, replays: u64, tally: &mut Tally) -> Vec<Unseen> {
    let told = |of: fn(&End) -> u64| found.ends.iter().map(of).fold(0, u64::saturating_add);
    let mut gaps: Vec<Unseen> = Vec::new();
    let mut note = |gap: Gap, count: u64| {
        if count > 0 {
            gaps.push(gap.times(count));
        }
    };
    note(Gap::DamagedLines, found.damaged);
    note(Gap::CutOff, found.cut_off.into());
    note(Gap::NoEnd, found.ends.is_empty().into());
    note(Gap::MissingLines, found.missing.saturating_sub(found.damaged + u64::from(found.cut_off)));
    note(Gap::RepeatedLines, found.repeated);
    if captured + replays > 0 {
        note(Gap::TraceGraphs { replays }, captured.max(1));
    }
    let mut lost = found.missing;
    if !found.ends.is_empty() {
        let (counted, read) = (told(|end| end.launches), tally.launches());
        let absent = counted.saturating_sub(read);
        note(Gap::NotInLines, absent.saturating_sub(found.missing));
        if read > counted {
            note(Gap::EndDisagrees { counted }, read);
        }
        lost = lost.max(absent).saturating_add(told(|end| end.lost));
        let refused = told(|end| end.refused).saturating_sub(tally.rejections());
        if refused > 0 {
            let unnamed = tally.kind(&Kind::kernel(Name::Unnamed(0), Maker::Amd.recorded()));
            tally.rejected(unnamed, refused);
        }
    }
    tally.lost = lost;
    tally.unknown_replays = told(|end| end.unknown_replays);
    for missed in found.ends.iter().flat_map(|end| &end.gaps) {
        // A gap of an unknown kind counts as the worst kind.
        let open = Open::ALL.iter().copied().find(|open| open.key() == missed.open).unwrap_or(Open::Launches);
        gaps.push(Gap::Told { open, what: missed.what.clone(), why: missed.why.clone() }.times(missed.count));
    }
    gaps
}

fn kind(line: &Line) -> Kind {
    if line.is_call() {
        let extent = |size: Option<i64>| size.unwrap_or(-1);
        let [m, n, k, batch] = [line.m, line.n, line.k, line.batch].map(extent);
        let call = Call { m, n, k, batch, type_a: u32::MAX };
        // The writer's own call name: we do not observe cuBLAS functions.
        return Kind { name: Name::Call(line.api.clone()), ..Kind::call(Maker::of_call(&line.api).recorded(), call) };
    }
    let name = match (&line.kernel, &line.pipeline) {
        (Some(name), Some(identity)) => {
            let (name, weights, identity) = (name.clone(), line.weights.clone(), identity.clone());
            Name::Pipeline(Pipeline { name, weights, identity })
        }
        (Some(name), None) => Name::Kernel(name.clone()),
        (None, _) => Name::Unnamed(line.address.unwrap_or_default()),
    };
    Kind {
        grid: line.grid,
        block: line.block,
        shared: line.shmem,
        ne11: line.ne11,
        file: line.file.clone().unwrap_or_default(),
        bundle: line.bundle,
        ..Kind::kernel(name, Maker::of_call(&line.api).recorded())
    }
}

/// A server's log without any launch: its claims can be shown, but not checked.
fn words(file: &str, bytes: &[u8], word: Word) -> Option<(Tally, ObserverReport)> {
    let mut claims = Claims::default();
    of_log(file, &String::from_utf8_lossy(bytes), &mut claims);
    let mut account = plain(ObserverKind::Logs, DeviceKind::None, say!("view-server-log"), word);
    account.gaps.push(Gap::OnlyWords.into());
    (!claims.list.is_empty()).then(|| (Tally::default(), account))
}

fn plain(observer: ObserverKind, device: DeviceKind, reach: Message, word: Word) -> ObserverReport {
    ObserverReport {
        observer,
        device,
        word,
        library: None,
        library_path: None,
        canary: Canary::None,
        contamination: Contamination::Unchecked,
        reach,
        blind: &[],
        gaps: Vec::new(),
        second: SecondAccount::default(),
        seconds: 0.0,
        cost_ns: None,
        ended: false,
    }
}

/// A trace names its writer, but not the device that the process used. Only the stand-in's traces are certain.
fn trace(trace: Trace, word: Word) -> (Tally, ObserverReport) {
    let mut tally = Tally::default();
    add_trace(&mut tally, &trace, None);
    let standin = trace.writer == Writer::StandIn;
    let observer = if standin { ObserverKind::Dryrun } else { ObserverKind::Preload };
    let calls = trace.events.iter().filter_map(|event| match event {
        Event::Launch(launch) => Some(api::name(launch.head.api)),
        Event::Blas(call) => Some(blas::name(call.call)),
        _ => None,
    });
    for maker in calls.map(Maker::of_call).collect::<BTreeSet<Maker>>() {
        tally.devices.told(
            maker,
            match standin {
                true => Device::StandIn,
                false => Device::Unlooked { why: say!("watch-device-not-in-trace") },
            },
        );
    }
    let reach = say!("view-trace-process", pid = trace.pid, program = trace.program);
    let mut account = plain(observer, tally.devices.kind(), reach, word);
    if tally.lost > 0 {
        account.gaps.push(Gap::RecordsLost.times(tally.lost));
    }
    account.seconds = span_ns(&trace) as f64 / 1e9;
    (tally, account)
}

/// The time from the first to the last record.
fn span_ns(trace: &Trace) -> u64 {
    let moment = |event: &Event| match event {
        Event::Launch(launch) => Some(launch.head.time_ns),
        Event::Graph(graph) => Some(graph.time_ns),
        Event::Blas(call) => Some(call.time_ns),
        Event::Readback(readback) => Some(readback.time_ns),
        Event::NoMemory(_) | Event::Unsupported(_) | Event::Timed(_) => None,
    };
    let moments = || trace.events.iter().filter_map(moment);
    moments().max().unwrap_or(0).saturating_sub(moments().min().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: &str = r#""api":"hipLaunchKernel","kernel":"mul_mat_q","grid":[1,2,3],"block":[32,8,1],"graph":0}"#;

    fn line(seq: u64) -> String {
        format!("{{\"seq\":{seq},\"time_ns\":{},{SHAPE}", 1_000_000_000 + seq * 250_000_000)
    }

    fn end(lines: u64, more: &str) -> String {
        format!("{{\"end\":{{\"lines\":{lines},\"by\":\"preload\"{more}}}}}")
    }

    fn read(text: &str) -> Result<(Tally, ObserverReport), RecordError> {
        read_record(Path::new("trace.jsonl"), text.as_bytes(), "")
    }

    fn keys(account: &ObserverReport) -> Vec<(&'static str, u64)> {
        account.gaps.iter().map(|unseen| (unseen.key(), unseen.count)).collect()
    }

    #[test]
    fn a_trace_with_its_end_has_everything_and_its_moments() {
        let text = format!("{}\n{}\n{}\n", line(0), line(1), end(2, ",\"launches\":2"));
        let (tally, account) = read(&text).unwrap();
        assert_eq!((tally.launches(), tally.lost, keys(&account)), (2, 0, vec![]));
        assert!((account.seconds - 0.25).abs() < 1e-9, "{}", account.seconds);
        assert!(!account.whole(), "and only a file says so");
        assert_eq!(tally.devices.iter().map(|(_, maker, _)| maker).collect::<Vec<_>>(), [Maker::Amd]);
        let cuda = text.replace("hipLaunchKernel", "cuLaunchKernel");
        let (tally, _) = read(&cuda).unwrap();
        assert_eq!(tally.devices.iter().map(|(_, maker, _)| maker).collect::<Vec<_>>(), [Maker::Nvidia]);
        assert_eq!(tally.rows()[0].device, Some(DeviceKind::Unknown), "its launches are found there");
    }

    #[test]
    fn a_trace_that_was_cut_off_counts_what_is_there_and_says_so() {
        let (tally, old) = read(&format!("{}\n{}\n", line(0), line(1))).unwrap();
        assert_eq!((tally.launches(), keys(&old)), (2, vec![("no-end", 1)]), "an older one has no end");
        let (tally, cut) = read(&format!("{}\n{}\n{}", line(0), line(1), &line(2)[..20])).unwrap();
        assert_eq!((tally.launches(), tally.lost), (2, 1));
        assert_eq!(keys(&cut), [("cut-off", 1), ("no-end", 1)]);
        let (tally, half) = read(&format!("{}\n{}\n{}\n", line(0), line(2), end(4, ",\"launches\":4"))).unwrap();
        assert_eq!((tally.launches(), tally.lost, keys(&half)), (2, 2, vec![("missing-lines", 2)]));
        let (tally, twice) = read(&format!("{0}\n{0}\n{1}\n", line(0), end(1, ",\"launches\":1"))).unwrap();
        assert_eq!((tally.launches(), keys(&twice)), (1, vec![("repeated-lines", 1)]));
        assert!(![old, cut, half, twice].iter().any(|account| account.conclusion(&tally).is_whole()));
    }

    /// Covers launches that were counted but are in no line, lines beyond the final count, and gaps that the writer
    /// reported.
    #[test]
    fn the_end_is_held_against_the_lines() {
        let (tally, less) = read(&format!("{}\n{}\n", line(0), end(1, ",\"launches\":9,\"lost\":4"))).unwrap();
        assert_eq!((tally.launches(), tally.lost, keys(&less)), (1, 12, vec![("not-in-lines", 8)]));
        let (_, more) = read(&format!("{}\n{}\n{}\n", line(0), line(1), end(2, ",\"launches\":1"))).unwrap();
        assert_eq!(keys(&more), [("end-disagrees", 2)]);
        let gap = r#","launches":1,"gaps":[{"key":"order-lost","open":"order","count":3,"what":"order","why":"full"}]"#;
        let (tally, told) = read(&format!("{}\n{}\n", line(0), end(1, gap))).unwrap();
        assert_eq!((keys(&told), told.gaps[0].gap.open(), tally.lost), (vec![("told", 3)], Open::Order, 0));
        let (_, odd) =
            read(&format!("{}\n{}\n", line(0), end(1, &gap.replace("\"order\",\"count\"", "\"?\",\"count\""))))
                .unwrap();
        assert_eq!(odd.gaps[0].gap.open(), Open::Launches, "what is not known is the worst");
        let (tally, none) = read(&end(0, "")).unwrap();
        assert_eq!((tally.launches(), keys(&none)), (0, vec![]), "a program that launched nothing");
    }

    /// When the ring is full, the order is lost: calls that were only counted are in the trace as a number per kernel.
    #[test]
    fn what_was_only_counted_is_counted() {
        let often = line(1).replace("\"graph\":0", "\"graph\":0,\"times\":40,\"times_refused\":3");
        let (tally, account) =
            read(&format!("{}\n{often}\n{}\n", line(0), end(2, ",\"launches\":38,\"refused\":3"))).unwrap();
        assert_eq!((tally.launches(), tally.rejections(), tally.lost, keys(&account)), (38, 3, 0, vec![]));
        let none = line(1).replace("\"graph\":0", "\"graph\":0,\"times\":0,\"times_refused\":1");
        let (tally, _) = read(&format!("{}\n{none}\n{}\n", line(0), end(2, ",\"launches\":0,\"refused\":1"))).unwrap();
        assert_eq!((tally.launches(), tally.rejections()), (0, 1), "the one that was told as made was refused");
    }

    /// The device time in the line; a stand-in has no clock, so its times are ignored.
    #[test]
    fn times_are_read_again() {
        let timed = |seq| line(seq).replace("\"graph\":0", "\"graph\":0,\"took_ns\":1500");
        let (tally, _) = read(&format!("{}\n{}\n{}\n", timed(0), timed(1), line(2))).unwrap();
        let took = tally.rows().first().and_then(|row| row.took);
        assert_eq!((tally.launches(), took.map(|took| (took.launches, took.total_ns))), (3, Some((2, 3000))));
        let (tally, _) = read(&timed(0).replace("\"graph\":0", "\"by\":\"dryrun\"")).unwrap();
        assert_eq!((tally.launches(), tally.timed()), (1, 0));
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_a_gap() {
        let text = format!("{}\n{}\n{}\n{}\n", line(0), &line(1)[..20], line(2), end(3, ",\"launches\":3"));
        let (tally, account) = read(&text).unwrap();
        assert_eq!((tally.launches(), tally.lost, keys(&account)), (2, 1, vec![("damaged-lines", 1)]));
    }

    /// Launches without a name in the trace stay unnamed when it is read, and a refused launch does not count.
    #[test]
    fn unnamed_launches_calls_and_refusals_stay_what_they_are() {
        let unnamed = r#"{"seq":1,"address":4096,"grid":[1,1,1],"block":[32,1,1],"graph":0}"#;
        let refused = line(2).replace("\"graph\":0", "\"status\":1");
        let call = r#"{"seq":3,"api":"hipblasGemmEx","m":4,"n":290,"k":8}"#;
        let cuda = r#"{"seq":4,"api":"cublasSgemm_v2","m":4,"n":290,"k":8}"#;
        let end = end(5, ",\"launches\":2,\"refused\":1,\"calls\":2");
        let (tally, account) = read(&format!("{}\n{unnamed}\n{refused}\n{call}\n{cuda}\n{end}\n", line(0))).unwrap();
        assert_eq!((tally.launches(), tally.unnamed(), tally.rejections(), tally.calls()), (2, 1, 1, 2));
        let names: Vec<Name> = tally.rows().into_iter().map(|row| row.name).collect();
        for api in ["hipblasGemmEx", "cublasSgemm_v2"] {
            assert!(names.contains(&Name::Call(api.to_owned())), "{names:?}");
        }
        assert!(account.gaps.is_empty(), "{:?}", account.gaps);
    }

    /// The graph launches of a dry run are listed where they were replayed; a dry run never saw a device.
    #[test]
    fn a_dry_runs_lines_are_counted_whole_and_stay_selected() {
        let made = |seq| line(seq).replace("\"graph\":0", "\"graph\":5,\"by\":\"dryrun\"");
        let (tally, account) = read(&format!("{}\n{}\n", made(0), made(1))).unwrap();
        assert_eq!(tally.launches(), 2);
        assert_eq!((account.observer, account.device), (ObserverKind::Dryrun, DeviceKind::StandIn));
    }
}
