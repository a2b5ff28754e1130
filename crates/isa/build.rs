//! Turns the tables (`tables/*.txt`) into what the decoder reads at its start without parsing any text: the names,
//! sorted, and one record of 18 bytes per row. A process that counts one small object would otherwise spend most of its
//! time on reading tables.
//!
//! A row is `FORMAT OPCODE NAME FLAGS PROCESSORS`: the opcode in hexadecimal, the name as LLVM prints it in the plain
//! form, and a hexadecimal set of processors, bit n for the n-th of `TARGETS`. FLAGS are the length of the plain
//! form in dwords and then a letter for each value that a source field may announce more words with: a, b, c a
//! literal (255) in the first, second and third source; p, q, r a 64-bit literal (254); s SDWA (249), d DPP16 (250) and
//! e DPP8 (233, 234) in the first; Z that only a word of zeros is this instruction. Upper case: more words follow. Lower
//! case: LLVM refuses the encoding. Absent: the opcode does not read that field.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

#[allow(dead_code, reason = "the room itself uses the rest of it")]
#[path = "src/form.rs"]
mod form;

const FILES: [&str; 4] = ["scalar", "vector", "vop3", "memory"];
/// Bits of `announced`, lowest first; refusals stand above them in the same order.
const LETTERS: &[u8] = b"abcpqrsdez";

struct Row<'t> {
    format: &'t str,
    opcode: u16,
    name: &'t str,
    flags: &'t str,
    processors: u64,
}

fn parse(line: &str) -> Option<Row<'_>> {
    let mut words = line.split(' ');
    Some(Row {
        format: words.next()?,
        opcode: u16::from_str_radix(words.next()?, 16).ok()?,
        name: words.next()?,
        flags: words.next()?,
        processors: u64::from_str_radix(words.next()?, 16).ok()?,
    })
}

fn announced(flags: &str) -> u32 {
    let mut bits = 0;
    for letter in flags.bytes().skip(1) {
        let bit = LETTERS.iter().position(|l| l.eq_ignore_ascii_case(&letter)).expect("a known letter");
        let refused = if letter.is_ascii_lowercase() { LETTERS.len() } else { 0 };
        bits |= 1 << (bit + refused);
    }
    bits
}

fn main() {
    let mut text = String::new();
    for file in FILES {
        let path = format!("tables/{file}.txt");
        println!("cargo::rerun-if-changed={path}");
        text += &fs::read_to_string(&path).expect("the table");
    }
    println!("cargo::rerun-if-changed=src/form.rs");
    println!("cargo::rerun-if-changed=build.rs");
    let rows: Vec<Row<'_>> = text.lines().map(|line| parse(line).unwrap_or_else(|| panic!("{line}"))).collect();
    let formats: Vec<&str> = rows.iter().map(|row| row.format).collect::<BTreeSet<_>>().into_iter().collect();
    let names: Vec<&str> =
        rows.iter().map(|row| form::split(row.name).0).collect::<BTreeSet<_>>().into_iter().collect();
    let mut records = Vec::new();
    for row in &rows {
        let (name, form) = form::split(row.name);
        let format = formats.binary_search(&row.format).expect("a format");
        let mnemonic = names.binary_search(&name).expect("a name");
        let dwords = row.flags.bytes().next().expect("a length") - b'0';
        records.extend(row.processors.to_le_bytes());
        records.extend(announced(row.flags).to_le_bytes());
        records.extend((mnemonic as u16).to_le_bytes());
        records.extend(row.opcode.to_le_bytes());
        records.extend([format as u8 | dwords << 5, form as u8]);
        assert!(format < 32 && dwords < 8);
    }
    let out = env::var("OUT_DIR").expect("set by cargo");
    let out = Path::new(&out);
    fs::write(out.join("rows.bin"), records).expect("written");
    let source =
        format!("pub(crate) const FORMATS: &[&str] = &{formats:?};\npub(crate) static NAMES: &[&str] = &{names:?};\n");
    fs::write(out.join("names.rs"), source).expect("written");
}
