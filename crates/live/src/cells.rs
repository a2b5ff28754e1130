//! Text in terminal cells: padded, cut and measured by display width, and safe to draw.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub fn width(text: &str) -> usize {
    text.width()
}

/// At most `most` cells; a cut text ends in `~`. External text is escaped, so that it can't control the terminal.
pub fn cut(text: &str, most: usize) -> String {
    let text = say::plain(text);
    if text.width() <= most {
        return text.into_owned();
    }
    let (mut out, mut used) = (String::new(), 0);
    for c in text.chars() {
        let cells = c.width().unwrap_or(0);
        if used + cells + 1 > most {
            break;
        }
        out.push(c);
        used += cells;
    }
    if most > 0 {
        out.push('~');
    }
    out
}

pub fn left(text: &str, cells: usize) -> String {
    let text = cut(text, cells);
    let fill = " ".repeat(cells.saturating_sub(text.width()));
    format!("{text}{fill}")
}

pub fn right(text: &str, cells: usize) -> String {
    let text = cut(text, cells);
    let fill = " ".repeat(cells.saturating_sub(text.width()));
    format!("{fill}{text}")
}

/// `a` at the left edge and `b` at the right edge of a line.
pub fn edges(a: &str, b: &str, cells: usize) -> String {
    let b = cut(b, cells);
    format!("{}{b}", left(a, cells.saturating_sub(b.width())))
}

/// `[###..]`: a share above 0 has at least one mark, and only a full share has all.
pub fn bar(share: f64, cells: usize) -> String {
    let share = share.clamp(0.0, 1.0);
    let mut full = (share * cells as f64).round() as usize;
    if share > 0.0 {
        full = full.max(1);
    }
    if share < 0.995 {
        full = full.min(cells.saturating_sub(1).max(1));
    }
    format!("[{}{}]", "#".repeat(full), ".".repeat(cells.saturating_sub(full)))
}

/// ` 58 %`, `<1 %`.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 1.0 => "<1 %".to_owned(),
        // Rounding must not turn "nearly all" into "all".
        percent if percent < 100.0 && percent > 99.0 => "99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// A rate or a count per token: whole numbers from 10 on.
pub fn figure(value: f64) -> String {
    let whole = value.round();
    if value >= 10.0 || (value - whole).abs() < 0.005 {
        return report::thousands(whole.max(0.0) as u64);
    }
    format!("{value:.1}")
}

/// `00:02:14`.
pub fn clock(elapsed: std::time::Duration) -> String {
    let all = elapsed.as_secs();
    format!("{:02}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_wider_than_its_cells_in_any_script() {
        for text in ["", "abc", "カーネル", "a\u{1b}[2Jb", "e\u{301}"] {
            for cells in 0..12 {
                assert!(cut(text, cells).width() <= cells, "{text:?} {cells}");
                assert_eq!((left(text, cells).width(), right(text, cells).width()), (cells, cells), "{text:?}");
            }
        }
        assert!(!cut("a\u{1b}[2Jb", 40).contains('\u{1b}'));
    }

    #[test]
    fn a_bar_is_empty_only_for_nothing_and_full_only_for_all() {
        let bars = [0.0, 0.001, 0.5, 0.99, 1.0].map(|share| bar(share, 5));
        assert_eq!(bars, ["[.....]", "[#....]", "[###..]", "[####.]", "[#####]"]);
        assert_eq!([0.0, 0.001, 0.58, 0.999, 1.0].map(percent), ["0 %", "<1 %", "58 %", "99 %", "100 %"]);
        assert_eq!([0.0, 0.25, 3.0, 11.6, 22656.0].map(figure), ["0", "0.2", "3", "12", "22,656"]);
    }
}
