//! A function's body: calls with their receivers, launches, local names with their types, and lambdas that run
//! elsewhere.

use super::Reader;
use super::lambda::{handed_on, lambda, stored_as};
use super::lex::Word;
use super::tokens::Tokens;
use crate::index::{Function, Local, Reach, Route, Use};

/// Keywords that can precede a parenthesis without being a call.
const NO_CALL: [&str; 19] = [
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "alignof",
    "decltype",
    "catch",
    "static_assert",
    "constexpr",
    "static_cast",
    "reinterpret_cast",
    "const_cast",
    "dynamic_cast",
    "defined",
    "operator",
    "noexcept",
    "alignas",
];
/// Keywords that cannot start a declaration.
const NO_TYPE: [&str; 22] = [
    "return",
    "delete",
    "new",
    "throw",
    "goto",
    "case",
    "break",
    "continue",
    "if",
    "for",
    "while",
    "switch",
    "do",
    "else",
    "using",
    "typedef",
    "sizeof",
    "template",
    "public",
    "private",
    "protected",
    "default",
];
const QUALIFIER: [&str; 10] =
    ["const", "static", "constexpr", "struct", "volatile", "thread_local", "unsigned", "typename", "inline", "class"];
/// The pseudo-type of a local variable that holds a lambda.
pub const LAMBDA: &str = "(lambda)";

impl Reader<'_, '_> {
    /// Reads one body. A lambda that is stored in a field or variable, or passed to `on_...`, becomes a separate
    /// function under that name, because it runs when that name is called.
    pub(super) fn body(
        &mut self,
        mut function: Function,
        parameters: Option<usize>,
        open: usize,
        close: usize,
        captured: &[Local],
        depth: usize,
    ) {
        let t = self.tokens;
        function.locals = captured.to_vec();
        if let Some(open) = parameters {
            function.locals.extend(parameters_of(t, open));
        }
        let mut stored: Vec<(String, Option<usize>, usize, usize, u32)> = Vec::new();
        let mut labels: Vec<&str> = Vec::new();
        let mut at = open + 1;
        // The ends of the open blocks: a declaration is not visible after its block.
        let mut blocks: Vec<usize> = vec![close];
        while at < close {
            let text = t.text(at);
            while blocks.last().is_some_and(|&end| end <= at) {
                blocks.pop();
            }
            let until = t.line(blocks.last().copied().unwrap_or(close));
            let seen_locals = function.locals.len();
            if text == "{" && t.word(at) == Some(Word::Mark) {
                blocks.push(t.close(at));
            }
            match t.word(at) {
                Some(Word::Text) => function.strings.push((text.trim_matches('"').to_owned(), t.line(at))),
                Some(Word::Mark) if text == "[" => {
                    if let Some(lambda) = lambda(t, at, close) {
                        if let Some(name) = stored_as(t, at) {
                            if t.text(at - 1) == "=" && !matches!(t.text(at.wrapping_sub(3)), "." | "->") {
                                function.locals.push(Local::typed(&name, LAMBDA.to_owned(), t.line(at)));
                            }
                            stored.push((name, lambda.parameters, lambda.open, lambda.close, t.line(at)));
                            at = lambda.close + 1;
                            continue;
                        }
                        if let Some(open) = lambda.parameters {
                            let until = t.line(lambda.close);
                            let given = parameters_of(t, open).into_iter();
                            function.locals.extend(given.map(|local| Local { until, ..local }));
                        }
                        blocks.push(lambda.close);
                        at = lambda.open + 1;
                        continue;
                    }
                }
                Some(Word::Mark) if text == "=" => {
                    if let Some((field, alias)) = handed_on(t, at, &function) {
                        self.part.aliases.push((field, alias));
                    }
                }
                Some(Word::Name) if text == "case" => {
                    let colon = (at..close.min(at + 8)).find(|&at| t.text(at) == ":").unwrap_or(at);
                    if t.text(at.wrapping_sub(1)) != ":" {
                        labels.clear();
                    }
                    labels.push(t.text(colon.wrapping_sub(1)));
                    at = colon + 1;
                    continue;
                }
                Some(Word::Name) if text == "default" => labels.clear(),
                Some(Word::Name) => {
                    if begins_statement(t, at)
                        && let Some(after) = declared(t, at, close, &mut function.locals)
                    {
                        let fresh = function.locals.get_mut(seen_locals..).unwrap_or_default();
                        fresh.iter_mut().for_each(|local| local.until = until);
                        at = after;
                        continue;
                    }
                    let seen = function.uses.len();
                    self.used(at, &mut function);
                    for used in
                        function.uses.get(seen..).unwrap_or_default().iter().filter(|used| used.reach == Reach::Call)
                    {
                        let of = labels.iter().map(|label| ((*label).to_owned(), used.name.clone(), used.line));
                        function.cases.extend(of);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        let around = Function { uses: Vec::new(), strings: Vec::new(), cases: Vec::new(), ..function.clone() };
        self.part.functions.push(function);
        if depth > super::DEEPEST {
            return;
        }
        for (name, parameters, open, close, line) in stored {
            let function = Function { name, line, returns: Vec::new(), dynamic: false, ..around.clone() };
            self.body(function, parameters, open, close, &around.locals, depth + 1);
        }
    }

    /// A name followed by parentheses or by `<<<`.
    fn used(&mut self, at: usize, function: &mut Function) {
        let t = self.tokens;
        let name = t.text(at);
        if NO_CALL.contains(&name) {
            return;
        }
        let open = match t.text(at + 1) {
            "<" => t.angles(at + 1).unwrap_or(at + 1),
            _ => at + 1,
        };
        let line = t.line(at);
        let note =
            |reach: Reach, name: &str, object: String, line: u32| Use { reach, name: name.to_owned(), object, line };
        if t.text(open) == "<<<" {
            function.uses.push(note(Reach::Launch, name, String::new(), line));
            return;
        }
        if t.text(open) != "(" {
            return;
        }
        let object = object(t, at);
        let last = object.rsplit(['.', '>', ':']).next().unwrap_or("");
        match name {
            "notify_one" | "notify_all" => function.uses.push(note(Reach::Wake, last, String::new(), line)),
            "wait" | "wait_for" | "wait_until" => function.uses.push(note(Reach::Wait, last, String::new(), line)),
            _ => function.uses.push(note(Reach::Call, name, object, line)),
        }
        for (from, to) in arguments(t, open) {
            let from = if t.text(from) == "&" { from + 1 } else { from };
            let end = if t.text(to.wrapping_sub(1)) == ">" {
                (from..to).find(|&at| t.text(at) == "<").unwrap_or(to)
            } else {
                to
            };
            let path = (from..end).all(|at| t.is_name(at) || t.text(at) == "::");
            if path && end > from && t.is_name(end - 1) {
                let (qualifier, name) = t.qualified(end - 1);
                let object = if qualifier.is_empty() { qualifier } else { format!("{qualifier}::") };
                // Keep the line of the call, so that a launch through a wrapper finds its kernel.
                function.uses.push(note(Reach::Reference, &name, object, line));
            }
        }
        if name.eq_ignore_ascii_case("post") {
            self.part.routes.extend(route(t, open, line));
        }
    }
}

/// Reads the registration of a route: `ctx_http.post("/completion", ex_wrapper(routes.post_completions))`.
fn route(t: &Tokens, open: usize, line: u32) -> Option<Route> {
    let mut arguments = arguments(t, open).into_iter();
    let (from, to) = arguments.next()?;
    let path = (from..to).map(|at| t.text(at)).find(|text| text.starts_with("\"/"))?.trim_matches('"');
    let (from, to) = arguments.next()?;
    let plain = (from..to).all(|at| t.is_name(at) || matches!(t.text(at), "." | "->" | "::" | "(" | ")"));
    let handler = (from..to).rev().find(|&at| t.is_name(at)).filter(|_| plain)?;
    Some(Route { path: path.to_owned(), handler: t.text(handler).to_owned(), file: 0, line })
}

/// The arguments between brackets, as ranges.
fn arguments(t: &Tokens, open: usize) -> Vec<(usize, usize)> {
    let close = t.close(open);
    let mut out = Vec::new();
    let mut from = open + 1;
    let mut at = from;
    while at < close {
        match t.text(at) {
            "," => {
                out.push((from, at));
                from = at + 1;
            }
            "(" | "[" | "{" if t.close(at) > at => at = t.close(at),
            "<" => {
                if let Some(after) = t.angles(at).filter(|&after| after <= close) {
                    at = after;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if from < close {
        out.push((from, close));
    }
    out
}

pub(super) fn parameters_of(t: &Tokens, open: usize) -> Vec<Local> {
    let one = |(from, to): (usize, usize)| {
        let end = (from..to).find(|&at| t.text(at) == "=").unwrap_or(to);
        // A function pointer, such as `void (*f)(int)`.
        let pointer = (from..end).find(|&at| t.text(at) == "(" && t.text(at + 1) == "*" && t.is_name(at + 2));
        if let Some(at) = pointer {
            return Some(Local::typed(t.text(at + 2), super::POINTER.to_owned(), t.line(at)));
        }
        let name = (from..end).rev().find(|&at| t.is_name(at))?;
        (name > from).then(|| Local::typed(t.text(name), t.joined(from, name), t.line(name)))
    };
    arguments(t, open).into_iter().filter_map(one).collect()
}

fn begins_statement(t: &Tokens, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    match t.text(before) {
        ";" | "{" | "}" | ":" | ")" | "else" | "do" => true,
        "(" => matches!(t.text(before.wrapping_sub(1)), "for" | "if" | "while" | "switch" | "catch"),
        _ => false,
    }
}

/// Reads a declaration (`T * x = ...`, `auto & x : list`, `auto [a, b] = ...`). Adds the declared names and returns the
/// position after them.
fn declared(t: &Tokens, start: usize, close: usize, locals: &mut Vec<Local>) -> Option<usize> {
    let mut at = start;
    while QUALIFIER.contains(&t.text(at)) {
        at += 1;
    }
    if !t.is_name(at) || NO_TYPE.contains(&t.text(at)) {
        // In `unsigned x`, the qualifier is the type.
        return None;
    }
    let of = at;
    at += 1;
    loop {
        if t.text(at) == "<" {
            at = t.angles(at)?;
        }
        if t.text(at) != "::" {
            break;
        }
        at += 2;
    }
    let end = at;
    while matches!(t.text(at), "*" | "&" | "&&" | "const") {
        at += 1;
    }
    if t.text(at) == "[" && t.text(of) == "auto" {
        let names = (at + 1..t.close(at)).filter(|&at| t.is_name(at));
        locals.extend(names.map(|at| Local::typed(t.text(at), String::new(), t.line(at))));
        return Some(t.close(at) + 1);
    }
    if !t.is_name(at) || at >= close || !matches!(t.text(at + 1), "=" | ";" | "(" | "{" | "," | ":" | "[" | ")") {
        return None;
    }
    // `a * b(...)` at the start of a statement would be an unused product, so it is a declaration.
    let mut local = Local::typed(t.text(at), t.joined(of, end), t.line(at));
    if t.text(of) == "auto" {
        let of_element = t.text(at + 1) == ":";
        let (of, from) = value(t, at + 2);
        local.of = if t.text(at + 1) == "=" && t.text(at + 2) == "[" { LAMBDA.to_owned() } else { of };
        local.from = if of_element && !from.is_empty() { format!("{from}[]") } else { from };
    }
    let (line, of, next) = (local.line, local.of.clone(), at + 1);
    locals.push(local);
    // More names may follow, as in `T a = x, b;`.
    let end = (next..close).find(|&at| t.text(at) == ";").unwrap_or(next);
    if t.text(next) != "(" || t.close(next) < end {
        let more = t.top(next, end).filter(|&at| t.text(at) == ",").filter_map(|comma| {
            let name = (comma + 1..end).find(|&at| !matches!(t.text(at), "*" | "&"))?;
            (t.is_name(name) && matches!(t.text(name + 1), "=" | ";" | "," | "[" | "(")).then(|| t.text(name))
        });
        locals.extend(more.map(|name| Local::typed(name, of.clone(), line)));
    }
    Some(next)
}

/// The type of a value if it is written out, otherwise the expression that it comes from.
fn value(t: &Tokens, start: usize) -> (String, String) {
    let mut at = start;
    while matches!(t.text(at), "*" | "&") {
        at += 1;
    }
    if t.text(at) == "new" {
        return (t.text(at + 1).to_owned(), String::new());
    }
    if t.text(at) == "(" && t.text(t.close(at).wrapping_sub(1)) == "*" {
        return (t.joined(at + 1, t.close(at)), String::new());
    }
    if !t.is_name(at) {
        return Default::default();
    }
    let mut out = String::new();
    loop {
        out.push_str(t.text(at));
        at += 1;
        if t.text(at) == "<"
            && let Some(after) = t.angles(at)
        {
            let last = t.text(at - 1);
            if last.ends_with("_cast") || matches!(last, "make_unique" | "make_shared") {
                return (t.joined(at + 1, after - 1), String::new());
            }
            at = after;
        }
        while matches!(t.text(at), "(" | "[") {
            out.push_str(if t.text(at) == "(" { "()" } else { "[]" });
            at = t.close(at).max(at) + 1;
        }
        match t.text(at) {
            mark @ ("." | "->" | "::") if t.is_name(at + 1) => {
                out.push_str(mark);
                at += 1;
            }
            ";" | "," | ")" => return (String::new(), out),
            _ => return Default::default(),
        }
    }
}

/// The expression before a called name: `impl->queue_tasks`, `create_response()`, `slots[]`, `ns::`. Returns `?` if it
/// is not a chain of names.
fn object(t: &Tokens, name: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = name;
    while let Some(mark) = at.checked_sub(1).map(|at| t.text(at)) {
        if !matches!(mark, "." | "->" | "::") || at < 2 {
            break;
        }
        parts.push(mark.to_owned());
        at -= 2;
        let mut after = String::new();
        while matches!(t.text(at), ")" | "]") {
            let open = t.close(at);
            if open >= at || open == 0 {
                return "?".to_owned();
            }
            after.insert_str(0, if t.text(at) == ")" { "()" } else { "[]" });
            at = open - 1;
        }
        if t.text(at) == ">" {
            // Template arguments do not affect the name, except in a cast.
            let mut depth = 0i32;
            let from = at;
            while at > 0 && from - at < 100 {
                depth += i32::from(t.text(at) == ">") - i32::from(t.text(at) == "<");
                if depth == 0 {
                    break;
                }
                at -= 1;
            }
            if t.text(at.wrapping_sub(1)).ends_with("_cast") {
                parts.push(format!("({})", t.joined(at + 1, from)));
                parts.reverse();
                return trimmed(&parts);
            }
            at = at.saturating_sub(1);
        }
        if !t.is_name(at) || NO_TYPE.contains(&t.text(at)) && t.text(at) != "default" {
            return if mark == "::" && parts.len() == 1 { String::new() } else { "?".to_owned() };
        }
        parts.push(format!("{}{after}", t.text(at)));
    }
    parts.reverse();
    trimmed(&parts)
}

/// Removes the operator before the called name, except `->` and `::`, which show how the name is accessed.
fn trimmed(parts: &[String]) -> String {
    parts.concat().trim_end_matches('.').to_owned()
}
