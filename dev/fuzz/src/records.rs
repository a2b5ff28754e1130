//! Data from runs, models, servers and other people: headers of models, records of launches, profiles, logs, ledgers,
//! answers.

use launch::trace::Trace;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use watch::{Tally, Word};

/// A model's header, as the first bytes of a file that may be longer.
pub fn model(data: &[u8]) {
    let Ok(model) = gguf::Gguf::parse(data) else { return };
    assert!(model.tensors.len() <= data.len(), "a tensor takes bytes");
    for tensor in &model.tensors {
        let _ = (tensor.kind.name(), tensor.kind.block(), tensor.dims.len());
    }
    let _ = (model.text("general.architecture"), model.hyper("block_count"));
    let _ = probe::Mix::from_gguf(&model);
}

/// A record of launches: read, cut into evaluations, and counted.
pub fn launch_trace(data: &[u8]) {
    let Ok(trace) = Trace::parse(data.to_vec()) else { return };
    assert!(trace.events.len() <= data.len(), "an event takes bytes");
    let launches = launch::graph_replay::evaluations(&trace);
    // A replay repeats captured launches: the limit is every event times every event.
    let most = trace.events.len().saturating_mul(trace.events.len());
    assert!(launches.iter().map(|one| one.items.len()).sum::<usize>() <= most, "more launches than replays make");
    let mut tally = Tally::default();
    watch::add_trace(&mut tally, &trace, None);
    let _ = (tally.rows(), tally.per_token());
    if let Ok(timeline) = export::Timeline::read(data.to_vec()) {
        assert!(timeline.launches.len() <= data.len(), "a launch takes bytes");
        let _ = export::perfetto(&timeline);
    }
}

/// A table of a lake, which is untrusted.
pub fn parquet(data: &[u8]) {
    let Ok(table) = export::parquet::read(data) else { return };
    assert!(table.rows() <= data.len() / 8 + 512, "a row takes bytes");
    assert!(table.columns.iter().all(|column| column.values.len() == table.rows()), "columns of one length");
}

/// vulkaninfo output of a user: a returned card has all values that the rules need.
pub fn vulkaninfo(data: &[u8]) {
    if let Ok(card) = source::VulkanProfile::reported(data) {
        assert!(!card.card.is_empty() && !card.target.is_empty());
    }
}

/// A program's Vulkan calls, as the layer wrote them.
pub fn vulkan_trace(data: &[u8]) {
    let Ok(run) = vulkan::Run::read(data) else { return };
    for dispatch in run.dispatches.iter().take(1000) {
        let _ =
            run.pipeline(dispatch).map(|pipeline| (pipeline.identity(), vulkan::Kernel::of(pipeline, &dispatch.push)));
    }
}

/// SPIR-V among other bytes.
pub fn spirv(data: &[u8]) {
    for found in spirv_modules::find(data) {
        let Some(length) = found.length else { continue };
        let module = data.get(found.offset..found.offset + length).expect("what was found lies in the file");
        let read = spirv_modules::Module::read(module);
        assert!(read.instructions() <= module.len() as u64, "an instruction takes bytes");
        let _ = (read.features(), spirv_modules::identity(module));
    }
}

/// The table of kernels that the stand-in and its reader share.
pub fn kernel_table(data: &[u8]) {
    let _ = launch::table::KernelTable::parse(data);
    let _ = launch::tables::Tables::parse(data);
}

/// A profiler's csv or json.
pub fn profile(data: &[u8]) {
    if watch::imports::is_database(data) {
        return;
    }
    let Some(Ok((tally, account))) = watch::imports::read(Path::new("fuzz.csv"), data, "") else { return };
    assert!(tally.launches() <= data.len() as u64, "a dispatch takes bytes");
    let _ = (tally.rows(), account.whole());
}

/// A profiler's database, which is read in place.
pub fn profile_database(data: &[u8]) {
    let start = data.get(..64).unwrap_or(data);
    if !watch::imports::is_database(start) {
        return;
    }
    with_file(data, |path| {
        let Some(Ok((tally, _))) = watch::imports::read(path, start, "") else { return };
        let _ = tally.rows();
    });
}

/// Lines from runtimes, BLAS libraries and servers, mixed with other text: any input of `watch --read`, including the
/// lines of `watch --trace`.
pub fn record(data: &[u8]) {
    if watch::imports::is_database(data) {
        return;
    }
    if let Ok((tally, account)) = watch::read_record(std::path::Path::new("fuzz"), data, "") {
        assert!(tally.launches() == 0 || !account.reach.to_string().is_empty());
    }
}

pub fn log(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut tally = Tally::default();
    let account = watch::logs::read_log(&text, &mut tally, Word::Ours);
    let mut claims = server::claims::Claims::default();
    server::claims::of_log("fuzz.log", &text, &mut claims);
    let shown = watch::claims::Shown::of(&tally);
    if let Some(account) = account {
        assert_eq!(
            watch::claims::hold(&claims, &shown, &account).len(),
            claims.list.len(),
            "a claim without a verdict"
        );
    }
}

/// Another ledger as one file: the import is all or nothing, and the result is consistent.
pub fn ledger_archive(data: &[u8]) {
    thread_local! {
        static LEDGER: RefCell<Option<(tempfile::TempDir, ledger::Ledger)>> = const { RefCell::new(None) };
    }
    LEDGER.with_borrow_mut(|kept| {
        if kept.is_none() {
            let Ok(dir) = tempfile::tempdir() else { panic!("no directory for a ledger") };
            let Ok(made) = ledger::Ledger::open(&dir.path().join("ledger")) else { panic!("no ledger") };
            *kept = Some((dir, made));
        }
        let Some((_, ledger)) = kept else { return };
        let limits = ledger::Limits { rows: 1000, blob: 1 << 20, total: 1 << 22 };
        let mut taken = false;
        with_file(data, |path| taken = ledger.import_within(path, &limits).is_ok_and(|done| done.added > 0));
        if taken {
            let problems = ledger.reader().verify(&mut |_| {}).map(|proof| proof.problems.len());
            assert!(matches!(problems, Ok(0)), "an import broke the ledger: {problems:?}");
        }
    });
}

/// A signed note about a ledger, and the keys that go with it.
pub fn checkpoint(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = ledger::Signer::parse(&text);
    let key = text.lines().next().unwrap_or_default();
    if let Ok(verifier) = ledger::Verifier::parse(key) {
        let note = text.split_once('\n').map_or("", |(_, note)| note);
        let _ = ledger::Checkpoint::open(note, &verifier);
    }
}

/// Claims written by a user, and a card described by a user.
pub fn written_by_hand(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(investigation) = evidence::Investigation::parse("fuzz.toml", &text) {
        let (readings, _) = investigation.read(&[], &[]);
        assert_eq!(readings.len(), investigation.claims.len(), "a claim without a reading");
    }
    let _ = gpu::Profile::parse(&text);
}

/// A server's answer to every request, with the same bytes as its log.
pub fn server_answer(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let paths = [
        "/api/generate",
        "/api/chat",
        "/completion",
        "/v1/chat/completions",
        "/api/show",
        "/props",
        "/api/ps",
        "/api/version",
    ];
    let exchange = |path: &&str| server::Exchange {
        name: (*path).to_owned(),
        method: "POST".to_owned(),
        path: (*path).to_owned(),
        status: 200,
        answer: text.clone(),
        log: text.clone(),
        ..server::Exchange::default()
    };
    let _ = server::Counters::read(&text);
    let recording = probe::replay::Recording {
        exchanges: paths.iter().map(|path| exchange(path).into()).collect(),
        logs: vec![("fuzz.log".to_owned(), text.clone())],
        ..probe::replay::Recording::default()
    };
    let _ = probe::answer(&recording, &probe::Wanted::default(), server::claims::Claims::default());
    if let Ok(show) = serde_json::from_slice(data) {
        let _ = probe::Mix::from_show(&show);
    }
}

/// Checks a whole file, including nested files: the map of its bytes has no hole and no overlap. Writes it to a
/// temporary file, because it is read by path.
pub fn inspected(data: &[u8]) {
    with_file(data, |path| {
        let Ok(file) = inventory::File::open(path) else { return };
        let options = inventory::Options { threads: 1, search: true, nvidia: true, ..inventory::Options::default() };
        let take = |_: Option<&codeobject::Bundle>, ()| Ok::<(), std::convert::Infallible>(());
        let Ok(report) = inventory::inspect(&file, &options, true, &inventory::Nothing, take);
        let end = report.map.parts.iter().fold(0, |at, (range, _)| {
            assert_eq!(range.start, at, "the map of bytes has a hole or an overlap");
            range.end
        });
        assert_eq!(end, data.len() as u64, "the map of bytes does not cover the file");
    });
}

fn with_file(data: &[u8], then: impl FnOnce(&Path)) {
    thread_local! {
        static PLACE: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
    }
    let path: PathBuf = PLACE.with_borrow_mut(|place| {
        let Some(dir) = place.take().or_else(|| tempfile::tempdir().ok()) else { panic!("no directory") };
        let path = dir.path().join("file");
        *place = Some(dir);
        path
    });
    if std::fs::write(&path, data).is_ok() {
        then(&path);
    }
}
