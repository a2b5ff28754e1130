//! Whether bytes of unknown kind contain device code.

use crate::embedded::images::Images;
use crate::marks::{Mark, Search};
use codeobject::{Piece, Range, ReadAt, walk};

/// Whether the source contains uncompressed device code: for a host object in a bundle, or a file of unknown kind.
pub fn has_code(source: &dyn ReadAt) -> bool {
    let code = |(at, mark): &(u64, Mark)| match mark {
        // Strings of programs that write PTX or bundles do not count.
        Mark::Ptx => Images::default().ptx(source, Range { start: *at, end: source.len() }, 0).is_some(),
        Mark::Bundle => {
            matches!(walk(source, Range { start: *at, end: source.len() }, 0).next(), Some(Piece::Bundle(_)))
        }
        mark => mark.is_code(),
    };
    Search::all(source).is_ok_and(|marks| marks.found.iter().any(code))
}
