//! The report in a real browser: headless Chromium, controlled over a pipe. Navigation, the language switch, search, no
//! console error, no request that leaves the page, and axe-core finds nothing.

use browser::Browser;
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

mod small;

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
            wrong.extend(browser.barriers(&axe).into_iter().map(|one| format!("{here}: {one}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Waits for a file that the browser saves; the test's own time limit applies if it never appears.
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
    // The switch stays while navigating.
    browser.eval("document.querySelector('[data-set=\"lang=ja\"]').click()");
    assert_eq!(browser.eval("document.documentElement.lang"), json!("ja"));
    browser.eval("document.querySelector('.side a[href^=\"map.html\"]').click()");
    browser.until("location.pathname.endsWith('map.html') && document.documentElement.lang === 'ja'");
    // The title is set when the page is whole, which is a moment later.
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
    // The listed rows as a file, which the page itself creates.
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
    // All of it as one file.
    browser.open(&format!("file://{}/single.html#lang=en", dir.path().display()));
    assert_eq!(browser.eval("document.querySelectorAll('article:not([hidden])').length"), json!(1));
    browser.eval("document.querySelector('.side a[data-to=\"map.html\"]').click()");
    browser.until("document.querySelector('article:not([hidden])').dataset.page === 'map'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Pages whose version changes when the test requests it.
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
        // Ends the server even if the test fails.
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
