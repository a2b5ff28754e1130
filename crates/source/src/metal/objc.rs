//! Rewrites Objective-C as C++ for the evaluator, line by line, so that positions keep their line numbers.
//!
//! Only the constructs that host code of Metal uses are rewritten: message sends become calls of `objc_send_SELECTOR`,
//! blocks become lambdas, and literals become calls. `metal_types.hpp` defines the functions that are modelled. A construct
//! that is not recognised stays as it is: the function that contains it cannot be evaluated, and an answer that needs this
//! function is undetermined.

use std::fmt::Write;

/// The prefix of the functions that stand for message sends.
const SEND: &str = "objc_send_";
/// The deepest nesting of message sends and blocks; real code stays under ten.
const MOST_NESTED: usize = 64;
/// The most tokens of a declaration, a type or the head of a block.
const NEAR: usize = 64;

/// The text of a file in Objective-C as C++.
pub fn as_cpp(text: &str) -> String {
    let toks = Toks::new(lex(text));
    let containers = containers(&toks);
    let shared = names_after(&toks, "__block");
    let mut rewriter = Rewriter { toks: &toks, containers, shared, depth: 0 };
    rewriter.range(0, toks.len())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Word,
    Text,
    /// A directive, up to its last line.
    Directive,
    Other,
}

#[derive(Debug, Clone, Copy)]
struct Tok<'t> {
    kind: Kind,
    text: &'t str,
}

/// The tokens of a file, with the ends of its brackets and classes.
struct Toks<'t> {
    list: Vec<Tok<'t>>,
    /// The index after the bracket that closes this one; 0 for all other tokens.
    ends: Vec<usize>,
    /// The indices of `@end`.
    classes: Vec<usize>,
}

impl<'t> std::ops::Deref for Toks<'t> {
    type Target = [Tok<'t>];

    fn deref(&self) -> &[Tok<'t>] {
        &self.list
    }
}

impl<'t> Toks<'t> {
    fn new(list: Vec<Tok<'t>>) -> Toks<'t> {
        let mut ends = vec![0; list.len()];
        let (mut open, mut classes) = (Vec::new(), Vec::new());
        for (index, tok) in list.iter().enumerate() {
            match tok.text {
                "(" | "[" | "{" => open.push((index, tok.text)),
                ")" | "]" | "}" => {
                    let fits = |(_, opened): &(usize, &str)| {
                        matches!((*opened, tok.text), ("(", ")") | ("[", "]") | ("{", "}"))
                    };
                    if let Some((begin, _)) = open.pop().filter(fits) {
                        ends[begin] = index + 1;
                    }
                }
                "end" if index > 0 && list[index - 1].text == "@" => classes.push(index - 1),
                _ => {}
            }
        }
        Toks { list, ends, classes }
    }
}

/// Splits a text into tokens; comments are space.
fn lex(text: &str) -> Vec<Tok<'_>> {
    let bytes = text.as_bytes();
    let mut toks = Vec::new();
    let (mut at, mut line_start) = (0, true);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let until = |stop: &dyn Fn(u8) -> bool| rest.iter().position(|byte| stop(*byte)).unwrap_or(rest.len());
        let (kind, length) = if byte.is_ascii_whitespace() {
            line_start |= byte == b'\n';
            (Kind::Space, 1)
        } else if rest.starts_with(b"//") {
            (Kind::Space, until(&|byte| byte == b'\n'))
        } else if rest.starts_with(b"/*") {
            let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
            (Kind::Space, end.map_or(rest.len(), |end| end + 4))
        } else if byte == b'#' && line_start {
            (Kind::Directive, directive(rest))
        } else if byte == b'"' || byte == b'\'' {
            (Kind::Text, quoted(rest, byte))
        } else if byte.is_ascii_alphanumeric() || byte == b'_' {
            (Kind::Word, until(&|byte| !(byte.is_ascii_alphanumeric() || byte == b'_')))
        } else {
            let length = text[at..].chars().next().map_or(1, char::len_utf8);
            (Kind::Other, if rest.starts_with(b"->") { 2 } else { length })
        };
        if kind != Kind::Space {
            line_start = false;
        }
        let length = length.max(1);
        toks.push(Tok { kind, text: &text[at..at + length] });
        at += length;
    }
    toks
}

/// The length of a directive with its continuation lines.
fn directive(rest: &[u8]) -> usize {
    let mut end = 0;
    for line in rest.split_inclusive(|byte| *byte == b'\n') {
        let own = line.strip_suffix(b"\n").unwrap_or(line);
        if !own.ends_with(b"\\") {
            return end + own.len();
        }
        end += line.len();
    }
    end
}

/// The length of a string or character literal.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

/// Classes whose objects are subscripted.
const CONTAINERS: &[&str] = &["NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary"];
/// Classes with type arguments.
const GENERIC: &[&str] = &["NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet"];

/// The variables and fields that are declared with a container's class.
fn containers<'t>(toks: &Toks<'t>) -> Vec<&'t str> {
    let mut names = Vec::new();
    for (at, _) in toks.iter().enumerate().filter(|(_, tok)| CONTAINERS.contains(&tok.text)) {
        let mut next = after(toks, at + 1);
        if is(toks, next, "<") {
            next = after(toks, angle(toks, next));
        }
        if is(toks, next, "*")
            && let Some(name) = toks.get(after(toks, next + 1)).filter(|tok| tok.kind == Kind::Word)
        {
            names.push(name.text);
        }
    }
    names
}

/// The variables of declarations that begin with a word.
fn names_after<'t>(toks: &Toks<'t>, word: &str) -> Vec<&'t str> {
    let mut names = Vec::new();
    for (at, _) in toks.iter().enumerate().filter(|(_, tok)| tok.text == word) {
        let near = at..toks.len().min(at + NEAR);
        let end = near.into_iter().find(|&at| matches!(toks[at].text, "=" | ";")).unwrap_or(at);
        names.extend(toks[at..end].iter().rev().find(|tok| tok.kind == Kind::Word).map(|tok| tok.text));
    }
    names.truncate(NEAR);
    names
}

/// The index of the next token that is not space.
fn after(toks: &Toks<'_>, at: usize) -> usize {
    (at..toks.len()).find(|&at| toks[at].kind != Kind::Space).unwrap_or(toks.len())
}

fn is(toks: &Toks<'_>, at: usize, text: &str) -> bool {
    toks.get(at).is_some_and(|tok| tok.text == text && tok.kind != Kind::Text)
}

fn is_word(toks: &Toks<'_>, at: usize) -> bool {
    toks.get(at).is_some_and(|tok| tok.kind == Kind::Word && !tok.text.starts_with(|c: char| c.is_ascii_digit()))
}

/// The index after the bracket that closes the one at `at`; None if it is not closed.
fn closed(toks: &Toks<'_>, at: usize) -> Option<usize> {
    toks.ends.get(at).copied().filter(|end| *end > at)
}

/// The index after `<...>`, or that of `<` if it is not closed in this statement.
fn angle(toks: &Toks<'_>, at: usize) -> usize {
    let end = (at..toks.len().min(at + NEAR)).find(|&at| matches!(toks[at].text, ">" | ";" | "(" | ")" | "{"));
    end.filter(|&end| is(toks, end, ">")).map_or(at, |end| end + 1)
}

struct Rewriter<'a, 't> {
    toks: &'a Toks<'t>,
    containers: Vec<&'t str>,
    /// Variables that blocks share with the function around them.
    shared: Vec<&'t str>,
    depth: usize,
}

impl Rewriter<'_, '_> {
    fn range(&mut self, from: usize, to: usize) -> String {
        let mut out = String::new();
        let mut at = from;
        while at < to {
            let done = if self.depth < MOST_NESTED { self.construct(at, to, from, &mut out) } else { None };
            at = match done {
                Some(next) if next > at => next,
                _ => {
                    out.push_str(self.toks[at].text);
                    at + 1
                }
            };
        }
        out
    }

    fn nested(&mut self, from: usize, to: usize) -> String {
        self.depth += 1;
        let text = self.range(from, to);
        self.depth -= 1;
        text
    }

    /// Rewrites the construct that begins at a token. Returns the index after it.
    fn construct(&mut self, at: usize, to: usize, from: usize, out: &mut String) -> Option<usize> {
        let toks = self.toks;
        let tok = toks.get(at)?;
        match (tok.kind, tok.text) {
            (Kind::Directive, text) => {
                let rest = text.strip_prefix('#')?.trim_start().strip_prefix("import")?;
                let _ = write!(out, "#include{rest}");
                Some(at + 1)
            }
            (
                Kind::Word,
                "__block" | "__bridge" | "__bridge_retained" | "__bridge_transfer" | "__weak" | "__strong",
            ) => Some(at + 1),
            (Kind::Word, "id") if is(toks, at + 1, "<") => {
                out.push_str("id");
                Some(angle(toks, at + 1)).filter(|next| *next > at + 1)
            }
            (Kind::Word, "for") => self.for_in(at, out),
            (Kind::Word, name) if GENERIC.contains(&name) && is(toks, at + 1, "<") => {
                out.push_str(name);
                Some(angle(toks, at + 1)).filter(|next| *next > at + 1)
            }
            // A container is a pointer; its items are those of the object behind it.
            (Kind::Word, name) if self.containers.contains(&name) && is(toks, at + 1, "[") => {
                let _ = write!(out, "{name}[0]");
                Some(at + 1)
            }
            (Kind::Word, name)
                if self.containers.contains(&name) && is(toks, at + 1, ".") && is(toks, at + 2, "count") =>
            {
                let _ = write!(out, "{name}[0].size()");
                Some(at + 3)
            }
            (Kind::Other, ".") => self.property(at, out),
            (Kind::Other, "@") => self.at_sign(at, out),
            (Kind::Other, "^") => self.block(at, from, out),
            (Kind::Other, "[") => self.message(at, to, out),
            _ => None,
        }
    }

    /// `object.property`, where the object is a pointer.
    fn property(&self, at: usize, out: &mut String) -> Option<usize> {
        let name = self.toks.get(at + 1)?;
        let property = PROPERTIES.contains(&name.text) && !is(self.toks, after(self.toks, at + 2), "(");
        property.then(|| {
            let _ = write!(out, "->{}", name.text);
            at + 2
        })
    }

    /// `for (T x in list)`.
    fn for_in(&mut self, at: usize, out: &mut String) -> Option<usize> {
        let toks = self.toks;
        let open = after(toks, at + 1);
        let end = is(toks, open, "(").then(|| closed(toks, open))??;
        let word = (open..end).find(|&at| is(toks, at, "in"))?;
        if (open..word).any(|at| matches!(toks[at].text, ";" | "=" | ":")) {
            return None;
        }
        let (variable, list) = (self.nested(open + 1, word), self.nested(word + 1, end - 1));
        let _ = write!(out, "for ({variable}: ({list})[0])");
        Some(end)
    }

    fn at_sign(&mut self, at: usize, out: &mut String) -> Option<usize> {
        let toks = self.toks;
        let next = toks.get(at + 1)?;
        match (next.kind, next.text) {
            (Kind::Text, text) => {
                out.push_str(text);
                Some(at + 2)
            }
            (Kind::Word, "autoreleasepool") => Some(at + 2),
            (Kind::Word, "interface" | "implementation" | "protocol") => {
                let end = *toks.classes.get(toks.classes.partition_point(|end| *end <= at))?;
                out.extend(toks[at..end].iter().flat_map(|tok| tok.text.chars()).filter(|c| *c == '\n'));
                Some(end + 2)
            }
            (Kind::Word, "available") => {
                let end = closed(toks, after(toks, at + 2))?;
                let inner: String = toks[at + 2..end].iter().map(|tok| tok.text).collect();
                let _ = write!(out, "objc_available({:?})", inner.trim_start_matches('(').trim_end_matches(')'));
                Some(end)
            }
            (Kind::Other, "(") => {
                let end = closed(toks, at + 1)?;
                let inner = self.nested(at + 2, end - 1);
                let _ = write!(out, "objc_number({inner})");
                Some(end)
            }
            (Kind::Other, open @ ("[" | "{")) => {
                let end = closed(toks, at + 1)?;
                let inner = self.nested(at + 2, end - 1);
                let name = if open == "[" { "objc_array" } else { "objc_dictionary" };
                // Items are not modelled: only the number of lines stays.
                let lines: String = inner.chars().filter(|c| *c == '\n').collect();
                let _ = write!(out, "{name}(){lines}");
                Some(end)
            }
            _ => None,
        }
    }

    /// `^(int x) { ... }`, `^{ ... }`, `^T * (int x) { ... }`; in a declaration, `R (^name)(int x)`.
    fn block(&mut self, at: usize, from: usize, out: &mut String) -> Option<usize> {
        let toks = self.toks;
        let before = (from..at).rev().find(|&at| toks[at].kind != Kind::Space);
        let next = after(toks, at + 1);
        if before.is_some_and(|before| is(toks, before, "("))
            && is_word(toks, next)
            && is(toks, after(toks, next + 1), ")")
        {
            out.push('*');
            return Some(at + 1);
        }
        // A bitwise operator has an operand on its left.
        let operand = |before: usize| is_word(toks, before) && toks[before].text != "return" || is(toks, before, ")");
        if before.is_some_and(operand) {
            return None;
        }
        let (mut parameters, mut body) = ("()".to_owned(), next);
        let mut result = String::new();
        if !is(toks, next, "{") {
            let open = (next..toks.len().min(next + NEAR)).find(|&at| matches!(toks[at].text, "(" | "{" | ";"))?;
            let end = is(toks, open, "(").then(|| closed(toks, open))??;
            result = self.nested(next, open);
            parameters = self.nested(open, end);
            body = after(toks, end);
        }
        let end = is(toks, body, "{").then(|| closed(toks, body))??;
        let mentioned = |name: &&&str| toks[body..end].iter().any(|tok| tok.text == **name);
        let shared: String = self.shared.iter().filter(mentioned).map(|name| format!(", &{name}")).collect();
        let lines: String = toks[at..body].iter().flat_map(|tok| tok.text.chars()).filter(|c| *c == '\n').collect();
        let body = self.nested(body, end);
        let arrow = if result.trim().is_empty() { String::new() } else { format!(" -> {}", result.trim()) };
        let parameters = parameters.replace('\n', " ");
        let _ = write!(out, "[={shared}]{parameters}{arrow} {lines}{body}");
        Some(end)
    }

    /// `[receiver name]`, `[receiver name:argument other:argument]`.
    fn message(&mut self, at: usize, to: usize, out: &mut String) -> Option<usize> {
        let toks = self.toks;
        let end = closed(toks, at).filter(|end| *end <= to)? - 1;
        let first = after(toks, at + 1);
        let receiver_end = primary(toks, first)?;
        let mut name_at = after(toks, receiver_end);
        if name_at >= end || !is_word(toks, name_at) {
            return None;
        }
        let mut selector = String::new();
        let mut arguments: Vec<String> = Vec::new();
        let class = receiver_end == first + 1 && is_class(toks[first].text);
        let receiver = self.nested(first, receiver_end);
        arguments.push(if class { format!("{receiver:?}") } else { receiver });
        loop {
            if name_at >= end || !is_word(toks, name_at) {
                return None;
            }
            selector.push_str(toks[name_at].text);
            let colon = after(toks, name_at + 1);
            if colon == end && arguments.len() == 1 {
                break;
            }
            if !is(toks, colon, ":") {
                return None;
            }
            selector.push('_');
            let argument_end = argument(toks, colon + 1, end);
            arguments.push(self.nested(colon + 1, argument_end).trim().to_owned());
            name_at = argument_end;
            if argument_end >= end {
                break;
            }
        }
        // Arguments on lines of their own keep the lines that follow in place.
        let text = format!("{SEND}{selector}({})", arguments.join(", "));
        let written = text.matches('\n').count();
        let lines = toks[at..=end].iter().flat_map(|tok| tok.text.chars()).filter(|c| *c == '\n').count();
        let _ = write!(out, "{text}{}", "\n".repeat(lines.saturating_sub(written)));
        Some(end + 1)
    }
}

/// Fields of `objc_object` that are read as properties.
const PROPERTIES: &[&str] = &[
    "hasUnifiedMemory",
    "maxBufferLength",
    "maxThreadgroupMemoryLength",
    "recommendedMaxWorkingSetSize",
    "currentAllocatedSize",
    "maxTotalThreadsPerThreadgroup",
    "threadExecutionWidth",
    "localizedDescription",
    "preprocessorMacros",
    "languageVersion",
    "environment",
    "initialCapacity",
    "label",
    "captureObject",
    "destination",
    "outputURL",
    "registryID",
];

fn is_class(word: &str) -> bool {
    let rest = word.strip_prefix("NS").or_else(|| word.strip_prefix("MTL")).or_else(|| word.strip_prefix("GGML"));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()) && !rest.contains('_'))
}

/// The index after a primary expression: a name, a literal or brackets, with member accesses, calls and subscripts.
fn primary(toks: &Toks<'_>, at: usize) -> Option<usize> {
    let mut end = match toks.get(at)? {
        tok if tok.kind == Kind::Text => at + 1,
        tok if tok.text == "@" => match toks.get(at + 1)? {
            next if next.kind == Kind::Text => at + 2,
            next if matches!(next.text, "(" | "[" | "{") => closed(toks, at + 1)?,
            _ => return None,
        },
        tok if matches!(tok.text, "(" | "[") => closed(toks, at)?,
        _ if is_word(toks, at) => at + 1,
        _ => return None,
    };
    loop {
        let next = toks.get(end);
        end = match next.map(|tok| tok.text) {
            Some("." | "->") if is_word(toks, end + 1) => end + 2,
            Some("[" | "(") => closed(toks, end)?,
            _ => return Some(end),
        };
    }
}

/// The index of the next part of the selector, or `end`.
fn argument(toks: &Toks<'_>, from: usize, end: usize) -> usize {
    let (mut at, mut choices) = (from, 0usize);
    while at < end {
        match toks[at].text {
            "(" | "[" | "{" if toks[at].kind == Kind::Other => match closed(toks, at) {
                Some(next) => {
                    at = next;
                    continue;
                }
                None => return end,
            },
            "?" => choices += 1,
            ":" if choices > 0 => choices -= 1,
            _ => {}
        }
        let begun = toks[from..at].iter().any(|tok| tok.kind != Kind::Space);
        if begun && choices == 0 && is_word(toks, at) && is(toks, after(toks, at + 1), ":") {
            return at;
        }
        at += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::as_cpp;

    #[test]
    fn messages_become_calls() {
        for (given, wanted) in [
            ("[a b];", "objc_send_b(a);"),
            ("x = [[NSLock alloc] init];", "x = objc_send_init(objc_send_alloc(\"NSLock\"));"),
            ("[dev->d supportsFamily:F];", "objc_send_supportsFamily_(dev->d, F);"),
            ("![[d name] containsString:@\"M5\"]", "!objc_send_containsString_(objc_send_name(d), \"M5\")"),
            ("[cv set:&value type:T atIndex:i]", "objc_send_set_type_atIndex_(cv, &value, T, i)"),
            ("[a b:x ? y : z c:w]", "objc_send_b_c_(a, x ? y : z, w)"),
            (
                "f(ctx->bufs[n].obj);[ctx->bufs[n].obj release]",
                "f(ctx->bufs[n].obj);objc_send_release(ctx->bufs[n].obj)",
            ),
            ("a[i] = b[x ? y : z];", "a[i] = b[x ? y : z];"),
            ("{ [ENUM_A] = 1, }", "{ [ENUM_A] = 1, }"),
        ] {
            assert_eq!(as_cpp(given), wanted);
        }
    }

    #[test]
    fn blocks_become_lambdas() {
        assert_eq!(as_cpp("f(^(size_t n) { [x y]; });"), "f([=](size_t n) { objc_send_y(x); });");
        assert_eq!(as_cpp("void (^f)(size_t n);"), "void (*f)(size_t n);");
        assert_eq!(as_cpp("g(^{ r(); });"), "g([=]() { r(); });");
        assert_eq!(as_cpp("int z = x ^ y;"), "int z = x ^ y;");
        assert_eq!(
            as_cpp("__block bool any = 0; g(^{ any = 1; });").trim(),
            "bool any = 0; g([=, &any]() { any = 1; });"
        );
    }

    #[test]
    fn lines_stay_in_place() {
        let text =
            "#import \"a.h\"\n@interface A : B\n@end\nx = [a b:1\n      c:2];\n// [a b]\nid<P> p = @\"[a b]\";\nf();\n";
        let cpp = as_cpp(text);
        assert_eq!(cpp.lines().count(), text.lines().count(), "{cpp}");
        let at = |wanted: &str| cpp.lines().position(|line| line.contains(wanted));
        assert_eq!(
            (at("#include"), at("// [a b]"), at("id p = \"[a b]\";"), at("f();")),
            (Some(0), Some(5), Some(6), Some(7))
        );
    }

    #[test]
    fn damaged_text_ends() {
        for text in
            ["[", "[[[[", "@", "@\"", "^", "^(", "[a b:", "for (x in", "@available(", "id<", "é^é[é", "@interface"]
        {
            let _ = as_cpp(text);
        }
        let _ = as_cpp(&"[".repeat(2000));
        let _ = as_cpp(&"^{[a b:".repeat(500));
    }
}
