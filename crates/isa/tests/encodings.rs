//! Compares the decoder with LLVM's own answers (written by `cargo xtask isa-tables`) for every processor, even if no
//! LLVM is installed.

use isa::{DecodeStep, Decoder, TARGETS};

const FILES: [&str; 4] = [
    include_str!("encodings/scalar.txt"),
    include_str!("encodings/vector.txt"),
    include_str!("encodings/vop3.txt"),
    include_str!("encodings/memory.txt"),
];

/// A line is `FORMAT WORDS NAME PROCESSORS`. The name of a dual instruction contains spaces.
fn parse(line: &str) -> Option<(Vec<u8>, &str, u64)> {
    let (_, rest) = line.split_once(' ')?;
    let (words, rest) = rest.split_once(' ')?;
    let (name, processors) = rest.rsplit_once(' ')?;
    let words: Option<Vec<u32>> = words.split(',').map(|word| u32::from_str_radix(word, 16).ok()).collect();
    let bytes = words?.iter().flat_map(|word| word.to_le_bytes()).collect();
    Some((bytes, name, u64::from_str_radix(processors, 16).ok()?))
}

#[test]
fn every_encoding_is_named_as_llvm_names_it() {
    let decoders: Vec<Decoder> = TARGETS.iter().map(|target| Decoder::new(target).expect("a table")).collect();
    let mut checked = vec![0u32; TARGETS.len()];
    let mut wrong = Vec::new();
    for line in FILES.iter().flat_map(|file| file.lines()) {
        let (bytes, name, processors) = parse(line).unwrap_or_else(|| panic!("{line}"));
        for (column, decoder) in decoders.iter().enumerate().filter(|(column, _)| processors >> column & 1 == 1) {
            // Pass more bytes than needed, so that the decoder must find the length.
            let mut padded = bytes.clone();
            padded.extend([0; 16]);
            let target = TARGETS[column].name;
            let ours = match decoder.step(&padded) {
                DecodeStep::Instruction(found) => format!("{} of {} bytes", found.printed(), found.length),
                other => format!("{other:?}"),
            };
            if ours != format!("{name} of {} bytes", bytes.len()) {
                wrong.push(format!("{target}: {line}: {ours}"));
            }
            checked[column] += 1;
        }
    }
    assert!(wrong.is_empty(), "{} encodings differ:\n{}", wrong.len(), wrong.join("\n"));
    for (target, checked) in TARGETS.iter().zip(checked) {
        assert!(checked > 1000, "{}: only {checked} encodings", target.name);
    }
}

#[test]
fn an_instruction_that_the_end_cuts_off_is_reported() {
    for line in FILES.iter().flat_map(|file| file.lines()).step_by(7) {
        let (bytes, _, processors) = parse(line).unwrap_or_else(|| panic!("{line}"));
        let decoder = Decoder::new(&TARGETS[processors.trailing_zeros() as usize]).expect("a table");
        for length in 1..bytes.len() {
            // If the second half of a pair is missing, the first half is an instruction of its own.
            match decoder.step(&bytes[..length]) {
                DecodeStep::Cut => {}
                DecodeStep::Instruction(found) => {
                    assert!(found.length <= length && bytes.len() == 16, "{line}: {found:?}")
                }
                DecodeStep::Undecoded => assert!(length >= 4, "{line}"),
            }
        }
    }
}
