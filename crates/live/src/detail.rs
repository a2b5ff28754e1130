//! Screens over the panes: one kernel, the server's claims, the keys.

use crate::cells::{figure, left, width};
use crate::draw::Canvas;
use crate::keys::View;
use crate::snapshot::{Detail, Snapshot};
use crate::tables::claims;
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

/// The cells of a label.
const LABEL: usize = 14;

fn labelled(canvas: &Canvas<'_>, label: &str, text: &str, indent: usize) -> Vec<Line<'static>> {
    let room = canvas.width.saturating_sub(indent + LABEL + 1);
    let parts = report::wrap(&say::plain(text), room.max(1));
    let label = |at: usize| if at == 0 { left(label, LABEL) } else { " ".repeat(LABEL) };
    let lines = parts.iter().enumerate();
    lines.map(|(at, part)| canvas.plain(&format!("{}{}{part}", " ".repeat(indent), label(at)))).collect()
}

/// Labels and texts of the chosen kernel: facts from the launches, then facts from its file and from the rules.
fn parts(view: &View, shown: &Snapshot, detail: Option<&Detail>, canvas: &Canvas<'_>) -> Vec<(String, String)> {
    let Some(kernel) = view.chosen(shown) else { return Vec::new() };
    let row = &kernel.row;
    let phase = canvas.text(&format!("live-phase-{}", row.phase.key()));
    let path = row.path.map_or_else(|| row.family.to_string(), |path| path.to_string());
    let columns = row.ne11.map_or_else(
        || canvas.text("live-columns-unknown"),
        |count| canvas.with("live-columns", &[("count", count.to_string())]),
    );
    let dims = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    let grids = match row.grids.as_slice() {
        [] | [[0, ..]] => canvas.text("live-not-known"),
        [one] => dims(*one),
        [first, .., last] => canvas.with(
            "live-grids",
            &[("count", row.grids.len().to_string()), ("first", dims(*first)), ("last", dims(*last))],
        ),
    };
    let launches = [
        ("launches", report::thousands(row.launches)),
        ("token", kernel.per_token.map_or_else(|| "-".to_owned(), figure)),
        ("second", kernel.per_second.map_or_else(|| "-".to_owned(), figure)),
    ];
    let time = match row.took {
        Some(took) => format!("{:.1} us", took.mean_ns() as f64 / 1e3),
        None => canvas.text("live-no-time"),
    };
    let label = |key: &str| canvas.text(&format!("live-label-{key}"));
    let mut list = vec![
        (label("name"), row.name.text()),
        (label("path"), canvas.with("live-path", &[("path", path), ("phase", phase), ("columns", columns)])),
        (label("launches"), canvas.with("live-launches", &launches)),
        (
            label("grid"),
            canvas
                .with("live-grid", &[("grid", grids), ("block", dims(row.block)), ("shared", row.shared.to_string())]),
        ),
        (label("time"), time),
    ];
    let file = match (row.file.is_empty(), row.bundle) {
        (true, _) => canvas.text("live-not-known"),
        (false, Some(bundle)) => {
            canvas.with("live-code", &[("file", row.file.clone()), ("bundle", bundle.to_string())])
        }
        (false, None) => row.file.clone(),
    };
    list.push((label("code"), file));
    match detail {
        Some(detail) => list.extend(detail.lines.iter().cloned()),
        None => list.push((label("registers"), canvas.text("live-reading"))),
    }
    list
}

pub fn kernel_page(view: &View, shown: &Snapshot, detail: Option<&Detail>, canvas: &Canvas<'_>) -> Vec<Line<'static>> {
    let Some(kernel) = view.chosen(shown) else { return vec![canvas.plain(&canvas.text("live-no-kernel"))] };
    let mut lines = vec![canvas.line(&kernel.row.kernel, canvas.paint.bold()), Line::default()];
    for (label, text) in parts(view, shown, detail, canvas) {
        lines.extend(labelled(canvas, &label, &text, 2));
    }
    lines
}

/// The details of the selected kernel next to the panes, without the time and the long name.
pub fn selected_kernel(
    view: &View,
    shown: &Snapshot,
    detail: Option<&Detail>,
    canvas: &Canvas<'_>,
) -> Vec<Line<'static>> {
    let mut lines = vec![canvas.line(&canvas.text("live-selected"), canvas.paint.bold())];
    let Some(kernel) = view.chosen(shown) else { return lines };
    lines.extend(labelled(canvas, &canvas.text("live-label-name"), &kernel.row.kernel, 2));
    for (label, text) in parts(view, shown, detail, canvas).into_iter().skip(1) {
        lines.extend(labelled(canvas, &label, &text, 2));
    }
    lines
}

pub fn claims_page(shown: &Snapshot, canvas: &Canvas<'_>) -> Vec<Line<'static>> {
    match shown.claims.is_empty() {
        true => vec![canvas.plain(&canvas.text("live-no-claims"))],
        false => claims(shown, canvas, usize::MAX),
    }
}

/// Draws the list of keys over the frame.
pub fn help(lines: &mut [Line<'static>], canvas: &Canvas<'_>) {
    const KEYS: [&str; 8] = ["quit", "freeze", "tab", "enter", "sort", "filter", "claims", "save"];
    const WORDS: [&str; 4] = ["lost", "gap", "canary", "fallback"];
    let entry = |key: &str| canvas.text(&format!("live-help-{key}"));
    let entries: Vec<String> = KEYS.iter().chain(&WORDS).map(|key| entry(key)).collect();
    let inner = entries.iter().map(|text| width(text)).max().unwrap_or(0).min(canvas.width.saturating_sub(6));
    let rule = |title: &str| {
        let text = format!("+-- {title} ");
        format!("{text}{}+", "-".repeat((inner + 3).saturating_sub(width(&text))))
    };
    let mut frame = vec![rule(&canvas.text("live-help-keys"))];
    frame.extend(entries.iter().take(KEYS.len()).map(|text| format!("| {} |", left(text, inner))));
    frame.push(rule(&canvas.text("live-help-words")));
    frame.extend(entries.iter().skip(KEYS.len()).map(|text| format!("| {} |", left(text, inner))));
    frame.push(format!("+{}+", "-".repeat(inner + 2)));
    let from = canvas.width.saturating_sub(inner + 4) / 2;
    // Lines 1 and 2 stay visible.
    for (line, text) in lines.iter_mut().skip(3).zip(frame) {
        *line = over(line, &text, from);
    }
}

/// Replaces the cells of a line from `from` on by a text. Half of a wide character becomes a blank.
fn over(line: &Line<'static>, text: &str, from: usize) -> Line<'static> {
    let all: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
    let (mut before, mut after, mut at) = (String::new(), String::new(), 0);
    let until = from + width(text);
    for c in all.chars() {
        let cells = width(c.encode_utf8(&mut [0; 4]));
        if at + cells <= from {
            before.push(c);
        } else if at >= until {
            after.push(c);
        } else if at + cells > until {
            after.push_str(&" ".repeat(at + cells - until));
        }
        at += cells;
    }
    Line::from(vec![Span::styled(left(&before, from), Style::new()), Span::raw(text.to_owned()), Span::raw(after)])
}
