//! Lambdas: where they begin and end, and the name under which they are called later.

use super::tokens::Tokens;
use crate::index::{Alias, Function};

/// The positions of a lambda's parameter list and of its body.
pub(super) struct Lambda {
    pub parameters: Option<usize>,
    pub open: usize,
    pub close: usize,
}

pub(super) fn lambda(t: &Tokens, at: usize, close: usize) -> Option<Lambda> {
    let before = t.text(at.wrapping_sub(1));
    let fits = matches!(before, "(" | "," | "=" | "return" | "{" | ";" | "&&" | "||" | "?" | ":" | "!" | "}");
    let mut after = t.close(at);
    if !fits || after <= at || t.text(at + 1) == "[" {
        return None;
    }
    after += 1;
    let parameters = (t.text(after) == "(").then_some(after);
    if parameters.is_some() {
        after = t.close(after) + 1;
    }
    let open = (after..close.min(after + 24)).find(|&at| matches!(t.text(at), "{" | ";" | ")" | ","))?;
    (t.text(open) == "{" && t.close(open) > open).then(|| Lambda { parameters, open, close: t.close(open) })
}

/// The name under which a lambda is stored: `post_completions` for `this->post_completions = [..] {..}`,
/// `on_update_slots()` for `queue.on_update_slots([..] {..})`.
pub(super) fn stored_as(t: &Tokens, lambda: usize) -> Option<String> {
    let before = lambda.checked_sub(1)?;
    let name = before.checked_sub(1).filter(|&at| t.is_name(at))?;
    match t.text(before) {
        "=" => Some(t.text(name).to_owned()),
        "(" if t.text(name).starts_with("on_") => Some(format!("{}()", t.text(name))),
        _ => None,
    }
}

/// Reads a field that keeps a parameter, as `callback_update_slots = std::move(callback)` inside `on_update_slots`.
/// Calling the field runs the function that was passed there.
pub(super) fn handed_on(t: &Tokens, equals: usize, function: &Function) -> Option<(String, Alias)> {
    let field = equals.checked_sub(1).filter(|&at| t.is_name(at))?;
    let moved = t.text(equals + 1) == "std" && t.text(equals + 3) == "move";
    let given = t.text(if moved { equals + 5 } else { equals + 1 });
    let parameter = function.locals.iter().any(|local| local.name == given);
    let alias = Alias { function: format!("{}()", function.name), file: 0, line: t.line(equals), table: false };
    (function.name.starts_with("on_") && parameter).then(|| (t.text(field).to_owned(), alias))
}
