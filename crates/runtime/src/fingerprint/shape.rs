//! The shape of a kernel: its name, and the numbers of its template arguments and parameters.

use std::fmt;

/// `mul_mat_vec_q<3>(11)`. Templates with a parameter pack have no fixed number of arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    pub name: String,
    /// None for a pack, which takes any number.
    pub arguments: Option<u8>,
    pub parameters: u8,
}

impl Shape {
    /// Parses a demangled kernel name: `void mul_mat_q<(ggml_type)12, 128, false>(char const*, ...)`.
    pub fn of_demangled(text: &str) -> Option<Shape> {
        let text = text.split(" [clone").next().unwrap_or(text).trim();
        let open = parameter_list(text)?;
        let (head, list) = text.split_at_checked(open)?;
        let parameters = count(list.strip_prefix('(')?.strip_suffix(')')?);
        let (head, arguments) = match head.strip_suffix('>') {
            Some(_) => {
                let start = matching_open(head)?;
                (head.get(..start)?, count(head.get(start + 1..head.len() - 1)?))
            }
            None => (head, 0),
        };
        let name = head.rsplit([' ', ':', ')']).next().unwrap_or(head).trim_start_matches(['*', '&']);
        valid(name).then(|| Shape { name: name.to_owned(), arguments: Some(arguments), parameters })
    }

    /// Whether a kernel of this shape fits a declaration in the source. A pack takes any number of template arguments,
    /// and as a parameter it may mean none or many.
    pub fn fits(&self, declared: &Shape) -> bool {
        self.name == declared.name
            && match declared.arguments {
                None => self.parameters >= declared.parameters.saturating_sub(1),
                arguments => self.arguments == arguments && self.parameters == declared.parameters,
            }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.arguments {
            Some(0) => {}
            Some(n) => write!(f, "<{n}>")?,
            None => write!(f, "<...>")?,
        }
        write!(f, "({})", self.parameters)
    }
}

fn valid(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The position of the parenthesis that opens the last, outermost list.
fn parameter_list(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => {
                depth -= 1;
                if depth == 0 {
                    return text.ends_with(')').then_some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The `<` that matches the `>` at the end.
fn matching_open(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_i32;
    for at in (0..bytes.len()).rev() {
        match bytes.get(at) {
            Some(b'>') if at == 0 || bytes.get(at - 1) != Some(&b'-') => depth += 1,
            Some(b'<') => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The number of items in a comma-separated list, ignoring commas in brackets; `void` and an empty list have none.
pub(super) fn count(list: &str) -> u8 {
    let list = list.trim();
    if list.is_empty() || list == "void" {
        return 0;
    }
    let (mut depth, mut items) = (0_i32, 1_u8);
    let mut before = b' ';
    for byte in list.bytes() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b'>' if before == b'-' => {}
            b')' | b']' | b'}' | b'>' => depth -= 1,
            b',' if depth == 0 => items = items.saturating_add(1),
            _ => {}
        }
        before = byte;
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demangled_names() {
        let shape = |text: &str| Shape::of_demangled(text).unwrap().to_string();
        assert_eq!(shape("void mul_mat_q<(ggml_type)12, 128, false>(char const*, int const*, int)"), "mul_mat_q<3>(3)");
        assert_eq!(shape("k_sum(float const*, int)"), "k_sum(2)");
        assert_eq!(
            shape("void k_bin<&(op_add(float, float)), float, std::pair<int, int>>(void (*)(int, int), x<(a)1>)"),
            "k_bin<3>(2)"
        );
        assert_eq!(shape("void ns::inner<1>(int) [clone .kd]"), "inner<1>(1)");
        assert_eq!(Shape::of_demangled("__amd_rocclr_copyBuffer"), None);
    }
}
