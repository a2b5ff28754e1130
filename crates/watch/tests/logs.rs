//! The logs that real libraries write.

use dryrun::{Blas, Ending, Outcome, Request, RunRoot, Streams, describe};
use std::ffi::OsString;
use watch::{Name, RecordContext, Tally, Word};

/// Debian's llama-bench with an F16 model on the stand-in GPU, with a BLAS library's logs switched on.
fn bench(blas: Blas, variables: &[(&str, &str)]) -> Option<Outcome> {
    let dir = test_artifacts::need("debian-sid")?;
    let place = RunRoot::Tree { name: "debian-sid".into(), root: dir.join("root") };
    let profile = gpu::find("gfx1100").expect("a card");
    let libraries = place.libraries(true, None).expect("libraries with device code");
    let target = profile.target().expect("a target");
    let described = describe(&libraries, &target, true, runtime::Cache::from_env().dir()).expect("a table");
    let home = tempfile::tempdir().expect("a directory");
    let model = home.path().join("model.gguf");
    let shape = gguf::known("qwen2-7b").expect("a shape");
    let made = gguf::skeleton(&shape, gguf::TensorType::parse("F16").expect("a type"), 2, false).expect("a skeleton");
    std::fs::write(&model, &made.header).expect("a file");
    std::fs::OpenOptions::new().write(true).open(&model).expect("the file").set_len(made.file_size).expect("sparse");
    let mut command: Vec<OsString> = vec!["llama-bench".into(), "-m".into(), model.into()];
    command.extend(["-r", "1", "--no-warmup", "-t", "1", "-p", "64", "-n", "0"].map(OsString::from));
    let variables: Vec<(String, String)> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let request = Request {
        place: &place,
        profiles: std::slice::from_ref(&profile),
        described: &described,
        strict: true,
        command: &command,
        show: &[home.path().to_owned()],
        blas,
        streams: Streams::Captured,
        preload: false,
        sparse_read: true,
        variables: &variables,
    };
    let outcome = request.run().expect("a run");
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    Some(outcome)
}

/// The tally from the log, and the one from the stand-in's record.
fn both(outcome: &Outcome) -> (Tally, Tally) {
    let (mut logs, mut own) = (Tally::default(), Tally::default());
    let word = Word::File { name: "x.log".into(), sha256: "0".repeat(64), maker: "unknown", host: None };
    let account = watch::logs::read_log(&outcome.said, &mut logs, word).expect("lines");
    assert_eq!(account.device, evidence::DeviceKind::None, "a choice is no launch");
    outcome.traces.iter().for_each(|trace| watch::add_trace(&mut own, trace, None));
    (logs, own)
}

/// The extents of every call, with the number of calls.
fn extents(tally: &Tally) -> Vec<(String, u64)> {
    let calls = tally.rows().into_iter().filter(|row| matches!(row.name, Name::Call(_)));
    let mut list: Vec<(String, u64)> =
        calls.map(|row| (row.kernel.split(' ').next_back().unwrap_or_default().to_owned(), row.launches)).collect();
    list.sort();
    list
}

#[test]
fn rocblas_and_tensile_tell_what_the_stand_in_saw() {
    let variables = [("ROCBLAS_LAYER", "15"), ("TENSILE_DB", "0x8000")];
    let Some(outcome) = bench(Blas::Real, &variables) else { return };
    let (logs, own) = both(&outcome);
    assert!(logs.calls() >= 8);
    assert_eq!(extents(&logs), extents(&own), "every call, with its extents");
    let kernels = |tally: &Tally| {
        let rows = tally.rows().into_iter().filter(|row| row.name.text().starts_with("Cijk_"));
        let mut list: Vec<(String, u64)> = rows.map(|row| (row.name.text(), row.launches)).collect();
        list.sort();
        list
    };
    assert_eq!(kernels(&logs), kernels(&own), "every kernel that Tensile chose was launched");
}

/// 34 is bench and trace: a call that is reported twice counts once.
#[test]
fn hipblaslt_tells_what_the_stand_in_saw() {
    let Some(outcome) = bench(Blas::Lt, &[("HIPBLASLT_LOG_MASK", "34")]) else { return };
    let told = |part: &str| outcome.said.lines().filter(|line| line.contains(part)).count() as u64;
    let (bench_lines, traces) = (told("hipblaslt-bench "), told("][Trace][rocblaslt_matmul] "));
    assert!(bench_lines >= 8 && bench_lines == traces, "{bench_lines} bench lines, {traces} traces");
    let (logs, own) = both(&outcome);
    assert_eq!(logs.calls(), traces);
    // For each product, the record has the call to hipBLAS, which the stand-in forwards.
    assert_eq!(extents(&logs), extents(&own), "every call, with its extents");
}

/// Without a device the real runtime dispatches nothing, but its binary contains the line formats, which must be those
/// that are parsed here.
#[test]
fn the_formats_of_the_real_runtime_are_those_that_are_read() {
    let runtime = test_artifacts::file("debian-sid", "root/usr/lib/x86_64-linux-gnu/libamdhip64.so.6");
    let Some(runtime) = runtime else { return };
    let bytes = std::fs::read(runtime).expect("the runtime");
    let holds =
        |text: &str| bytes.windows(text.len() + 1).any(|window| window.strip_suffix(&[0]) == Some(text.as_bytes()));
    let head = ":%d:%-25s:%-4d: %010lu us: %s %s";
    let line = |message: &str| {
        let text = head.replace("%d", "3").replace("%-25s", "rocvirtual.cpp           ").replace("%-4d", "3190");
        let text = text.replace("%010lu", "0014644558").replacen("%s", "[pid:8015 tid: 0x7fc36f3dd8c0]", 1);
        text.replace("%s", message).trim_end_matches('\n').to_owned()
    };
    let (shader, returned) = ("ShaderName : %s", "%s: Returned %s : %s");
    let device = "Gfx Major/Minor/Stepping: %d/%d/%d";
    for format in [shader, returned, device] {
        assert!(holds(format), "{format}");
    }
    let start = bytes.windows(head.len()).any(|window| window == head.as_bytes());
    assert!(start, "{head}");
    let mut tally = Tally::default();
    let mut reader = watch::logs::LogReader::default();
    let call = "hipLaunchKernel ( 0x10, {4,1,1}, {64,1,1}, 0x1, 0, stream:<null> )";
    let success = returned.replacen("%s", "hipLaunchKernel", 1).replacen("%s", "hipSuccess", 1).replace("%s", "");
    let device = device.replacen("%d", "12", 1).replacen("%d", "0", 1).replacen("%d", "1", 1);
    for message in [device.as_str(), call, &shader.replace("%s", "_Z5firstv"), &success] {
        assert!(reader.line(&line(message), &mut tally), "{}", line(message));
    }
    assert_eq!(reader.account.device.as_deref(), Some("gfx1201"));
    reader.finish(&mut tally);
    let rows = tally.rows();
    assert_eq!((tally.launches(), rows[0].name.text().as_str(), rows[0].grids[0]), (1, "_Z5firstv", [4, 1, 1]));
}

/// Any program can write these three lines. Without a device they count as a selection, with it as a launch on the
/// writer's host.
#[test]
fn a_log_stands_no_higher_than_what_it_says_of_its_device() {
    let line = |text: &str| format!(":3:hip_module.cpp :744 : 1 us: [pid:1 tid: 0x1] {text}\n");
    let three = [
        line(" hipLaunchKernel ( 0x10, {4,1,1}, {64,1,1}, 0x1, 0, stream:<null> ) "),
        line("ShaderName : _Z5firstv"),
        line("hipLaunchKernel: Returned hipSuccess : "),
    ]
    .concat();
    let device = ":3:rocdevice.cpp :1815: 1 us: [pid:1 tid: 0x1]  Gfx Major/Minor/Stepping: 12/0/1\n";
    let rungs = [(three.clone(), evidence::Rung::Selected), (format!("{device}{three}"), evidence::Rung::Launched)];
    for (text, rung) in rungs {
        let mut tally = Tally::default();
        let word = Word::File { name: "amd.log".into(), sha256: "0".repeat(64), maker: "unknown", host: None };
        let account = watch::logs::read_log(&text, &mut tally, word).expect("lines");
        let scene = RecordContext {
            account: &account,
            window: "test",
            model: None,
            place: watch::LaunchSite::default(),
            time: "2026-01-01T00:00:00Z",
        };
        let list = scene.sightings(&tally).expect("observations");
        assert_eq!((tally.launches(), list[0].observation.rung()), (1, rung), "{text}");
        let host = list[0].observation.subject().host.as_deref();
        assert_eq!(host, Some("an unknown host (amd.log 000000000000)"), "never this host's");
    }
}

/// A profile line contains a count: processing it must not take time proportional to the count.
#[test]
fn a_count_without_end_is_not_counted_one_by_one() {
    let line = |count: &str| {
        format!(
            "- {{ rocblas_function: \"rocblas_gemm_ex\", a_type: \"f16_r\", M: 5, N: 6, K: 7, call_count: {count} }}\n"
        )
    };
    let mut tally = Tally::default();
    let text = format!("{}{}", line("1000000000000"), line("9000000000000000000"));
    let word = Word::File { name: "x.log".into(), sha256: "0".repeat(64), maker: "unknown", host: None };
    watch::logs::read_log(&text, &mut tally, word).expect("lines");
    assert_eq!(tally.calls(), 1_000_000_000_000);
}
