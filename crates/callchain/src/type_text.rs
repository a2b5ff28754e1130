//! Splits the text of types and expressions into parts, without knowing their meaning.

/// One part of a chain of names: the operator before it, its name, and its suffixes.
pub struct Segment<'e> {
    pub mark: &'e str,
    pub name: &'e str,
    /// The suffixes `()` and `[]`, in order.
    pub after: Vec<u8>,
}

/// Splits `a.b()->c[]` into its parts; None if a part is not a name.
pub fn segments(expression: &str) -> Option<Vec<Segment<'_>>> {
    if expression.contains('?') {
        return None;
    }
    let mut out = Vec::new();
    let mut rest = expression;
    while !rest.is_empty() {
        let mark = ["->", "::", "."].into_iter().find(|mark| rest.starts_with(mark)).unwrap_or("");
        rest = rest.get(mark.len()..)?;
        let length = if rest.starts_with('(') {
            rest.find(')')? + 1
        } else {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        };
        let (name, tail) = rest.split_at_checked(length)?;
        rest = tail;
        let mut after = Vec::new();
        while let Some(tail) = rest.strip_prefix("()").or_else(|| rest.strip_prefix("[]")) {
            after.push(rest.as_bytes().first().copied()?);
            rest = tail;
        }
        // A trailing operator shows how the called name is accessed.
        if !name.is_empty() {
            out.push(Segment { mark, name, after });
        } else if !rest.is_empty() {
            return None;
        }
    }
    Some(out)
}

/// The text up to the first comma outside brackets.
pub fn first_argument(inner: &str) -> &str {
    let mut depth = 0i32;
    for (at, c) in inner.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => return inner.get(..at).unwrap_or(inner),
            _ => {}
        }
    }
    inner
}

/// The type without pointers, references and irrelevant qualifiers.
pub fn bare(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let shorter = text.trim_matches(['*', '&', ' ']);
        let shorter = [
            "const ",
            "struct ",
            "class ",
            "typename ",
            "static ",
            "inline ",
            "constexpr ",
            "extern ",
            "mutable ",
            "virtual ",
        ]
        .iter()
        .find_map(|word| shorter.strip_prefix(word))
        .unwrap_or(shorter);
        let shorter = shorter.strip_suffix("const").filter(|rest| rest.ends_with(['*', '&', ' '])).unwrap_or(shorter);
        let shorter = shorter.strip_prefix("...").unwrap_or(shorter);
        if shorter == text {
            return text;
        }
        text = shorter;
    }
}

pub fn last_name(text: &str) -> &str {
    let text = text.split('<').next().unwrap_or(text);
    text.rsplit("::").next().unwrap_or(text)
}
