//! Name suffixes that show the encoding of an instruction.

/// The encoding of an instruction, as LLVM marks it in the name's suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Form {
    /// The only encoding of an instruction, which has no suffix.
    #[default]
    Plain,
    E32,
    E64,
    Dpp,
    E64Dpp,
    Sdwa,
}

impl Form {
    /// All forms, in the order of their numbers.
    pub const ALL: [Form; 6] = [Form::Plain, Form::E32, Form::E64, Form::Dpp, Form::E64Dpp, Form::Sdwa];

    pub fn suffix(self) -> &'static str {
        match self {
            Form::Plain => "",
            Form::E32 => "_e32",
            Form::E64 => "_e64",
            Form::Dpp => "_dpp",
            Form::E64Dpp => "_e64_dpp",
            Form::Sdwa => "_sdwa",
        }
    }
}

/// Splits a printed name into the canonical name and its form. The longest suffix is tried first, because `_e64_dpp`
/// ends in `_dpp`.
pub fn split(printed: &str) -> (&str, Form) {
    for form in [Form::E64Dpp, Form::Dpp, Form::Sdwa, Form::E32, Form::E64] {
        if let Some(name) = printed.strip_suffix(form.suffix()) {
            return (name, form);
        }
    }
    (printed, Form::Plain)
}
