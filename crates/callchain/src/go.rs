//! Go: functions, calls, cgo, goroutines, conditions and channels, routes, functions stored in fields.

use super::index::{Alias, Function, Language, Part, Reach, Route, Typed, Use};
use super::syntax::{field, line, parse, split_last, text, unquote, walk};
use tree_sitter::Node;

pub fn read(source: &str) -> Part {
    let mut part = Part::default();
    let Some(tree) = parse(&tree_sitter_go::LANGUAGE.into(), source) else { return part };
    walk(tree.root_node(), |node| match node.kind() {
        "function_declaration" | "method_declaration" => {
            part.functions.push(function(node, source));
            collect_routes(node, source, &mut part.routes);
            true
        }
        "import_spec" => {
            let path = unquote(field(node, "path", source)).to_owned();
            let name = match field(node, "name", source) {
                "" => path.rsplit('/').next().unwrap_or("").to_owned(),
                alias => alias.to_owned(),
            };
            part.imports.push((name, path));
            false
        }
        "field_declaration" => {
            part.fields.extend(typed(node, source));
            true
        }
        "keyed_element" => {
            if let Some((name, alias)) = alias(node, source) {
                part.aliases.push((name, alias));
            }
            true
        }
        _ => true,
    });
    part
}

fn function(node: Node, source: &str) -> Function {
    let mut function = Function {
        language: Language::Go,
        name: field(node, "name", source).to_owned(),
        owner: receiver(node, source),
        file: 0,
        line: line(node),
        uses: Vec::new(),
        strings: Vec::new(),
        cases: Vec::new(),
        typed: Vec::new(),
    };
    for list in ["receiver", "parameters"].iter().filter_map(|name| node.child_by_field_name(name)) {
        let mut cursor = list.walk();
        for declaration in list.named_children(&mut cursor) {
            function.typed.extend(typed(declaration, source));
        }
    }
    let Some(body) = node.child_by_field_name("body") else { return function };
    walk(body, |node| {
        match node.kind() {
            "call_expression" => call(node, source, &mut function.uses),
            "send_statement" => {
                push(&mut function.uses, Reach::Wake, field(node, "channel", source), line(node));
            }
            "unary_expression" if field(node, "operator", source) == "<-" => {
                push(&mut function.uses, Reach::Wait, field(node, "operand", source), line(node));
            }
            "interpreted_string_literal" | "raw_string_literal" => {
                function.strings.push((unquote(text(node, source)).to_owned(), line(node)));
            }
            _ => {}
        }
        true
    });
    function
}

/// `a, b *llama.Batch` -> a: Batch, b: Batch. Slices, maps and functions have no methods of ours: left out.
fn typed(declaration: Node, source: &str) -> Vec<Typed> {
    let of = field(declaration, "type", source).trim_start_matches('*');
    if of.is_empty() || of.contains(['[', '(', ' ', '{']) {
        return Vec::new();
    }
    let of = split_last(of).1.to_owned();
    let mut cursor = declaration.walk();
    let names = declaration.children_by_field_name("name", &mut cursor);
    names.map(|name| Typed { name: text(name, source).to_owned(), of: of.clone() }).collect()
}

/// `(s *Server)` -> `Server`.
fn receiver(node: Node, source: &str) -> String {
    let receiver = field(node, "receiver", source).trim_matches(['(', ')']);
    let name = receiver.rsplit([' ', '*']).next().unwrap_or("");
    name.split('[').next().unwrap_or("").to_owned()
}

fn call(node: Node, source: &str, uses: &mut Vec<Use>) {
    let callee = field(node, "function", source);
    let (object, name) = split_last(callee);
    let spawned = node.parent().is_some_and(|parent| parent.kind() == "go_statement");
    let reach = match (object, name) {
        ("C", _) => Reach::Cgo,
        (_, "Signal" | "Broadcast") => Reach::Wake,
        (_, "Wait") if object.ends_with("cond") || object.ends_with("Cond") => Reach::Wait,
        _ if spawned => Reach::Spawn,
        _ => Reach::Call,
    };
    match reach {
        Reach::Wake | Reach::Wait => push(uses, reach, object, line(node)),
        _ => uses.push(Use { reach, name: name.to_owned(), object: object.to_owned(), line: line(node) }),
    }
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    let mut cursor = arguments.walk();
    for argument in arguments.named_children(&mut cursor) {
        if matches!(argument.kind(), "identifier" | "selector_expression") {
            push(uses, Reach::Reference, text(argument, source), line(argument));
        }
    }
}

fn push(uses: &mut Vec<Use>, reach: Reach, path: &str, line: u32) {
    let (object, name) = split_last(path);
    uses.push(Use { reach, name: name.to_owned(), object: object.to_owned(), line });
}

/// `r.POST("/api/generate", ..., s.GenerateHandler)`, `mux.HandleFunc("POST /completion", server.completion)`. The
/// handler is the last function value named in the call, wrappers included.
fn collect_routes(function: Node, source: &str, routes: &mut Vec<Route>) {
    walk(function, |node| {
        if node.kind() != "call_expression" {
            return true;
        }
        let (_, verb) = split_last(field(node, "function", source));
        if !matches!(verb, "POST" | "Handle" | "HandleFunc") {
            return true;
        }
        let Some(arguments) = node.child_by_field_name("arguments") else { return true };
        let path = arguments.named_child(0).map_or("", |first| unquote(text(first, source)));
        let path = path.rsplit(' ').next().unwrap_or("");
        let mut handler = "";
        walk(arguments, |inner| {
            let callee = inner.parent().is_some_and(|parent| {
                parent.kind() == "call_expression" && parent.child_by_field_name("function") == Some(inner)
            });
            if inner.kind() == "selector_expression" && !callee {
                handler = split_last(text(inner, source)).1;
            }
            true
        });
        if path.starts_with('/') && !handler.is_empty() {
            routes.push(Route { path: path.to_owned(), handler: handler.to_owned(), file: 0, line: line(node) });
        }
        true
    });
}

/// A struct field set to a function: `newServerFn: llm.NewLlamaServer`.
fn alias(node: Node, source: &str) -> Option<(String, Alias)> {
    let (key, value) = text(node, source).split_once(':')?;
    let (object, function) = split_last(value);
    let name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let callable = name(key.trim()) && name(function) && (object.is_empty() || name(object));
    let alias = Alias { function: function.to_owned(), file: 0, line: line(node) };
    callable.then(|| (key.trim().to_owned(), alias))
}
