//! Converts the tables (`tables/*.txt`) into data that the decoder reads at startup without parsing text: the sorted
//! names, and one record of 20 bytes per row. Without this, a process that counts one small object would spend most of
//! its time reading tables.
//!
//! A row is `FORMAT OPCODE NAME FLAGS PROCESSORS`: the opcode in hexadecimal, the name as LLVM prints it for the plain
//! form, and a hexadecimal set of processors, with bit n for the n-th of `TARGETS`. FLAGS begin with the length of the
//! plain form in dwords. Then there is a letter for each source value that may announce more words: a, b, c for a
//! literal (255) in the first, second and third source; p, q, r for a 64-bit literal (254); s for SDWA (249), d for
//! DPP16 (250) and e for DPP8 (233, 234) in the first source. An upper-case letter means that more words follow. A
//! lower-case letter means that LLVM refuses the encoding. If a letter is absent, the opcode does not read that field.
//!
//! After the letters come the restrictions of the opcode, `/WIDTHS/FIXED/DPP/SDWA`, without empty trailing parts.
//! WIDTHS has the number of scalar registers of each operand of the format (`g`: 16, `-`: any value is accepted). The
//! other parts are the bits with only one valid value, as a mask (of zeros) or `MASK=VALUE`, of the plain, DPP16 and
//! SDWA forms.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

#[allow(dead_code, reason = "the room itself uses the rest of it")]
#[path = "src/form.rs"]
mod form;

const FILES: [&str; 4] = ["scalar", "vector", "vop3", "memory"];
/// Bits of `announced`, lowest first; the bits for refusals follow in the same order.
const LETTERS: &[u8] = b"abcpqrsde";

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
    for letter in flags.bytes().skip(1).take_while(|letter| *letter != b'/') {
        let bit = LETTERS.iter().position(|l| l.eq_ignore_ascii_case(&letter)).expect("a known letter");
        let refused = if letter.is_ascii_lowercase() { LETTERS.len() } else { 0 };
        bits |= 1 << (bit + refused);
    }
    bits
}

/// The restrictions of an opcode, as source text of a `Limits`.
fn limits(flags: &str) -> String {
    let mut parts = flags.split('/').skip(1);
    let mut widths = [0u32; 4];
    for (place, letter) in widths.iter_mut().zip(parts.next().unwrap_or_default().chars()) {
        *place = if letter == 'g' { 16 } else { letter.to_digit(10).unwrap_or(0) };
    }
    let mut fixed = || {
        let (mask, value) = parts.next().map_or(("0", "0"), |part| part.split_once('=').unwrap_or((part, "0")));
        let mask = if mask.is_empty() { "0" } else { mask };
        format!("Fixed {{ mask: 0x{mask}, value: 0x{value} }}")
    };
    let (plain, dpp, sdwa) = (fixed(), fixed(), fixed());
    format!("Limits {{ widths: {widths:?}, plain: {plain}, dpp: {dpp}, sdwa: {sdwa} }}")
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
    // The entry without restrictions comes first.
    let mut refused = vec![limits("")];
    let mut records = Vec::new();
    for row in &rows {
        let limits = limits(row.flags);
        let index = refused.iter().position(|known| *known == limits).unwrap_or_else(|| {
            refused.push(limits);
            refused.len() - 1
        });
        let (name, form) = form::split(row.name);
        let format = formats.binary_search(&row.format).expect("a format");
        let mnemonic = names.binary_search(&name).expect("a name");
        let dwords = row.flags.bytes().next().expect("a length") - b'0';
        records.extend(row.processors.to_le_bytes());
        records.extend(announced(row.flags).to_le_bytes());
        records.extend((mnemonic as u16).to_le_bytes());
        records.extend(row.opcode.to_le_bytes());
        records.extend([format as u8 | dwords << 5, form as u8]);
        records.extend((index as u16).to_le_bytes());
        assert!(format < 32 && dwords < 8);
    }
    let out = env::var("OUT_DIR").expect("set by cargo");
    let out = Path::new(&out);
    fs::write(out.join("rows.bin"), records).expect("written");
    let source = format!(
        "pub(crate) const FORMATS: &[&str] = &{formats:?};\npub(crate) static NAMES: &[&str] = &{names:?};\n\
         pub(crate) static LIMITS: &[Limits] = &[{}];\n",
        refused.join(",\n")
    );
    fs::write(out.join("names.rs"), source).expect("written");
}
