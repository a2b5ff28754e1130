//! One frame: the layout for the terminal's size, as lines.

use crate::cells::{clock, cut, edges, left, width};
use crate::detail::{claims_page, help, kernel_page, selected_kernel};
use crate::keys::{Over, View};
use crate::snapshot::{Detail, Snapshot, Speed, State};
use crate::tables::{chart, claims, fallbacks, gaps, kernels, paths, processes, saying};
use crate::{Paint, cells};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};
use say::Lang;

/// Below this size, only the answer and its limits are shown.
const LEAST: (usize, usize) = (60, 16);
const MEDIUM: (usize, usize) = (120, 40);
const LARGE: (usize, usize) = (200, 50);
/// The left column of the large layout.
const LEFT: usize = 112;

/// The inputs of every part of a frame.
#[derive(Clone, Copy)]
pub(crate) struct Canvas<'a> {
    pub width: usize,
    pub lang: &'a Lang,
    pub paint: Paint,
}

impl Canvas<'_> {
    pub fn text(&self, key: &str) -> String {
        self.lang.text(key)
    }

    pub fn with(&self, key: &str, args: &[(&str, String)]) -> String {
        let args: Vec<_> = args.iter().map(|(name, value)| (*name, value.clone().into())).collect();
        self.lang.text_with(key, &args)
    }

    pub fn line(&self, text: &str, style: Style) -> Line<'static> {
        Line::from(Span::styled(cut(text, self.width), style))
    }

    pub fn plain(&self, text: &str) -> Line<'static> {
        self.line(text, Style::new())
    }

    pub fn rule(&self) -> Line<'static> {
        self.line(&"-".repeat(self.width), self.paint.faint())
    }
}

/// Exactly `height` lines of at most `width` cells. `detail`: the code and the rule of the chosen kernel, once known.
pub fn frame(
    now: &Snapshot,
    view: &View,
    detail: Option<&Detail>,
    (lang, paint): (&Lang, Paint),
    (columns, rows): (u16, u16),
) -> Vec<Line<'static>> {
    let (columns, rows) = (usize::from(columns), usize::from(rows));
    let canvas = Canvas { width: columns, lang, paint };
    if columns < LEAST.0 || rows < LEAST.1 {
        let mut lines = tiny(now, view, &canvas, rows);
        lines.truncate(rows);
        return lines;
    }
    let shown = view.shown(now);
    let mut lines = head(now, view, &canvas);
    let lists_gaps = columns >= MEDIUM.0 && rows >= MEDIUM.1 && matches!(view.over, Over::Nothing | Over::Help);
    let foot = foot(now, view, &canvas, lists_gaps && !matches!(now.state, State::NoLaunches(_)));
    let room = rows - lines.len() - foot.len();
    let mut body = match view.over {
        Over::Kernel => kernel_page(view, shown, detail, &canvas),
        Over::Claims => claims_page(shown, &canvas),
        Over::Nothing | Over::Help if matches!(now.state, State::NoLaunches(_)) => no_launches(now, view, &canvas),
        Over::Nothing | Over::Help if columns >= LARGE.0 && rows >= LARGE.1 => {
            large(shown, view, detail, &canvas, room)
        }
        Over::Nothing | Over::Help if columns >= MEDIUM.0 && rows >= MEDIUM.1 => medium(shown, view, &canvas, room),
        Over::Nothing | Over::Help => small(now, shown, view, &canvas, room),
    };
    if body.len() > room {
        // A cut list always states how many lines are hidden.
        let hidden = body.len() - room + 1;
        body.truncate(room.saturating_sub(1));
        body.push(canvas.line(&canvas.with("live-more", &[("count", hidden.to_string())]), paint.faint()));
    }
    body.resize(room, Line::default());
    lines.append(&mut body);
    lines.extend(foot);
    if view.over == Over::Help {
        help(&mut lines, &canvas);
    }
    lines
}

/// Lines 1 and 2 of every pane, and a rule.
fn head(now: &Snapshot, view: &View, canvas: &Canvas<'_>) -> Vec<Line<'static>> {
    let mut title = "whichkernel watch".to_owned();
    for part in [now.card.clone(), now.vram.map(|vram| memory(vram, canvas))].into_iter().flatten() {
        title = format!("{title}  {part}");
    }
    let (state, style) = match (&now.state, &view.frozen) {
        (State::Ended(_), _) => (canvas.text("live-state-ended"), canvas.paint.ended()),
        (State::NoLaunches(_), _) => (canvas.text("live-state-none"), canvas.paint.attention()),
        (State::Live, Some(frozen)) => {
            (canvas.with("live-state-frozen", &[("at", clock(frozen.elapsed))]), canvas.paint.attention())
        }
        (State::Live, None) => (canvas.text("live-state-live"), canvas.paint.bold()),
    };
    let time = clock(now.elapsed);
    let room = canvas.width.saturating_sub(width(&state) + width(&time) + 4);
    let first = Line::from(vec![
        Span::styled(left(&title, room), canvas.paint.bold()),
        Span::raw("  "),
        Span::styled(state, style),
        Span::raw(format!("  {time}")),
    ]);
    vec![first, counts(now, canvas), canvas.rule()]
}

fn memory((used, total): (u64, u64), canvas: &Canvas<'_>) -> String {
    let gib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 30));
    canvas.with("live-vram", &[("used", gib(used)), ("total", gib(total))])
}

/// Line 2: seen, lost, gaps, unnamed, canary, and the word for how certain the counts are.
fn counts(now: &Snapshot, canvas: &Canvas<'_>) -> Line<'static> {
    let blind = matches!(now.state, State::NoLaunches(_));
    let number = |value: u64| if blind { "-".to_owned() } else { report::thousands(value) };
    let lost = format!("{}{}", number(now.lost), if now.lost_more && !blind { "+" } else { "" });
    let gaps = match &now.gaps {
        _ if blind => canvas.text("live-gaps-all"),
        Some(gaps) => gaps.len().to_string(),
        None => canvas.text("live-gaps-later"),
    };
    let paint = canvas.paint;
    let some_gaps = blind || now.gaps.as_ref().is_none_or(|gaps| !gaps.is_empty());
    let parts = [
        ("live-seen", number(now.seen), Style::new()),
        ("live-lost", lost, if now.lost > 0 { paint.wrong() } else { Style::new() }),
        ("live-gaps", gaps, if some_gaps { paint.warning() } else { Style::new() }),
        ("live-unnamed", number(now.unnamed), Style::new()),
        ("live-canary", now.canary.0.clone(), if now.canary.1 { Style::new() } else { paint.warning() }),
    ];
    let sure = canvas.text(now.sure.key());
    let mut room = canvas.width.saturating_sub(width(&sure) + 2);
    let mut spans = Vec::new();
    for (key, value, style) in parts {
        let text = cut(&format!("{}  ", canvas.with(key, &[("value", value)])), room);
        room -= width(&text).min(room);
        spans.push(Span::styled(text, style));
    }
    spans.push(Span::raw(" ".repeat(room + 2)));
    let wrong = now.lost > 0 || matches!(now.sure, crate::Sure::Partly);
    spans.push(Span::styled(sure, if wrong { paint.wrong() } else { paint.bold() }));
    Line::from(spans)
}

/// The newest gap, the filter or a remark; and the keys.
fn foot(now: &Snapshot, view: &View, canvas: &Canvas<'_>, lists_gaps: bool) -> Vec<Line<'static>> {
    let shown = view.shown(now);
    let newest = now.gaps.as_ref().filter(|_| !lists_gaps).and_then(|gaps| gaps.last().zip(Some(gaps.len())));
    let news = match (&view.remark, view.typing, newest) {
        (Some(remark), ..) => canvas.plain(remark),
        (None, true, _) => {
            let all = view.process(shown).map_or(0, |process| process.kernels.len());
            let args = [("count", view.kernels(shown).len().to_string()), ("all", all.to_string())];
            canvas.plain(&edges(&format!("/ {}", view.filter), &canvas.with("live-match", &args), canvas.width))
        }
        (None, false, Some((gap, number))) => {
            let args = [("number", number.to_string()), ("what", gap.clone())];
            canvas.line(&canvas.with("live-gap", &args), canvas.paint.warning())
        }
        (None, false, None) => Line::default(),
    };
    let keys = match (&now.state, view.over) {
        _ if view.typing => "live-keys-filter",
        (_, Over::Kernel) => "live-keys-kernel",
        (_, Over::Claims) => "live-keys-back",
        (State::Ended(_), _) => "live-keys-ended",
        _ if view.frozen.is_some() => "live-keys-frozen",
        _ if canvas.width >= MEDIUM.0 => "live-keys-wide",
        _ => "live-keys",
    };
    vec![news, canvas.plain(&canvas.text(keys))]
}

fn tiny(now: &Snapshot, view: &View, canvas: &Canvas<'_>, rows: usize) -> Vec<Line<'static>> {
    let speed = view.process(view.shown(now)).map_or_else(String::new, |process| {
        let decode = match process.decode {
            Speed::Of(value) => cells::figure(value),
            Speed::Idle => canvas.text("live-idle"),
            Speed::Ended => canvas.text("live-ended"),
            Speed::Unknown => "-".to_owned(),
        };
        let limit = process.limit.map_or_else(|| "-".to_owned(), cells::figure);
        canvas.with("live-tiny-speed", &[("decode", decode), ("limit", limit)])
    });
    let more = if now.lost_more { "+" } else { "" };
    let gaps = now.gaps.as_ref().map_or_else(|| canvas.text("live-gaps-later"), |gaps| gaps.len().to_string());
    let lost = format!("{}{more}", report::thousands(now.lost));
    let size = [("size", format!("{}x{rows}", canvas.width)), ("needs", format!("{}x{}", LEAST.0, LEAST.1))];
    let style = if now.lost > 0 { canvas.paint.wrong() } else { Style::new() };
    let counted =
        format!("{}  {}", canvas.with("live-lost", &[("value", lost)]), canvas.with("live-gaps", &[("value", gaps)]));
    vec![
        canvas.line("whichkernel watch", canvas.paint.bold()),
        canvas.plain(&speed),
        canvas.line(&counted, style),
        canvas.plain(&canvas.with("live-tiny-size", &size)),
        canvas.plain(&canvas.text("live-tiny-keys")),
    ]
}

/// The rows for processes and paths; the kernels get the rest.
fn budget(room: usize, fixed: usize) -> (usize, usize) {
    let spare = room.saturating_sub(fixed);
    ((spare / 5).clamp(1, 6), (spare / 3).clamp(1, 8))
}

fn small(now: &Snapshot, shown: &Snapshot, view: &View, canvas: &Canvas<'_>, room: usize) -> Vec<Line<'static>> {
    let (most_processes, most_paths) = budget(room, 7);
    let mut lines = processes(shown, view, canvas, most_processes);
    lines.push(canvas.rule());
    if let State::Ended(how) = &now.state {
        lines.push(canvas.line(how, canvas.paint.bold()));
        lines.push(canvas.plain(&canvas.text("live-last-figures")));
        lines.push(canvas.rule());
    }
    lines.extend(paths(shown, view, canvas, most_paths, 20));
    lines.extend(saying(shown, canvas));
    lines.push(canvas.rule());
    let rest = room.saturating_sub(lines.len());
    lines.extend(kernels(shown, view, canvas, rest));
    lines
}

fn medium(shown: &Snapshot, view: &View, canvas: &Canvas<'_>, room: usize) -> Vec<Line<'static>> {
    let mut lines = upper(shown, view, canvas);
    lines.push(canvas.rule());
    let gaps = gaps(shown, canvas, 4);
    let rest = room.saturating_sub(lines.len() + gaps.len() + 1);
    let mut table = kernels(shown, view, canvas, rest);
    table.resize(rest, Line::default());
    lines.append(&mut table);
    lines.push(canvas.rule());
    lines.extend(gaps);
    lines
}

/// Everything above the kernels, for a wide terminal.
fn upper(shown: &Snapshot, view: &View, canvas: &Canvas<'_>) -> Vec<Line<'static>> {
    let mut lines = processes(shown, view, canvas, 6);
    let inputs = view.process(shown).and_then(|process| process.inputs.clone());
    lines.extend(inputs.map(|inputs| canvas.line(&format!("  {inputs}"), canvas.paint.faint())));
    if let State::Ended(how) = &shown.state {
        lines.push(canvas.line(how, canvas.paint.bold()));
    }
    for block in [paths(shown, view, canvas, 8, 30), fallbacks(shown, canvas, 5), claims(shown, canvas, 8)] {
        if !block.is_empty() {
            lines.push(canvas.rule());
            lines.extend(block);
        }
    }
    lines
}

fn large(
    shown: &Snapshot,
    view: &View,
    detail: Option<&Detail>,
    canvas: &Canvas<'_>,
    room: usize,
) -> Vec<Line<'static>> {
    let beside = Canvas { width: canvas.width - LEFT - 2, ..*canvas };
    let left = upper(shown, view, &Canvas { width: LEFT, ..*canvas });
    let mut right = chart(shown, view, &beside);
    right.push(Line::default());
    right.extend(selected_kernel(view, shown, detail, &beside));
    let rows = left.len().max(right.len());
    let mut lines = Vec::new();
    for row in 0..rows {
        let mut line = left.get(row).cloned().unwrap_or_default();
        let fill = LEFT + 2 - line.width().min(LEFT);
        line.spans.push(Span::raw(" ".repeat(fill)));
        line.spans.extend(right.get(row).cloned().unwrap_or_default().spans);
        lines.push(line);
    }
    lines.push(canvas.rule());
    let gaps = gaps(shown, canvas, 4);
    let rest = room.saturating_sub(lines.len() + gaps.len() + 1);
    let mut table = kernels(shown, view, canvas, rest);
    table.resize(rest, Line::default());
    lines.append(&mut table);
    lines.push(canvas.rule());
    lines.extend(gaps);
    lines
}

/// The screen if launches cannot be seen: the reason, the remedy, and the facts that are known without them.
fn no_launches(now: &Snapshot, view: &View, canvas: &Canvas<'_>) -> Vec<Line<'static>> {
    let State::NoLaunches(why) = &now.state else { return Vec::new() };
    let mut lines = processes(now, view, canvas, 4);
    lines.push(canvas.rule());
    for text in why {
        lines.extend(report::wrap(&say::plain(text), canvas.width).iter().map(|line| canvas.plain(line)));
        lines.push(Line::default());
    }
    lines.extend(claims(now, canvas, usize::MAX));
    lines
}
