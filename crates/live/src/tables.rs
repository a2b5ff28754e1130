//! The tables of the panes.

use crate::cells::{bar, figure, left, percent, right, width};
use crate::draw::Canvas;
use crate::keys::{Pane, Sort, View};
use crate::snapshot::{Claim, Fate, Kernel, Process, Snapshot, Speed};
use launch::Phase;
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

/// The rows around `at`, if only `most` rows fit.
fn around(at: usize, count: usize, most: usize) -> std::ops::Range<usize> {
    let from = (at + 1).saturating_sub(most.max(1)).min(count.saturating_sub(most));
    from..(from + most).min(count)
}

fn mark(selected: bool) -> &'static str {
    if selected { "> " } else { "  " }
}

fn row(canvas: &Canvas<'_>, text: &str, selected: bool, active: bool) -> Line<'static> {
    let style = if selected && active { canvas.paint.selected() } else { Style::new() };
    canvas.line(text, style)
}

pub fn processes(shown: &Snapshot, view: &View, canvas: &Canvas<'_>, most: usize) -> Vec<Line<'static>> {
    let wide = canvas.width >= 110;
    let cells = if wide { 12 } else { 5 };
    let title = |key: &str| canvas.text(key);
    let numbers = [title("live-decode"), title("live-limit"), title("live-share")];
    let widths = [8, 6, 6];
    let fixed = 2 + 7 + 14 + widths.iter().sum::<usize>() + cells + 4 + if wide { 20 } else { 0 };
    let model = canvas.width.saturating_sub(fixed);
    let heading = |name: &str, parts: String, tail: String| {
        format!("  {}{}{}{parts}{tail}", left("PID", 7), left(name, 14), left(&title("live-model"), model))
    };
    let parts: String = numbers.iter().zip(widths).map(|(text, cells)| right(text, cells)).collect();
    let tail = match wide {
        true => format!(
            "{}{}{}",
            " ".repeat(cells + 4),
            right(&title("live-context"), 10),
            right(&title("live-waiting"), 10)
        ),
        false => String::new(),
    };
    let mut lines = vec![canvas.line(&heading(&title("live-server"), parts, tail), canvas.paint.bold())];
    let chosen = view.process(shown).map(|process| process.pid);
    let at = shown.processes.iter().position(|process| Some(process.pid) == chosen).unwrap_or(0);
    let range = around(at, shown.processes.len(), most);
    for process in shown.processes.get(range).unwrap_or_default() {
        let share = match process.decode {
            Speed::Of(value) => process.limit.map(|limit| value / limit),
            _ => None,
        };
        let values = [
            speed(process, canvas),
            process.limit.map_or_else(|| "-".to_owned(), figure),
            share.map_or_else(String::new, percent),
        ];
        let values: String = values.iter().zip(widths).map(|(text, cells)| right(text, cells)).collect();
        let shape = share.map_or_else(|| " ".repeat(cells + 2), |share| bar(share, cells));
        let tail = match wide {
            true => {
                let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), report::thousands);
                format!(" {}{}", right(&number(process.context), 10), right(&number(process.waiting), 10))
            }
            false => String::new(),
        };
        let selected = Some(process.pid) == chosen;
        let pid = if process.pid == 0 { "-".to_owned() } else { process.pid.to_string() };
        let text = format!(
            "{}{}{} {} {values} {shape}{tail}",
            mark(selected),
            left(&pid, 7),
            left(&process.name, 13),
            left(process.model.as_deref().unwrap_or("-"), model.saturating_sub(1)),
        );
        lines.push(row(canvas, &text, selected, view.pane == Pane::Processes));
    }
    if shown.processes.is_empty() {
        lines.push(canvas.plain(&format!("  {}", title("live-no-process"))));
    }
    lines
}

fn speed(process: &Process, canvas: &Canvas<'_>) -> String {
    match process.decode {
        Speed::Of(value) => figure(value),
        Speed::Idle => canvas.text("live-idle"),
        Speed::Ended => canvas.text("live-ended"),
        Speed::Unknown => "-".to_owned(),
    }
}

pub fn paths(shown: &Snapshot, view: &View, canvas: &Canvas<'_>, most: usize, cells: usize) -> Vec<Line<'static>> {
    let Some(process) = view.process(shown) else { return Vec::new() };
    let pid = if process.pid == 0 { "-".to_owned() } else { process.pid.to_string() };
    let mut lines = vec![canvas.line(&canvas.with("live-paths", &[("pid", pid)]), canvas.paint.bold())];
    if process.paths.is_empty() {
        lines.push(canvas.plain(&format!("  {}", canvas.text("live-no-product"))));
    }
    let name = |phase: Phase| canvas.text(&format!("live-phase-{}", phase.key()));
    let widest = process.paths.iter().map(|path| width(&path.path.to_string())).max().unwrap_or(0).max(5);
    // The first rows are the largest shares; fallbacks are shown whatever their share.
    let mut list: Vec<_> = process.paths.iter().collect();
    if list.len() > most {
        let mut by: Vec<_> = list.clone();
        by.sort_by_key(|path| path.fallback.is_none());
        by.truncate(most.saturating_sub(1));
        list.retain(|path| by.iter().any(|kept| std::ptr::eq(*kept, *path)));
    }
    let mut last = None;
    for path in &list {
        let label = if last == Some(path.phase) { String::new() } else { name(path.phase) };
        let first = last.replace(path.phase) != Some(path.phase);
        let note = match &path.fallback {
            Some(why) => format!("! {why}"),
            None if path.phase == Phase::Decode && first => process.per_token.map_or_else(
                || path.types.join(" "),
                |count| canvas.with("live-per-token", &[("count", figure(count))]),
            ),
            None => path.types.join(" "),
        };
        let text = format!(
            "  {}{} {} {}  {note}",
            left(&label, 11),
            left(&path.path.to_string(), widest),
            bar(path.share, cells),
            right(&percent(path.share), 5),
        );
        let style = if path.fallback.is_some() { canvas.paint.warning() } else { Style::new() };
        lines.push(canvas.line(&text, style));
    }
    if list.len() < process.paths.len() {
        let count = (process.paths.len() - list.len()).to_string();
        lines.push(canvas.line(&format!("  {}", canvas.with("live-more", &[("count", count)])), canvas.paint.faint()));
    }
    lines
}

/// The claims in one line: how many, and the first that differs.
pub fn saying(shown: &Snapshot, canvas: &Canvas<'_>) -> Option<Line<'static>> {
    if shown.claims.is_empty() {
        return None;
    }
    let count = |fate: Fate| shown.claims.iter().filter(|claim| claim.fate == fate).count().to_string();
    if let Some(claim) = shown.claims.iter().find(|claim| claim.fate == Fate::Differs) {
        let args = [("what", claim.what.clone()), ("said", claim.said.clone()), ("seen", claim.seen.clone())];
        return Some(canvas.line(&format!("  {}", canvas.with("live-saying-differs", &args)), canvas.paint.wrong()));
    }
    let args =
        [("all", shown.claims.len().to_string()), ("match", count(Fate::Matches)), ("open", count(Fate::Undecided))];
    Some(canvas.plain(&format!("  {}", canvas.with("live-saying", &args))))
}

pub fn fallbacks(shown: &Snapshot, canvas: &Canvas<'_>, most: usize) -> Vec<Line<'static>> {
    if shown.fallbacks.is_empty() {
        return Vec::new();
    }
    let kernel = 30;
    let cells = |phase: &str, name: &str, launches: &str, why: &str| {
        format!("  {} {} {}  {why}", left(phase, 10), left(name, kernel), right(launches, 12))
    };
    let title = |key: &str| canvas.text(key);
    let heading = cells(&title("watch-phase"), &title("watch-kernel"), &title("watch-launches"), &title("live-why"));
    let mut lines = vec![canvas.line(&title("live-fallbacks"), canvas.paint.bold()), canvas.plain(&heading)];
    for one in shown.fallbacks.iter().take(most) {
        let phase = canvas.text(&format!("live-phase-{}", one.phase.key()));
        let text = cells(&phase, &one.kernel, &report::thousands(one.launches), &one.why);
        lines.push(canvas.line(&text, canvas.paint.warning()));
    }
    if let Some(hidden) = shown.fallbacks.len().checked_sub(most).filter(|hidden| *hidden > 0) {
        lines.push(canvas.plain(&format!("  {}", canvas.with("live-more", &[("count", hidden.to_string())]))));
    }
    lines
}

fn fate(claim: &Claim, canvas: &Canvas<'_>) -> (String, Style) {
    match claim.fate {
        Fate::Matches => (canvas.text("live-matches"), Style::new()),
        Fate::Differs => (canvas.text("live-differs"), canvas.paint.wrong()),
        Fate::Undecided => (canvas.text("live-undecided"), canvas.paint.faint()),
    }
}

pub fn claims(shown: &Snapshot, canvas: &Canvas<'_>, most: usize) -> Vec<Line<'static>> {
    if shown.claims.is_empty() {
        return Vec::new();
    }
    let verdict = ["live-matches", "live-differs", "live-undecided"].map(|key| width(&canvas.text(key)));
    let verdict = verdict.into_iter().max().unwrap_or(0);
    let room = canvas.width.saturating_sub(verdict + 6);
    let said = room * 2 / 5;
    let mut lines = vec![canvas.line(&canvas.text("live-claims"), canvas.paint.bold())];
    for claim in shown.claims.iter().take(most) {
        let (word, style) = fate(claim, canvas);
        let text = format!(
            "  {}  {}  ",
            left(&format!("{}: {}", claim.what, claim.said), said),
            left(&claim.seen, room.saturating_sub(said)),
        );
        lines.push(Line::from(vec![Span::raw(text), Span::styled(word, style)]));
    }
    if let Some(hidden) = shown.claims.len().checked_sub(most).filter(|hidden| *hidden > 0) {
        lines.push(canvas.plain(&format!("  {}", canvas.with("live-more", &[("count", hidden.to_string())]))));
    }
    lines
}

/// `room` lines at most: the heading, and the kernels around the chosen one.
pub fn kernels(shown: &Snapshot, view: &View, canvas: &Canvas<'_>, room: usize) -> Vec<Line<'static>> {
    const WIDTHS: [usize; 5] = [11, 9, 11, 11, 8];
    let name = canvas.width.saturating_sub(2 + WIDTHS.iter().sum::<usize>());
    let list = view.kernels(shown);
    let all = view.process(shown).map_or(0, |process| process.kernels.len());
    let sign = if view.reverse { "^" } else { "v" };
    let heads = [
        (Sort::Phase, "live-head-phase"),
        (Sort::Columns, "live-head-columns"),
        (Sort::PerToken, "live-head-token"),
        (Sort::PerSecond, "live-head-second"),
        (Sort::Share, "live-head-share"),
    ];
    let marked = |sort: Sort, key: &str| match view.sort == sort {
        true => format!("{} {sign}", canvas.text(key)),
        false => canvas.text(key),
    };
    let mut title = marked(Sort::Name, "live-head-kernel");
    if !view.filter.is_empty() {
        let args = [("filter", view.filter.clone()), ("count", list.len().to_string()), ("all", all.to_string())];
        title = format!("{title}  {}", canvas.with("live-filtered", &args));
    }
    let mut heading = format!("  {}", left(&title, name));
    for (at, ((sort, key), cells)) in heads.iter().zip(WIDTHS).enumerate() {
        let text = marked(*sort, key);
        heading += &if at == 0 { left(&text, cells) } else { right(&text, cells) };
    }
    let mut lines = vec![canvas.line(&heading, canvas.paint.bold())];
    let at = view.at(&list);
    for (place, kernel) in
        around(at, list.len(), room.saturating_sub(1)).filter_map(|place| Some((place, list.get(place)?)))
    {
        let text = format!("{}{}", mark(place == at), line_of(kernel, name, WIDTHS, canvas));
        lines.push(row(canvas, &text, place == at, view.pane == Pane::Kernels));
    }
    if list.is_empty() {
        let args = [("count", "0".to_owned()), ("all", all.to_string())];
        let text = if all == 0 { canvas.text("live-no-kernel") } else { canvas.with("live-match", &args) };
        lines.push(canvas.plain(&format!("  {text}")));
    }
    lines
}

fn line_of(kernel: &Kernel, name: usize, widths: [usize; 5], canvas: &Canvas<'_>) -> String {
    let row = &kernel.row;
    let [phase, columns, token, second, share] = widths;
    let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), report::thousands);
    let is_call = matches!(row.name, watch::Name::Call(_));
    // A call is not a launch, so it has no share of the launches.
    let part = if is_call { "-".to_owned() } else { format!("{:.1} %", row.share * 100.0) };
    format!(
        "{} {}{}{}{}{}",
        left(&row.kernel, name.saturating_sub(1)),
        left(&canvas.text(&format!("live-phase-{}", row.phase.key())), phase),
        right(&number(row.ne11), columns),
        right(&kernel.per_token.map_or_else(|| "-".to_owned(), figure), token),
        right(&kernel.per_second.map_or_else(|| "-".to_owned(), figure), second),
        right(&part, share),
    )
}

pub fn gaps(shown: &Snapshot, canvas: &Canvas<'_>, most: usize) -> Vec<Line<'static>> {
    let Some(gaps) = &shown.gaps else { return vec![canvas.plain(&canvas.text("live-gaps-at-end"))] };
    let more = if shown.lost_more { "+" } else { "" };
    let args = [("gaps", gaps.len().to_string()), ("lost", format!("{}{more}", report::thousands(shown.lost)))];
    let mut lines = vec![canvas.line(&canvas.with("live-gaps-title", &args), canvas.paint.bold())];
    for (number, gap) in gaps.iter().enumerate().take(most) {
        let args = [("number", (number + 1).to_string()), ("what", gap.clone())];
        lines.push(canvas.line(&format!("  {}", canvas.with("live-gap", &args)), canvas.paint.warning()));
    }
    if let Some(hidden) = gaps.len().checked_sub(most).filter(|hidden| *hidden > 0) {
        lines.push(canvas.plain(&format!("  {}", canvas.with("live-more", &[("count", hidden.to_string())]))));
    }
    lines
}

/// The decoded tokens of the last seconds; the top is the limit, or without one the highest value.
pub fn chart(shown: &Snapshot, view: &View, canvas: &Canvas<'_>) -> Vec<Line<'static>> {
    const ROWS: usize = 5;
    let Some(process) = view.process(shown) else { return Vec::new() };
    let highest = process.history.iter().copied().fold(0.0, f64::max);
    let (key, top) = match process.limit {
        Some(limit) if limit >= highest => ("live-chart-limit", limit),
        _ => ("live-chart-highest", highest),
    };
    let title = canvas.with(key, &[("top", figure(top))]);
    let mut lines = vec![canvas.line(&title, canvas.paint.bold())];
    for row in 0..ROWS {
        let level = top * (ROWS - row) as f64 / ROWS as f64;
        let floor = top * (ROWS - row - 1) as f64 / ROWS as f64;
        let middle = (level + floor) / 2.0;
        let label = if top > 0.0 { figure(level) } else { String::new() };
        let cell = |value: &f64| if top > 0.0 && *value >= middle { "##" } else { "  " };
        let bars: String = process.history.iter().map(cell).collect();
        lines.push(canvas.plain(&format!("{} |{bars}", right(&label, 8))));
    }
    lines.push(canvas.plain(&format!("{} +{}", " ".repeat(8), "-".repeat(72.min(canvas.width.saturating_sub(10))))));
    lines
}
