//! SHA-256 of many messages at once: sixteen or eight side by side, where the processor has AVX-512 or AVX2 and no instructions for
//! the hash itself.
//!
//! One message is a chain of steps that wait for each other; those that do not know of each other fill a wide register. Where the
//! processor has SHA instructions, or no AVX2, each message is hashed by itself, by the `sha2` crate.

use sha2::{Digest, Sha256};

/// The hash of each message, in their order.
pub fn each(messages: &[&[u8]]) -> Vec<[u8; 32]> {
    #[cfg(target_arch = "x86_64")]
    if !is_x86_feature_detected!("sha") {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { wide::sixteen::each(messages) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { wide::eight::each(messages) };
        }
    }
    messages.iter().map(|message| Sha256::digest(message).into()).collect()
}

#[cfg(target_arch = "x86_64")]
mod wide {
    const BLOCK: usize = 64;

    /// FIPS 180-4, 5.3.3 and 4.2.2.
    const START: [u32; 8] =
        [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
    const ROUNDS: [u32; 64] = [
        0x428a_2f98,
        0x7137_4491,
        0xb5c0_fbcf,
        0xe9b5_dba5,
        0x3956_c25b,
        0x59f1_11f1,
        0x923f_82a4,
        0xab1c_5ed5,
        0xd807_aa98,
        0x1283_5b01,
        0x2431_85be,
        0x550c_7dc3,
        0x72be_5d74,
        0x80de_b1fe,
        0x9bdc_06a7,
        0xc19b_f174,
        0xe49b_69c1,
        0xefbe_4786,
        0x0fc1_9dc6,
        0x240c_a1cc,
        0x2de9_2c6f,
        0x4a74_84aa,
        0x5cb0_a9dc,
        0x76f9_88da,
        0x983e_5152,
        0xa831_c66d,
        0xb003_27c8,
        0xbf59_7fc7,
        0xc6e0_0bf3,
        0xd5a7_9147,
        0x06ca_6351,
        0x1429_2967,
        0x27b7_0a85,
        0x2e1b_2138,
        0x4d2c_6dfc,
        0x5338_0d13,
        0x650a_7354,
        0x766a_0abb,
        0x81c2_c92e,
        0x9272_2c85,
        0xa2bf_e8a1,
        0xa81a_664b,
        0xc24b_8b70,
        0xc76c_51a3,
        0xd192_e819,
        0xd699_0624,
        0xf40e_3585,
        0x106a_a070,
        0x19a4_c116,
        0x1e37_6c08,
        0x2748_774c,
        0x34b0_bcb5,
        0x391c_0cb3,
        0x4ed8_aa4a,
        0x5b9c_ca4f,
        0x682e_6ff3,
        0x748f_82ee,
        0x78a5_636f,
        0x84c8_7814,
        0x8cc7_0208,
        0x90be_fffa,
        0xa450_6ceb,
        0xbef9_a3f7,
        0xc671_78f2,
    ];

    /// A message with its end: a one, zeros, its length in bits (5.1.1).
    struct Padded<'a> {
        message: &'a [u8],
        /// What does not fill a block, and the end.
        tail: [u8; 2 * BLOCK],
        blocks: usize,
    }

    impl<'a> Padded<'a> {
        fn new(message: &'a [u8]) -> Padded<'a> {
            let rest = message.chunks_exact(BLOCK).remainder();
            let blocks = (message.len() + 8) / BLOCK + 1;
            let mut tail = [0; 2 * BLOCK];
            let len = (blocks - message.len() / BLOCK) * BLOCK;
            for (to, from) in tail.iter_mut().zip(rest.iter().chain([&0x80])) {
                *to = *from;
            }
            let bits = (message.len() as u64).wrapping_mul(8).to_be_bytes();
            for (to, from) in tail.iter_mut().take(len).rev().zip(bits.iter().rev()) {
                *to = *from;
            }
            Padded { message, tail, blocks }
        }

        /// A block of zeros behind the end: what comes of it is not looked at.
        #[inline]
        fn block(&self, number: usize) -> &[u8; BLOCK] {
            let whole = self.message.len() / BLOCK;
            let (from, at) = if number < whole { (self.message, number) } else { (&self.tail[..], number - whole) };
            from.get(at * BLOCK..).and_then(|rest| rest.first_chunk()).unwrap_or(&[0; BLOCK])
        }
    }

    /// Block `number` of each message: its first word in every lane, its second, and so on.
    #[inline]
    fn words<const LANES: usize>(lanes: &[Padded<'_>; LANES], number: usize) -> [[u32; LANES]; 16] {
        let mut words = [[0; LANES]; 16];
        for (lane, message) in lanes.iter().enumerate() {
            for (word, bytes) in words.iter_mut().zip(message.block(number).as_chunks().0) {
                word[lane] = u32::from_be_bytes(*bytes);
            }
        }
        words
    }

    /// Messages of a length go together: the longest of a group decides how long they take.
    fn groups<const LANES: usize>(
        messages: &[&[u8]],
        hash: impl Fn(&[Padded<'_>; LANES]) -> [[u8; 32]; LANES],
    ) -> Vec<[u8; 32]> {
        let mut order: Vec<usize> = (0..messages.len()).collect();
        order.sort_by_key(|place| messages.get(*place).map_or(0, |message| message.len()));
        let mut out = vec![[0; 32]; messages.len()];
        for places in order.chunks(LANES) {
            let lanes: [Padded<'_>; LANES] = std::array::from_fn(|lane| {
                Padded::new(places.get(lane).and_then(|place| messages.get(*place)).copied().unwrap_or(&[]))
            });
            for (place, hash) in places.iter().zip(hash(&lanes)) {
                if let Some(to) = out.get_mut(*place) {
                    *to = hash;
                }
            }
        }
        out
    }

    /// The hash over registers of one width; what differs is how they are added, turned and mixed.
    macro_rules! side_by_side {
        ($feature:literal, $lanes:literal, $register:ty) => {
            const LANES: usize = $lanes;

            #[target_feature(enable = $feature)]
            pub fn each(messages: &[&[u8]]) -> Vec<[u8; 32]> {
                groups(messages, |lanes| hashes(lanes))
            }

            #[target_feature(enable = $feature)]
            fn hashes(lanes: &[Padded<'_>; LANES]) -> [[u8; 32]; LANES] {
                let mut state = START.map(|word| splat(word));
                let mut out = [[0; 32]; LANES];
                for number in 0..lanes.iter().map(|lane| lane.blocks).max().unwrap_or(0) {
                    state = compress(state, words(lanes, number).map(of_words));
                    if lanes.iter().any(|lane| lane.blocks == number + 1) {
                        let now = state.map(to_words);
                        for (at, (lane, hash)) in lanes.iter().zip(&mut out).enumerate() {
                            if lane.blocks == number + 1 {
                                for (to, word) in hash.as_chunks_mut().0.iter_mut().zip(&now) {
                                    *to = word[at].to_be_bytes();
                                }
                            }
                        }
                    }
                }
                out
            }

            /// FIPS 180-4, 6.2.2, in every lane.
            #[target_feature(enable = $feature)]
            fn compress(state: [$register; 8], mut words: [$register; 16]) -> [$register; 8] {
                let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
                for (round, constant) in ROUNDS.iter().enumerate() {
                    if round >= 16 {
                        let (near, far) = (words[(round + 1) % 16], words[(round + 14) % 16]);
                        let small = xor(turned::<7, 25>(near), turned::<18, 14>(near), shifted::<3>(near));
                        let large = xor(turned::<17, 15>(far), turned::<19, 13>(far), shifted::<10>(far));
                        words[round % 16] = add(add(words[round % 16], small), add(words[(round + 9) % 16], large));
                    }
                    let sum = xor(turned::<6, 26>(e), turned::<11, 21>(e), turned::<25, 7>(e));
                    let first = add(add(h, sum), add(add(choice(e, f, g), words[round % 16]), splat(*constant)));
                    let sum = xor(turned::<2, 30>(a), turned::<13, 19>(a), turned::<22, 10>(a));
                    let second = add(sum, majority(a, b, c));
                    (h, g, f, e, d, c, b, a) = (g, f, e, add(d, first), c, b, a, add(first, second));
                }
                let after = [a, b, c, d, e, f, g, h];
                let mut sums = state;
                for (sum, word) in sums.iter_mut().zip(after) {
                    *sum = add(*sum, word);
                }
                sums
            }
        };
    }

    pub(super) mod eight {
        use super::{Padded, ROUNDS, START, groups, words};
        use std::arch::x86_64::{
            __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_or_si256, _mm256_set1_epi32, _mm256_slli_epi32,
            _mm256_srli_epi32, _mm256_xor_si256,
        };

        side_by_side!("avx2", 8, __m256i);

        #[target_feature(enable = "avx2")]
        #[inline]
        fn splat(word: u32) -> __m256i {
            _mm256_set1_epi32(word.cast_signed())
        }

        #[inline]
        fn of_words(words: [u32; LANES]) -> __m256i {
            // SAFETY: both are 32 plain bytes.
            unsafe { std::mem::transmute(words) }
        }

        #[inline]
        fn to_words(register: __m256i) -> [u32; LANES] {
            // SAFETY: both are 32 plain bytes.
            unsafe { std::mem::transmute(register) }
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn add(a: __m256i, b: __m256i) -> __m256i {
            _mm256_add_epi32(a, b)
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn xor(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
            _mm256_xor_si256(_mm256_xor_si256(a, b), c)
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn choice(e: __m256i, f: __m256i, g: __m256i) -> __m256i {
            _mm256_xor_si256(g, _mm256_and_si256(e, _mm256_xor_si256(f, g)))
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn majority(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
            _mm256_xor_si256(_mm256_and_si256(a, b), _mm256_and_si256(c, _mm256_xor_si256(a, b)))
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn turned<const RIGHT: i32, const LEFT: i32>(word: __m256i) -> __m256i {
            _mm256_or_si256(_mm256_srli_epi32::<RIGHT>(word), _mm256_slli_epi32::<LEFT>(word))
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn shifted<const RIGHT: i32>(word: __m256i) -> __m256i {
            _mm256_srli_epi32::<RIGHT>(word)
        }
    }

    pub(super) mod sixteen {
        use super::{Padded, ROUNDS, START, groups, words};
        use std::arch::x86_64::{
            __m512i, _mm512_add_epi32, _mm512_ror_epi32, _mm512_set1_epi32, _mm512_srli_epi32,
            _mm512_ternarylogic_epi32,
        };

        side_by_side!("avx512f", 16, __m512i);

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn splat(word: u32) -> __m512i {
            _mm512_set1_epi32(word.cast_signed())
        }

        #[inline]
        fn of_words(words: [u32; LANES]) -> __m512i {
            // SAFETY: both are 64 plain bytes.
            unsafe { std::mem::transmute(words) }
        }

        #[inline]
        fn to_words(register: __m512i) -> [u32; LANES] {
            // SAFETY: both are 64 plain bytes.
            unsafe { std::mem::transmute(register) }
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn add(a: __m512i, b: __m512i) -> __m512i {
            _mm512_add_epi32(a, b)
        }

        /// The three bits of each place number a row of the table: 0x96 is their sum without carry.
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn xor(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
            _mm512_ternarylogic_epi32::<0x96>(a, b, c)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn choice(e: __m512i, f: __m512i, g: __m512i) -> __m512i {
            _mm512_ternarylogic_epi32::<0xca>(e, f, g)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn majority(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
            _mm512_ternarylogic_epi32::<0xe8>(a, b, c)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn turned<const RIGHT: i32, const LEFT: i32>(word: __m512i) -> __m512i {
            _mm512_ror_epi32::<RIGHT>(word)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn shifted<const RIGHT: u32>(word: __m512i) -> __m512i {
            _mm512_srli_epi32::<RIGHT>(word)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length around the ends of blocks, alone and beside others, against the `sha2` crate.
    #[test]
    fn the_same_as_one_by_one_at_every_length_and_in_any_company() {
        let bytes: Vec<u8> = (0..2000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let mut messages: Vec<&[u8]> = (0..200).filter_map(|len| bytes.get(len..len * 2)).collect();
        messages.extend([63, 64, 119, 120, 1000, 1999].iter().filter_map(|len| bytes.get(..*len)));
        for count in [0, 1, 7, 8, 9, 15, 16, 17, messages.len()] {
            let some = messages.get(..count).expect("so many");
            let expected: Vec<[u8; 32]> = some.iter().map(|message| Sha256::digest(message).into()).collect();
            assert_eq!(each(some), expected, "{count} messages");
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                assert_eq!(unsafe { wide::eight::each(some) }, expected, "{count} messages, eight side by side");
            }
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has AVX-512.
                assert_eq!(unsafe { wide::sixteen::each(some) }, expected, "{count} messages, sixteen side by side");
            }
        }
    }
}
