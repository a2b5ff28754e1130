//! The report in a real browser: headless Chromium, controlled over a pipe. Navigation, the language switch, search, no
//! console error, no request that leaves the page, and axe-core finds nothing.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

mod small;

/// Chromium with its debugging pipe connected to our two pipes. It ends with the test.
struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next: u64,
    events: Vec<Value>,
    session: String,
    /// The only address besides the disk that the pages may request: the server that they came from.
    server: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    fn start() -> Browser {
        let profile = tempfile::tempdir().expect("a folder for the browser");
        // Chromium reads from descriptor 3 and writes to 4; a shell puts our pipes there.
        let line = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
                    --no-first-run --disable-background-networking --disable-component-update --lang=en-US \
                    --user-data-dir=\"$0\" --remote-debugging-pipe about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", line])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let (to, from) = (child.stdin.take().expect("a pipe"), BufReader::new(child.stdout.take().expect("a pipe")));
        let mut browser = Browser {
            child,
            to,
            from,
            next: 0,
            events: Vec::new(),
            session: String::new(),
            server: "file://".to_owned(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(message.to_string().as_bytes()).expect("the browser reads");
        self.to.write_all(b"\0").expect("the browser reads");
        self.to.flush().expect("the browser reads");
        loop {
            let message = self.read();
            if message["id"] == json!(self.next) {
                return if message["error"].is_null() {
                    Ok(message["result"].clone())
                } else {
                    Err(message["error"].to_string())
                };
            }
            self.events.push(message);
        }
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).expect("the browser writes");
        assert!(bytes.pop() == Some(0), "the browser went away");
        serde_json::from_slice(&bytes).expect("a message")
    }

    fn open(&mut self, url: &str) {
        // Another fragment of the same document is not a new load, so an empty page is opened in between.
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.events.clear();
        self.call("Page.navigate", json!({"url": url}));
        let loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        let of = |event: &Value| event["method"] == "Page.frameStoppedLoading";
        while !(self.events.iter().any(loaded) && self.events.iter().any(of)) {
            let event = self.read();
            self.events.push(event);
        }
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    fn eval(&mut self, script: &str) -> Value {
        let result =
            self.call("Runtime.evaluate", json!({"expression": script, "returnByValue": true, "awaitPromise": true}));
        assert!(result["exceptionDetails"].is_null(), "{script}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// Polls until the condition holds; the test's own time limit ends it otherwise.
    fn until(&mut self, script: &str) {
        for _ in 0..600 {
            // Between two pages there may be no document that could answer.
            let asked = json!({"expression": script, "returnByValue": true});
            if self.try_call("Runtime.evaluate", asked).is_ok_and(|said| said["result"]["value"] == json!(true)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("never came: {script}");
    }

    fn size(&mut self, width: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}),
        );
    }

    /// Errors on the page since it was opened, and every address that it requested.
    fn complaints(&self) -> Vec<String> {
        let mut all = Vec::new();
        for event in &self.events {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => all.push(params["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" if params["type"] == "error" => all.push(params["args"].to_string()),
                "Log.entryAdded" if params["entry"]["level"] == "error" => all.push(params["entry"].to_string()),
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    if !url.starts_with("file://") && url != "about:blank" && !url.starts_with(&self.server) {
                        all.push(format!("a request left the page: {url}"));
                    }
                }
                _ => {}
            }
        }
        all
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The shell has executed the browser: this is the one process that we started.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn report() -> Option<(tempfile::TempDir, String)> {
    test_artifacts::program("chromium", "apt-get install chromium")?;
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("report");
    let site = small::site();
    site.write(&folder).expect("written");
    std::fs::write(dir.path().join("single.html"), site.single_file()).expect("written");
    let base = format!("file://{}", folder.display());
    Some((dir, base))
}

#[test]
fn every_page_reads_in_both_languages_and_themes_at_every_width() {
    let Some((dir, base)) = report() else { return };
    let Some(axe) = test_artifacts::file("axe-playwright-python-0.1.8", "axe_playwright_python/axe.min.js") else {
        return;
    };
    let axe = std::fs::read_to_string(axe).expect("axe");
    let mut browser = Browser::start();
    let mut names: Vec<String> = std::fs::read_dir(dir.path().join("report"))
        .expect("the report")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".html"))
        .collect();
    names.sort();
    let mut wrong: Vec<String> = Vec::new();
    assert!(names.len() > 14, "{names:?}");
    for (at, name) in names.iter().enumerate() {
        // Every page in both languages and themes; the widths take turns.
        for (lang, theme, width) in
            [("en", "light", [390, 1280, 1920][at % 3]), ("ja", "dark", [1920, 390, 1280][at % 3])]
        {
            browser.size(width);
            browser.open(&format!("{base}/{name}#lang={lang}&theme={theme}"));
            let (shown, themed) =
                (browser.eval("document.documentElement.lang"), browser.eval("document.documentElement.dataset.theme"));
            assert_eq!((shown, themed), (json!(lang), json!(theme)), "{name}");
            let here = format!("{name} {lang} {theme} {width}");
            let complaints = browser.complaints();
            wrong.extend(complaints.into_iter().map(|said| format!("{here}: {said}")));
            let wide = browser.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            if wide.as_i64().is_none_or(|wide| wide > 1) {
                wrong.push(format!("{here}: wider than the window by {wide}"));
            }
            let both = "Array.from(document.querySelectorAll('main [lang=en], main [lang=ja]')).some(e => \
                        e.lang !== document.documentElement.lang && e.getClientRects().length)";
            if browser.eval(both) != json!(false) {
                wrong.push(format!("{here}: both languages are shown"));
            }
            browser.eval(&axe);
            let run = "axe.run(document, {resultTypes: ['violations'], preload: false}).then(r => r.violations.map(v => \
                       v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + n.failureSummary).join(' | ')))";
            let found = browser.eval(run);
            wrong.extend(found.as_array().into_iter().flatten().map(|one| format!("{here}: {one}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads a file that the browser saves, once it exists; otherwise the test's own time limit ends the wait.
fn read_when_there(path: &std::path::Path) -> String {
    for _ in 0..600 {
        if let Ok(text) = std::fs::read_to_string(path) {
            return text;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{}: never came", path.display());
}

#[test]
fn one_finds_ones_way() {
    let Some((dir, base)) = report() else { return };
    let mut browser = Browser::start();
    browser.size(1280);
    browser.open(&format!("{base}/index.html#theme=light"));
    // The chosen language stays while navigating.
    browser.eval("document.querySelector('[data-set=\"lang=ja\"]').click()");
    assert_eq!(browser.eval("document.documentElement.lang"), json!("ja"));
    browser.eval("document.querySelector('.side a[href^=\"map.html\"]').click()");
    browser.until("location.pathname.endsWith('map.html') && document.documentElement.lang === 'ja'");
    // The title is set a moment later, when the page is complete.
    browser.until("document.title === document.querySelector('meta[name=title-ja]')?.content");
    // Search over the claims, and over the largest table.
    browser.open(&format!("{base}/index.html#lang=en"));
    browser.eval(
        "var q = document.querySelector('#claims-search'); q.value = 'blas'; q.dispatchEvent(new Event('input'))",
    );
    assert_eq!(browser.eval("document.querySelector('[data-source] .vt-count').textContent"), json!("1 / 2"));
    browser.eval("document.querySelector('[data-source] .row').click()");
    assert_eq!(
        browser.eval("document.querySelector('[data-source] .vt-detail').textContent.includes('blas-290')"),
        json!(true)
    );
    browser.open(&format!("{base}/inventory.html#lang=en"));
    assert_eq!(browser.eval("document.querySelector('[data-kernels] .vt-count').textContent"), json!("70,000"));
    assert_eq!(
        browser.eval("document.querySelectorAll('[data-kernels] tbody tr').length < 80"),
        json!(true),
        "only what is in view is drawn"
    );
    browser.eval("var q = document.querySelector('#kernels-search'); q.value = 'kernel_6999 gfx1201'; q.dispatchEvent(new Event('input'))");
    assert_eq!(browser.eval("document.querySelector('[data-kernels] .vt-count').textContent"), json!("1 / 70,000"));
    browser.eval("var q = document.querySelector('#kernels-search'); q.value = ''; q.dispatchEvent(new Event('input')); document.querySelector('[data-kernels] [data-sort=vgpr]').click(); document.querySelector('[data-kernels] [data-sort=vgpr]').click()");
    assert_eq!(
        browser.eval("Number(document.querySelectorAll('[data-kernels] tbody tr:not(.pad) td')[4].textContent) >= 254"),
        json!(true),
        "sorted by registers, the most first"
    );
    // The page itself saves the listed rows as a file.
    let saved = dir.path().join("saved");
    browser.call("Page.setDownloadBehavior", json!({"behavior": "allow", "downloadPath": saved}));
    browser.eval("var q = document.querySelector('#kernels-search'); q.value = 'kernel_6999 gfx1201'; q.dispatchEvent(new Event('input')); document.querySelector('[data-csv]').click()");
    let csv = read_when_there(&saved.join("kernels.csv"));
    let columns = "file,target,kernel,bundle,sgpr,vgpr,lds,scratch,wavefront,stub,kernels";
    let row = "libggml-hip.so (debian-sid),gfx1201,\"mul_mat_q<Q4_K,kernel_6999>\",";
    assert!(csv.starts_with(&format!("{columns}\n{row}")) && csv.lines().count() == 2, "{csv}");
    // A citation leads to its observation.
    browser.open(&format!("{base}/chain-which-path.html#lang=en"));
    browser.eval("document.querySelector('.evidence a[href*=\"#o-\"]').click()");
    browser.until("location.pathname.endsWith('observations.html') && document.querySelector('tr.sel') !== null");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    // All pages as one file.
    browser.open(&format!("file://{}/single.html#lang=en", dir.path().display()));
    assert_eq!(browser.eval("document.querySelectorAll('article:not([hidden])').length"), json!(1));
    browser.eval("document.querySelector('.side a[data-to=\"map.html\"]').click()");
    browser.until("document.querySelector('article:not([hidden])').dataset.page === 'map'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Pages whose version changes when the test says so.
struct Growing {
    version: AtomicUsize,
    sites: [site::Site; 2],
}

impl serve::Pages for Growing {
    fn version(&self) -> String {
        self.version.load(Ordering::Relaxed).to_string()
    }

    fn file(&self, path: &str) -> Option<Vec<u8>> {
        if path == "under-way.json" {
            return Some(br#"[{"verb":"watch","seconds":3,"line":"12 launches <b>"}]"#.to_vec());
        }
        self.sites[self.version.load(Ordering::Relaxed)].file(path).map(<[u8]>::to_vec)
    }
}

#[test]
fn served_pages_ask_their_own_server_and_load_themselves_anew() {
    if test_artifacts::program("chromium", "apt-get install chromium").is_none() {
        return;
    }
    let pages = Growing { version: AtomicUsize::new(0), sites: [small::served("0"), small::served("1")] };
    let server = serve::Server::bind(0).expect("loopback");
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| server.run(&pages, &|| ended.load(Ordering::Relaxed)));
        // The server also ends if the test fails.
        let tested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut browser = Browser::start();
            browser.size(1280);
            browser.server = server.url().trim_end_matches("index.html").to_owned();
            browser.open(&format!("{}#lang=en", server.url()));
            assert_eq!(browser.eval("document.querySelector('meta[name=live]').content"), json!("0"));
            browser.eval("document.querySelector('.side a[href^=\"map.html\"]').click()");
            browser.until("location.pathname.endsWith('map.html') && document.readyState === 'complete'");
            browser.until("document.querySelector('.under-way')?.textContent.includes('12 launches <b>')");
            pages.version.store(1, Ordering::Relaxed);
            browser.until(
                "document.querySelector('meta[name=live]')?.content === '1' && location.pathname.endsWith('map.html')",
            );
            assert_eq!(browser.complaints(), Vec::<String>::new());
        }));
        ended.store(true, Ordering::Relaxed);
        run.join().expect("the server");
        if let Err(failed) = tested {
            std::panic::resume_unwind(failed);
        }
    });
}
