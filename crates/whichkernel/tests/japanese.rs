//! English left in Japanese output: three plain English words in a row are a sentence that nobody translated.

/// Everything on standard output and error of one run.
fn said(line: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let output = test_artifacts::alone(env!("CARGO_BIN_EXE_whichkernel"))
        .args(["--lang", "ja"])
        .args(line.split(' ').filter(|word| !word.is_empty()))
        .env("WHICHKERNEL_LEDGER", dir.path().join("ledger"))
        .env("WHICHKERNEL_CACHE", dir.path().join("cache"))
        .env("LANG", "C.UTF-8")
        .output()
        .unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A word of a language, and no name: letters only, no capital inside.
fn plain(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.']);
    word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase())
}

/// The first run of three, in a line that is no command.
fn english(text: &str) -> Option<String> {
    let prose = |line: &&str| !line.contains("whichkernel ") && !line.contains("$ ");
    text.lines().filter(prose).find_map(|line| {
        // What stands in quotes or backticks is cited.
        let cited: String = line.split(['`', '"', '「', '」']).step_by(2).collect::<Vec<_>>().join(" 」 ");
        let words: Vec<&str> = cited.split_whitespace().collect();
        // Names with commas between them are a list of what one may type, no sentence.
        let sentence = |three: &&[&str]| {
            three.iter().all(|word| plain(word)) && !three[..2].iter().any(|word| word.ends_with(','))
        };
        words.windows(3).find(sentence).map(|_| line.to_owned())
    })
}

#[test]
fn the_finder_finds_english() {
    assert!(english("観測: no runtime is here").is_some());
    assert!(english("次の一手: whichkernel watch --name ollama").is_none());
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

/// Help is prose too: of the command, of every verb and of what stands below a verb.
#[test]
fn no_english_is_left_in_any_help() {
    let mut paths = vec![String::new()];
    let mut asked = 0;
    while let Some(path) = paths.pop() {
        let text = said(format!("{path} --help").trim_start());
        asked += 1;
        let left = english(&text);
        assert!(left.is_none(), "{path}: {}\n\n{text}", left.unwrap_or_default());
        let commands = text.split("コマンド:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
        // Two spaces before a name, more before what it is about.
        let below = commands.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
        paths.extend(below.filter(|name| *name != "help").map(|name| format!("{path} {name}").trim().to_owned()));
    }
    assert!(asked > 35, "{asked}");
}
