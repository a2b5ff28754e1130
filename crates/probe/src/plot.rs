//! A plot of the speeds: as characters in the terminal, and as SVG.

use crate::speed::Speed;
use std::fmt::Write;

/// Points: length, and minimum, median and maximum of the measurements.
fn points(speeds: &[Speed]) -> Vec<(f64, f64, f64, f64)> {
    let one = |speed: &Speed| {
        let spread = speed.prompt_ms?;
        Some((speed.evaluated? as f64, spread.least, spread.median, spread.most))
    };
    speeds.iter().filter(|speed| speed.generated == Some(1)).filter_map(one).collect()
}

/// Milliseconds over tokens, `width` characters wide.
pub fn terminal(speeds: &[Speed], width: usize) -> Option<String> {
    let points = points(speeds);
    let (low, high) = (points.first()?.0, points.last()?.0);
    let top = points.iter().map(|point| point.3).fold(0.0, f64::max);
    if points.len() < 3 || top <= 0.0 || high <= low {
        return None;
    }
    const HEIGHT: usize = 12;
    let margin = format!("{top:.0} ms").len();
    let wide = width.saturating_sub(margin + 3).clamp(20, 120);
    let column = |x: f64| ((x - low) / (high - low) * (wide - 1) as f64).round() as usize;
    let row = |y: f64| HEIGHT - 1 - (y / top * (HEIGHT - 1) as f64).round().clamp(0.0, (HEIGHT - 1) as f64) as usize;
    let mut cells = vec![vec![' '; wide]; HEIGHT];
    for (x, least, middle, most) in &points {
        for cells in cells.iter_mut().take(row(*least) + 1).skip(row(*most)) {
            cells[column(*x)] = '|';
        }
        cells[row(*middle)][column(*x)] = '*';
    }
    let mut out = String::new();
    for (i, line) in cells.iter().enumerate() {
        let label = match i {
            0 => format!("{top:.0} ms"),
            i if i == HEIGHT - 1 => "0".to_owned(),
            _ => String::new(),
        };
        let text: String = line.iter().collect();
        let _ = writeln!(out, "{label:>margin$} |{}", text.trim_end());
    }
    let right = format!("{high:.0}");
    let gap = wide.saturating_sub(format!("{low:.0}").len() + right.len());
    let _ = writeln!(out, "{:margin$} +{}", "", "-".repeat(wide));
    let _ = writeln!(out, "{:margin$}  {low:.0}{}{right}", "", " ".repeat(gap));
    Some(out)
}

/// A standalone picture of 640 by 360, with the changes that were found.
pub fn svg(speeds: &[Speed], changes: &[u64], title: &str) -> String {
    let points = points(speeds);
    let (low, high) = (points.first().map_or(0.0, |point| point.0), points.last().map_or(1.0, |point| point.0));
    let top = points.iter().map(|point| point.3).fold(1e-9, f64::max);
    let x = |value: f64| 60.0 + (value - low) / (high - low).max(1.0) * 560.0;
    let y = |value: f64| 320.0 - value / top * 280.0;
    let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut out = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 360\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"640\" height=\"360\" fill=\"white\"/>\n",
    );
    let _ = writeln!(out, "<title>{title}</title>\n<text x=\"60\" y=\"24\">{title}</text>");
    out.push_str("<path d=\"M60 40V320H620\" fill=\"none\" stroke=\"black\"/>\n");
    for change in changes {
        let at = x(*change as f64);
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} 40V320\" stroke=\"#c33\" stroke-dasharray=\"4 3\"/><text x=\"{at:.1}\" y=\"38\" fill=\"#c33\" text-anchor=\"middle\">{change}</text>"
        );
    }
    for (tokens, least, _, most) in &points {
        let _ = writeln!(out, "<path d=\"M{0:.1} {1:.1}V{2:.1}\" stroke=\"#888\"/>", x(*tokens), y(*least), y(*most));
    }
    let line: Vec<String> =
        points.iter().map(|(tokens, _, middle, _)| format!("{:.1},{:.1}", x(*tokens), y(*middle))).collect();
    let _ = writeln!(out, "<polyline points=\"{}\" fill=\"none\" stroke=\"#26c\"/>", line.join(" "));
    for (tokens, _, middle, _) in &points {
        let _ = writeln!(out, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"#26c\"/>", x(*tokens), y(*middle));
    }
    let _ = writeln!(
        out,
        "<text x=\"60\" y=\"336\">{low:.0}</text><text x=\"620\" y=\"336\" text-anchor=\"end\">{high:.0} tokens evaluated</text>"
    );
    let _ = writeln!(
        out,
        "<text x=\"54\" y=\"44\" text-anchor=\"end\">{top:.1} ms</text><text x=\"54\" y=\"320\" text-anchor=\"end\">0</text>\n</svg>"
    );
    out
}
