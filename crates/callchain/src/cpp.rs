//! C, C++ and CUDA: functions, calls, launches, lambdas stored in fields, interface tables, vendor remaps.

use super::index::{Alias, Function, Language, Part, Reach, Remap, Route, Typed, Use};
use super::syntax::{field, line, parse, split_last, text, unquote, walk};
use tree_sitter::Node;

pub fn read(source: &str) -> Part {
    let mut part = Part::default();
    let plain = without_chevrons(source);
    let Some(tree) = parse(&tree_sitter_cpp::LANGUAGE.into(), &plain) else { return part };
    walk(tree.root_node(), |node| {
        match node.kind() {
            "function_definition" => {
                let name = declared_name(node, source);
                if !name.is_empty() {
                    body(node, &name, source, &mut part);
                }
            }
            "initializer_list" => interface(node, source, &mut part.aliases),
            "field_declaration" => part.fields.extend(typed(node, source)),
            "preproc_def" => part.remaps.extend(remap(node, source)),
            _ => {}
        }
        true
    });
    part
}

/// `kernel<<<grid, block>>>(args)` is no C++. Turned into `kernel(  grid, block)  (args)`, byte for byte as long, it
/// is a call of a call, which the grammar knows.
fn without_chevrons(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(open) = rest.find("<<<") {
        let (before, after) = rest.split_at(open);
        out.push_str(before);
        let launch = after.get(3..).unwrap_or("");
        match launch.find(">>>").filter(|&close| !launch.get(..close).unwrap_or("").contains(';')) {
            Some(close) => {
                out.push_str("(  ");
                out.push_str(launch.get(..close).unwrap_or(""));
                out.push_str(")  ");
                rest = launch.get(close + 3..).unwrap_or("");
            }
            None => {
                out.push_str("<<<");
                rest = launch;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The name in a function definition, with its qualifiers: `llama_context::decode`. A method defined in its class
/// gets the class from the nodes around it.
fn declared_name(node: Node, source: &str) -> String {
    let mut declarator = node.child_by_field_name("declarator");
    while let Some(inner) = declarator {
        match inner.kind() {
            "identifier" | "field_identifier" | "qualified_identifier" | "template_function" => {
                let name = text(inner, source).split('<').next().unwrap_or("").to_owned();
                let class = enclosing_class(node, source);
                return if class.is_empty() || name.contains("::") { name } else { format!("{class}::{name}") };
            }
            _ => declarator = inner.child_by_field_name("declarator").or_else(|| inner.named_child(0)),
        }
    }
    String::new()
}

fn enclosing_class(node: Node, source: &str) -> String {
    let mut parent = node.parent();
    while let Some(around) = parent {
        if matches!(around.kind(), "class_specifier" | "struct_specifier") {
            return field(around, "name", source).to_owned();
        }
        parent = around.parent();
    }
    String::new()
}

/// `server_queue & queue_tasks;` -> queue_tasks: server_queue. Smart pointers stand for what they hold.
fn typed(node: Node, source: &str) -> Option<Typed> {
    let of = field(node, "type", source);
    let of = of.split_once("_ptr<").map_or(of, |(_, held)| held).split(['<', '>']).next().unwrap_or("");
    let of = split_last(of).1.to_owned();
    let name = field(node, "declarator", source).trim_start_matches(['*', '&', ' ']).to_owned();
    let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    (plain(&name) && plain(&of)).then_some(Typed { name, of })
}

fn parameters(node: Node, source: &str) -> Vec<Typed> {
    let mut declarator = node.child_by_field_name("declarator");
    while let Some(inner) = declarator {
        if let Some(list) = inner.child_by_field_name("parameters") {
            let mut cursor = list.walk();
            return list.named_children(&mut cursor).filter_map(|parameter| typed(parameter, source)).collect();
        }
        declarator = inner.child_by_field_name("declarator");
    }
    Vec::new()
}

/// Reads one body. A lambda that is stored in a field, or handed to a function, becomes a function of its own under
/// that name: it runs when the field is called, not here.
fn body(node: Node, name: &str, source: &str, part: &mut Part) {
    let (owner, name) = split_last(name);
    let mut function = Function {
        language: Language::Cpp,
        name: name.to_owned(),
        owner: owner.to_owned(),
        file: 0,
        line: line(node),
        uses: Vec::new(),
        strings: Vec::new(),
        cases: Vec::new(),
        typed: Vec::new(),
    };
    let mut lambdas = Vec::new();
    function.typed = parameters(node, source);
    let Some(inside) = node.child_by_field_name("body") else { return };
    walk(inside, |node| {
        match node.kind() {
            "lambda_expression" => {
                if let Some(field) = stored_as(node, source) {
                    lambdas.push((node, field));
                    return false;
                }
            }
            "call_expression" => {
                call(node, source, &mut function.uses);
                part.routes.extend(route(node, source));
            }
            "case_statement" => function.cases.extend(case(node, source)),
            "assignment_expression" => {
                if let Some((field, alias)) = handed_on(node, name, source) {
                    part.aliases.push((field, alias));
                }
            }
            "string_literal" => function.strings.push((unquote(text(node, source)).to_owned(), line(node))),
            _ => {}
        }
        true
    });
    part.functions.push(function);
    for (lambda, field) in lambdas {
        body(lambda, &format!("{owner}::{field}"), source, part);
    }
}

/// `this->post_completions = [..] {..}` -> `post_completions`; `queue.on_update_slots([..] {..})` -> `on_update_slots()`.
fn stored_as(lambda: Node, source: &str) -> Option<String> {
    let parent = lambda.parent()?;
    match parent.kind() {
        "assignment_expression" => Some(split_last(field(parent, "left", source)).1.to_owned()),
        "argument_list" => {
            let callee = split_last(field(parent.parent()?, "function", source)).1;
            callee.starts_with("on_").then(|| format!("{callee}()"))
        }
        _ => None,
    }
}

/// `callback_update_slots = std::move(callback)` inside `on_update_slots`: calling the field runs what was given there.
fn handed_on(node: Node, function: &str, source: &str) -> Option<(String, Alias)> {
    let field_name = split_last(field(node, "left", source)).1;
    let given = field(node, "right", source);
    let from_parameter = given.starts_with("std::move(") || given == "callback";
    let alias = Alias { function: format!("{function}()"), file: 0, line: line(node) };
    (function.starts_with("on_") && from_parameter).then(|| (field_name.to_owned(), alias))
}

fn call(node: Node, source: &str, uses: &mut Vec<Use>) {
    let Some(callee) = node.child_by_field_name("function") else { return };
    // A call of a call is a launch, see `without_chevrons`; the original text tells it from a curried call.
    if callee.kind() == "call_expression" {
        if text(callee, source).contains("<<<") {
            let kernel = field(callee, "function", source);
            let name = kernel.split('<').next().unwrap_or("").trim();
            uses.push(Use { reach: Reach::Launch, name: name.to_owned(), object: String::new(), line: line(node) });
        }
        return;
    }
    if callee.end_byte() > node.start_byte()
        && text(node, source).get(..callee.end_byte() - node.start_byte() + 3).is_some_and(|t| t.ends_with("<<<"))
    {
        return; // the inner half of a launch
    }
    let written = text(callee, source);
    let (object, name) = split_last(written.split('<').next().unwrap_or(""));
    let (reach, object, name) = match name {
        "notify_one" | "notify_all" => (Reach::Wake, "", split_last(object).1),
        "wait" | "wait_for" | "wait_until" => (Reach::Wait, "", split_last(object).1),
        _ => (Reach::Call, object, name),
    };
    uses.push(Use { reach, name: name.to_owned(), object: object.to_owned(), line: line(node) });
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    let mut cursor = arguments.walk();
    for argument in arguments.named_children(&mut cursor) {
        if matches!(argument.kind(), "identifier" | "template_function") {
            let name = text(argument, source).split('<').next().unwrap_or("").to_owned();
            // The line of the call, so that a launch through a wrapper finds its kernel.
            uses.push(Use { reach: Reach::Reference, name, object: String::new(), line: line(node) });
        }
    }
}

/// A label with what is called under it first.
fn case(node: Node, source: &str) -> Option<(String, String, u32)> {
    let label = field(node, "value", source);
    let mut callee = "";
    walk(node, |inner| {
        if callee.is_empty() && inner.kind() == "call_expression" {
            callee = split_last(field(inner, "function", source)).1;
        }
        callee.is_empty()
    });
    (!label.is_empty() && !callee.is_empty()).then(|| (label.to_owned(), callee.to_owned(), line(node)))
}

/// `ctx_http.post("/completion", ex_wrapper(routes.post_completions))`.
fn route(node: Node, source: &str) -> Option<Route> {
    let verb = split_last(field(node, "function", source)).1;
    if !verb.eq_ignore_ascii_case("post") {
        return None;
    }
    let arguments = node.child_by_field_name("arguments")?;
    let path = unquote(text(arguments.named_child(0)?, source));
    let handler = text(arguments.named_child(1)?, source);
    let handler = handler.rsplit_once('(').map_or(handler, |(_, inner)| inner).trim_end_matches(')');
    let handler = split_last(handler).1;
    let named = path.starts_with('/') && handler.chars().all(|c| c.is_alphanumeric() || c == '_');
    named.then(|| Route { path: path.to_owned(), handler: handler.to_owned(), file: 0, line: line(node) })
}

/// A table of functions: the slot's name stands in a comment (`/* .graph_compute = */`) or as a designator.
fn interface(node: Node, source: &str, aliases: &mut Vec<(String, Alias)>) {
    let mut slot = String::new();
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "comment" => {
                let inner = text(child, source).trim_matches(['/', '*', ' ', '=']);
                slot = inner.strip_prefix('.').unwrap_or("").trim().to_owned();
            }
            "identifier" if !slot.is_empty() => {
                let alias = Alias { function: text(child, source).to_owned(), file: 0, line: line(child) };
                aliases.push((std::mem::take(&mut slot), alias));
            }
            "initializer_pair" => {
                let designator = field(child, "designator", source).trim_start_matches('.');
                let value = field(child, "value", source);
                if !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || c == '_') {
                    let alias = Alias { function: value.to_owned(), file: 0, line: line(child) };
                    aliases.push((designator.to_owned(), alias));
                }
            }
            _ => slot.clear(),
        }
    }
}

/// One name for another; numbers and expressions are no remap.
fn remap(node: Node, source: &str) -> Option<(String, Remap)> {
    let to = field(node, "value", source).trim();
    let name =
        to.starts_with(|c: char| c.is_alphabetic() || c == '_') && to.chars().all(|c| c.is_alphanumeric() || c == '_');
    let remap = Remap { to: to.to_owned(), file: 0, line: line(node) };
    name.then(|| (field(node, "name", source).to_owned(), remap))
}
