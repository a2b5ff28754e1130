//! The answer on a terminal: verdict, subject, speed, causes, fine, not checked, next. The order is the same in every
//! width and language.

use crate::context::Context;
use crate::emit::Show;
use crate::fit::unbroken;
use report::{Lang, Table, thousands, wrap};
use say::{Message, say};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;
use why::bound::By;
use why::cause::Cause;
use why::verdict::NotChecked;
use why::{ANSWER, Answer, Cost, DryRun, PROMPT, Phase, Speed};

/// The width if there is no terminal.
const USUAL: usize = 80;
/// From this width on, a bound is shown with its inputs.
const WIDE: usize = 110;
const CELLS: usize = 10;

impl Show for Answer {
    fn table(&self, _lang: &Lang) -> Option<Table> {
        None
    }

    fn text(&self, context: &Context) -> String {
        let screen = Screen { lang: &context.lang, width: context.width.unwrap_or(USUAL).max(40) };
        screen.whole(self)
    }
}

/// A language and a width.
pub struct Screen<'a> {
    pub lang: &'a Lang,
    pub width: usize,
}

impl Screen<'_> {
    fn whole(&self, answer: &Answer) -> String {
        let mut out =
            self.graded("", &self.lang.say(&answer.verdict.text), &self.lang.say(&answer.verdict.sure.word()));
        let _ = writeln!(out, "{}", self.subject(answer));
        out.push('\n');
        out.push_str(&self.speed(answer));
        if answer.subject.server.is_none()
            && (!answer.paths.is_empty() || answer.memory.is_some() || answer.dry_run.is_some())
        {
            out.push('\n');
            out.push_str(&self.expected(answer));
        }
        for cause in &answer.causes {
            out.push('\n');
            out.push_str(&self.cause(cause));
        }
        out.push('\n');
        out.push_str(&self.rest(answer));
        out
    }

    /// A text with a word at the right edge of its last line.
    pub fn graded(&self, mark: &str, text: &str, word: &str) -> String {
        let (indent, room) = (mark.width(), self.width.saturating_sub(mark.width()));
        let lines = wrap(text, room.saturating_sub(word.width() + 1).max(20));
        let mut out = String::new();
        for (at, line) in lines.iter().enumerate() {
            let begin = if at == 0 { mark.to_owned() } else { " ".repeat(indent) };
            let last = at + 1 == lines.len();
            let end = if last { right(word, room.saturating_sub(line.width())) } else { String::new() };
            let _ = writeln!(out, "{begin}{line}{end}");
        }
        out
    }

    pub fn subject(&self, answer: &Answer) -> String {
        let subject = &answer.subject;
        let model = match (&subject.model, &subject.kind) {
            (Some(model), Some(kind)) if !model.contains(kind.as_str()) => Some(format!("{model} {kind}")),
            (Some(model), _) => Some(model.clone()),
            (None, kind) => kind.clone(),
        };
        let server = subject.server.as_ref().map(|server| {
            let version = server.version.as_deref().unwrap_or_default();
            format!("{} {version}", server.name).trim_end().to_owned()
        });
        let card = subject.card.clone().or_else(|| subject.server.as_ref().map(|_| "CPU".to_owned()));
        let parts: Vec<String> =
            [model, card, server.or_else(|| subject.rules.clone())].into_iter().flatten().collect();
        wrap(&parts.join(" | "), self.width).join("\n")
    }

    fn speed(&self, answer: &Answer) -> String {
        // If nothing is known about either phase, for the same reason, one line is enough.
        let empty = |speed: &Speed| speed.now.is_none() && speed.limit.is_none();
        let missing: BTreeSet<String> =
            answer.speed.iter().filter_map(|speed| speed.limit_missing.as_ref()).map(Message::to_string).collect();
        let nothing = answer.speed.iter().all(empty) && missing.len() == 1;
        let mut out = String::new();
        if !nothing {
            out.push_str(&self.speed_table(answer));
        } else if let Some(what) = answer.speed.iter().find_map(|speed| speed.limit_missing.as_ref()) {
            let line =
                format!("{}: {}", self.lang.text("why-head-at-most"), self.lang.say(&say!("why-limit-missing", what)));
            let _ = writeln!(out, "{}", capital(&line));
        }
        let measured = answer.speed.iter().filter_map(|speed| speed.now).map(|now| now.runs).max();
        let mut notes = Vec::new();
        match (measured, &answer.unmeasured, &answer.subject.server) {
            (Some(runs), ..) => {
                let asked = answer.asked.as_ref();
                let (prompt, tokens) = asked.map_or((PROMPT, ANSWER), |asked| (asked.prompt, asked.answer));
                notes.push(say!("why-unit-measured", runs, prompt, answer = tokens));
                if let Some(asked) = asked.filter(|asked| asked.answered < asked.requests) {
                    notes.push(say!("why-unit-few", answered = asked.answered, requests = asked.requests));
                    notes.extend(asked.failed.iter().map(|why| say!("why-unit-failed", why)));
                }
                if answer.causes.is_empty() && answer.speed.iter().any(|speed| speed.share.is_some()) {
                    notes.push(say!("why-unit-arithmetic"));
                }
            }
            (None, Some(why), _) => notes.push(say!("why-unmeasured", why)),
            (None, None, _) if nothing => {}
            (None, None, _) => notes.push(say!("why-unit-none", tokens = PROMPT)),
        }
        let joint = if self.lang.is_japanese() { "" } else { " " };
        let text = notes.iter().map(|note| self.lang.say(note)).collect::<Vec<_>>().join(joint);
        for line in wrap(&text, self.width).iter().filter(|_| !text.is_empty()) {
            let _ = writeln!(out, "{line}");
        }
        out
    }

    fn speed_table(&self, answer: &Answer) -> String {
        let text = |message: Message| self.lang.say(&message);
        let label = |speed: &Speed| phase(self.lang, speed.phase);
        let wide = answer.speed.iter().map(|speed| label(speed).width()).max().unwrap_or(7);
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), rate);
        let now = |speed: &Speed| number(speed.now.map(|now| now.median));
        let most = |speed: &Speed| number(speed.limit.as_ref().map(|limit| limit.value));
        // Two spaces before the longest number: a small model on a large card reaches millions of tokens per second.
        let column = |values: &dyn Fn(&Speed) -> String| {
            answer.speed.iter().map(|speed| values(speed).width() + 2).max().unwrap_or(9).max(9)
        };
        let (now_wide, most_wide) = (column(&now), column(&most));
        let row = |name: &str, now: &str, most: &str, share: &str, bar: &str| {
            format!(
                "{}{}{}{}  {}  ",
                left(name, wide),
                right(now, now_wide),
                right(most, most_wide),
                right(share, 7),
                left(bar, CELLS + 2)
            )
        };
        let head = row(
            &text(say!("why-head-speed")),
            &text(say!("why-head-now")),
            &text(say!("why-head-at-most")),
            &text(say!("why-head-share")),
            "",
        );
        let mut out = format!("{head}{}\n", text(say!("why-head-limit")));
        for speed in &answer.speed {
            let share = speed.share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", share * 100.0));
            let bar = speed.share.map(bar).unwrap_or_default();
            let begin = row(&label(speed), &now(speed), &most(speed), &share, &bar);
            let room = self.width.saturating_sub(begin.width()).max(16);
            for (at, line) in wrap(&self.limit(speed), room).iter().enumerate() {
                let begin = if at == 0 { begin.clone() } else { " ".repeat(begin.width()) };
                let _ = writeln!(out, "{begin}{line}");
            }
        }
        out
    }

    /// The inputs of the bound; more of them on a wide screen.
    pub fn limit(&self, speed: &Speed) -> String {
        let Some(limit) = &speed.limit else {
            let what = speed.limit_missing.clone().unwrap_or_else(|| say!("why-missing-model"));
            return self.lang.say(&say!("why-limit-missing", what));
        };
        let long = self.width >= WIDE;
        let input = |name: &str| limit.input(name).unwrap_or(0.0);
        let giga = |value: f64| decimal(value / 1e9);
        let read = || giga(input("weights") + input("kv"));
        let tera = |value: f64| decimal(value / 1e12);
        let alone = speed.alone.map_or_else(|| "-".to_owned(), rate);
        self.lang.say(&match limit.by {
            By::MemoryBandwidth if long => {
                say!("why-limit-memory-long", rate = giga(input("bandwidth")), bytes = read())
            }
            By::MemoryBandwidth => say!("why-limit-memory", rate = giga(input("bandwidth"))),
            By::SystemMemory if long => {
                let memory = limit.inputs.iter().find(|one| one.name == "system-memory").map(|one| one.origin.clone());
                let memory = memory.unwrap_or_default().split(": ").nth(1).unwrap_or_default().to_owned();
                say!("why-limit-system-long", rate = giga(input("system-memory")), memory, bytes = read())
            }
            By::SystemMemory => say!("why-limit-system", rate = giga(input("system-memory"))),
            By::BothMemories if long => say!(
                "why-limit-both-long",
                gpu = giga(input("gpu-bytes")),
                rate = giga(input("bandwidth")),
                cpu = giga(input("cpu-bytes")),
                system = giga(input("system-memory")),
                alone,
            ),
            By::BothMemories => say!("why-limit-both", alone),
            By::Int8Matrix if long => {
                say!("why-limit-int8-long", peak = tera(input("peak")), work = giga(input("work")))
            }
            By::Int8Matrix => say!("why-limit-int8", peak = tera(input("peak"))),
            By::FastestMatrix if long => {
                say!("why-limit-fastest-long", peak = tera(input("peak")), work = giga(input("work")))
            }
            By::FastestMatrix => say!("why-limit-fastest", peak = tera(input("peak"))),
            By::Fp16Matrix if long => {
                say!("why-limit-fp16-long", peak = tera(input("peak")), work = giga(input("work")))
            }
            By::Fp16Matrix => say!("why-limit-fp16", peak = tera(input("peak"))),
        })
    }

    /// Without a server: the paths that the rules choose, and the memory plan.
    fn expected(&self, answer: &Answer) -> String {
        let mut rows: Vec<(String, String)> = answer
            .paths
            .iter()
            .map(|row| {
                let columns = match row.from == row.to {
                    true => say!("why-columns-one", columns = row.from),
                    false => say!("why-columns-range", from = row.from, to = row.to),
                };
                (self.lang.say(&columns), row.path.clone())
            })
            .collect();
        rows.extend(answer.dry_run.iter().map(|run| (self.lang.text("why-label-dry-run"), self.dry_run(run))));
        if let Some(plan) = answer.memory {
            let gib = |bytes: u64| format!("{:.1}", bytes as f64 / (1_u64 << 30) as f64);
            let kv = format!("{:.3}", plan.kv_per_token / (1_u64 << 20) as f64);
            let (weights, vram) = (gib(plan.weights), gib(plan.vram));
            let says = say!("why-memory-plan-buffers", weights, kv, vram);
            rows.push((self.lang.text("why-label-memory"), self.lang.say(&says)));
        }
        let mut out = format!("{}\n", self.lang.text("why-label-expected"));
        out.push_str(&self.rows("   ", &rows));
        out
    }

    /// `1, 8: MMVQ; 512: MMQ (Q4_K of m.gguf in debian-sid, 2026-11-17)`.
    fn dry_run(&self, run: &DryRun) -> String {
        let group = |(columns, path): (Vec<u64>, String)| {
            let columns = self.lang.list(columns.iter().map(|columns| thousands(*columns)));
            self.lang.say(&say!("why-dry-run-group", columns, path))
        };
        let groups: Vec<String> = run.groups().into_iter().map(group).collect();
        let groups = groups.join(if self.lang.is_japanese() { "。" } else { "; " });
        let model = run.model.clone().unwrap_or_else(|| "-".to_owned());
        let runtime = run.runtime.clone().unwrap_or_else(|| run.library.clone());
        let date = run.time.split('T').next().unwrap_or_default().to_owned();
        let says = match run.differs.as_slice() {
            [] => say!("why-dry-run", groups, kind = run.kind, model, runtime, date),
            differs => {
                let differs: Vec<String> = differs.iter().map(u64::to_string).collect();
                say!("why-dry-run-differs", groups, kind = run.kind, model, runtime, date, differs)
            }
        };
        self.lang.say(&says)
    }

    fn cause(&self, cause: &Cause) -> String {
        let mark = left(&cause.n.to_string(), 3);
        let text = |message: &Message| self.lang.say(message);
        let mut out = self.graded(&mark, &capital(&text(&cause.text)), &text(&cause.sure.word()));
        let mut rows: Vec<(&str, String)> = Vec::new();
        for seen in &cause.evidence {
            let says = text(&seen.says);
            let place = match seen.place.is_empty() || says.contains(&seen.place) {
                true => says,
                false => format!("{}: {says}", seen.place),
            };
            rows.push(("why-label-evidence", place));
        }
        rows.extend(cause.reason.iter().map(|reason| ("why-label-reason", text(reason))));
        rows.push(("why-label-cost", self.cost(cause)));
        if let Some(fix) = &cause.fix {
            rows.push(("why-label-fix", fix.command.clone()));
            rows.push(("why-label-undo", fix.undo.clone()));
            rows.extend(fix.note.iter().map(|note| ("why-label-note", text(note))));
            rows.push(("why-label-verify", text(&fix.verify)));
        }
        let rows: Vec<(String, String)> = rows.into_iter().map(|(key, text)| (self.lang.text(key), text)).collect();
        out.push_str(&self.rows("   ", &rows));
        out
    }

    fn cost(&self, cause: &Cause) -> String {
        let measurable = cause.fix.as_ref().is_some_and(|fix| fix.change.is_some());
        self.lang.say(&match &cause.cost {
            Cost::Computed { at_most, instead_of, .. } => {
                say!("why-cost-decode", now = rate(*at_most), instead = rate(*instead_of))
            }
            Cost::Between { low, high, instead_of, inputs, .. } => {
                let input = |name: &str| inputs.iter().find(|input| input.name == name).map_or(0.0, |one| one.value);
                let mib = |name: &str| thousands((input(name) / f64::from(1 << 20)) as u64);
                let (small, large) = (mib("scores-prompt"), mib("scores-context"));
                let (full, instead) = (thousands(input("context") as u64), rate(*instead_of));
                say!("why-cost-scores", low = rate(*low), high = rate(*high), instead, full, small, large)
            }
            Cost::No { says: Some(says) } => says.clone(),
            Cost::No { says: None } if measurable => say!("why-cost-measure", n = cause.n),
            Cost::No { says: None } => say!("why-cost-unknown"),
        })
    }

    fn rest(&self, answer: &Answer) -> String {
        let (list, comma) = if self.lang.is_japanese() { ("。", "、") } else { ("; ", ", ") };
        let fine: Vec<String> = answer.fine.iter().map(|fine| self.lang.say(&fine.text)).collect();
        let mut rows = Vec::new();
        if !fine.is_empty() {
            rows.push((self.lang.text("why-label-fine"), fine.join(list)));
        }
        // Items with the same reason are combined.
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for one in &answer.not_checked {
            let (why, name) = (self.why(one), self.lang.say(&one.id.check()));
            match groups.iter_mut().find(|(known, _)| *known == why) {
                Some((_, names)) => names.push(name),
                None => groups.push((why, vec![name])),
            }
        }
        // Without a server, nearly all checks are missing: one sentence replaces the list.
        if answer.subject.server.is_none() {
            let machine = self.lang.text("why-unchecked-machine");
            groups.retain(|(why, _)| *why != machine);
        }
        let one = |(why, names): &(String, Vec<String>)| self.lang.noted(&names.join(comma), why);
        let mut said: Vec<String> = groups.iter().map(one).collect();
        if answer.subject.server.is_none() {
            said.insert(0, self.lang.text("why-unchecked-all"));
        }
        // Launches are not a cause, but only they show which kernel ran.
        if let Some(command) = answer.next.iter().find(|next| next.contains(" watch ")) {
            said.push(self.lang.say(&say!("why-unchecked-launches", command)));
        }
        let unchecked = if said.is_empty() { self.lang.text("why-nothing-left") } else { said.join(list) };
        rows.push((self.lang.text("why-label-not-checked"), unchecked));
        if let Some(next) = &answer.next {
            rows.push((self.lang.text("why-label-next"), next.clone()));
        }
        self.rows("", &rows)
    }

    fn why(&self, one: &NotChecked) -> String {
        match &one.command {
            Some(command) => format!("{}: {command}", self.lang.say(&one.why)),
            None => self.lang.say(&one.why),
        }
    }

    /// Labels in a column with texts next to them; a long text continues below itself.
    pub fn rows(&self, indent: &str, rows: &[(String, String)]) -> String {
        let wide = rows.iter().map(|(label, _)| label.width()).max().unwrap_or(0) + 2;
        let room = self.width.saturating_sub(indent.width() + wide).max(20);
        let mut out = String::new();
        for (label, text) in rows {
            for (at, line) in unbroken(text, room).iter().enumerate() {
                let label = if at == 0 { label.as_str() } else { "" };
                let _ = writeln!(out, "{indent}{}{line}", left(label, wide));
            }
        }
        out
    }
}

pub fn phase(lang: &Lang, phase: Phase) -> String {
    match phase {
        Phase::Decode => lang.text("why-decode"),
        Phase::Prefill => lang.text("why-prefill"),
    }
}

/// Causes are written as parts of a sentence; on a separate line they begin with a capital.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

/// A bar of ten cells; any nonzero share has at least one.
fn bar(share: f64) -> String {
    let full = ((share * CELLS as f64).round() as usize).clamp(usize::from(share > 0.0), CELLS);
    format!("[{}{}]", "#".repeat(full), ".".repeat(CELLS - full))
}

/// Tokens per second: three digits are enough.
pub fn rate(value: f64) -> String {
    match value {
        value if value >= 999.5 => {
            let step = 10_f64.powf(value.log10().floor() - 2.0);
            report::thousands(((value / step).round() * step) as u64)
        }
        value if value >= 9.95 => format!("{value:.0}"),
        value => format!("{value:.1}"),
    }
}

/// `640`, `89.6`, `4.69`, `1,008`.
fn decimal(value: f64) -> String {
    match value {
        value if value >= 1000.0 => report::thousands(value.round() as u64),
        value if (value - value.round()).abs() < 0.005 => format!("{value:.0}"),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.4, 9.6, 24.1, 136.4, 4312.0, 27_868.0, 999.6].map(rate);
        assert_eq!(shown, ["0.4", "9.6", "24", "136", "4,310", "27,900", "1,000"]);
        assert_eq!([640.0, 89.6, 4.693, 1008.0, 389.3].map(decimal), ["640", "89.6", "4.69", "1,008", "389"]);
    }

    /// One of three requests: both numbers and the reason are shown, in both languages.
    #[test]
    fn a_speed_from_too_few_requests_says_so() {
        let now = why::Now::of(&[12.0]);
        let failed = Some(Message::verbatim("no answer within 25 s"));
        let asked = why::Asked { prompt: 512, answer: 64, requests: 3, answered: 1, failed };
        let answer = Answer { asked: Some(asked), ..Answer::of(&why::Facts::default(), [now, now], None) };
        for (lang, few) in [("en", "Only 1 of 3 requests gave a speed"), ("ja", "3 回中 1 回のみ")] {
            let shown = Screen { lang: &Lang::new(lang), width: 200 }.whole(&answer);
            assert!(shown.contains(few) && shown.contains("no answer within 25 s"), "{shown}");
        }
    }

    #[test]
    fn a_bar_has_ten_cells() {
        assert_eq!([0.0, 0.01, 0.74, 1.3].map(bar), ["[..........]", "[#.........]", "[#######...]", "[##########]"]);
    }

    #[test]
    fn the_word_stands_at_the_right_edge() {
        let lang = Lang::new("en");
        let screen = Screen { lang: &lang, width: 40 };
        for text in ["flash attention is off", "prompts of 64 tokens or more go to BLAS, not MMQ, in this build"] {
            for mark in ["", "1  "] {
                let shown = screen.graded(mark, text, "expected");
                assert!(shown.lines().all(|line| line.width() <= 40), "{shown}");
                assert!(
                    shown.lines().last().is_some_and(|line| line.width() == 40 && line.ends_with("expected")),
                    "{shown}"
                );
                assert!(shown.starts_with(mark));
            }
        }
    }
}
