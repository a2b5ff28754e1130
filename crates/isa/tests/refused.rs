//! Tests encodings with a known opcode that LLVM 22 refuses, rule by rule. Beside each is an accepted encoding that
//! differs in one field. LLVM's answer for every word comes from `LLVMDisasmInstruction`.

use isa::{DecodeStep, Decoder, TARGETS, Target};

fn decoder(name: &str) -> Decoder {
    Decoder::new(Target::find(name).expect("a target")).expect("a table")
}

fn step(decoder: &Decoder, words: &[u32]) -> DecodeStep {
    let bytes: Vec<u8> = words.iter().chain(&[0; 4]).flat_map(|word| word.to_le_bytes()).collect();
    decoder.step(&bytes)
}

fn check(target: &str, accepted: &[&[u32]], refused: &[&[u32]]) {
    let decoder = decoder(target);
    for words in accepted {
        assert!(matches!(step(&decoder, words), DecodeStep::Instruction(_)), "{target}: {words:x?}");
    }
    for words in refused {
        assert_eq!(step(&decoder, words), DecodeStep::Undecoded, "{target}: {words:x?}");
    }
}

#[test]
fn a_source_that_does_not_exist() {
    for target in TARGETS {
        let decoder = Decoder::new(target).expect("a table");
        for value in (209..=229).chain([232]) {
            // The words are s_add_u32 with the value in either source, and v_mov_b32.
            for word in [0x8000_0000 | value, 0x8000_0000 | value << 8, 0x7e00_0200 | value] {
                assert_eq!(step(&decoder, &[word]), DecodeStep::Undecoded, "{}: {word:#x}", target.name);
            }
        }
        for value in [233, 234, 249, 250] {
            assert_eq!(step(&decoder, &[0x8000_0000 | value]), DecodeStep::Undecoded, "{}: {value}", target.name);
        }
        for value in [0, 100, 106, 128, 208, 230, 235, 240, 248] {
            assert!(
                matches!(step(&decoder, &[0x8000_0000 | value]), DecodeStep::Instruction(_)),
                "{}: {value}",
                target.name
            );
        }
    }
    // The words are v_fmamk_f32, which always has a literal, and a buffer instruction with a scalar offset.
    check("gfx1201", &[&[0x5802_0202, 0]], &[&[0x5802_02d7, 0]]);
    check("gfx906", &[&[0xe800_0000, 0x8000_0000]], &[&[0xe800_0000, 0xd500_0000]]);
}

#[test]
fn a_field_that_an_opcode_does_not_read_may_be_anything() {
    // s_getpc_b64 reads no source, and v_sin_f16_e64 reads one.
    check("gfx906", &[&[0xbef8_1ce9]], &[]);
    check("gfx1201", &[&[0xbecf_47d1]], &[]);
}

#[test]
fn a_pair_of_named_registers_that_is_no_pair() {
    // The words are s_mov_b64 from and to VCC and EXEC, and their upper halves, and from M0, which has the number 124
    // before gfx11 and 125 since then.
    check(
        "gfx906",
        &[&[0xbe80_016a], &[0xbeea_0102], &[0xbe80_017e]],
        &[&[0xbe80_016b], &[0xbeeb_0102], &[0xbe80_017f], &[0xbe80_017c], &[0xbe80_01fe]],
    );
    check("gfx1030", &[&[0xbe80_047d]], &[&[0xbe80_047c]]);
    check("gfx1201", &[&[0xbe80_017c]], &[&[0xbe80_017d]]);
}

#[test]
fn scalar_registers_past_the_last() {
    // The words are s_load_dwordx8 into s96 and s100, and tbuffer_load_format_x with a resource in s100 and s104.
    check(
        "gfx906",
        &[&[0xc00e_1800, 0], &[0xe800_0000, 0x8019_0000]],
        &[&[0xc00e_1900, 0], &[0xe800_0000, 0x801a_0000]],
    );
}

#[test]
fn a_bit_that_has_only_one_value() {
    // The words are ds_add_u32 with a second datum, v_add_u32 negated, tbuffer_load_format_x with TFE, and s_barrier
    // with an operand.
    check(
        "gfx906",
        &[&[0xd800_0000, 0x201], &[0xd134_0005, 0x0002_0501], &[0xd101_0005, 0x2002_0501], &[0xbf8a_0000]],
        &[&[0xd800_0000, 0x0001_0201], &[0xd134_0005, 0x2002_0501], &[0xe800_0000, 0x8080_0000], &[0xbf8a_0001]],
    );
    // v_cmpx writes EXEC, and flat_load_dword has no scalar address.
    check(
        "gfx1030",
        &[&[0xd411_007e, 0x0002_0501], &[0xdc30_0000, 0x007d_0001]],
        &[&[0xd411_0000, 0x0002_0501], &[0xdc30_0000, 1]],
    );
}

#[test]
fn dpp_and_sdwa_forms_with_modifiers_that_the_opcode_does_not_have() {
    // The words test a negated source (v_add_f32 and v_and_b32), sign extension (v_add_u32 and v_add_f32), and selector
    // 7.
    check(
        "gfx906",
        &[&[0x0202_02fa, 0xff10_e402], &[0x2602_02fa, 0xff00_e402], &[0x6802_02f9, 0x060e_0602]],
        &[&[0x2602_02fa, 0xff10_e402], &[0x0202_02f9, 0x060e_0602], &[0x6802_02f9, 0x0706_0602]],
    );
    for target in ["gfx803", "gfx906", "gfx1030"] {
        check(target, &[&[0x7e02_02f9, 0x0006_0602]], &[&[0x7e02_02f9, 0x0006_0702], &[0x7e02_02f9, 0x0007_0602]]);
    }
}

#[test]
fn a_half_of_a_dual_instruction() {
    // The words are v_dual_mov_b32 twice, with a second source, and with DPP announced.
    check("gfx1201", &[&[0xca10_0101, 0x102]], &[&[0xca10_0301, 0x102], &[0xca10_00fa, 0x102]]);
}
