//! What the real libraries write of themselves.

use observe::dryrun::{Blas, Ending, Place, Request, Streams, describe};
use observe::watch::{Name, Tally};
use std::ffi::OsString;

/// The real rocBLAS on a stand-in GPU, with its logs switched on: what the lines say is what the stand-in recorded.
#[test]
fn rocblas_and_tensile_tell_what_the_stand_in_saw() {
    let Some(dir) = artifacts::need("debian-sid") else { return };
    let catalog = "root/usr/lib/x86_64-linux-gnu/rocblas/4.4.1/library/TensileLibrary_lazy_gfx1100.dat";
    if !dir.join(catalog).is_file() {
        eprintln!(
            "skipped: debian-sid has no rocBLAS catalog here (whichkernel runtime fetch debian-sid --parts rocblas)"
        );
        return;
    }
    let place = Place::Tree { name: "debian-sid".into(), root: dir.join("root") };
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
    let variables = [("ROCBLAS_LAYER", "15"), ("TENSILE_DB", "0x8000")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    let request = Request {
        place: &place,
        profiles: std::slice::from_ref(&profile),
        described: &described,
        strict: true,
        command: &command,
        show: &[home.path().to_owned()],
        blas: Blas::Real,
        streams: Streams::Captured,
        preload: false,
        lean: true,
        variables: &variables,
    };
    let outcome = request.run().expect("a run");
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    let mut logs = Tally::default();
    let account = observe::logs::read_log(&outcome.said, &mut logs).expect("lines");
    assert_eq!(account.device, evidence::DeviceKind::None, "a choice is no launch");
    let mut own = Tally::default();
    outcome.traces.iter().for_each(|trace| observe::watch::add_trace(&mut own, trace, None));
    let extents = |tally: &Tally| {
        let calls = tally.rows().into_iter().filter(|row| matches!(row.name, Name::Call(_)));
        let mut list: Vec<(String, u64)> =
            calls.map(|row| (row.kernel.split(' ').next_back().unwrap_or_default().to_owned(), row.launches)).collect();
        list.sort();
        list
    };
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
