//! Every kernel of a file as one compact text, which an inventory stores as raw evidence and a report lists.
//!
//! A library has the same kernel names for many targets, so each name is listed once and then referred to by its
//! number:
//!
//! ```text
//! whichkernel kernels 1
//! @gfx1100 TAB 3                                   target and bundle of what follows
//! 24 TAB 96 TAB 0 TAB 0 TAB 32 TAB 0 TAB +NAME     SGPR, VGPR, LDS, scratch, wavefront, stub, a name for the first time
//! 24 TAB 96 TAB 0 TAB 0 TAB 32 TAB 0 TAB =0        the first name again
//! more TAB 12                                      the number of kernels that were left out
//! ```
//!
//! `-` means unknown. This module does no I/O.

use std::collections::HashMap;
use std::fmt::Write as _;

/// The kind of evidence under which the list is stored.
pub const KIND: &str = "kernel listing";
const HEADER: &str = "whichkernel kernels 1";

/// One kernel of one code object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The target, such as `gfx1100`, with its features if the bundle names them.
    pub target: String,
    pub bundle: Option<u32>,
    /// The name in the readable form of the kernel-name grammar.
    pub name: String,
    pub sgpr: Option<u32>,
    pub vgpr: Option<u32>,
    pub lds: Option<u32>,
    pub scratch: Option<u32>,
    pub wavefront: Option<u32>,
    pub stub: bool,
}

/// The result of reading a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelList {
    pub kernels: Vec<Listed>,
    /// The number of kernels that the writer left out.
    pub left_out: u64,
    /// Lines that could not be read.
    pub damaged: u64,
}

/// Writes at most `limit` kernels. The last line gives the number of the others.
pub fn write(kernels: &[Listed], limit: usize) -> String {
    let mut out = format!("{HEADER}\n");
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut place = None;
    for kernel in kernels.iter().take(limit) {
        let here = (kernel.target.as_str(), kernel.bundle);
        if place != Some(here) {
            place = Some(here);
            let _ = writeln!(out, "@{}\t{}", plain(&kernel.target), number(kernel.bundle));
        }
        for value in [kernel.sgpr, kernel.vgpr, kernel.lds, kernel.scratch, kernel.wavefront] {
            out.push_str(&number(value));
            out.push('\t');
        }
        out.push_str(if kernel.stub { "1\t" } else { "0\t" });
        let next = names.len();
        let _ = match names.entry(&kernel.name) {
            std::collections::hash_map::Entry::Occupied(known) => writeln!(out, "={}", known.get()),
            std::collections::hash_map::Entry::Vacant(new) => {
                new.insert(next);
                writeln!(out, "+{}", plain(&kernel.name))
            }
        };
    }
    if kernels.len() > limit {
        let _ = writeln!(out, "more\t{}", kernels.len() - limit);
    }
    out
}

/// Reads a list. None if the text is not a kernel list. Malformed lines are counted and skipped.
pub fn read(text: &str) -> Option<KernelList> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return None;
    }
    let mut list = KernelList::default();
    let mut names: Vec<&str> = Vec::new();
    let mut place: Option<(&str, Option<u32>)> = None;
    for line in lines {
        if let Some((target, bundle)) = line.strip_prefix('@').and_then(|rest| rest.split_once('\t')) {
            place = Some((target, bundle.parse().ok()));
        } else if let Some(count) = line.strip_prefix("more\t").and_then(|count| count.parse().ok()) {
            list.left_out = count;
        } else {
            match place.and_then(|place| kernel(line, place, &mut names)) {
                Some(kernel) => list.kernels.push(kernel),
                None => list.damaged += 1,
            }
        }
    }
    Some(list)
}

fn kernel<'a>(line: &'a str, place: (&str, Option<u32>), names: &mut Vec<&'a str>) -> Option<Listed> {
    let mut fields = line.splitn(7, '\t');
    let mut next = || fields.next();
    let mut value = || next().map(|field| field.parse::<u32>().ok());
    let (sgpr, vgpr, lds, scratch, wavefront) = (value()?, value()?, value()?, value()?, value()?);
    let stub = value()??;
    let name = next()?;
    let name = match name.strip_prefix('+') {
        Some(name) => {
            names.push(name);
            name
        }
        None => names.get(name.strip_prefix('=')?.parse::<usize>().ok()?)?,
    };
    Some(Listed {
        target: place.0.to_owned(),
        bundle: place.1,
        name: name.to_owned(),
        sgpr,
        vgpr,
        lds,
        scratch,
        wavefront,
        stub: stub == 1,
    })
}

fn number(value: Option<u32>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Makes a name fit into one field of one line, whatever it contains.
fn plain(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(target: &str, bundle: u32, name: &str) -> Listed {
        Listed {
            target: target.to_owned(),
            bundle: Some(bundle),
            name: name.to_owned(),
            sgpr: Some(24),
            vgpr: None,
            lds: Some(0),
            scratch: Some(4),
            wavefront: Some(32),
            stub: name.ends_with("stub"),
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_a_name_stands_once() {
        let all =
            vec![kernel("gfx900", 0, "a<Q4_K,8>"), kernel("gfx1100", 0, "a<Q4_K,8>"), kernel("gfx1100", 1, "=0 stub")];
        let text = write(&all, 10);
        assert_eq!(text.matches("a<Q4_K,8>").count(), 1, "{text}");
        assert_eq!(read(&text), Some(KernelList { kernels: all.clone(), left_out: 0, damaged: 0 }));
        let cut = read(&write(&all, 1)).expect("a list");
        assert_eq!((cut.kernels.len(), cut.left_out), (1, 2));
    }

    #[test]
    fn hostile_names_and_damaged_lines_break_nothing() {
        let evil = kernel("gfx900", 0, "x\t9\n@gfx1\t0\n\u{1b}[31m");
        let read_again = read(&write(std::slice::from_ref(&evil), 10)).expect("a list");
        assert_eq!((read_again.kernels.len(), read_again.damaged), (1, 0));
        assert!(!read_again.kernels[0].name.contains(['\t', '\n', '\u{1b}']), "{read_again:?}");
        let damaged = format!("{HEADER}\n1\t2\t3\n@gfx900\t0\n1\t2\t3\t4\t5\t0\t=7\nrubbish\n1\t2\t3\t4\t5\t0\t+k\n");
        let list = read(&damaged).expect("a list");
        assert_eq!((list.kernels.len(), list.damaged), (1, 3));
        assert_eq!(read("gfx900\t0\tk\n"), None);
    }
}
