//! Pages from small ledgers: their content depends only on the observations, and external names stay text.

use evidence::{
    About, Artifact, Coverage, Declared, DeviceKind, Fact, Finding, Investigation, Loaded, Observation, ObserverId,
    Recorded, Selected, Shipped, Subject,
};
use serde_json::{Value, json};
use site::{Input, LedgerFacts, Next, Note, Pair, Site};

const FILE: &str = r#"
schema = "whichkernel.investigation/1"
title = { en = "A test", ja = "試験" }
subject = { runtime = "ollama", target = "gfx1201", gpu = "rx-9070-xt", device = "real", model = "m" }
[[phases]]
id = "A"
en = "Source"
ja = "ソース"
[[pages]]
id = "p"
en = "Page"
ja = "ページ"
[[claims]]
id = "blas-290"
phase = "A"
page = "p"
en = "290 columns go to BLAS"
ja = "290 列は BLAS に入る"
rung = "declared"
topic = "matmul.path"
about = { type = "Q4_K", columns = "290" }
expected = { equals = "BLAS" }
scope = { source = "ollama", commit = "4fda6980" }
closes = "whichkernel source TREE --record"
shows = { en = "the rule", ja = "規則" }
cannot = { en = "a run", ja = "実行" }
[[questions]]
id = "which-path"
phase = "A"
page = "p"
en = "Which path?"
ja = "どの経路か"
claims = ["blas-290"]
ask = { rung = "declared", topic = "matmul.path", about = { type = "Q4_K" }, scope = { source = "ollama", commit = "4fda6980", target = "gfx1201" } }
closes = "whichkernel watch --name ollama --record"
"#;

const COMMIT: &str = "4fda69809a3f00000000000000000000000000ff";

fn see<R: evidence::RungKind>(subject: Subject, topic: &str, about: &[(&str, &str)], value: &str) -> Recorded {
    let fact = Fact::new(topic, About::new(about.iter().copied()), value);
    let (id, coverage) = (ObserverId::new("source", "1"), Coverage::complete("column counts", 1024));
    let seen = Observation::on::<R>(id, subject, Finding::Saw(fact), coverage, "2026-11-15T10:00:00.000Z");
    Recorded::new(seen.expect("an observation"))
}

fn path(commit: &str, target: &str, columns: &str, path: &str) -> Recorded {
    let subject = Subject::source("ollama", commit, Default::default()).target(target);
    see::<Declared>(subject, "matmul.path", &[("type", "Q4_K"), ("columns", columns)], path)
}

fn site_of(file: &str, observations: &[Recorded], notes: &[Note]) -> Site {
    site_with(file, observations, notes, &|_| None)
}

fn site_with(
    file: &str,
    observations: &[Recorded],
    notes: &[Note],
    raw: &dyn Fn(&evidence::Evidence) -> Option<Vec<u8>>,
) -> Site {
    let investigation = Investigation::parse("test.toml", file).expect("the file");
    let (readings, questions) = investigation.read(observations, &[]);
    let ladders = investigation.ladders(observations, &[]);
    let next = [Next {
        command: "whichkernel watch --record".to_owned(),
        claims: vec!["blas-290".to_owned()],
        questions: vec!["which-path".to_owned()],
        needs: Vec::new(),
        possible: true,
    }];
    let input = Input {
        investigation: &investigation,
        readings: &readings,
        questions: &questions,
        ladders: &ladders,
        next: &next,
        able: &[],
        needs: &|command| {
            let file = Pair { en: "a file".to_owned(), ja: "ファイル".to_owned() };
            if command.contains(" FILE") { vec![file] } else { Vec::new() }
        },
        observations,
        notes,
        ledger: LedgerFacts { id: Some("ab".repeat(16)), rows: observations.len() as u64, head: None, problem: None },
        raw,
        version: "0.1.0",
        live: None,
        published: None,
    };
    site::build(&input, true)
}

fn file(name: &str, sha: &str, runtime: &str) -> Subject {
    Subject::file(name, sha.repeat(32)).runtime(runtime)
}

fn sweep(subject: Subject, is_whole: bool, listing: &str) -> Recorded {
    let whole = Coverage::complete("bytes", 100).account(evidence::Witness::ByteMap);
    let part = Coverage::partial("bytes", 40, Some(100), Vec::new()).missing("the rest", say::Message::verbatim("cut"));
    swept(subject, if is_whole { whole } else { part }, listing)
}

fn swept(subject: Subject, coverage: Coverage, listing: &str) -> Recorded {
    let (id, time) = (ObserverId::new("inspect", "1"), "2026-11-15T10:00:00.000Z");
    let seen = Observation::on::<Shipped>(id, subject, Finding::Swept, coverage, time).expect("an observation");
    let seen = seen.view(evidence::FieldOfView::topic("file.target"));
    let raw = evidence::Evidence { sha256: "ee".repeat(32), size: listing.len() as u64, kind: "kernel listing".into() };
    Recorded::new(if listing.is_empty() { seen } else { seen.evidence(raw) })
}

#[test]
fn a_target_is_absent_only_from_a_file_that_was_read_whole() {
    let has =
        |sha: &str| see::<Shipped>(file("libggml-hip.so", sha, "debian"), "file.target", &[("name", "gfx900")], "7");
    let row = |site: &Site| {
        let text = page(site, "inventory.html");
        let row = text.split(">gfx1201<").nth(1).expect("the target that is asked about").to_owned();
        row.split("</tr>").next().expect("its row").to_owned()
    };
    let whole = site_of(FILE, &[has("ab"), sweep(file("libggml-hip.so", "ab", "debian"), true, "")], &[]);
    assert!(row(&whole).contains("Absent") || row(&whole).contains("absent"), "{}", row(&whole));
    let alone = swept(file("libggml-hip.so", "ab", "debian"), Coverage::complete("bytes", 100), "");
    let alone = site_of(FILE, &[has("ab"), alone], &[]);
    assert!(row(&alone).contains("none seen") && !row(&alone).contains("bsent"), "{}", row(&alone));
    for part in [vec![has("ab")], vec![has("ab"), sweep(file("libggml-hip.so", "ab", "debian"), false, "")]] {
        let part = site_of(FILE, &part, &[]);
        assert!(row(&part).contains("Not observed"), "{}", row(&part));
        let library = page(&part, &library(&part));
        assert!(!library.contains("is not one of them") && library.contains("not read completely"), "{library}");
    }
}

fn library(site: &Site) -> String {
    let mut names = site.files().map(|(name, _)| name).filter(|name| name.starts_with("library-libggml"));
    names.next().expect("a page of the library").to_owned()
}

#[test]
fn two_builds_of_one_name_are_two_files() {
    let has = |sha: &str, target: &str, count: &str| {
        see::<Shipped>(file("libggml-hip.so", sha, "debian"), "file.target", &[("name", target)], count)
    };
    let site = site_of(FILE, &[has("ab", "gfx900", "7"), has("cd", "gfx1201", "9")], &[]);
    let text = page(&site, &library(&site));
    assert!(text.contains("2 builds of libggml-hip.so"), "{text}");
    assert!(text.contains("@abababab") && text.contains("@cdcdcdcd"), "{text}");
    assert!(!text.contains("16 kernels"), "the counts of two builds are no sum of one: {text}");
    let one = site_of(FILE, &[has("ab", "gfx900", "7")], &[]);
    assert!(!page(&one, &library(&one)).contains("@abab"));
}

/// rocBLAS and hipBLASLt keep their kernels in files beside the library. A library with such a catalog has a page,
/// under the name that its dependents use.
#[test]
fn a_library_with_a_catalog_has_a_page_at_its_place_in_the_stack() {
    let runtime = || Subject::of(Artifact::None).runtime("debian");
    let files = |target: &str, count: &str| {
        see::<Shipped>(runtime().target(target), "catalog.files", &[("library", "hipblaslt")], count)
    };
    let needs = |from: &str, to: &str| {
        see::<Shipped>(file(from, "ab", "debian"), "library.needs", &[("from", from), ("to", to)], "true")
    };
    let seen = [
        needs("libggml-hip.so", "libhipblaslt.so.1"),
        files("gfx1100", "95"),
        see::<Shipped>(runtime().target("gfx1100"), "catalog.serves", &[("library", "hipblaslt")], "yes"),
    ];
    let site = site_of(FILE, &seen, &[]);
    let name = |site: &Site| {
        let mut names = site.files().map(|(name, _)| name.to_owned());
        names.find(|name| name.starts_with("library-libhipblaslt-so-1-")).expect("a page of hipBLASLt")
    };
    let text = page(&site, &name(&site));
    assert!(text.contains("are in a separate catalog: 95 files for 1 target (debian)"), "{text}");
    // Not every name was read, so the absence of gfx1201 must not be claimed.
    assert!(!text.contains("none for gfx1201") && text.contains("node here"), "{text}");
    assert!(page(&site, "libraries.html").contains(&name(&site)));
    let with = [&seen[..], &[files("gfx1201", "297")]].concat();
    let site = site_of(FILE, &with, &[]);
    assert!(page(&site, &name(&site)).contains("392 files for 2 targets, including gfx1201"));
}

#[test]
fn kernels_come_from_the_list_that_was_kept_and_what_it_lacks_is_said() {
    let kernel = |target: &str, name: &str| launch::kernel_list::Listed {
        target: target.to_owned(),
        bundle: Some(3),
        name: name.to_owned(),
        sgpr: Some(24),
        vgpr: Some(96),
        lds: Some(0),
        scratch: None,
        wavefront: Some(32),
        stub: false,
    };
    let all = [kernel("gfx900", "mul_mat_q<Q4_K,8>"), kernel("gfx900", "mul_mat_q<Q4_K,16>"), kernel("gfx900", "rope")];
    let with = |listing: String| {
        let seen = [sweep(file("libggml-hip.so", "ab", "debian"), true, &listing)];
        site_with(FILE, &seen, &[], &move |_| Some(listing.clone().into_bytes()))
    };
    let site = with(launch::kernel_list::write(&all, 9));
    let inventory = page(&site, "inventory.html");
    assert!(
        inventory.contains("3 kernels for 1 target in 1 file") && !inventory.contains("more kernels"),
        "{inventory}"
    );
    assert!(inventory.contains("libggml-hip.so (debian)"), "{inventory}");
    let packed = data(&site, "inventory.html", "kernels-data");
    assert_eq!(packed["names"], json!([0, "mul_mat_q<Q4_K,8>", 0, 15, "16", 1, 0, "rope", 0]));
    assert_eq!(packed["numbers"], json!([24, 96, 0, -1, 32, 0, 1]));
    assert_eq!(packed["groups"][0]["target"], json!("gfx900"));
    assert_eq!(packed["groups"][0]["rows"], json!([0, 3, 0, 1, 0, 0, 1, 0, 0]));
    // A readable name omits arguments: kernels that share it are still counted separately.
    let two = [kernel("gfx900", "trsm<4,...>"), kernel("gfx900", "trsm<4,...>"), kernel("gfx900", "rope")];
    let other = launch::kernel_list::Listed { vgpr: Some(12), ..kernel("gfx900", "trsm<4,...>") };
    let shared = with(launch::kernel_list::write(&[&two[..], &[other]].concat(), 9));
    assert!(page(&shared, "inventory.html").contains("4 kernels for 1 target in 1 file"));
    let packed = data(&shared, "inventory.html", "kernels-data");
    let numbers: Vec<i64> = serde_json::from_value(packed["numbers"].clone()).expect("numbers");
    for expected in [[24, 96, 0, -1, 32, 0, 2], [24, 12, 0, -1, 32, 0, 1], [24, 96, 0, -1, 32, 0, 1]] {
        assert!(numbers.chunks(7).any(|set| set == expected), "{expected:?} in {numbers:?}");
    }
    let families = site.files().find(|(name, _)| name.ends_with("families.csv")).expect("the families").1.to_vec();
    assert!(String::from_utf8(families).expect("UTF-8").contains("mul_mat_q,2,1,0,96,96,0"));
    let cut = page(&with(launch::kernel_list::write(&all, 1)), "inventory.html");
    assert!(cut.contains("the file has 2 more kernels that are not in this list"), "{cut}");
    let damaged = page(&with("rubbish".to_owned()), "inventory.html");
    assert!(
        damaged.contains("more kernels that are not in this list") && !damaged.contains("3 kernels for"),
        "{damaged}"
    );
}

fn page(site: &Site, name: &str) -> String {
    String::from_utf8(site.file(name).unwrap_or_else(|| panic!("no {name}")).to_vec()).expect("UTF-8")
}

/// The data that a page passes to its script.
fn data(site: &Site, name: &str, id: &str) -> Value {
    let text = page(site, name);
    let from = text.split_once(&format!("<script type=\"application/json\" id=\"{id}\">")).expect("the data").1;
    serde_json::from_str(from.split_once("</script>").expect("its end").0).expect("JSON")
}

fn usual() -> Vec<Recorded> {
    vec![path(COMMIT, "gfx1201", "1..8", "MMVQ"), path(COMMIT, "gfx1201", "9..1024", "MMQ")]
}

#[test]
fn the_answer_is_what_was_observed() {
    let index = page(&site_of(FILE, &usual(), &[]), "index.html");
    assert!(index.contains("Q4_K: MMVQ up to 8 columns, MMQ from 9 to 1024. This is the source rule"), "{index}");
    assert!(index.contains("8 列まで MMVQ") && index.contains("g-refuted"));
    // Another path observed gives another sentence, another grade, another drawing.
    let other = [path(COMMIT, "gfx1201", "1..8", "MMVQ"), path(COMMIT, "gfx1201", "9..1024", "BLAS")];
    let other = page(&site_of(FILE, &other, &[]), "index.html");
    assert!(other.contains("BLAS from 9 to 1024. This is the source rule"), "{other}");
    assert!(other.contains("Refuted: 0 of 1 claims"), "{other}");
}

#[test]
fn the_drawings_follow_what_was_observed() {
    let drawn = |seen: &[Recorded]| {
        let map = page(&site_of(FILE, seen, &[]), "map.html");
        map.split("<svg").skip(1).filter_map(|rest| rest.split("</svg>").next()).collect::<Vec<_>>().join("\n")
    };
    let usual_drawing = drawn(&usual());
    // One observation less, or another path, changes the drawing.
    let less = drawn(&usual()[..1]);
    let blas = drawn(&[path(COMMIT, "gfx1201", "1..8", "MMVQ"), path(COMMIT, "gfx1201", "9..1024", "BLAS")]);
    assert!(usual_drawing != less && usual_drawing != blas && less != blas);
    assert!(blas.contains("BLAS") && !usual_drawing.contains(">BLAS<"), "{usual_drawing}");
    // If the file names another subject, the map of the same observations differs.
    let card = FILE.replace("target = \"gfx1201\"", "target = \"gfx900\"");
    let both = [usual(), vec![path(COMMIT, "gfx900", "1..1024", "BLAS")]].concat();
    let (one, other) = (site_of(FILE, &both, &[]), site_of(&card, &both, &[]));
    assert_ne!(page(&one, "map.html"), page(&other, "map.html"));
    assert!(page(&other, "index.html").contains("gfx900"));
}

#[test]
fn observers_that_contradict_each_other_are_a_conflict() {
    let mut seen = usual();
    seen.push(path(COMMIT, "gfx1201", "9..1024", "BLAS"));
    let index = page(&site_of(FILE, &seen, &[]), "index.html");
    assert!(index.contains("\"grade\":\"conflict\""), "{index}");
    assert!(!index.contains("\"grade\":\"confirmed\""), "never a vote");
}

#[test]
fn without_an_observation_the_rung_is_empty_and_says_so() {
    let some = page(&site_of(FILE, &usual()[..1], &[]), "map.html");
    assert!(some.contains("unknown from 9 to 1024"), "what nobody saw is drawn as unknown: {some}");
    let none = site_of(FILE, &[], &[]);
    let index = page(&none, "index.html");
    assert!(index.contains("Unknown: ") && index.contains("The ledger has no observations yet"), "{index}");
    assert!(!index.contains("MMQ from 9"), "{index}");
    assert!(page(&none, "map.html").contains("there is no map"));
}

#[test]
fn another_subject_lends_nothing() {
    let stranger = Subject::of(Artifact::None).runtime("debian").target("gfx1201").device(DeviceKind::StandIn);
    let mut seen = usual();
    seen.push(see::<Selected>(stranger, "matmul.path", &[("type", "Q4_K"), ("columns", "290")], "BLAS"));
    let chain = page(&site_of(FILE, &seen, &[]), "chain-which-path.html");
    let selected =
        chain.split("id=\"selected\"").nth(1).expect("the rung").split("id=\"launched\"").next().expect("its end");
    assert!(selected.contains("Not observed.") && selected.contains("Observations of other subjects"), "{selected}");
    assert!(selected.contains("debian") && !selected.contains("g-refuted"), "{selected}");
    // The same observation about the investigation's own subject counts.
    let own = Subject::of(Artifact::None).runtime("ollama").target("gfx1201").model("m").device(DeviceKind::StandIn);
    let mut seen = usual();
    seen.push(see::<Selected>(own, "matmul.path", &[("type", "Q4_K"), ("columns", "290")], "MMQ"));
    let index = page(&site_of(FILE, &seen, &[]), "index.html");
    assert!(index.contains("Q4_K: MMQ at 290. Observed up to the rung selected"), "{index}");
}

#[test]
fn an_undated_build_makes_no_turn() {
    let mut seen = usual();
    seen.push(path(&"ab".repeat(20), "gfx1201", "1..1024", "BLAS"));
    let map = page(&site_of(FILE, &seen, &[]), "map.html");
    assert!(!map.contains("up to abababab") && !map.contains("from abababab"), "{map}");
}

#[test]
fn hostile_names_are_shown_and_are_nothing_else() {
    let evil = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\u{1b}[31m\u{202e}";
    let host = Subject::host(evil);
    let mut seen = usual();
    seen.push(see::<Loaded>(host, "library", &[("name", evil)], evil));
    seen.push(path(COMMIT, "gfx1201", "1..8", evil));
    let file =
        FILE.replace("Which path?", "Which <script>alert(3)</script> path?").replace("which-path", "../../x-<b>");
    let note = Note {
        row: 9,
        time: "2026-11-15T11:00:00Z".to_owned(),
        text: evil.to_owned(),
        phase: Some("A".to_owned()),
        about: Some(evil.to_owned()),
    };
    let site = site_of(&file, &seen, &[note]);
    let mut pages = 0;
    for (name, bytes) in site.files() {
        assert!(!name.contains("..") && name.is_ascii(), "{name}");
        if !name.ends_with(".html") {
            continue;
        }
        pages += 1;
        let text = String::from_utf8_lossy(bytes);
        assert!(
            !text.contains("<img") && !text.contains("alert(2)</script>") && !text.contains("<script>alert"),
            "{name}"
        );
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{name}");
        // The picture of all releases has its own scripts, and no data from the ledger.
        let scripts = if name.starts_with("web/") { 3 } else { 1 };
        assert_eq!(text.matches("<script src=").count(), scripts, "{name}: the report's own script and no other");
    }
    assert!(pages > 8);
    assert!(page(&site, "worklog.html").contains("&lt;img src=x"), "the name is there to be read");
    let whole = site.single_file();
    assert!(!whole.contains("<img") && !whole.contains("<script>alert"));
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let site = site_of(FILE, &usual(), &[]);
    for (name, bytes) in site.files().filter(|(name, _)| name.ends_with(".html")) {
        let text = String::from_utf8_lossy(bytes);
        assert!(text.contains("default-src 'none'"), "{name}");
        for scheme in ["http://", "https://", "//cdn"] {
            assert!(
                !text.contains(&format!("src=\"{scheme}")) && !text.contains(&format!("href=\"{scheme}")),
                "{name}"
            );
        }
        assert!(!text.contains(" style=\"") && !text.contains(" onclick="), "{name}: the policy would refuse it");
        // Every link leads to a file of the report or to a place in it.
        for link in text.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let file = link.split('#').next().unwrap_or_default();
            let below = name.rsplit_once('/').map_or(file.to_owned(), |(folder, _)| format!("{folder}/{file}"));
            // An empty picture: the browser then asks for no other.
            let no_icon = link == "data:,";
            assert!(file.is_empty() || no_icon || site.file(&below).is_some(), "{name}: {link}");
        }
    }
}

#[test]
fn both_languages_say_everything() {
    let site = site_of(FILE, &usual(), &[]);
    for (name, bytes) in site.files().filter(|(name, _)| name.ends_with(".html")) {
        let text = String::from_utf8_lossy(bytes);
        assert!(
            !text.contains("site-"),
            "{name} shows a key that no language has: {}",
            text.split("site-").nth(1).unwrap_or_default().chars().take(40).collect::<String>()
        );
        assert_eq!(text.matches("lang=\"en\"").count(), text.matches("lang=\"ja\"").count() + 2, "{name}");
    }
}

#[test]
fn a_folder_that_is_not_ours_is_left_alone_and_ours_is_written_anew() {
    let dir = tempfile::tempdir().expect("a folder");
    let site = site_of(FILE, &usual(), &[]);
    std::fs::write(dir.path().join("thesis.txt"), "mine").expect("a file");
    assert!(matches!(site.write(dir.path()), Err(site::WriteError::NotOurs(_))));
    let ours = dir.path().join("report");
    site.write(&ours).expect("written");
    std::fs::write(ours.join("mine.txt"), "kept").expect("a file");
    let other = FILE.replace("which-path", "another");
    site_of(&other, &usual(), &[]).write(&ours).expect("written anew");
    assert!(!ours.join("chain-which-path.html").exists() && ours.join("chain-another.html").exists());
    assert!(ours.join("mine.txt").exists() && !ours.join("index.html.new").exists());
}

fn at(time: &str, observer: &str, finding: Finding) -> Recorded {
    let coverage = Coverage::complete("events", 1);
    let view = evidence::FieldOfView::topic("library");
    let (id, host) = (ObserverId::new(observer, "1"), Subject::host("box"));
    Recorded::new(
        Observation::on::<evidence::Loaded>(id, host, finding, coverage, time).expect("an observation").view(view),
    )
}

fn blocked(why: &str) -> Finding {
    Finding::Blocked { why: why.to_owned(), fix: "sudo do-it".to_owned(), said: None }
}

fn library_seen(name: &str) -> Finding {
    Finding::Saw(Fact::new("library", About::new([("name", name)]), "/usr/lib/x"))
}

#[test]
fn of_no_library_nothing_is_said_of_all() {
    let looked = site_of(FILE, &[at("2026-11-15T10:00:00.000Z", "maps", Finding::Swept)], &[]);
    let text = page(&looked, "libraries.html");
    assert!(text.contains("maps found no loaded library"), "{text}");
    assert!(!text.contains("have an observed launch"), "{text}");
    let refused = site_of(FILE, &[at("2026-11-15T10:00:00.000Z", "maps", blocked("no rights"))], &[]);
    assert!(page(&refused, "libraries.html").contains("No live process was observed"), "a refusal is no look");
    let loaded = site_of(FILE, &[at("2026-11-15T10:00:00.000Z", "maps", library_seen("libhip.so"))], &[]);
    let text = page(&loaded, "libraries.html");
    assert!(text.contains("Launches were not watched") && !text.contains("have an observed launch"), "{text}");
    let subject = Subject::file("libhip.so", "ab".repeat(32)).device(evidence::DeviceKind::Real);
    let launch = see::<evidence::Launched>(subject, "kernel", &[("name", "k")], "7");
    let used = [at("2026-11-15T10:00:00.000Z", "maps", library_seen("libhip.so")), launch];
    let text = page(&site_of(FILE, &used, &[]), "libraries.html");
    assert!(text.contains("have an observed launch? True for the only library, according to"), "{text}");
}

#[test]
fn a_failure_is_shown_with_its_day_until_the_same_works() {
    let cell = |site: &Site| {
        let text = page(site, "observers.html");
        let map = text.split("observers-silence").next().unwrap_or_default().to_owned();
        (map, text.split_once("observers-attempts").map(|(_, rest)| rest.to_owned()).unwrap_or_default())
    };
    let (failed, worked) = ("2026-11-10T10:00:00.000Z", "2026-11-12T10:00:00.000Z");
    let old = [at(failed, "maps", blocked("no rights")), at(worked, "maps", library_seen("libhip.so"))];
    let (map, attempts) = cell(&site_of(FILE, &old, &[]));
    assert!(!map.contains("no rights"), "{map}");
    assert!(
        attempts.contains("no rights")
            && attempts.contains("2026-11-10")
            && attempts.contains("succeeded on 2026-11-12"),
        "{attempts}"
    );
    let new = [at(worked, "maps", blocked("no rights")), at(failed, "maps", library_seen("libhip.so"))];
    let (map, attempts) = cell(&site_of(FILE, &new, &[]));
    assert!(map.contains("no rights (2026-11-12)"), "{map}");
    assert!(attempts.contains("sudo do-it") && !attempts.contains("succeeded on"), "{attempts}");
    // Success on another machine says nothing about this one.
    let theirs = at(worked, "maps", library_seen("libhip.so")).imported(Some("cdcd#7@ef".to_owned()));
    let (map, _) = cell(&site_of(FILE, &[at(failed, "maps", blocked("no rights")), theirs], &[]));
    assert!(map.contains("no rights (2026-11-10)"), "{map}");
    let (_, none) = cell(&site_of(FILE, &[], &[]));
    assert!(none.contains("No attempt is recorded"), "{none}");
}

#[test]
fn a_command_says_first_what_it_needs() {
    let text = page(&site_of(FILE, &[], &[]), "inventory.html");
    let (before, after) = text.split_once("whichkernel inspect FILE --record").expect("the command");
    assert!(before.contains("Cannot run here yet: a file.") && !after.contains("whichkernel doctor"), "{text}");
}
