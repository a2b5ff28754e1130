//! Reads Go: functions, types, calls with their receivers, cgo, goroutines, condition variables, channels and routes.

use super::index::{Alias, Class, Function, Language, Local, Part, Reach, Route, Shape, Use};
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
        "type_spec" | "type_alias" => {
            part.classes.push(class(node, source));
            true
        }
        "var_spec" if node.parent().and_then(|it| it.parent()).is_some_and(|it| it.kind() == "source_file") => {
            declared(node, source, &mut part.globals);
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

/// A struct with its fields, an interface with its methods, or a type alias.
fn class(node: Node, source: &str) -> Class {
    let mut class = Class::new(Language::Go, field(node, "name", source), line(node));
    let Some(of) = node.child_by_field_name("type") else { return class };
    let mut cursor = of.walk();
    match of.kind() {
        "struct_type" => {
            let lists: Vec<Node> = of.named_children(&mut cursor).collect();
            for list in lists {
                let mut cursor = list.walk();
                for field in list.named_children(&mut cursor) {
                    class.fields.extend(typed(field, source, true));
                }
            }
            class.bases = class.fields.iter().filter(|field| field.embedded).map(|field| field.name.clone()).collect();
        }
        "interface_type" => {
            let mut methods = Vec::new();
            for member in of.named_children(&mut cursor) {
                match member.kind() {
                    "method_elem" | "method_spec" => {
                        methods.push((field(member, "name", source).to_owned(), results(member, source)));
                    }
                    _ => class.bases.push(split_last(text(member, source)).1.to_owned()),
                }
            }
            class.shape = Shape::Interface(methods);
        }
        _ => class.shape = Shape::Other(text(of, source).to_owned()),
    }
    class
}

fn function(node: Node, source: &str) -> Function {
    let mut function = Function {
        owner: receiver(node, source),
        returns: results(node, source),
        ..Function::new(Language::Go, field(node, "name", source), line(node))
    };
    for list in ["receiver", "parameters", "result"].iter().filter_map(|name| node.child_by_field_name(name)) {
        let mut cursor = list.walk();
        for declaration in list.named_children(&mut cursor) {
            function.locals.extend(typed(declaration, source, false));
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
            "short_var_declaration" | "var_spec" | "range_clause" | "receive_statement" => {
                declared(node, source, &mut function.locals);
            }
            "parameter_declaration" => {
                let until = block_end(node);
                function.locals.extend(typed(node, source, false).into_iter().map(|local| Local { until, ..local }));
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

/// The result types of a function, for example of `(llm.LlamaServer, *Model, error)`.
fn results(node: Node, source: &str) -> Vec<String> {
    let Some(result) = node.child_by_field_name("result") else { return Vec::new() };
    if result.kind() != "parameter_list" {
        return vec![text(result, source).to_owned()];
    }
    let mut cursor = result.walk();
    let mut out = Vec::new();
    for one in result.named_children(&mut cursor) {
        let of = field(one, "type", source).to_owned();
        let mut names = one.walk();
        let count = one.children_by_field_name("name", &mut names).count().max(1);
        out.extend(std::iter::repeat_n(of, count));
    }
    out
}

/// The names in a declaration with their type: a and b in `a, b *llama.Batch`. An embedded field has the name of its
/// type.
fn typed(declaration: Node, source: &str, fields: bool) -> Vec<Local> {
    let of = field(declaration, "type", source);
    if of.is_empty() {
        return Vec::new();
    }
    let mut cursor = declaration.walk();
    let names: Vec<Node> = declaration.children_by_field_name("name", &mut cursor).collect();
    if names.is_empty() && fields {
        let name = split_last(of.trim_start_matches('*')).1.split('[').next().unwrap_or("");
        return vec![Local { embedded: true, ..Local::typed(name, of.to_owned(), line(declaration)) }];
    }
    names.iter().map(|name| Local::typed(text(*name, source), of.to_owned(), line(declaration))).collect()
}

/// Adds the names that a statement declares, and the expressions that they come from: `x := v`, `a, b := f()`, `var x
/// T`, `for k, v := range list`.
fn declared(node: Node, source: &str, locals: &mut Vec<Local>) {
    let of = field(node, "type", source);
    let mut cursor = node.walk();
    let left: Vec<Node> = match node.child_by_field_name("left") {
        Some(list) => list.named_children(&mut cursor).collect(),
        None => node.children_by_field_name("name", &mut cursor).collect(),
    };
    let mut cursor = node.walk();
    let right: Vec<Node> = match node.child_by_field_name("right").or_else(|| node.child_by_field_name("value")) {
        Some(list) if list.kind() == "expression_list" => list.named_children(&mut cursor).collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    let until = block_end(node);
    for (number, name) in left.iter().enumerate() {
        let mut local = Local { until, ..Local::typed(text(*name, source), of.to_owned(), line(node)) };
        let value = if right.len() == left.len() { right.get(number) } else { right.first() };
        if let (Some(value), true) = (value, of.is_empty()) {
            (local.of, local.from) = made_from(*value, source);
            local.nth = if right.len() == left.len() { 0 } else { number };
            if node.kind() == "range_clause" {
                // Ranging over a channel yields values; for lists and maps the first variable is the key.
                local.from = if number == 1 || left.len() == 1 { format!("{}[]", local.from) } else { String::new() };
                local.nth = 0;
            }
        }
        locals.push(local);
    }
}

/// The last line of the block, statement or function literal around a declaration.
fn block_end(node: Node) -> u32 {
    let mut around = node.parent();
    while let Some(outer) = around {
        if matches!(
            outer.kind(),
            "block"
                | "func_literal"
                | "if_statement"
                | "for_statement"
                | "expression_switch_statement"
                | "expression_case"
                | "default_case"
                | "communication_case"
                | "type_switch_statement"
                | "type_case"
        ) {
            return u32::try_from(outer.end_position().row + 1).unwrap_or(u32::MAX);
        }
        around = outer.parent();
    }
    u32::MAX
}

/// The type of a value if it is written out, otherwise the expression that it comes from.
fn made_from(node: Node, source: &str) -> (String, String) {
    let typed = |of: &str| (of.to_owned(), String::new());
    match node.kind() {
        "composite_literal" => typed(field(node, "type", source)),
        "type_assertion_expression" => typed(field(node, "type", source)),
        "unary_expression" if field(node, "operator", source) == "&" => {
            node.child_by_field_name("operand").map_or_else(Default::default, |it| made_from(it, source))
        }
        "func_literal" => typed("func"),
        "call_expression" if matches!(field(node, "function", source), "make" | "new") => {
            let first = node.child_by_field_name("arguments").and_then(|list| list.named_child(0));
            typed(first.map_or("", |it| text(it, source)))
        }
        _ => (String::new(), chain(node, source)),
    }
}

/// An expression as a chain of names: `s.scheduleRunner()`, `a.b[]`; `?` for other parts.
fn chain(node: Node, source: &str) -> String {
    // The depth is limited because recursion uses the stack. Real code has no chains of hundreds of names.
    fn go(node: Node, source: &str, depth: usize) -> String {
        let inner = |name: &str| node.child_by_field_name(name).map_or("?".to_owned(), |it| go(it, source, depth + 1));
        if depth > 64 {
            return "?".to_owned();
        }
        match node.kind() {
            "identifier" | "package_identifier" => text(node, source).to_owned(),
            "selector_expression" => format!("{}.{}", inner("operand"), field(node, "field", source)),
            "call_expression" => format!("{}()", inner("function")),
            "index_expression" => format!("{}[]", inner("operand")),
            "unary_expression" if field(node, "operator", source) == "<-" => format!("{}[]", inner("operand")),
            "unary_expression" => inner("operand"),
            "parenthesized_expression" => node.named_child(0).map_or("?".to_owned(), |it| go(it, source, depth + 1)),
            "type_assertion_expression" | "composite_literal" => format!("({})", field(node, "type", source)),
            _ => "?".to_owned(),
        }
    }
    go(node, source, 0)
}

/// The type of a receiver: `Server` for `(s *Server)`.
fn receiver(node: Node, source: &str) -> String {
    let receiver = field(node, "receiver", source).trim_matches(['(', ')']);
    let name = receiver.split('[').next().unwrap_or("");
    name.rsplit([' ', '*']).next().unwrap_or("").to_owned()
}

fn call(node: Node, source: &str, uses: &mut Vec<Use>) {
    let Some(callee) = node.child_by_field_name("function") else { return };
    let written = chain(callee, source);
    let (object, name) = written.rsplit_once('.').unwrap_or(("", &written));
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
        _ if name.contains(['(', '[', '?']) => {}
        _ => uses.push(Use { reach, name: name.to_owned(), object: object.to_owned(), line: line(node) }),
    }
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    let mut cursor = arguments.walk();
    for argument in arguments.named_children(&mut cursor) {
        if matches!(argument.kind(), "identifier" | "selector_expression") {
            let written = chain(argument, source);
            let (object, name) = written.rsplit_once('.').unwrap_or(("", &written));
            uses.push(Use {
                reach: Reach::Reference,
                name: name.to_owned(),
                object: object.to_owned(),
                line: line(argument),
            });
        }
    }
}

fn push(uses: &mut Vec<Use>, reach: Reach, path: &str, line: u32) {
    let (object, name) = split_last(path);
    uses.push(Use { reach, name: name.to_owned(), object: object.to_owned(), line });
}

/// Collects the routes that a function registers: `r.POST("/api/generate", ..., s.GenerateHandler)`,
/// `mux.HandleFunc("POST /completion", server.completion)`. The handler is the last function value named in the call,
/// including in wrappers.
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
    let alias = Alias { function: function.to_owned(), file: 0, line: line(node), table: false };
    callable.then(|| (key.trim().to_owned(), alias))
}
