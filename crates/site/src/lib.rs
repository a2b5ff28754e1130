//! An investigation as pages: static HTML, both languages, from graded readings and the observations behind them.
//!
//! Input is data, output is files: nothing here opens a ledger, examines a machine or computes a grade. Pages show only
//! their input, and missing input is drawn as a gap. Names are untrusted text and are always escaped; the pages load
//! nothing and run only their own script.
#![forbid(unsafe_code)]

mod atlas;
mod csv;
mod dispatch;
mod frame;
mod input;
mod kernels;
mod packed;
mod page;
mod pages;
mod parts;
mod picture;
mod plain_table;
mod raw_files;
mod read;
mod sentence;
mod svg;
mod tile_map;
mod web;
mod words;
mod write;

pub use atlas::{Sheet, atlas, sheets};
pub use input::{Input, LedgerFacts, Next, Note, Publication};
pub use tile_map::{TileCell, TileMap, tile_map};
pub use web::{WORKER, embedded, releases, web};
pub use words::Pair;
pub use write::{File, Site, WriteError};

/// Every page of the report, with its tables; `single`: also all pages in one file.
pub fn build(input: &Input<'_>, single: bool) -> Site {
    let words = words::Words::default();
    let mut study = input::Study::new(input, &words);
    if input.published.is_some() {
        study.hidden = pages::without_content(&study);
    }
    let mut site = Site::default();
    for page in pages::all(&study).into_iter().filter(|page| study.shows(&page.name)) {
        site.add(page, &study);
    }
    site.finish(&study);
    if single {
        site.join(&study);
    }
    site
}
