//! Headless Chromium, driven over its debugging pipe: opens pages, runs scripts in them, and takes pictures.
#![forbid(unsafe_code)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Chromium with its debugging pipe on our two pipes. Ends with the test.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next: u64,
    events: Vec<Value>,
    session: String,
    /// The only address besides the disk that the pages may request: the server that they came from.
    pub server: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub fn start() -> Browser {
        let profile = tempfile::tempdir().expect("a folder for the browser");
        // Chromium reads from descriptor 3 and writes to descriptor 4; a shell connects our pipes to them.
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

    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    pub fn try_call(&mut self, method: &str, params: Value) -> Result<Value, String> {
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

    pub fn open(&mut self, url: &str) {
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

    pub fn eval(&mut self, script: &str) -> Value {
        let result =
            self.call("Runtime.evaluate", json!({"expression": script, "returnByValue": true, "awaitPromise": true}));
        assert!(result["exceptionDetails"].is_null(), "{script}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// Polls until the condition holds; the test's own time limit ends it otherwise.
    pub fn until(&mut self, script: &str) {
        for _ in 0..600 {
            // While the browser changes pages, there may be no page to query.
            let asked = json!({"expression": script, "returnByValue": true});
            if self.try_call("Runtime.evaluate", asked).is_ok_and(|said| said["result"]["value"] == json!(true)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("never came: {script}");
    }

    pub fn size(&mut self, width: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}),
        );
    }

    /// Chooses files in an input element, as a person would in the dialog.
    pub fn choose(&mut self, selector: &str, files: &[&Path]) {
        let document = self.call("DOM.getDocument", json!({}));
        let root = &document["root"]["nodeId"];
        let input = self.call("DOM.querySelector", json!({"nodeId": root, "selector": selector}));
        self.call("DOM.setFileInputFiles", json!({"nodeId": input["nodeId"], "files": files}));
    }

    /// The problems that axe-core finds on the page for people who use a keyboard or a screen reader.
    pub fn barriers(&mut self, axe: &str) -> Vec<String> {
        self.eval(axe);
        let run = "axe.run(document, {resultTypes: ['violations'], preload: false}).then(r => r.violations.map(v => \
                   v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + n.failureSummary).join(' | ')))";
        let found = self.eval(run);
        found.as_array().into_iter().flatten().map(ToString::to_string).collect()
    }

    /// A picture of the whole page, as PNG in base64.
    pub fn picture(&mut self) -> String {
        let shot = self.call("Page.captureScreenshot", json!({"captureBeyondViewport": true, "format": "png"}));
        shot["data"].as_str().unwrap_or_default().to_owned()
    }

    /// Errors on the page since it was opened, and every address that it requested.
    pub fn complaints(&self) -> Vec<String> {
        let mut all = Vec::new();
        for event in &self.events {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => all.push(params["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" if params["type"] == "error" => all.push(params["args"].to_string()),
                "Log.entryAdded" if params["entry"]["level"] == "error" => all.push(params["entry"].to_string()),
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    let inside = ["file://", "blob:", "data:"].iter().any(|own| url.starts_with(own));
                    if !inside && url != "about:blank" && !url.starts_with(&self.server) {
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
        // The browser has replaced the shell, so this is the only process that we started.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
