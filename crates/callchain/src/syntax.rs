//! Helpers for tree-sitter nodes: text, lines, and a walk without recursion, so that deep nesting does not overflow the
//! stack.

use tree_sitter::{Language, Node, Parser, Tree};

pub fn parse(language: &Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    parser.parse(text, None)
}

pub fn text<'a>(node: Node, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or("")
}

pub fn line(node: Node) -> u32 {
    u32::try_from(node.start_position().row).map_or(u32::MAX, |row| row.saturating_add(1))
}

/// The node's named field as text, empty if it has none.
pub fn field<'a>(node: Node, name: &str, source: &'a str) -> &'a str {
    node.child_by_field_name(name).map_or("", |child| text(child, source))
}

/// Visits `root` and all of its descendants in source order. `visit` returns whether to descend into a node.
pub fn walk<'t>(root: Node<'t>, mut visit: impl FnMut(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node() == root {
                return;
            }
        }
        if cursor.node() == root {
            return;
        }
    }
}

/// A string literal without its quotes.
pub fn unquote(literal: &str) -> &str {
    literal.trim_matches(['"', '`'])
}

/// Splits `a.b.c` or `a->b::c` into the part before the last name, and the last name.
pub fn split_last(path: &str) -> (&str, &str) {
    let path = path.trim();
    let cut = ["->", "::", "."].iter().filter_map(|mark| path.rfind(mark).map(|at| (at, mark.len()))).max();
    match cut {
        Some((at, len)) => (path.get(..at).unwrap_or(""), path.get(at + len..).unwrap_or("")),
        None => ("", path),
    }
}
