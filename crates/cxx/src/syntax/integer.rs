//! The integer types of C++ on LP64 platforms, and their conversions: promotion, the common type of two operands, and
//! truncation.

/// An integer type. Values are stored as `i64`: the number itself, or for [`IntTy::U64`] its 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntTy {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl IntTy {
    pub fn new(bits: u8, signed: bool) -> IntTy {
        match (bits, signed) {
            (8, true) => IntTy::I8,
            (8, false) => IntTy::U8,
            (16, true) => IntTy::I16,
            (16, false) => IntTy::U16,
            (32, true) => IntTy::I32,
            (32, false) => IntTy::U32,
            (_, true) => IntTy::I64,
            (_, false) => IntTy::U64,
        }
    }

    pub fn bits(self) -> u8 {
        match self {
            IntTy::Bool | IntTy::I8 | IntTy::U8 => 8,
            IntTy::I16 | IntTy::U16 => 16,
            IntTy::I32 | IntTy::U32 => 32,
            IntTy::I64 | IntTy::U64 => 64,
        }
    }

    pub fn signed(self) -> bool {
        matches!(self, IntTy::I8 | IntTy::I16 | IntTy::I32 | IntTy::I64)
    }

    /// Integral promotion ([conv.prom]): everything narrower than int is computed as int.
    pub fn promoted(self) -> IntTy {
        match self {
            IntTy::U32 | IntTy::I64 | IntTy::U64 => self,
            _ => IntTy::I32,
        }
    }

    /// The usual arithmetic conversions ([expr.arith.conv]).
    pub fn common(self, other: IntTy) -> IntTy {
        let (a, b) = (self.promoted(), other.promoted());
        match a.bits().cmp(&b.bits()) {
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Equal if a.signed() => b,
            std::cmp::Ordering::Equal => a,
        }
    }

    /// The first of int and long that holds a signed number.
    pub fn of(value: i64) -> IntTy {
        if i32::try_from(value).is_ok() { IntTy::I32 } else { IntTy::I64 }
    }

    /// The smallest and the largest value, in stored form; None if all 64-bit patterns are valid.
    pub fn limits(self) -> Option<(i64, i64)> {
        Some(match self {
            IntTy::Bool => (0, 1),
            IntTy::I8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
            IntTy::U8 => (0, i64::from(u8::MAX)),
            IntTy::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
            IntTy::U16 => (0, i64::from(u16::MAX)),
            IntTy::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
            IntTy::U32 => (0, i64::from(u32::MAX)),
            IntTy::I64 | IntTy::U64 => return None,
        })
    }

    pub fn fits(self, value: i64) -> bool {
        self.limits().is_none_or(|(least, most)| (least..=most).contains(&value))
    }

    /// The value after storing a number into this type.
    pub fn wrap(self, value: i64) -> i64 {
        match self {
            IntTy::Bool => i64::from(value != 0),
            IntTy::I8 => i64::from(value as i8),
            IntTy::U8 => i64::from(value as u8),
            IntTy::I16 => i64::from(value as i16),
            IntTy::U16 => i64::from(value as u16),
            IntTy::I32 => i64::from(value as i32),
            IntTy::U32 => i64::from(value as u32),
            IntTy::I64 | IntTy::U64 => value,
        }
    }

    pub fn as_float(self, value: i64) -> f64 {
        if self == IntTy::U64 { value as u64 as f64 } else { value as f64 }
    }

    /// The display form of a number.
    pub fn show(self, value: i64) -> String {
        if self == IntTy::U64 { (value as u64).to_string() } else { value.to_string() }
    }
}

/// An integer literal with its type ([lex.icon]): the first candidate type that holds it. None for floats and for
/// literals with a non-standard suffix.
pub fn literal(text: &str) -> Option<(i64, IntTy)> {
    let whole;
    let text = match text.contains('\'') {
        true => {
            whole = text.replace('\'', "");
            whole.as_str()
        }
        false => text,
    };
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (text.get(2..)?, 16),
        [b'0', b'b' | b'B', ..] => (text.get(2..)?, 2),
        [b'0', _, ..] => (text.get(1..)?, 8),
        _ => (text, 10),
    };
    let number = digits.trim_end_matches(['u', 'l', 'z', 'U', 'L', 'Z']);
    let suffix = digits.get(number.len()..)?;
    let is = |known: &&str| suffix.eq_ignore_ascii_case(known);
    let suffix = ["", "u", "l", "ul", "lu", "ll", "ull", "llu", "z", "uz", "zu"].into_iter().find(is)?;
    let value = if number.is_empty() { 0 } else { u64::from_str_radix(number, radix).ok()? };
    let (unsigned, long) = (suffix.contains('u'), suffix.contains(['l', 'z']));
    // A decimal literal without a suffix is never unsigned; others become unsigned if they fit no signed type.
    let kinds: &[IntTy] = match (unsigned, long, radix) {
        (true, false, _) => &[IntTy::U32, IntTy::U64],
        (true, true, _) => &[IntTy::U64],
        (false, false, 10) => &[IntTy::I32, IntTy::I64],
        (false, true, 10) => &[IntTy::I64],
        (false, false, _) => &[IntTy::I32, IntTy::U32, IntTy::I64, IntTy::U64],
        (false, true, _) => &[IntTy::I64, IntTy::U64],
    };
    let fits = |ty: &&IntTy| match ty {
        IntTy::U64 => true,
        IntTy::I64 => i64::try_from(value).is_ok(),
        ty => i64::try_from(value).is_ok_and(|value| ty.fits(value)),
    };
    kinds.iter().find(fits).map(|&ty| (value as i64, ty))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_the_type_that_the_standard_gives_them() {
        for (text, wanted) in [
            ("1", (1, IntTy::I32)),
            ("97u", (97, IntTy::U32)),
            ("2147483648", (2_147_483_648, IntTy::I64)),
            ("0x80000000", (2_147_483_648, IntTy::U32)),
            ("0xFFFFFFFFFFFFFFFF", (-1, IntTy::U64)),
            ("1'000ull", (1000, IntTy::U64)),
            ("017", (15, IntTy::I32)),
            ("0b11L", (3, IntTy::I64)),
            ("0", (0, IntTy::I32)),
            ("0u", (0, IntTy::U32)),
        ] {
            assert_eq!(literal(text), Some(wanted), "{text}");
        }
        assert_eq!(literal("64_columns"), None);
        assert_eq!(literal("1.5f"), None);
    }

    #[test]
    fn the_common_type_is_unsigned_only_where_the_signed_one_is_no_wider() {
        assert_eq!(IntTy::I32.common(IntTy::U32), IntTy::U32);
        assert_eq!(IntTy::U32.common(IntTy::I64), IntTy::I64);
        assert_eq!(IntTy::I32.common(IntTy::U64), IntTy::U64);
        assert_eq!(IntTy::I64.common(IntTy::U64), IntTy::U64);
        assert_eq!(IntTy::U8.common(IntTy::U16), IntTy::I32);
        assert_eq!(IntTy::Bool.common(IntTy::Bool), IntTy::I32);
    }
}
