//! The macro tiles that a BLAS library chooses over M and N, as a page with a heat map.

use crate::frame::{SCRIPT, STYLE, TOKENS, bar, document};
use crate::parts::{Col, mono, table};
use crate::words::{Arg, Words};
use maud::{Markup, html};

/// A product: its sizes, and the tile that the library chooses.
#[derive(Debug, Clone)]
pub struct TileCell {
    pub m: u64,
    pub n: u64,
    /// M and N of the macro tile; None if there is not exactly one answer.
    pub tile: Option<[u64; 2]>,
    pub index: Option<i64>,
    /// `*`: one of several; `-`: none; `?`: not computed.
    pub mark: &'static str,
}

/// A map, with everything that is shown on its page.
#[derive(Debug, Clone)]
pub struct TileMap {
    /// hipblaslt 1.1
    pub library: String,
    pub runtime: String,
    pub gpu: String,
    pub target: String,
    pub kind: String,
    pub trans: String,
    pub k: u64,
    /// Row by row; every row has the same N.
    pub cells: Vec<TileCell>,
    pub columns: usize,
    /// The map as a table to download.
    pub csv: String,
}

/// Every file of the page, by its name.
pub fn tile_map(map: &TileMap) -> Vec<(String, String)> {
    vec![
        ("tokens.css".to_owned(), TOKENS.to_owned()),
        ("report.css".to_owned(), STYLE.to_owned()),
        ("report.js".to_owned(), SCRIPT.to_owned()),
        ("map.csv".to_owned(), map.csv.clone()),
        ("index.html".to_owned(), page(map)),
    ]
}

fn page(map: &TileMap) -> String {
    let words = Words::default();
    let args: [(&'static str, Arg); 7] = [
        ("library", map.library.as_str().into()),
        ("runtime", map.runtime.as_str().into()),
        ("gpu", map.gpu.as_str().into()),
        ("target", map.target.as_str().into()),
        ("type", map.kind.as_str().into()),
        ("trans", map.trans.as_str().into()),
        ("k", map.k.into()),
    ];
    let title = words.pair("gemm-page-title", &args);
    let head = html! {
        link rel="stylesheet" href="tokens.css";
        link rel="stylesheet" href="report.css";
        script src="report.js" {}
    };
    let body = html! {
        (bar(&words, &map.library))
        div.shell {
            aside.side {
                nav aria-label="Pages / ページ" {
                    ul {
                        li { a href="index.html" aria-current="page" { (words.say("gemm-page-tiles")) } }
                        li { a href="map.csv" download="map.csv" { "map.csv" } }
                    }
                }
            }
            main id="main" {
                h1 { (words.say_with("gemm-page-title", &args)) }
                (words.par("lead", "gemm-page-lead", &args))
                div.wide { (heat(map, &title.en)) }
                (legend(map, &words))
                h2 { (words.say("gemm-page-tiles")) }
                (counts(map, &words))
                (words.par("small", "gemm-limits", &[]))
            }
        }
    };
    document(&title.en, &title.ja, head, body)
}

const ROW: usize = 26;

/// The elements of a tile as an opacity: 256 is the lightest, 65,536 the darkest on which text keeps a contrast of 4.5.
fn shade([m, n]: [u64; 2]) -> f64 {
    const DARKEST: f64 = 0.38;
    let bits = (m.saturating_mul(n).max(1) as f64).log2();
    ((bits - 7.0) / 9.0).clamp(0.1, 1.0) * DARKEST
}

/// M down, N across. Percent across, pixels down, as all figures of the report.
fn heat(map: &TileMap, label: &str) -> Markup {
    let columns = map.columns.max(1);
    let width = 100.0 / (columns + 1) as f64;
    let at = |column: usize| format!("{:.2}%", width * column as f64);
    let middle = |column: usize| format!("{:.2}%", width * (column as f64 + 0.5));
    let rows = map.cells.chunks(columns);
    let height = ROW * (rows.len() + 1);
    html! {
        svg.fluid height=(height) role="img" aria-label=(label) {
            text x="0" y="17" { "M \\ N" }
            @for (column, cell) in map.cells.iter().take(columns).enumerate() {
                // Every second label is left out on a phone.
                text class=(if column % 2 == 0 { "q" } else { "q minor" }) x=(middle(column + 1)) y="17" text-anchor="middle" { (cell.n) }
            }
            @for (row, cells) in rows.enumerate() {
                @let top = ROW * (row + 1);
                text.q x="0" y=(top + 17) { (cells.first().map_or(0, |cell| cell.m)) }
                @for (column, cell) in cells.iter().enumerate() {
                    @let strength = cell.tile.map(shade);
                    rect class=(if strength.is_some() { "heat" } else { "u" }) x=(at(column + 1)) y=(top) width=(format!("{:.2}%", width - 0.2)) height=(ROW - 2) fill-opacity=[strength.map(|shade| format!("{shade:.2}"))] {
                        title { (cell.m) " x " (cell.n) ": " (said(cell)) }
                    }
                    text.minor x=(middle(column + 1)) y=(top + 16) text-anchor="middle" { (name(cell)) }
                }
            }
        }
    }
}

fn name(cell: &TileCell) -> String {
    cell.tile.map_or_else(|| cell.mark.to_owned(), |[m, n]| format!("{m}x{n}"))
}

fn said(cell: &TileCell) -> String {
    let index = cell.index.map(|index| format!(" #{index}")).unwrap_or_default();
    format!("{}{index}", name(cell))
}

/// The marks that occur, in words.
fn legend(map: &TileMap, words: &Words) -> Markup {
    let has = |mark: &str| map.cells.iter().any(|cell| cell.tile.is_none() && cell.mark == mark);
    html! {
        p.small {
            (words.say("gemm-page-shade"))
            @for (mark, key) in [("*", "gemm-page-set"), ("-", "gemm-page-none"), ("?", "gemm-page-unknown")] {
                @if has(mark) { " " (mono(mark)) " " (words.say(key)) "." }
            }
        }
    }
}

/// How often each tile is chosen, the largest first.
fn counts(map: &TileMap, words: &Words) -> Markup {
    let mut tiles: Vec<([u64; 2], usize)> = Vec::new();
    for tile in map.cells.iter().filter_map(|cell| cell.tile) {
        match tiles.iter_mut().find(|known| known.0 == tile) {
            Some(known) => known.1 += 1,
            None => tiles.push((tile, 1)),
        }
    }
    tiles.sort_by_key(|([m, n], count)| (std::cmp::Reverse(m.saturating_mul(*n)), std::cmp::Reverse(*count)));
    let rows: Vec<Vec<Markup>> =
        tiles.iter().map(|([m, n], count)| vec![mono(&format!("{m}x{n}")), html! { (count) }]).collect();
    let column = |key: &str, number| Col { title: words.say(key), label: words.pair(key, &[]), number };
    table(&[column("gemm-column-tile", false), column("gemm-page-count", true)], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TileMap {
        let cell = |m, n, tile, mark| TileCell { m, n, tile, index: Some(7), mark };
        TileMap {
            library: "hipblaslt <1.1>".to_owned(),
            runtime: "debian-sid".to_owned(),
            gpu: "AMD Radeon RX 9070 XT".to_owned(),
            target: "gfx1201".to_owned(),
            kind: "f16".to_owned(),
            trans: "TN".to_owned(),
            k: 4096,
            cells: vec![
                cell(1, 1, Some([16, 16]), ""),
                cell(1, 64, None, "*"),
                cell(64, 1, Some([16, 16]), ""),
                cell(64, 64, Some([256, 256]), ""),
            ],
            columns: 2,
            csv: "m,n\n".to_owned(),
        }
    }

    #[test]
    fn every_product_is_a_cell_and_both_languages_are_there() {
        let files = tile_map(&map());
        let page = &files.iter().find(|(name, _)| name == "index.html").unwrap().1;
        assert_eq!(page.matches("<rect class=\"heat\"").count(), 3);
        assert_eq!(page.matches(" x 64: ").count(), 2);
        assert!(page.contains("256x256") && page.contains("lang=\"ja\"") && !page.contains("<1.1>"));
        assert!(page.contains("1 x 64: *"), "an answer that is not one tile is marked");
        assert!(files.iter().any(|(name, text)| name == "map.csv" && text == "m,n\n"));
    }

    #[test]
    fn a_larger_tile_is_darker() {
        assert!(shade([16, 16]) < shade([64, 64]) && shade([64, 64]) < shade([256, 256]));
        assert!((0.0..=1.0).contains(&shade([0, 0])) && shade([u64::MAX, 2]) <= 1.0);
    }
}
