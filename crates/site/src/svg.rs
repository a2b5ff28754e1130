//! Figures: percent across, pixels down, so that text keeps its size at every width. Colours come from classes only.

use maud::{Markup, html};
use source::Path;

/// A range of column counts with one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    pub from: i64,
    pub to: i64,
    pub path: String,
    pub tile: Option<i64>,
}

/// Vector kernels, tile kernels, library calls: the families that have colours.
pub fn class(path: &str) -> &'static str {
    match Path::from_name(path) {
        Some(Path::Mmvq | Path::Mmvf | Path::Dmmv) => "vec",
        Some(Path::Mmq | Path::Mmf) => "tile",
        Some(Path::Blas) => "blas",
        _ => "none",
    }
}

/// The position of a column count on a logarithmic axis from 1 to `last`.
pub fn place(columns: i64, last: i64) -> f64 {
    let (columns, last) = (columns.max(1) as f64, last.max(2) as f64);
    (columns.ln() / last.ln() * 100.0).clamp(0.0, 100.0)
}

fn percent(value: f64) -> String {
    format!("{value:.2}%")
}

/// The axis above strips: a tick for each count; labels at the edges are aligned inwards; the tick of `asked` is bold.
pub fn axis(ticks: &[i64], asked: Option<i64>, last: i64) -> Markup {
    let kept = sparse(ticks, asked, last, APART);
    let narrow = sparse(ticks, asked, last, APART_NARROW);
    html! {
        svg.fluid height="22" aria-hidden="true" {
            @for tick in &kept {
                @let at = place(*tick, last);
                @let anchor = if at < 2.0 { "start" } else if at > 98.0 { "end" } else { "middle" };
                @let class = if Some(*tick) == asked { Some("q") } else if *tick == last || !narrow.contains(tick) { Some("minor") } else { None };
                text x=(percent(at)) y="14" text-anchor=(anchor) class=[class] { (tick) }
                line.hair x1=(percent(at)) x2=(percent(at)) y1="18" y2="22" {}
            }
        }
    }
}

/// The minimum distance in percent between two labels of an axis; and on a phone, where the style hides `minor` ones.
const APART: f64 = 7.0;
const APART_NARROW: f64 = 17.0;

/// If ticks would overlap, the requested one is kept, else the first.
fn sparse(ticks: &[i64], asked: Option<i64>, last: i64, apart: f64) -> Vec<i64> {
    let mut sorted: Vec<i64> =
        ticks.iter().copied().chain(asked).chain([1, last]).filter(|t| (1..=last).contains(t)).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut kept: Vec<i64> = Vec::new();
    for tick in sorted {
        let crowded = kept.last().is_some_and(|before| place(tick, last) - place(*before, last) < apart);
        let weighty = |tick: i64| Some(tick) == asked || tick == last;
        if crowded && weighty(tick) && kept.last().is_some_and(|before| *before != 1 && Some(*before) != asked) {
            kept.pop();
            kept.push(tick);
        } else if !crowded {
            kept.push(tick);
        }
    }
    kept
}

/// One build's paths over column counts, with a needle at the requested count.
pub fn strip(stretches: &[Stretch], needle: Option<i64>, last: i64, label: &str) -> Markup {
    html! {
        svg.fluid height="20" role="img" aria-label=(label) {
            @for (at, stretch) in stretches.iter().enumerate() {
                @let (start, end) = (place(stretch.from, last), place((stretch.to + 1).min(last), last));
                @let end = if stretch.to >= last { 100.0 } else { end };
                rect class=(class(&stretch.path)) x=(percent(start)) width=(percent((end - start).max(0.2))) height="20" {}
                @if end - start > 9.0 {
                    @let minor = if end - start < APART_NARROW { " minor" } else { "" };
                    text class=(format!("{}{minor}", class(&stretch.path))) x=(percent(start)) dx="6" y="14" { (name(&stretch.path)) }
                }
                @if at > 0 {
                    line.hair x1=(percent(start)) x2=(percent(start)) y1="0" y2="20" {}
                }
            }
            @if let Some(needle) = needle {
                @let at = percent(place(needle, last));
                line.needle x1=(at) x2=(at) y1="-1" y2="21" {}
            }
        }
    }
}

/// An unknown path has no name.
pub fn name(path: &str) -> &str {
    if path.is_empty() { "?" } else { path }
}

/// Parts of a whole as one bar: class and count.
pub fn bar(parts: &[(&'static str, usize)], height: u32, label: &str) -> Markup {
    let total = parts.iter().map(|(_, count)| count).sum::<usize>().max(1) as f64;
    let before = |end: usize| parts.iter().take(end).map(|(_, count)| *count as f64).sum::<f64>() / total * 100.0;
    html! {
        svg.fluid height=(height) role="img" aria-label=(label) {
            @for (at, (class, count)) in parts.iter().enumerate().filter(|(_, (_, count))| *count > 0) {
                @let width = *count as f64 / total * 100.0;
                rect class=(class) x=(percent(before(at))) width=(percent(width)) y="0.5" height=(height - 1) {}
            }
        }
    }
}

/// A bar whose length is the square root of its share of the longest, so that small ones stay visible.
pub fn root_bar(count: usize, most: usize, class: &str) -> Markup {
    // Zero has no bar.
    if count == 0 {
        return Markup::default();
    }
    let width = ((count as f64).sqrt() / (most.max(1) as f64).sqrt() * 96.0).max(1.5);
    html! {
        svg.fluid height="10" aria-hidden="true" {
            rect class=(class) x="1" y="0.5" width=(percent(width)) height="9" {}
        }
    }
}

/// Tile widths under a path.
pub fn tiles(stretches: &[Stretch], needle: Option<i64>, last: i64, label: &str) -> Markup {
    const HEIGHT: f64 = 64.0;
    let most = stretches.iter().filter_map(|stretch| stretch.tile).max().unwrap_or(1).max(1) as f64;
    html! {
        svg.fluid height="64" role="img" aria-label=(label) {
            @for stretch in stretches {
                @if let Some(tile) = stretch.tile {
                    @let (start, end) = (place(stretch.from, last), if stretch.to >= last { 100.0 } else { place(stretch.to + 1, last) });
                    @let height = (tile as f64 / most * (HEIGHT - 4.0)).max(3.0);
                    rect class=(class(&stretch.path)) x=(percent(start)) width=(percent(end - start)) y=(format!("{:.1}", HEIGHT - height)) height=(format!("{height:.1}")) {}
                }
            }
            @if let Some(needle) = needle {
                @let at = percent(place(needle, last));
                line.needle x1=(at) x2=(at) y1="0" y2="64" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_keeps_what_was_asked_and_its_ends() {
        let kept = sparse(&[2, 3, 9, 64, 256, 257, 288], Some(290), 1024, APART);
        assert!(kept.contains(&290) && kept.contains(&1) && kept.contains(&1024), "{kept:?}");
        let places: Vec<f64> = kept.iter().map(|tick| place(*tick, 1024)).collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= APART), "{kept:?}");
        let narrow = sparse(&[2, 3, 9, 64, 256, 257, 288], Some(290), 1024, APART_NARROW);
        assert!(narrow.contains(&290) && narrow.len() < kept.len(), "{narrow:?}");
    }

    #[test]
    fn a_path_that_nobody_knows_is_grey() {
        assert_eq!(class("<b>"), "none");
        assert_eq!(class("MMQ"), "tile");
    }
}
