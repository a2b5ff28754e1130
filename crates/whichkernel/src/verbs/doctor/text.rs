//! Doctor's answer for users: the installed software, the working observers, and the problems.

use super::{fix_text, say_all};
use crate::context::Context;
use crate::graded::with_needs;
use doctor::{Facts, Fix, Look, Process, Report, Status, Variable, Weight, explain};
use evidence::Reach;
use investigate::{Feasibility, Need};
use report::{Lang, conclusion_text, wrap};
use say::say;
use std::fmt::Write;

/// Problems come first, because readers look for them. `live`: this machine, not a file tree.
pub fn render(report: &Report, live: bool, context: &Context) -> String {
    // For a file tree, it is unknown which commands can be run.
    let feasible = live.then(|| Feasibility::this(&report.facts));
    let mut page = Page { out: String::new(), feasible, context };
    let kernel = report.facts.kernel.found().map_or("?", String::as_str);
    let tree = || context.lang.text_with("doctor-title-tree", &[("kernel", kernel.into())]);
    page.line(0, &if live { title(&report.facts, &context.lang) } else { tree() });
    page.cases(report);
    page.gpus(&report.facts);
    page.observers(report);
    page.servers(report);
    page.releases(&report.facts);
    page.variables(&report.facts);
    page.out
}

fn title(facts: &Facts, lang: &Lang) -> String {
    let user = match facts.permissions.uid {
        Some(0) => lang.text("doctor-user-root"),
        Some(uid) => lang.text_with("doctor-user-uid", &[("uid", uid.to_string().into())]),
        None => lang.text("doctor-user-unknown"),
    };
    let container = match (&facts.container.kind, facts.container.signs.as_slice()) {
        (Some(kind), _) => lang.text_with("doctor-in-container", &[("kind", kind.as_str().into())]),
        (None, []) => lang.text("doctor-no-container"),
        (None, signs) => lang.text_with("doctor-maybe-container", &[("signs", lang.list(signs).into())]),
    };
    let args = [
        ("kernel", facts.kernel.found().map_or("?", String::as_str).into()),
        ("user", user.into()),
        ("capabilities", facts.permissions.capabilities.len().to_string().into()),
        ("container", container.into()),
    ];
    lang.text_with("doctor-title", &args)
}

struct Page<'a> {
    out: String,
    feasible: Option<Feasibility>,
    context: &'a Context,
}

impl Page<'_> {
    fn lang(&self) -> &Lang {
        &self.context.lang
    }

    /// Text at an indent, wrapped to the terminal.
    fn line(&mut self, indent: usize, text: &str) {
        let lines = match self.context.width {
            Some(width) => wrap(text, width.saturating_sub(indent).max(20)),
            None => vec![text.to_owned()],
        };
        for line in lines {
            let _ = writeln!(self.out, "{}{line}", " ".repeat(indent));
        }
    }

    /// A label in a separate column, with its text next to it.
    fn labelled(&mut self, label: &str, columns: usize, text: &str) {
        let indent = columns + 2;
        let start = self.out.len();
        self.line(indent, text);
        // The label takes the place of the first line's indent; it may contain colour codes, so its width is given.
        self.out.replace_range(start..start + indent, label);
    }

    fn head(&mut self, key: &str) {
        let title = self.lang().text(key);
        let _ = writeln!(self.out, "\n{}", self.paint(&title, "1"));
    }

    fn paint(&self, text: &str, code: &str) -> String {
        if self.context.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Commands are for copying, so they are never wrapped.
    fn fix(&mut self, indent: usize, fix: &Fix) {
        let label = self.lang().text("doctor-fix");
        let text = fix_text(fix, self.lang());
        match fix {
            Fix::Run(_) | Fix::Change { .. } => {
                let needs: Vec<Need> = self.feasible.iter().flat_map(|here| here.needs(&text)).collect();
                let command = with_needs(self.lang(), &self.paint(&text, "36"), &needs);
                let _ = writeln!(self.out, "{}{label}: {command}", " ".repeat(indent));
                if let Some(undo) = fix.undo() {
                    let label = self.lang().text("doctor-undo");
                    let _ = writeln!(self.out, "{}{label}: {undo}", " ".repeat(indent));
                }
            }
            Fix::Do(_) => self.line(indent, &format!("{label}: {text}")),
        }
    }

    fn gpus(&mut self, facts: &Facts) {
        self.head("doctor-head-gpus");
        for gpu in &facts.gpus {
            let number = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
            let message = say!(
                "doctor-gpu-amd",
                target = gpu.target_or_unknown(),
                device = gpu.device_id.map_or("?".to_owned(), |id| format!("0x{id:04x}")),
                vram = gpu.vram_bytes.map_or("?".to_owned(), |n| format!("{:.1}", n as f64 / f64::from(1 << 30))),
                units = number(gpu.compute_units),
                wavefront = number(gpu.wavefront)
            );
            let mut text = self.lang().say(&message);
            if gpu.integrated {
                text = format!("{text} {}", self.lang().text("doctor-gpu-integrated"));
            }
            self.line(2, &text);
        }
        if facts.nvidia.present() {
            let driver = facts.nvidia.driver.found().map_or("?", String::as_str);
            let cards = if facts.nvidia.cards.is_empty() { &facts.nvidia.devices } else { &facts.nvidia.cards };
            let message = say!("doctor-gpu-nvidia", driver, cards);
            self.line(2, &self.lang().say(&message));
            if !facts.nvidia.opens {
                self.line(2, &self.lang().text("doctor-gpu-nvidia-unopened"));
            }
        }
        if facts.gpus.is_empty() && !facts.nvidia.present() {
            let key = match facts.gpus_found().reach() {
                Reach::Whole => "doctor-gpu-none",
                Reach::Alone => "doctor-gpu-none-alone",
                _ => "doctor-gpu-unseen",
            };
            self.line(2, &self.lang().text(key));
        }
    }

    fn observers(&mut self, report: &Report) {
        self.head("doctor-head-observers");
        let lang = self.lang();
        let statuses = [Status::Works, Status::Blocked, Status::Absent, Status::Untested];
        let words: Vec<String> = statuses.map(|status| lang.text(&format!("doctor-status-{}", status.name()))).to_vec();
        let wide = words.iter().map(|word| width(word)).max().unwrap_or(0);
        let long = report.observers.iter().map(|observer| observer.name.len()).max().unwrap_or(0);
        let columns = 2 + wide + 2 + long;
        for observer in &report.observers {
            let word = self.lang().text(&format!("doctor-status-{}", observer.status.name()));
            let code = match observer.status {
                Status::Works => "32",
                Status::Blocked => "31",
                Status::Absent | Status::Untested => "33",
            };
            let pad = " ".repeat(wide - width(&word));
            let label = format!("  {}{pad}  {:long$}  ", self.paint(&word, code), observer.name);
            let why = say_all(&observer.why, self.lang());
            self.labelled(&label, columns, &why);
            if let Some(fix) = &observer.fix {
                self.fix(columns + 2, fix);
            }
        }
    }

    fn servers(&mut self, report: &Report) {
        self.head("doctor-head-servers");
        let servers = &report.facts.servers;
        if servers.binaries.is_empty()
            && servers.running.is_empty()
            && servers.units.is_empty()
            && report.trials.answers.is_empty()
        {
            let looked = report.facts.servers_running().reach() >= Reach::Alone;
            let key = if looked { "doctor-servers-none" } else { "doctor-servers-none-tree" };
            self.line(2, &self.lang().text(key));
        }
        for binary in &servers.binaries {
            self.line(2, &binary.path);
        }
        for unit in &servers.units {
            let message = say!("doctor-server-unit", path = unit.path, user = unit.user.as_deref().unwrap_or("root"));
            self.line(2, &self.lang().say(&message));
        }
        for process in &servers.running {
            let text = self.process(process);
            self.line(2, &text);
        }
        for answer in report.trials.answers.iter().filter(|answer| answer.server.is_some()) {
            let models = if answer.models.is_empty() {
                self.lang().text("doctor-server-no-model")
            } else {
                answer.models.join(", ")
            };
            let message = say!(
                "doctor-server-answer",
                url = answer.url,
                server = answer.server.map_or("", server::Kind::name),
                version = answer.version.as_deref().unwrap_or("?"),
                models
            );
            self.line(2, &self.lang().say(&message));
        }
        for discovery in report.facts.discovery.iter().filter(|discovery| !discovery.devices.is_empty()) {
            let message = say!("doctor-discovery", log = discovery.log, devices = discovery.devices);
            self.line(2, &self.lang().say(&message));
        }
    }

    fn process(&self, process: &Process) -> String {
        let lang = self.lang();
        let libraries = match &process.libraries {
            Look::Found(list) => lang.text_with("doctor-server-libraries", &[("count", list.len().into())]),
            _ => lang.text("doctor-server-libraries-unseen"),
        };
        let ports: Vec<String> = process.ports.iter().map(u16::to_string).collect();
        let ports = if ports.is_empty() {
            String::new()
        } else {
            lang.text_with("doctor-server-ports", &[("ports", lang.list(&ports).into())])
        };
        let message = say!("doctor-server-running", role = process.role.name(), pid = process.pid, libraries, ports);
        lang.say(&message)
    }

    fn releases(&mut self, facts: &Facts) {
        if facts.rocm.is_empty() {
            return;
        }
        self.head("doctor-head-releases");
        for release in &facts.rocm {
            let version = release.version.clone().unwrap_or_else(|| self.lang().text("doctor-release-unknown"));
            let message = say!("doctor-release", version, directory = release.directory, shown = release.shown_by);
            self.line(2, &self.lang().say(&message));
        }
    }

    fn variables(&mut self, facts: &Facts) {
        let running =
            facts.servers.running.iter().filter_map(|p| Some((format!("pid {}", p.pid), p.environment.found()?)));
        let units = facts.servers.units.iter().map(|unit| (unit.path.clone(), &unit.environment));
        let shell = std::iter::once(("shell".to_owned(), &facts.environment));
        let groups: Vec<(String, &Vec<Variable>)> =
            running.chain(units).chain(shell).filter(|(_, list)| !list.is_empty()).collect();
        let hidden = facts.servers.running.iter().any(|process| process.environment.denied());
        if groups.is_empty() && !hidden {
            return;
        }
        self.head("doctor-head-variables");
        for process in facts.servers.running.iter().filter(|process| process.environment.denied()) {
            let message = say!("doctor-environment-unseen", pid = process.pid);
            self.line(2, &self.lang().say(&message));
        }
        for (place, list) in groups {
            self.line(2, &place);
            for variable in list {
                let meaning = explain(variable).map(|message| self.lang().noted("", &self.lang().say(&message)));
                let set = format!("{}={}", variable.name, short(&variable.value));
                self.line(4, &meaning.map_or_else(|| set.clone(), |meaning| format!("{set} {meaning}")));
            }
        }
    }

    fn cases(&mut self, report: &Report) {
        self.head("doctor-head-cases");
        if report.cases.is_empty() {
            let found = report.cases_found();
            let all = found.reach() >= Reach::Alone;
            let none = || self.lang().text("doctor-cases-none");
            let text = if all { none() } else { conclusion_text(self.lang(), &found) };
            self.line(2, &text);
        }
        for case in &report.cases {
            let word = self.lang().text(&format!("doctor-weight-{}", case.weight.name()));
            let code = match case.weight {
                Weight::Problem => "31",
                Weight::Warning => "33",
                Weight::Note => "2",
            };
            let columns = 2 + width(&word);
            let label = format!("  {}  ", self.paint(&word, code));
            let what = self.lang().say(&case.what);
            self.labelled(&label, columns, &what);
            for fix in &case.fix {
                self.fix(columns + 2, fix);
            }
        }
    }
}

/// Shortens a value; JSON has it in full.
fn short(value: &str) -> String {
    const MOST: usize = 120;
    if value.chars().count() <= MOST { value.to_owned() } else { value.chars().take(MOST).chain(['…']).collect() }
}

fn width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}
