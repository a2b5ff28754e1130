//! A report from a made-up ledger with content on every page, and 70,000 kernels in the inventory.

use evidence::{
    About, Coverage, Evidence, Fact, FieldOfView, Finding, Investigation, Observation, ObserverId, Recorded, RungKind,
    Subject,
};
use evidence::{Declared, Loaded, Shipped};
use launch::kernel_list::{self, Listed};
use site::{Input, LedgerFacts, Next, Note, Site};

pub const FILE: &str = include_str!("small.toml");
const TIME: &str = "2026-11-15T10:00:00.000Z";

fn on<R: RungKind>(observer: &str, subject: Subject, finding: Finding) -> Observation {
    let coverage = Coverage::complete("bytes", 1_270_539_728);
    Observation::on::<R>(ObserverId::new(observer, "0.1.0"), subject, finding, coverage, TIME).expect("an observation")
}

fn saw(topic: &str, about: &[(&str, &str)], value: impl Into<evidence::Value>) -> Finding {
    Finding::Saw(Fact::new(topic, About::new(about.iter().copied()), value))
}

fn listed(target: u32, kernel: u32) -> Listed {
    Listed {
        target: if target == 0 { "gfx1201".to_owned() } else { format!("gfx11{target:02}") },
        bundle: Some(kernel % 140),
        name: format!("mul_mat_q<Q4_K,kernel_{kernel}>"),
        sgpr: Some(8 + kernel % 96),
        vgpr: Some(1 + kernel % 256),
        lds: Some(kernel),
        scratch: Some(0),
        wavefront: Some(32),
        stub: kernel % 7 == 6,
    }
}

pub fn site() -> Site {
    build(7000, None)
}

/// The report as a server has it: few kernels, and the version that the pages poll for.
pub fn served(version: &str) -> Site {
    build(7, Some(version))
}

fn build(each: u32, live: Option<&str>) -> Site {
    let kernels: Vec<Listed> =
        (0..10u32).flat_map(|target| (0..each).map(move |kernel| listed(target, kernel))).collect();
    let listing = kernel_list::write(&kernels, kernels.len());
    let raw = Evidence { sha256: "ab".repeat(32), size: listing.len() as u64, kind: kernel_list::KIND.to_owned() };
    let source = |target: &str| {
        Subject::source("ollama", "4fda69809a3f00000000000000000000000000ff", Default::default()).target(target)
    };
    let file = || Subject::file("libggml-hip.so", "cd".repeat(32)).runtime("debian-sid");
    let mut seen = Vec::new();
    for target in ["gfx1201", "gfx900", "gfx942"] {
        seen.push(on::<Declared>(
            "source",
            source(target),
            saw("matmul.path", &[("type", "Q4_K"), ("columns", "1..8")], "MMVQ"),
        ));
        seen.push(on::<Declared>(
            "source",
            source(target),
            saw("matmul.path", &[("type", "Q4_K"), ("columns", "9..1024")], "MMQ"),
        ));
    }
    seen.push(on::<Shipped>("inspect", file(), saw("file.target", &[("name", "gfx1100")], 7000)));
    seen.push(
        on::<Shipped>("inspect", file(), Finding::Swept)
            .view(FieldOfView::topic("file.target").blind(say::key!("view-symbols-blind")))
            .evidence(raw),
    );
    seen.push(on::<Shipped>(
        "libraries",
        file(),
        saw("library.needs", &[("from", "libggml-hip.so"), ("to", "libhipblas.so.2")], true),
    ));
    seen.push(on::<Shipped>(
        "isa",
        file().target("gfx1100"),
        saw("isa.count", &[("family", "mmq"), ("mnemonic", "v_wmma_i32_16x16x16_iu8")], 5120),
    ));
    seen.push(on::<Loaded>(
        "maps",
        Subject::host("box"),
        saw("library", &[("name", "libhipblaslt.so.0")], "/usr/lib/libhipblaslt.so.0"),
    ));
    seen.push(on::<Loaded>("doctor", Subject::host("box"), saw("observer.result", &[("observer", "uprobe")], "works")));
    seen.push(on::<Loaded>(
        "probe",
        Subject::host("box"),
        saw("probe.response", &[("case", "long"), ("field", "prompt_eval_count")], 290),
    ));
    seen.push(on::<Loaded>(
        "probe",
        Subject::host("box"),
        saw("probe.response", &[("case", "long"), ("field", "tokens_per_second")], 812.5),
    ));
    seen.push(on::<Shipped>(
        "isa",
        Subject::host("box"),
        Finding::Blocked {
            why: "none of the files has code for the target".to_owned(),
            fix: "whichkernel runtime fetch".to_owned(),
            said: Some(say::say!("observe-no-target-code")),
        },
    ));
    let observations: Vec<Recorded> = seen.into_iter().map(Recorded::new).collect();
    let investigation = Investigation::parse("small.toml", FILE).expect("the file");
    let (readings, questions) = investigation.read(&observations, &[]);
    let ladders = investigation.ladders(&observations, &[]);
    let next = [Next {
        command: "whichkernel watch --name ollama --record".to_owned(),
        claims: investigation.claims.iter().map(|stated| stated.claim.id.clone()).collect(),
        questions: investigation.questions.iter().map(|question| question.id.clone()).collect(),
        needs: vec![site::Pair { en: "ollama is not here".to_owned(), ja: "ollama がここにない".to_owned() }],
        possible: true,
    }];
    let notes = [Note {
        row: 9,
        time: "2026-11-15T11:00:00Z".to_owned(),
        text: "The fan was loud at 290.".to_owned(),
        phase: Some("A".to_owned()),
        about: Some("blas-290".to_owned()),
    }];
    let input = Input {
        published: None,
        investigation: &investigation,
        readings: &readings,
        questions: &questions,
        ladders: &ladders,
        next: &next,
        able: &[],
        needs: &|_| Vec::new(),
        observations: &observations,
        notes: &notes,
        ledger: LedgerFacts {
            id: Some("ab".repeat(16)),
            rows: observations.len() as u64,
            head: Some("ef".repeat(32)),
            problem: None,
        },
        raw: &|evidence| (evidence.kind == kernel_list::KIND).then(|| listing.clone().into_bytes()),
        version: "0.1.0",
        live,
    };
    site::build(&input, live.is_none())
}
