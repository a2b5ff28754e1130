//! The parts of a demangled C++ function name: qualified name, template arguments, parameters.

/// The parts of a function name, borrowed from the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function<'n> {
    /// The name with namespaces, without the template arguments of the function itself.
    pub path: &'n str,
    /// The last component.
    pub name: &'n str,
    pub arguments: Vec<&'n str>,
    /// The parameter list without its parentheses. None if the name has no parameter list.
    pub parameters: Option<&'n str>,
}

/// Splits a demangled name: `void a::b<c, 1>(int)`.
pub(super) fn function(text: &str) -> Function<'_> {
    let text = text.trim();
    let text = text.strip_suffix(" [clone .kd]").or_else(|| text.strip_suffix(".kd")).unwrap_or(text);
    let (head, parameters) = match top_level_parenthesis(text) {
        Some(at) => {
            let rest = text.get(at + 1..).unwrap_or("");
            (text.get(..at).unwrap_or(text), Some(rest.rsplit_once(')').map_or(rest, |(inside, _)| inside)))
        }
        None => (text, None),
    };
    let head = head.trim_end();
    let start = last_top_level_space(head).map_or(0, |at| at + 1);
    let head = head.get(start..).unwrap_or(head);
    let (path, arguments) = match open_of_last_angle(head) {
        Some(at) => {
            let inside = head.get(at + 1..head.len() - 1).unwrap_or("");
            (head.get(..at).unwrap_or(head), split_arguments(inside))
        }
        None => (head, Vec::new()),
    };
    let name = last_component(path);
    Function { path, name, arguments, parameters }
}

/// Splits at commas outside brackets.
pub(super) fn split_arguments(inside: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if at > 0 && inside.as_bytes().get(at - 1) == Some(&b'-') => {}
            b'>' | b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                found.push(inside.get(start..at).unwrap_or("").trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = inside.get(start..).unwrap_or("").trim();
    if !last.is_empty() {
        found.push(last);
    }
    found
}

/// The start of the parameter list: the first parenthesis outside brackets that is not `(anonymous namespace)`.
fn top_level_parenthesis(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0i32, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'(' if depth == 0 => {
                if let Some(skip) = text.get(at..).and_then(|rest| rest.strip_prefix("(anonymous namespace)")) {
                    at = bytes.len() - skip.len();
                    continue;
                }
                return Some(at);
            }
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if at > 0 && bytes.get(at - 1) == Some(&b'-') => {}
            b'>' | b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

fn last_top_level_space(text: &str) -> Option<usize> {
    let (mut depth, mut found) = (0i32, None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth -= 1,
            b' ' if depth == 0 => found = Some(at),
            _ => {}
        }
    }
    found
}

fn open_of_last_angle(text: &str) -> Option<usize> {
    if !text.ends_with('>') {
        return None;
    }
    let (mut depth, bytes) = (0i32, text.as_bytes());
    for at in (0..bytes.len()).rev() {
        match bytes.get(at) {
            Some(b'>' | b')' | b']' | b'}') => depth += 1,
            Some(b'<') => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            Some(b'(' | b'[' | b'{') => depth -= 1,
            _ => {}
        }
    }
    None
}

fn last_component(path: &str) -> &str {
    let (mut depth, mut start) = (0i32, 0);
    let bytes = path.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth -= 1,
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => start = at + 2,
            _ => {}
        }
    }
    path.get(start..).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_template_instance_apart() {
        let found = function("void mul_mat_q<(ggml_type)12, 8, false>(char const*, int)");
        assert_eq!((found.path, found.name), ("mul_mat_q", "mul_mat_q"));
        assert_eq!(found.arguments, ["(ggml_type)12", "8", "false"]);
        assert_eq!(found.parameters, Some("char const*, int"));
    }

    #[test]
    fn takes_namespaces_lambdas_and_functions_as_arguments_apart() {
        let found =
            function("void a::(anonymous namespace)::b<&f(float, int), c<d, 1>>::e<x::{lambda(int)#1}>(T const&)");
        assert_eq!(found.name, "e");
        assert_eq!(found.arguments, ["x::{lambda(int)#1}"]);
        let found = function("quantize_q8_1(float const*)");
        assert_eq!((found.name, found.arguments.len()), ("quantize_q8_1", 0));
        assert_eq!(function("plain").parameters, None);
    }
}
