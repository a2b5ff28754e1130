//! The names of the kernels in shader files: those of `kernel void name(` and of `[[host_name("name")]]`, also in macros.

use std::collections::{BTreeMap, BTreeSet};

/// The most macros inside each other.
const MOST_NESTED: usize = 4;
/// The most lines of one file, with those of its macros; ggml's largest file has about 12,000.
const MOST_LINES: usize = 400_000;

const NAMED: &str = "host_name(";
const PLAIN: &str = "kernel void ";

/// A macro with parameters.
struct Macro<'t> {
    params: Vec<&'t str>,
    body: String,
}

/// The names of the kernels that a shader file defines, whatever its conditions are.
pub fn kernels(text: &str) -> BTreeSet<String> {
    let macros = macros(text);
    let mut names = BTreeSet::new();
    let mut left = MOST_LINES;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with('#') {
            let mut last = line;
            while last.ends_with('\\') {
                let Some(next) = lines.next() else { break };
                last = next;
            }
            continue;
        }
        add(line, &macros, (0, &mut left), &mut names);
    }
    names
}

fn macros(text: &str) -> BTreeMap<&str, Macro<'_>> {
    let mut found = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(head) = line.trim_start().strip_prefix("#define ") else { continue };
        let mut body = String::new();
        let mut last = line;
        while last.ends_with('\\') {
            let Some(next) = lines.next() else { break };
            body.push_str(next.trim_end_matches('\\'));
            body.push('\n');
            last = next;
        }
        let Some((name, rest)) = head.split_once('(') else { continue };
        let Some((params, own)) = rest.split_once(')') else { continue };
        if !name.trim().is_empty() && name.trim().chars().all(is_word) {
            let body = format!("{}\n{body}", own.trim_end_matches('\\'));
            found.insert(name.trim(), Macro { params: params.split(',').map(str::trim).collect(), body });
        }
    }
    // Only macros that name kernels, themselves or through another one, are of interest.
    let names: Vec<&str> = found.keys().copied().collect();
    found.retain(|_, known| {
        known.body.contains(NAMED) || names.iter().any(|name| known.body.contains(&format!("{name}(")))
    });
    found
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn add(
    text: &str,
    macros: &BTreeMap<&str, Macro<'_>>,
    (depth, left): (usize, &mut usize),
    names: &mut BTreeSet<String>,
) {
    *left = left.saturating_sub(1);
    if *left == 0 {
        return;
    }
    for rest in text.split(NAMED).skip(1) {
        names.extend(rest.split(')').next().and_then(joined));
    }
    for rest in text.split(PLAIN).skip(1) {
        let name = rest.split('(').next().unwrap_or_default().trim();
        if !name.is_empty() && name.chars().all(is_word) {
            names.insert(name.to_owned());
        }
    }
    let Some((before, rest)) = text.split_once('(').filter(|_| depth < MOST_NESTED) else { return };
    let name = before.trim_start().trim_end();
    let Some(known) = name.rsplit(|c| !is_word(c)).next().and_then(|name| macros.get(name)) else { return };
    let args: Vec<&str> = rest.split(')').next().unwrap_or_default().split(',').map(str::trim).collect();
    if args.len() == known.params.len() {
        for line in substituted(&known.body, &known.params, &args).lines() {
            add(line, macros, (depth + 1, left), names);
        }
    }
}

/// The adjacent literals of a name as one; None if it has another part.
fn joined(text: &str) -> Option<String> {
    let mut name = String::new();
    let mut rest = text.trim();
    while let Some(inner) = rest.strip_prefix('"') {
        let (part, after) = inner.split_once('"')?;
        name.push_str(part);
        rest = after.trim_start();
    }
    (rest.is_empty() && !name.is_empty()).then_some(name)
}

/// The body of a macro with its arguments; `#name` becomes a literal.
fn substituted(body: &str, params: &[&str], args: &[&str]) -> String {
    let mut out = String::new();
    let mut rest = body;
    while let Some(start) = rest.find(|c: char| is_word(c) || c == '"') {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        if from.starts_with('"') {
            let end = from.get(1..).and_then(|text| text.find('"')).map_or(from.len(), |end| end + 2);
            out.push_str(&from[..end]);
            rest = &from[end..];
            continue;
        }
        let end = from.find(|c| !is_word(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        match params.iter().position(|param| *param == word).and_then(|at| args.get(at)) {
            Some(arg) if out.ends_with('#') && !out.ends_with("##") => {
                out.pop();
                out.push_str(&format!("{arg:?}"));
            }
            Some(arg) => out.push_str(arg),
            None => out.push_str(word),
        }
        rest = after;
    }
    out.push_str(rest);
    out.replace("##", "")
}

#[cfg(test)]
mod tests {
    use super::kernels;

    #[test]
    fn kernels_have_the_names_that_the_compiler_gives_them() {
        let text = concat!(
            "kernel void kernel_plain(\n",
            "template [[host_name(\"kernel_named\" )]] kernel t f<1>;\n",
            "#define ONE(name, n) \\\n",
            "template [[host_name(\"kernel_\" name \"_n\" #n)]] kernel t f<n>;\n",
            "#define ALL(name) \\\n",
            "  ONE(name, 1) \\\n",
            "  ONE(name, 2)\n",
            "ALL(\"q4_K\")\n",
        );
        let names: Vec<String> = kernels(text).into_iter().collect();
        assert_eq!(names, ["kernel_named", "kernel_plain", "kernel_q4_K_n1", "kernel_q4_K_n2"]);
        assert!(kernels("host_name(\"a\nALL(\n#define X(\n#define Y(a) Y(a)\nY(b)\n\\").len() < 3);
    }
}
