//! Tests arbitrary bytes: decoding ends and covers every byte once, and the census counts each byte once.

use isa::census::{Function, aliases, section};
use isa::{DecodeStep, Decoder, Family, Mnemonic, TARGETS};
use proptest::prelude::*;

/// Words as in real code: any bits, values that announce more words in source positions, and zeros.
fn words() -> impl Strategy<Value = Vec<u8>> {
    let announcing = prop_oneof![Just(255u32), Just(254), Just(249), Just(250), Just(233), Just(234)];
    let word = prop_oneof![
        any::<u32>(),
        (any::<u32>(), announcing.clone()).prop_map(|(word, source)| (word & !0x1ff) | source),
        (any::<u32>(), announcing).prop_map(|(word, source)| (word & !0x3_fe00) | (source << 9)),
        Just(0u32),
    ];
    proptest::collection::vec(word, 0..300).prop_map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_walk_covers_every_byte(bytes in proptest::collection::vec(any::<u8>(), 0..600), target in 0..TARGETS.len()) {
        let decoder = Decoder::new(&TARGETS[target]).expect("a table");
        let mut at = 0;
        for (offset, length, step) in decoder.walk(&bytes) {
            prop_assert_eq!(offset, at);
            prop_assert!(length > 0);
            if let DecodeStep::Instruction(instruction) = step {
                prop_assert_eq!(instruction.length, length);
                prop_assert!(matches!(length, 4 | 8 | 12 | 16 | 20));
            }
            at += length;
        }
        prop_assert_eq!(at, bytes.len());
    }

    #[test]
    fn the_census_counts_what_the_walk_shows(bytes in words(), target in 0..TARGETS.len()) {
        let decoder = Decoder::new(&TARGETS[target]).expect("a table");
        let census = section(&decoder, &bytes, &[Function { range: 0..bytes.len(), stated: true }]);
        let mut shown = isa::census::Tally::default();
        let mut counts = std::collections::BTreeMap::new();
        for (offset, length, step) in decoder.walk(&bytes) {
            match step {
                DecodeStep::Instruction(instruction) => {
                    shown.instructions += 1;
                    shown.bytes += length as u64;
                    for mnemonic in [Some(instruction.mnemonic), instruction.second].into_iter().flatten() {
                        *counts.entry(mnemonic).or_insert(0) += 1;
                        shown.operations += 1;
                    }
                }
                DecodeStep::Undecoded => shown.undecoded.push(offset),
                DecodeStep::Cut => shown.cut.push((offset, length)),
            }
        }
        shown.mnemonics = counts.into_iter().collect();
        prop_assert_eq!(&census.functions, &[shown]);
    }

    #[test]
    fn the_census_counts_every_byte_once(
        bytes in proptest::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..800),
        cuts in proptest::collection::vec((0usize..900, 0usize..400, any::<bool>()), 0..6),
        target in 0..TARGETS.len(),
    ) {
        let decoder = Decoder::new(&TARGETS[target]).expect("a table");
        let functions: Vec<Function> =
            cuts.iter().map(|&(start, size, stated)| Function { range: start..start + size, stated }).collect();
        let census = section(&decoder, &bytes, &functions);
        let alias = aliases(&functions);
        let mut total = 0;
        let inside = census.functions.iter().zip(&alias).filter(|(_, alias)| !**alias).map(|(tally, _)| tally);
        for tally in inside.chain([&census.outside]) {
            total += tally.bytes as usize + tally.padding as usize + tally.undecoded.len() * 4;
            total += tally.cut.iter().map(|(_, length)| length).sum::<usize>();
            prop_assert_eq!(tally.operations, tally.mnemonics.iter().map(|(_, count)| count).sum::<u64>());
        }
        // Functions past the end of the bytes count nothing.
        prop_assert_eq!(total, bytes.len());
    }
}

#[test]
fn names_are_sorted_unique_and_classified() {
    let names: Vec<&str> = Mnemonic::all().map(Mnemonic::name).collect();
    assert!(names.len() > 2000 && names.windows(2).all(|pair| pair[0] < pair[1]));
    for mnemonic in Mnemonic::all() {
        assert_eq!(Mnemonic::find(mnemonic.name()), Some(mnemonic));
        let _ = Family::of(mnemonic);
    }
}

/// Real code in which a decoder must not lose its position: two kernels from clang, as words.
#[test]
fn padding_is_told_from_code() {
    let decoder = Decoder::new(isa::Target::find("gfx1201").expect("gfx1201")).expect("a table");
    let words: [u32; 8] =
        [0xbfb0_0000, 0xbf9f_0000, 0xbf9f_0000, 0, 0x7e00_0280, 0xbfb0_0000, 0xbf9f_0000, 0xbf9f_0000];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let stated = [Function { range: 0..4, stated: true }, Function { range: 16..24, stated: true }];
    let census = section(&decoder, &bytes, &stated);
    assert_eq!(census.functions.iter().map(|tally| tally.instructions).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((census.outside.padding, census.outside.instructions), (20, 0));
    // Tensile's assembly states no sizes, so padding at the end of a function does not belong to it.
    let open = [Function { range: 0..16, stated: false }, Function { range: 16..32, stated: false }];
    let census = section(&decoder, &bytes, &open);
    assert_eq!(census.functions.iter().map(|tally| tally.instructions).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(census.outside.padding, 20);
}
