//! The certificate on a real program: Debian's llama-completion on a simulated card.

use certify::{Certificate, Ending, Exit, Outcome, Point, Run, Trial, Verdict, compare};
use dryrun::{Blas, Described, Request, RunRoot, Streams, describe};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

struct Stage {
    place: RunRoot,
    profile: gpu::Profile,
    described: Described,
    model: PathBuf,
    home: tempfile::TempDir,
}

impl Stage {
    fn new() -> Option<Stage> {
        let dir = test_artifacts::need("debian-sid")?;
        let place = RunRoot::Tree { name: "debian-sid".into(), root: dir.join("root") };
        let profile = gpu::find("gfx1100").expect("a card");
        let libraries = place.libraries(false, None).expect("libraries with device code");
        let target = profile.target().expect("a target");
        let described = describe(&libraries, &target, true, runtime::Cache::from_env().dir()).expect("a table");
        let home = tempfile::tempdir().expect("a directory");
        let model = home.path().join("model.gguf");
        let shape = gguf::known("llama-3.2-1b").expect("a shape");
        let made =
            gguf::skeleton(&shape, gguf::TensorType::parse("Q8_0").expect("a type"), 2, true).expect("a skeleton");
        std::fs::write(&model, &made.header).expect("a file");
        let file = std::fs::OpenOptions::new().write(true).open(&model).expect("the file");
        file.set_len(made.file_size).expect("sparse");
        Some(Stage { place, profile, described, model, home })
    }

    /// Runs the program once. `changed` simulates the effect of another observer's wrapper on the environment, because
    /// the test tree has no shell to run a wrapper.
    fn run(&self, preload: bool, changed: &[(String, String)]) -> Run {
        let mut words: Vec<OsString> = ["llama-completion", "-m"].map(OsString::from).to_vec();
        words.push(self.model.clone().into());
        let more = [
            "-p",
            "Hello",
            "-n",
            "8",
            "--temp",
            "0",
            "--seed",
            "1",
            "-no-cnv",
            "-t",
            "2",
            "-ngl",
            "99",
            "--no-warmup",
            "-lv",
            "4",
        ];
        words.extend(more.map(OsString::from));
        let request = Request {
            place: &self.place,
            profiles: std::slice::from_ref(&self.profile),
            described: &self.described,
            strict: true,
            command: &words,
            show: &[self.home.path().to_owned()],
            blas: Blas::Recorded,
            streams: Streams::Captured,
            preload,
            sparse_read: true,
            variables: changed,
        };
        let outcome = request.run().expect("a run");
        let mut mix: BTreeMap<String, u64> = BTreeMap::new();
        let mut tally = watch::Tally::default();
        outcome.traces.iter().for_each(|trace| watch::add_trace(&mut tally, trace, None));
        tally.rows().iter().for_each(|row| *mix.entry(row.name.text()).or_default() += row.launches);
        // Replace the session's own directory, which differs in every run.
        let said = outcome.said.replace(self.home.path().to_str().unwrap_or("?"), "HOME");
        let (out, err) = (generated(&said), said);
        let ending = match outcome.ending {
            dryrun::Ending::Code(code) => Ending::Ended(Exit::Code(code)),
            dryrun::Ending::Signal(signal) => Ending::Ended(Exit::Signal(signal)),
        };
        Run { ending, out, err, mix: Some(mix), ..Run::default() }
    }
}

/// The prompt and the text generated after it: the first line on standard output.
fn generated(said: &str) -> String {
    let from = said.find("Hello").map_or("", |at| &said[at..]);
    from.lines().next().unwrap_or_default().trim().to_owned()
}

#[test]
fn preload_is_dispatch_safe_and_a_wrapper_that_hides_the_card_is_not() {
    let Some(stage) = Stage::new() else { return };
    // On the stand-in, logits are zero: the tokens are meaningless but equal in every run.
    let (before, after) = (stage.run(false, &[]), stage.run(false, &[]));
    let observed = stage.run(true, &[]);
    let trial =
        |observer| Trial { observer, rung: evidence::Rung::Selected, counted: None, whole: true, vouched: true };
    let own = compare(trial("preload"), [&before, &observed, &after]);
    assert_eq!(own.outcome(), Outcome::DispatchSafe, "{:#?}", own.differences());
    let point = |certificate: &Certificate, what: Point| certificate.point(what).map(|point| point.verdict);
    for what in [Point::Ending, Point::Devices, Point::Layers, Point::Output, Point::LaunchMix] {
        assert_eq!(point(&own, what), Some(Verdict::Same), "{what:?}: {:#?}", own.points);
    }
    assert!(before.out.len() > "Hello".len(), "something was generated: {}", before.out);
    // A wrapper that loses the variables of its caller: the stand-in has no card to show, and device discovery fails.
    let lost = launch::nullgpu_input::DIRECTORY;
    let hidden = stage.run(false, &[(lost.to_owned(), String::new())]);
    let broken = compare(trial("env"), [&before, &hidden, &after]);
    assert_eq!(broken.outcome(), Outcome::Differs);
    assert_eq!(point(&broken, Point::Devices), Some(Verdict::Differs), "{:#?}", broken.points);
    assert_eq!(point(&broken, Point::LaunchMix), Some(Verdict::Differs));
}
