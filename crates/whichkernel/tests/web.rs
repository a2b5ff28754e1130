//! The web page in a real browser: the same bytes as this program's JSON, from disk and from a server, in both languages
//! and themes, and nothing leaves the page.

use browser::Browser;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Builds the page once. `cargo xtask web` provides its compiler, or says why it can't.
fn page() -> Option<&'static Path> {
    static PAGE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    test_artifacts::program("chromium", "apt-get install chromium")?;
    let made = PAGE.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("web");
        let cache = test_artifacts::cache();
        let mut xtask = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        xtask.args(["run", "--quiet", "--package", "xtask", "--", "web", "--out"]).arg(&out);
        let done = xtask.env("WHICHKERNEL_TEST_CACHE", cache).output().map_err(|error| error.to_string())?;
        match done.status.success() {
            true => Ok(out),
            false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        }
    });
    match made {
        Ok(out) => Some(out),
        Err(why) if why.contains("no compiler for WebAssembly") => {
            test_artifacts::skip("the web page", why);
            None
        }
        Err(why) => panic!("cargo xtask web: {why}"),
    }
}

fn address(page: &Path, name: &str) -> String {
    format!("file://{}/{name}", page.display())
}

/// The output of this program, run in the folder of the file, so that both use the same name for it.
fn printed(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    let done = command.current_dir(dir).args(args).args(["--format", "json"]).env("LANG", "C").output().unwrap();
    String::from_utf8(done.stdout).unwrap()
}

fn ask(browser: &mut Browser, request: &Value) -> Value {
    browser.eval(&format!("wk.ask({request})"))
}

/// The position at which two texts differ, for a readable failure.
fn same(what: &str, page: &Value, program: &str) {
    let page = page.as_str().unwrap_or_else(|| panic!("{what}: {page}"));
    let at = page.bytes().zip(program.bytes()).position(|(a, b)| a != b).unwrap_or(page.len().min(program.len()));
    let around = |text: &str| text.chars().skip(at.saturating_sub(80)).take(200).collect::<String>();
    assert!(page == program, "{what}, byte {at}:\npage: {}\nprogram: {}", around(page), around(program));
}

#[test]
fn the_page_explains_as_the_program_does() {
    let Some(page) = page() else { return };
    let mut browser = Browser::start();
    browser.open(&address(page, "index.html#lang=en"));
    browser.until("document.body.dataset.answered === '1'");
    assert_eq!(browser.eval("document.querySelector('#path b').textContent"), json!("MMQ"));
    let questions = [
        ("rx-9070-xt", "Q4_K_M", "290", "b10586"),
        ("rx-9070-xt", "Q4_K_M", "290", "0.12.6"),
        ("rx-7900-xtx", "Q4_K_M", "290", "0.13.2"),
        ("rtx-4090", "Q8_0", "1", "b9000"),
        ("mi300x", "F16", "512", "b7148"),
        ("gfx906", "MXFP4", "64", "b5200"),
        ("v100", "BF16", "8", "b3600"),
        ("8060s", "IQ4_XS", "1024", "4fda6980"),
    ];
    for (gpu, kind, tokens, version) in questions {
        let request = json!({"ask": "explain", "gpu": gpu, "type": kind, "tokens": tokens, "version": version});
        let answer = ask(&mut browser, &request);
        let flags = ["explain", "--gpu", gpu, "--type", kind, "--columns", tokens, "--source", version];
        same(&request.to_string(), &answer["json"], &printed(page, &flags));
        // The command that the page offers gives the same answer.
        let command: Vec<&str> = answer["command"].as_str().unwrap().split(' ').skip(1).collect();
        same(&request.to_string(), &answer["json"], &printed(page, &command));
    }
    same(
        "choices",
        &browser.eval("wk.ask({ask: 'choices'}).then(a => (delete a.memory, JSON.stringify(a, null, 2) + '\\n'))"),
        &printed(page, &["explain", "--choices"]),
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Opens a file as a user would, and compares everything that the page received with the output of this program.
fn compare(browser: &mut Browser, file: &Path, gpu: &str, page: &Path) {
    let name = file.file_name().unwrap().to_str().unwrap();
    let dir = file.parent().unwrap();
    browser.open(&format!("{}#lang=en&card={gpu}", address(page, "file.html")));
    browser.until("document.body.dataset.ready === '1'");
    browser.choose("#choose", &[file]);
    browser.until("document.body.dataset.shown === '1' || !document.querySelector('#broken').hidden");
    let card = browser.eval("document.querySelector('#card').value");
    let asked = browser.eval(&format!("wk.ask({{ask: 'serves', gpu: '{gpu}'}})"));
    assert_eq!(card, json!(gpu), "{name}");
    same(name, &asked["json"], &printed(dir, &["inspect", name, "--has-target", gpu]));
    let without = browser.eval("wk.ask({ask: 'serves', gpu: null})");
    same(name, &without["json"], &printed(dir, &["inspect", name]));
    if let Some(target) = asked["list"].as_str() {
        let listed = browser.eval(&format!("wk.ask({{ask: 'kernels', target: '{target}'}})"));
        same(name, &listed["json"], &printed(dir, &["inspect", name, "--kernels", "--target", target]));
        if asked["census"] == json!(true) {
            let counted = browser.eval(&format!("wk.ask({{ask: 'census', target: '{target}'}})"));
            same(name, &counted["json"], &printed(dir, &["isa", name, "--target", target]));
        }
    }
    assert_eq!(browser.complaints(), Vec::<String>::new(), "{name}");
}

#[test]
fn the_page_reads_files_as_the_program_does() {
    let Some(page) = page() else { return };
    let Some(wheel) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    let made = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = made.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let mut browser = Browser::start();
    // A library for AMD's GPUs, one for NVIDIA's, one without GPU code.
    for (file, gpu) in [("rocm72", "rx-9070-xt"), ("rocm72", "rx-580"), ("cuda130", "rtx-4090"), ("cpu", "rx-9070-xt")]
    {
        let file = wheel.join(format!("bitsandbytes/libbitsandbytes_{file}.so"));
        compare(&mut browser, &file, gpu, page);
    }
    // Files that are truncated, of an unknown kind, and empty.
    let whole = std::fs::read(wheel.join("bitsandbytes/libbitsandbytes_rocm72.so")).unwrap();
    compare(&mut browser, &put("cut.so", &whole[..whole.len() / 2]), "rx-9070-xt", page);
    compare(&mut browser, &put("<b>notes.txt", b"# not a program\n"), "rx-9070-xt", page);
    compare(&mut browser, &put("empty.so", b""), "rx-9070-xt", page);
    compare(&mut browser, &put("two.hsaco", &made_files::two_kernels()), "mi210", page);
}

#[test]
fn a_model_is_read_from_its_header() {
    let Some(page) = page() else { return };
    let dir = tempfile::tempdir().unwrap();
    let skeleton = ["skeleton", "llama-3.1-8b", "--type", "Q4_K_M", "--layers", "0", "-o", "model.gguf"];
    printed(dir.path(), &skeleton);
    let file = dir.path().join("model.gguf");
    assert!(file.metadata().unwrap().len() > 4 << 30, "as large as the model, and almost empty");
    let mut browser = Browser::start();
    browser.open(&format!("{}#lang=en&card=rx-9070-xt", address(page, "file.html")));
    browser.until("document.body.dataset.ready === '1'");
    browser.choose("#choose", &[&file]);
    browser.until("document.body.dataset.shown === '1' || !document.querySelector('#broken').hidden");
    let asked = browser.eval("wk.ask({ask: 'open', name: 'model.gguf', gpu: 'rx-9070-xt'})");
    same("model", &asked["json"], &printed(dir.path(), &["inspect", "model.gguf", "--gpu", "rx-9070-xt"]));
    let rows = "Array.from(document.querySelectorAll('#types tr')).map(r => r.textContent).join()";
    assert!(browser.eval(rows).as_str().is_some_and(|rows| rows.contains("Q4_K") && rows.contains("9–1024 MMQ")));
    // On the first page, a model fills the field.
    browser.open(&address(page, "index.html#lang=en"));
    browser.until("document.body.dataset.answered === '1'");
    browser.eval("document.querySelector('#f-type').value = 'Q8_0'; document.querySelector('#f-type').dispatchEvent(new Event('change'))");
    browser.choose("#gguf", &[&file]);
    browser.until("document.querySelector('#f-type').value === 'Q4_K_M'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Opens a file and returns the kind of answer, the verdict and whether the page shows an error.
fn opened(browser: &mut Browser, page: &Path, file: &Path) -> (Value, String) {
    browser.open(&format!("{}#lang=en&card=rx-9070-xt", address(page, "file.html")));
    browser.until("document.body.dataset.ready === '1'");
    browser.choose("#choose", &[file]);
    browser.until("document.body.dataset.shown === '1' || !document.querySelector('#broken').hidden");
    let name = file.file_name().unwrap().to_str().unwrap();
    let answer = ask(browser, &json!({"ask": "open", "name": name, "gpu": "rx-9070-xt"}));
    let shown = browser.eval("document.querySelector('#verdict').textContent");
    (answer, shown.as_str().unwrap().to_owned())
}

#[test]
fn catalogs_are_listed_and_packages_are_refused_by_name() {
    let Some(page) = page() else { return };
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dev/fuzz/corpus/catalog");
    let mut browser = Browser::start();
    for (name, part) in [("leaf.dat", "leaf"), ("root.dat", "lazy_root")] {
        let file = put(name, &std::fs::read(corpus.join(part)).unwrap());
        let (answer, shown) = opened(&mut browser, page, &file);
        let flags = ["inspect", name, "--kernels", "--gpu", "rx-9070-xt"];
        same(name, &answer["json"], &printed(dir.path(), &flags));
        assert_eq!(answer["verdict"]["en"].as_str(), Some(shown.as_str()));
        let listed = browser.eval("document.querySelectorAll('#csolutions tr').length");
        let rows: Value = serde_json::from_str(answer["json"].as_str().unwrap()).unwrap();
        assert_eq!(listed.as_u64(), rows["rows"].as_array().map(|rows| rows.len() as u64), "{name}");
    }
    for (name, bytes, kind) in [
        ("a.whl", b"PK\x03\x04".as_slice(), "zip archive"),
        ("a.deb", b"!<arch>\ndebian-binary   ", "Debian package"),
        ("a.tar.gz", b"\x1f\x8b\x08", "compressed file"),
        ("a.rpm", b"\xed\xab\xee\xdb", "RPM package"),
        ("a.a", b"!<arch>\n", "static library"),
    ] {
        let (answer, shown) = opened(&mut browser, page, &put(name, bytes));
        assert_eq!(answer["kind"], "package", "{name}: {answer}");
        assert!(shown.contains(kind), "{name}: {shown}");
    }
    // A truncated file gives an error instead of an empty list.
    let cut = put("cut.dat", &std::fs::read(corpus.join("leaf")).unwrap()[..200]);
    let (answer, _) = opened(&mut browser, page, &cut);
    assert!(answer["error"]["ja"].as_str().is_some_and(|why| !why.is_empty()), "{answer}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn every_page_reads_in_both_languages_and_themes_at_every_width() {
    let Some(page) = page() else { return };
    let Some(axe) = test_artifacts::file("axe-playwright-python-0.1.8", "axe_playwright_python/axe.min.js") else {
        return;
    };
    let axe = std::fs::read_to_string(axe).expect("axe");
    let mut browser = Browser::start();
    let mut wrong = Vec::new();
    let states = [
        ("index.html", "lines=1", "document.body.dataset.answered"),
        ("index.html", "card=RX+7900+XTX&version=Ollama+0.13.2", "document.body.dataset.answered"),
        ("index.html", "card=9070+XTT", "document.body.dataset.answered"),
        ("index.html", "model=MXFP4&version=b5200", "document.body.dataset.answered"),
        ("file.html", "", "document.body.dataset.ready"),
        ("atlas.html", "type=MXFP4&tokens=64", "document.querySelector('#tip b')"),
    ];
    for (at, (name, with, ready)) in states.into_iter().enumerate() {
        for (lang, theme, width) in
            [("en", "light", [390, 768, 1280][at % 3]), ("ja", "dark", [1280, 390, 768][at % 3])]
        {
            let here = format!("{name} {with} {lang} {theme} {width}");
            browser.size(width);
            browser.open(&format!("{}#lang={lang}&theme={theme}&{with}", address(page, name)));
            browser.until(&format!("Boolean({ready})"));
            wrong.extend(browser.complaints().into_iter().map(|said| format!("{here}: {said}")));
            let wide = browser.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            if wide.as_i64().is_none_or(|wide| wide > 1) {
                wrong.push(format!("{here}: wider than the window by {wide}"));
            }
            let both = "Array.from(document.querySelectorAll('main [lang=en], main [lang=ja]')).some(e => \
                        e.lang !== document.documentElement.lang && e.getClientRects().length)";
            if browser.eval(both) != json!(false) {
                wrong.push(format!("{here}: both languages are shown"));
            }
            wrong.extend(browser.barriers(&axe).into_iter().map(|one| format!("{here}: {one}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

struct Folder(PathBuf);

impl serve::Pages for Folder {
    fn version(&self) -> String {
        "1".to_owned()
    }

    fn file(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.0.join(path)).ok()
    }
}

/// From a server, the module is fetched instead of read from a script; a link contains the whole question.
#[test]
fn a_link_reproduces_the_question() {
    let Some(page) = page() else { return };
    let server = serve::Server::bind(0).expect("loopback");
    let ended = AtomicBool::new(false);
    let folder = Folder(page.to_owned());
    std::thread::scope(|scope| {
        let run = scope.spawn(|| server.run(&folder, &|| ended.load(Ordering::Relaxed)));
        let tested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut browser = Browser::start();
            browser.server = server.url().trim_end_matches("index.html").to_owned();
            browser.open(&format!("{}#card=RTX+4090&model=Q8_0&tokens=1&version=b9000&lang=ja", server.url()));
            browser.until("document.body.dataset.answered === '1'");
            let shown = "[document.querySelector('#path b').textContent, document.querySelector('#f-gpu').value, document.querySelector('#f-version').value]";
            assert_eq!(browser.eval(shown), json!(["MMVQ", "RTX 4090", "b9000"]));
            // With the keyboard alone, a field is changed and left; the address then has the new question.
            browser.eval("document.querySelector('#f-tokens').focus(); document.querySelector('#f-tokens').value = '64'; document.querySelector('#f-tokens').blur(); document.querySelector('#f-tokens').dispatchEvent(new Event('change'))");
            browser.until(
                "document.querySelector('#path b').textContent === 'MMQ' && location.hash.includes('tokens=64')",
            );
            let link = browser.eval("document.querySelector('#copy-link').dataset.copy");
            browser.open(link.as_str().expect("a link"));
            browser.until("document.querySelector('#path b')?.textContent === 'MMQ' && document.querySelector('#f-gpu').value === 'RTX 4090'");
            assert_eq!(browser.eval("Boolean(window.whichkernelOffline)"), json!(false), "nothing is loaded twice");
            assert_eq!(browser.complaints(), Vec::<String>::new());
        }));
        ended.store(true, Ordering::Relaxed);
        run.join().expect("the server");
        if let Err(failed) = tested {
            std::panic::resume_unwind(failed);
        }
    });
}
