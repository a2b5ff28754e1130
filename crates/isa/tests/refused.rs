//! Encodings that LLVM 22 refuses and that have a known opcode: a source that no processor has is no instruction. (Compared with libLLVM on
//! 80,000 random words of each of eight processors: it accepts none of what is refused here.)

use isa::{Decoder, Step, TARGETS};

fn step(decoder: &Decoder, word: u32) -> Step {
    let bytes: Vec<u8> = [word, 0, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    decoder.step(&bytes)
}

#[test]
fn a_source_that_does_not_exist_is_no_instruction() {
    for target in TARGETS {
        let decoder = Decoder::new(target).expect("a table");
        for value in (209..=229).chain([232]) {
            // s_add_u32 in either source, v_mov_b32.
            for word in [0x8000_0000 | value, 0x8000_0000 | value << 8, 0x7e00_0200 | value] {
                assert_eq!(step(&decoder, word), Step::Undecoded, "{}: {word:#x}", target.name);
            }
        }
        for value in [233, 234, 249, 250] {
            assert_eq!(step(&decoder, 0x8000_0000 | value), Step::Undecoded, "{}: {value}", target.name);
        }
        for value in [0, 100, 106, 128, 208, 230, 235, 240, 248] {
            assert!(matches!(step(&decoder, 0x8000_0000 | value), Step::Instruction(_)), "{}: {value}", target.name);
        }
    }
}

#[test]
fn a_field_that_an_opcode_does_not_read_may_be_anything() {
    let decoder = |name: &str| Decoder::new(isa::Target::find(name).expect("a target")).expect("a table");
    // s_getpc_b64 reads nothing, v_sin_f16_e64 one source.
    assert!(matches!(step(&decoder("gfx906"), 0xbef8_1ce9), Step::Instruction(_)));
    assert!(matches!(step(&decoder("gfx1201"), 0xbecf_47d1), Step::Instruction(_)));
}
