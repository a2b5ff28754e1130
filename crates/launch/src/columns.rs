//! The number of columns of a multiplication, read from the launch rather than guessed from the request.
//!
//! Vector kernels have the number in their name. `mul_mat_q` and its fix-up take it as an argument, whose position
//! changes between ggml versions. The form of the argument list shows the position: after the pointers come the blocks
//! per row (three words with their reciprocal since 2026, one word before), the rows of the weights, then the columns
//! (ggml-cuda/mmq.cuh).

use crate::grammar::{Facts, Family};

/// The column count *ne11* of one launch; None if the kernel has none or the arguments were not recorded.
pub fn columns(facts: &Facts, layout: &[(u32, u32)], args: &[u8]) -> Option<u64> {
    let given = place(facts, layout).and_then(|place| integer(args, *layout.get(place)?));
    of_value(facts, given)
}

/// The index of the argument with the column count, for kernels that have one.
pub fn place(facts: &Facts, layout: &[(u32, u32)]) -> Option<usize> {
    const POINTER: u32 = 8;
    const PACKED: u32 = 12;
    match facts.family {
        // mul_mat_f(x, y, ids, dst, ncols, ncols_dst_total, ..)
        Family::Mmf => layout.iter().position(|arg| arg.1 != POINTER).map(|first| first + 1),
        Family::Mmq | Family::MmqFixup => {
            let blocks = layout.iter().position(|arg| arg.1 == PACKED);
            let blocks = blocks.or_else(|| layout.iter().position(|arg| arg.1 != POINTER))?;
            Some(blocks + 2)
        }
        _ => None,
    }
}

/// Whether the launch computes with experts: its third pointer, the list that assigns experts to columns, is set (`ids`
/// of mul_mat_vec_q, mul_mat_vec_f and mul_mat_f, `ids_dst` of mul_mat_q; ggml-cuda/mmvq.cu, mmvf.cu, mmf.cuh,
/// mmq.cuh). In versions without that argument, fewer pointers come first. None if this cannot be determined.
pub fn routed(facts: &Facts, layout: &[(u32, u32)], args: &[u8]) -> Option<bool> {
    let least = match facts.family {
        Family::Mmvq | Family::Mmvf | Family::Mmf => 4,
        Family::Mmq | Family::MmqFixup => 6,
        _ => return None,
    };
    // The arguments for fused operations are a structure of pointers.
    let pointers = layout.iter().take_while(|arg| arg.1 >= 8 && arg.1 != 12).count();
    if pointers < least {
        return None;
    }
    let &(offset, size) = layout.get(2)?;
    let bytes = args.get(offset as usize..)?.first_chunk().filter(|_| size == 8)?;
    Some(u64::from_le_bytes(*bytes) != 0)
}

/// The column count, given the value of the argument at [`place`] if it could be read.
pub fn of_value(facts: &Facts, given: Option<u64>) -> Option<u64> {
    match facts.family {
        Family::Mmvq | Family::Mmvf | Family::Dmmv => facts.columns.map(u64::from),
        // Up to 16 columns, one tile is as wide as the product.
        Family::Mmf => {
            let tile = facts.columns.or(facts.tile.map(|tile| tile.columns)).map(u64::from);
            given.filter(|&columns| columns > 0 && tile.is_none_or(|tile| columns >= tile)).or(tile)
        }
        Family::Mmq | Family::MmqFixup => given,
        _ => None,
    }
}

/// A non-negative four-byte argument.
pub fn integer(args: &[u8], (offset, size): (u32, u32)) -> Option<u64> {
    if size != 4 {
        return None;
    }
    let bytes = args.get(offset as usize..)?.first_chunk()?;
    u64::try_from(i32::from_le_bytes(*bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar;

    /// Builds argument bytes for a layout: zero for pointers, and the given words for the rest, in order.
    fn made(sizes: &[u32], words: &[i32]) -> (Vec<(u32, u32)>, Vec<u8>) {
        let (mut layout, mut bytes, mut words) = (Vec::new(), Vec::new(), words.iter());
        for &size in sizes {
            bytes.resize(bytes.len().next_multiple_of(size.min(8) as usize & 0xc), 0);
            layout.push((bytes.len() as u32, size));
            match size {
                8 => bytes.extend([0; 8]),
                _ => (0..size / 4).for_each(|_| bytes.extend(words.next().copied().unwrap_or(0).to_le_bytes())),
            }
        }
        (layout, bytes)
    }

    #[test]
    fn mul_mat_q_of_both_argument_lists() {
        let facts = grammar::read("void mul_mat_q<(ggml_type)12, 112, false>(char const*)");
        let (layout, args) = made(&[8, 8, 8, 8, 8, 8, 12, 4, 4, 4], &[14, 0, 1, 3584, 290, 14]);
        assert_eq!(columns(&facts, &layout, &args), Some(290));
        let (layout, args) = made(&[8, 8, 8, 8, 8, 8, 4, 4, 4, 4], &[3584, 18944, 12, 14]);
        assert_eq!(columns(&facts, &layout, &args), Some(12));
    }

    #[test]
    fn later_versions_pass_more_in_front() {
        let facts = grammar::read("void mul_mat_q<(ggml_type)12, 112, false>(char const*)");
        let (layout, args) = made(&[8, 8, 8, 8, 4, 4, 12, 4, 4, 4], &[3, 0, 14, 0, 1, 3584, 512, 14]);
        assert_eq!(columns(&facts, &layout, &args), Some(512));
    }

    #[test]
    fn experts_are_known_by_the_list_that_they_are_given() {
        let facts = grammar::read("void mul_mat_q<(ggml_type)39, 64, false>(char const*)");
        let (layout, mut args) = made(&[8, 8, 8, 8, 8, 8, 12, 4, 4, 4], &[14, 0, 1, 3584, 512, 14]);
        assert_eq!(routed(&facts, &layout, &args), Some(false));
        args[16] = 1;
        assert_eq!(routed(&facts, &layout, &args), Some(true));
        let (old, args) = made(&[8, 8, 8, 8, 4, 4, 4], &[3584, 18944, 12]);
        assert_eq!(routed(&facts, &old, &args), None, "a version without experts in this kernel");
    }

    #[test]
    fn nothing_is_made_up() {
        let facts = grammar::read("void mul_mat_q<(ggml_type)12, 112, false>(char const*)");
        assert_eq!(columns(&facts, &[], &[]), None);
        let (layout, _) = made(&[8, 8, 12, 4, 4], &[]);
        assert_eq!(columns(&facts, &layout, &[0; 8]), None);
        let norm = grammar::read("void rms_norm_f32<1024, true, false, false>(float const*)");
        assert_eq!(columns(&norm, &[(0, 8)], &[0; 8]), None);
    }
}
