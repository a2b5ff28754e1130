//! Finds untranslated English in Japanese output: three plain English words in a row count as a sentence.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

/// One run, with a ledger and a cache in this directory.
fn run(line: &str, dir: &Path) -> Output {
    test_artifacts::alone(env!("CARGO_BIN_EXE_whichkernel"))
        .args(["--lang", "ja"])
        .args(line.split(' ').filter(|word| !word.is_empty()))
        .env("WHICHKERNEL_LEDGER", dir.join("ledger"))
        .env("WHICHKERNEL_CACHE", dir.join("cache"))
        .env("LANG", "C.UTF-8")
        .current_dir(dir)
        .output()
        .unwrap()
}

/// Everything on standard output and error.
fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Everything on standard output and error of one run.
fn said(line: &str) -> String {
    printed(&run(line, tempfile::tempdir().unwrap().path()))
}

/// Whether it is a word and not a name: letters only, no capital inside.
fn plain(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.']);
    word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase())
}

/// The first three such words in a row, in a line that is not a command.
fn english(text: &str) -> Option<String> {
    let prose = |line: &&str| !line.contains("whichkernel ") && !line.contains("$ ");
    text.lines().filter(prose).find_map(|line| {
        // Text in quotes or backticks is cited.
        let cited: String = line.split(['`', '"', '「', '」']).step_by(2).collect::<Vec<_>>().join(" 」 ");
        let words: Vec<&str> = cited.split_whitespace().collect();
        // Names separated by commas are a list of possible values, not a sentence.
        let sentence = |three: &&[&str]| {
            three.iter().all(|word| plain(word)) && !three[..2].iter().any(|word| word.ends_with(','))
        };
        words.windows(3).find(sentence).map(|_| line.to_owned())
    })
}

#[test]
fn the_finder_finds_english() {
    assert!(english("観測: no runtime was found here").is_some());
    assert!(english("次のステップ: whichkernel watch --name ollama").is_none());
    assert!(english("kernel は MMQ(Q4_K、290 列)").is_none());
    assert!(english("用語: tile, rung, declared, shipped").is_none());
}

#[test]
fn no_english_is_left_in_the_main_answers() {
    for line in [
        "",
        "check",
        "check --all",
        "check --only refuted",
        "check --claim mmvq-to-8",
        "check --claim nonsense-id",
        "investigate field-notes --offline",
        "explain 9070xt Q4_K_M 290",
        "explain gfx1201 290 b7000",
        "explain MMVQ",
        "explain --terms",
        "explain 9070xtt",
        "explain --gpu 9070xtt",
        "inspect /no/such/file",
        "source /no/such/tree",
        "nonsense",
        "check --onyl refuted",
        "check --only wrong",
        "ledger show 7",
        "inspect",
        "schema nonsense",
        "doctor",
        "runtime list",
        "runtime find",
        "ledger list",
        "ledger verify",
        "ledger where",
    ] {
        let text = said(line);
        let left = english(&text);
        assert!(left.is_none(), "{line}: {}\n\n{text}", left.unwrap_or_default());
    }
}

/// Files that are invalid in different ways, in the directory in which a command runs.
fn wrong_files(dir: &Path) {
    let put = |name: &str, bytes: &[u8]| std::fs::write(dir.join(name), bytes).unwrap();
    put("text", b"no GPU code is in this file, and it is no list of launches\n");
    put("empty", b"");
    put("cut.so", &std::fs::read("/proc/self/exe").unwrap()[..4096]);
    put("archive.json", b"{\"schema\":\"whichkernel.archive/1\",\"ledger\":\"no id\"}");
    put(
        "slip.toml",
        b"schema = \"whichkernel.investigation/1\"\ntitle = { en = \"a\", ja = \"b\" }\n[subject]\ntraget = \"x\"\n",
    );
    put("profile.csv", b"\"Kind\",\"Kernel_Name\",\"Start_Timestamp\"\n\"KERNEL_DISPATCH\",\"k\",\"soon\"\n");
    std::fs::create_dir(dir.join("tree")).unwrap();
}

/// At least one line for every verb, each of which fails.
const FAILING: [&str; 74] = [
    "agent --listen 0.0.0.0:0",
    "agent --otlp https://localhost",
    "atlas",
    "atlas tree --out out",
    "check slip.toml",
    "check text",
    "check --claim nonsense-id",
    "completions nonsense",
    "diff text empty",
    "diff tree tree",
    "diff 9070xt nonsense",
    "doctor --root /no/such/root",
    "dryrun",
    "dryrun --gpu nonsense",
    "dryrun --runtime tree",
    "dryrun --columns x",
    "explain 9070xt Q4_K_M 290 nonsense",
    "explain 9070xt mi300x",
    "explain 9070xt Q9_K",
    "help nonsense",
    "fleet diff nonsense --before 2026-11-10 --after 2026-11-12",
    "fleet diff tree --before 2026-11-12 --after 2026-11-10",
    "fleet alerts tree",
    "history tree",
    "inspect text",
    "inspect empty",
    "inspect cut.so",
    "inspect tree",
    "inspect 999999999",
    "inspect text --has-target gfx1201",
    "investigate slip.toml",
    "investigate text",
    "isa text",
    "isa cut.so",
    "isa empty",
    "ledger import archive.json",
    "ledger import text",
    "ledger import tree",
    "ledger show nonsense",
    "ledger verify --parquet tree",
    "man --out text",
    "map --gpu nonsense",
    "map --columns 0",
    "mcp --nonsense",
    "probe http://127.0.0.1:9",
    "probe ftp://nowhere",
    "report slip.toml",
    "report --export perfetto --launches text --out out.json",
    "runtime add text",
    "runtime fetch nonsense",
    "runtime build tree --target nonsense",
    "schema nonsense",
    "skeleton nonsense --output out.gguf",
    "skeleton llama-8b --mix nonsense --output out.gguf",
    "source tree",
    "source text",
    "source tree --gpu nonsense",
    "watch",
    "watch --pid 999999999",
    "watch --read text",
    "watch --read profile.csv",
    "watch --how preload -- /no/such/program",
    "watch --duration soon -- true",
    "why --model text --gpu 9070xt",
    "why --name nonsense",
    "why http://127.0.0.1:9",
    "explain gemm 8 8 8 --gpu 9070xt --runtime nonsense",
    "diff text empty --gemm empty --gpu 9070xt --library hipblaslt",
    "inspect text --lint",
    "explain vllm text --gpu mi300x",
    "explain vllm nowhere --gpu mi300x",
    "inspect tree --model text --gpu mi300x",
    "inspect text --model text --gpu mi300x",
    "inspect tree --fits mi300x",
];

#[test]
fn no_english_is_left_in_the_errors_of_any_verb() {
    let dir = tempfile::tempdir().unwrap();
    wrong_files(dir.path());
    for line in FAILING {
        let output = run(line, dir.path());
        let text = printed(&output);
        assert!(!output.status.success(), "{line} does not fail: {text}");
        let left = english(&text);
        assert!(left.is_none(), "{line}: {}\n\n{text}", left.unwrap_or_default());
    }
    let verbs: BTreeSet<&str> = FAILING.iter().filter_map(|line| line.split(' ').next()).collect();
    for verb in below(&said("--help")) {
        assert!(verbs.contains(verb.as_str()), "no failing line for {verb}");
    }
}

/// Elements of a page that are not prose, or not for a Japanese reader.
const ASIDE: [&str; 7] = ["code", "kbd", "pre", "script", "style", "svg", "title"];
const VOID: [&str; 10] = ["br", "col", "hr", "img", "input", "link", "meta", "use", "wbr", "!DOCTYPE"];

/// The text that a Japanese reader of a page sees, without code and without names in a separate font.
fn shown_in_japanese(html: &str) -> String {
    let mut out = String::new();
    // The open elements, from the outermost excluded one.
    let mut left_out: Vec<&str> = Vec::new();
    for piece in html.split('<').skip(1) {
        let Some((tag, text)) = piece.split_once('>') else { continue };
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        match left_out.last() {
            // A script may contain anything except its own end tag.
            Some(&outer @ ("script" | "style")) if tag != format!("/{outer}") => continue,
            _ if VOID.contains(&name) => {}
            Some(_) if tag.starts_with('/') => drop(left_out.pop()),
            Some(_) => left_out.push(name),
            None => {
                let english = tag.contains(" lang=\"en\"") && name != "html";
                if !tag.starts_with('/') && (english || ASIDE.contains(&name) || tag.contains("mono")) {
                    left_out.push(name);
                }
            }
        }
        if !matches!(name, "b" | "span" | "em") {
            out.push('\n');
        }
        if left_out.is_empty() {
            out.push_str(text);
        }
    }
    out
}

#[test]
fn the_reader_of_pages_leaves_out_what_is_not_japanese_prose() {
    let page = "<html lang=\"en\"><p lang=\"en\">in <b>plain</b> words</p><p>次: <code>a b c</code> を<br>実行<script>a<b</script></p>";
    assert_eq!(shown_in_japanese(page).split_whitespace().collect::<String>(), "次:を実行");
    assert!(english(&shown_in_japanese("<td>every byte of the file</td>")).is_some());
}

/// The report has both languages on every page, including recorded text: gaps, fields of view, refusals.
#[test]
fn no_english_is_left_in_the_reports_pages() {
    let dir = tempfile::tempdir().unwrap();
    wrong_files(dir.path());
    for line in ["doctor --record", "inspect cut.so --record", "inspect text --record", "investigate --offline"] {
        run(line, dir.path());
    }
    let output = run("report --out pages", dir.path());
    assert!(output.status.success(), "{}", printed(&output));
    let mut pages = 0;
    for entry in std::fs::read_dir(dir.path().join("pages")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "html") {
            pages += 1;
            let left = english(&shown_in_japanese(&std::fs::read_to_string(&path).unwrap()));
            assert!(left.is_none(), "{}: {}", path.display(), left.unwrap_or_default());
        }
    }
    assert!(pages > 20, "{pages}");
    // Every kind of row: settings, sweeps with gaps, observers that were blocked.
    for row in 1..40 {
        let text = printed(&run(&format!("ledger show {row}"), dir.path()));
        assert!(english(&text).is_none(), "row {row}: {text}");
    }
}

/// The commands that a help page lists.
fn below(help: &str) -> Vec<String> {
    let commands = help.split("コマンド:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
    // A name is indented by two spaces, its description by more.
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    names.map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}

/// Checks the help of the command, of every verb and of every subcommand.
#[test]
fn no_english_is_left_in_any_help() {
    let mut paths = vec![String::new()];
    let mut asked = 0;
    while let Some(path) = paths.pop() {
        let text = said(format!("{path} --help").trim_start());
        asked += 1;
        let left = english(&text);
        assert!(left.is_none(), "{path}: {}\n\n{text}", left.unwrap_or_default());
        let names = below(&text).into_iter().filter(|name| name != "help");
        paths.extend(names.map(|name| format!("{path} {name}").trim().to_owned()));
    }
    assert!(asked > 35, "{asked}");
}
