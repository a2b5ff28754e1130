//! SHA-256 of many messages at once: eight side by side, where the processor has AVX2 and no instructions for the hash itself.
//!
//! One message is a chain of steps that wait for each other; eight that do not know of each other fill a wide register. Where the
//! processor has SHA instructions, or no AVX2, each message is hashed by itself, by the `sha2` crate.

use sha2::{Digest, Sha256};

const LANES: usize = 8;
const BLOCK: usize = 64;

/// The hash of each message, in their order.
pub fn each(messages: &[&[u8]]) -> Vec<[u8; 32]> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && !is_x86_feature_detected!("sha") {
        // SAFETY: the processor has AVX2.
        return unsafe { wide::each(messages) };
    }
    messages.iter().map(|message| Sha256::digest(message).into()).collect()
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{BLOCK, LANES};
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_or_si256, _mm256_set1_epi32, _mm256_setr_epi32,
        _mm256_slli_epi32, _mm256_srli_epi32, _mm256_xor_si256,
    };

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
        fn block(&self, number: usize) -> &[u8] {
            let whole = self.message.len() / BLOCK;
            let (from, at) = if number < whole { (self.message, number) } else { (&self.tail[..], number - whole) };
            from.get(at * BLOCK..(at + 1) * BLOCK).unwrap_or(&[0; BLOCK])
        }

        fn word(&self, number: usize, word: usize) -> i32 {
            self.block(number)
                .get(word * 4..)
                .and_then(|rest| rest.first_chunk())
                .map_or(0, |bytes| i32::from_be_bytes(*bytes))
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn each(messages: &[&[u8]]) -> Vec<[u8; 32]> {
        let mut order: Vec<usize> = (0..messages.len()).collect();
        // Those of a length go together: the longest of eight decides how long they take.
        order.sort_by_key(|place| messages.get(*place).map_or(0, |message| message.len()));
        let mut out = vec![[0; 32]; messages.len()];
        for places in order.chunks(LANES) {
            let lanes: [Padded<'_>; LANES] = std::array::from_fn(|lane| {
                Padded::new(places.get(lane).and_then(|place| messages.get(*place)).copied().unwrap_or(&[]))
            });
            let hashes = eight(&lanes);
            for (place, hash) in places.iter().zip(hashes) {
                if let Some(to) = out.get_mut(*place) {
                    *to = hash;
                }
            }
        }
        out
    }

    #[target_feature(enable = "avx2")]
    fn eight(lanes: &[Padded<'_>; LANES]) -> [[u8; 32]; LANES] {
        let mut state = START.map(|word| _mm256_set1_epi32(word.cast_signed()));
        let mut out = [[0; 32]; LANES];
        for number in 0..lanes.iter().map(|lane| lane.blocks).max().unwrap_or(0) {
            let words = std::array::from_fn(|word| {
                let [a, b, c, d, e, f, g, h] =
                    std::array::from_fn(|lane| lanes.get(lane).map_or(0, |lane| lane.word(number, word)));
                _mm256_setr_epi32(a, b, c, d, e, f, g, h)
            });
            state = compress(state, words);
            for (lane, hash) in lanes
                .iter()
                .zip(&mut out)
                .enumerate()
                .filter(|(_, (lane, _))| lane.blocks == number + 1)
                .map(|(at, (_, hash))| (at, hash))
            {
                *hash = hash_of(&state, lane);
            }
        }
        out
    }

    /// One lane of the state, as bytes.
    #[target_feature(enable = "avx2")]
    fn hash_of(state: &[__m256i; 8], lane: usize) -> [u8; 32] {
        let mut out = [0; 32];
        for (to, word) in out.chunks_exact_mut(4).zip(state) {
            // SAFETY: both are 32 plain bytes.
            let words = unsafe { std::mem::transmute::<__m256i, [u32; LANES]>(*word) };
            to.copy_from_slice(&words.get(lane).copied().unwrap_or(0).to_be_bytes());
        }
        out
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn rotated<const RIGHT: i32, const LEFT: i32>(word: __m256i) -> __m256i {
        _mm256_or_si256(_mm256_srli_epi32::<RIGHT>(word), _mm256_slli_epi32::<LEFT>(word))
    }

    /// FIPS 180-4, 6.2.2, in every lane.
    #[target_feature(enable = "avx2")]
    fn compress(state: [__m256i; 8], mut words: [__m256i; 16]) -> [__m256i; 8] {
        let (add, xor, and) = (
            |a: __m256i, b: __m256i| _mm256_add_epi32(a, b),
            |a: __m256i, b: __m256i| _mm256_xor_si256(a, b),
            |a: __m256i, b: __m256i| _mm256_and_si256(a, b),
        );
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (round, constant) in ROUNDS.iter().enumerate() {
            if round >= 16 {
                let (near, far) = (words[(round + 1) % 16], words[(round + 14) % 16]);
                let small = xor(xor(rotated::<7, 25>(near), rotated::<18, 14>(near)), _mm256_srli_epi32::<3>(near));
                let large = xor(xor(rotated::<17, 15>(far), rotated::<19, 13>(far)), _mm256_srli_epi32::<10>(far));
                words[round % 16] = add(add(words[round % 16], small), add(words[(round + 9) % 16], large));
            }
            let sum = xor(xor(rotated::<6, 26>(e), rotated::<11, 21>(e)), rotated::<25, 7>(e));
            let choice = xor(g, and(e, xor(f, g)));
            let constant = _mm256_set1_epi32(constant.cast_signed());
            let first = add(add(h, sum), add(add(choice, words[round % 16]), constant));
            let sum = xor(xor(rotated::<2, 30>(a), rotated::<13, 19>(a)), rotated::<22, 10>(a));
            let majority = xor(and(a, b), and(c, xor(a, b)));
            (h, g, f, e, d, c, b, a) = (g, f, e, add(d, first), c, b, a, add(first, add(sum, majority)));
        }
        let after = [a, b, c, d, e, f, g, h];
        std::array::from_fn(|word| add(state[word], after[word]))
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
        for count in [0, 1, 7, 8, 9, messages.len()] {
            let some = messages.get(..count).expect("so many");
            let expected: Vec<[u8; 32]> = some.iter().map(|message| Sha256::digest(message).into()).collect();
            assert_eq!(each(some), expected, "{count} messages");
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                assert_eq!(unsafe { wide::each(some) }, expected, "{count} messages, side by side");
            }
        }
    }
}
