//! Environment variables are inputs. Every variable that is read is recorded and listed among the reasons.

use super::machine::Machine;
use super::records::{AskedCondition, Run};
use super::value::Value;
use crate::syntax::ast::Expr;
use crate::syntax::files::Span;
use crate::syntax::lex::Kind;

/// How a reason describes a variable that is not set.
pub const NOT_SET: &str = "not set";

impl Machine<'_> {
    pub(super) fn getenv(&mut self, name: Option<&Expr>, at: Span) -> Run<Value> {
        // If the name is unknown, it could be any variable.
        let Some(name) = self.text_arg(name)? else { return Ok(Value::Opaque(at)) };
        if self.sets_variable(&name) {
            return Ok(Value::Opaque(at));
        }
        let found = self.platform.environment.iter().find(|(known, _)| *known == name);
        let value = found.map(|(_, value)| value.clone());
        self.environment.insert(name, value.clone());
        self.env_reads.push(at);
        self.tell_environment(at);
        Ok(value.map_or(Value::Null, |value| Value::Str(value.as_str().into())))
    }

    /// Whether the program itself sets or unsets a variable. The interpreter does not track when this happens.
    fn sets_variable(&self, name: &str) -> bool {
        ["setenv", "putenv", "unsetenv", "clearenv", "_putenv", "_putenv_s"].into_iter().any(|function| {
            let Some(sym) = self.program.interner.get(function) else { return false };
            self.program.naming(sym).into_iter().filter_map(|index| self.program.function(index)).any(|function| {
                self.program.body_toks(function).windows(4).any(|toks| match toks {
                    [called, _, first, next] if called.kind == Kind::Ident && called.sym == sym => {
                        let text = self.program.files.text(Span::of(first));
                        let given = text.trim_matches('"').split('=').next().unwrap_or_default();
                        let whole = first.kind == Kind::String && next.kind != Kind::String;
                        !whole || given == name
                    }
                    _ => false,
                })
            })
        })
    }

    /// Adds a reason with the variable and its value.
    pub(super) fn tell_environment(&mut self, at: Span) {
        let text = self.program.files.text(at);
        let name = text.split('"').nth(1).unwrap_or(&text).to_owned();
        let outcome = match self.environment.get(&name) {
            Some(Some(value)) => value.clone(),
            _ => NOT_SET.to_owned(),
        };
        let (depth, function) = (self.frames.len(), self.frames.last().map(|frame| frame.name));
        if let (Some(trace), Some(function)) = (&mut self.trace, function) {
            trace.push(AskedCondition { function, depth, at, outcome, values: Vec::new() });
        }
    }
}
