//! The four status flags that branches in constructors test, and the arithmetic that sets them.

use iced_x86::ConditionCode;

/// Zero, sign, carry and overflow after an operation with known operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags {
    pub zero: bool,
    pub sign: bool,
    pub carry: bool,
    pub overflow: bool,
}

/// The low `bytes` bytes of a value.
pub(super) fn truncate(value: u64, bytes: usize) -> u64 {
    match bytes {
        0..8 => value & ((1 << (bytes * 8)) - 1),
        _ => value,
    }
}

/// Sign-extends from `bytes` bytes.
pub(super) fn sign_extend(value: u64, bytes: usize) -> u64 {
    let unused = 64 - (bytes.clamp(1, 8) * 8) as u32;
    (value.wrapping_shl(unused).cast_signed() >> unused).cast_unsigned()
}

impl Flags {
    pub fn of_logic(result: u64, bytes: usize) -> Self {
        let result = truncate(result, bytes);
        Self { zero: result == 0, sign: sign_extend(result, bytes) >> 63 == 1, carry: false, overflow: false }
    }

    pub fn of_sub(left: u64, right: u64, bytes: usize) -> (u64, Self) {
        let (left, right) = (truncate(left, bytes), truncate(right, bytes));
        let result = truncate(left.wrapping_sub(right), bytes);
        let sign = |v| sign_extend(v, bytes) >> 63 == 1;
        let overflow = sign(left) != sign(right) && sign(result) != sign(left);
        (result, Self { zero: result == 0, sign: sign(result), carry: left < right, overflow })
    }

    pub fn of_add(left: u64, right: u64, bytes: usize) -> (u64, Self) {
        let (left, right) = (truncate(left, bytes), truncate(right, bytes));
        let result = truncate(left.wrapping_add(right), bytes);
        let sign = |v| sign_extend(v, bytes) >> 63 == 1;
        let overflow = sign(left) == sign(right) && sign(result) != sign(left);
        (result, Self { zero: result == 0, sign: sign(result), carry: result < left, overflow })
    }

    /// Whether a condition holds; None for parity, which is not tracked.
    pub fn holds(self, condition: ConditionCode) -> Option<bool> {
        let less = self.sign != self.overflow;
        Some(match condition {
            ConditionCode::o => self.overflow,
            ConditionCode::no => !self.overflow,
            ConditionCode::b => self.carry,
            ConditionCode::ae => !self.carry,
            ConditionCode::e => self.zero,
            ConditionCode::ne => !self.zero,
            ConditionCode::be => self.carry || self.zero,
            ConditionCode::a => !(self.carry || self.zero),
            ConditionCode::s => self.sign,
            ConditionCode::ns => !self.sign,
            ConditionCode::l => less,
            ConditionCode::ge => !less,
            ConditionCode::le => self.zero || less,
            ConditionCode::g => !(self.zero || less),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_agree_with_the_integers() {
        let samples = [0u64, 1, 5, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
        for left in samples {
            for right in samples {
                let (_, flags) = Flags::of_sub(left, right, 4);
                let signed = |v: u64| (v as u32).cast_signed();
                assert_eq!(flags.holds(ConditionCode::b), Some(left < right), "{left} {right}");
                assert_eq!(flags.holds(ConditionCode::l), Some(signed(left) < signed(right)), "{left} {right}");
                assert_eq!(flags.holds(ConditionCode::le), Some(signed(left) <= signed(right)), "{left} {right}");
                assert_eq!(flags.holds(ConditionCode::e), Some(left == right));
            }
        }
    }
}
