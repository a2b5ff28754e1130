//! A template argument of a kernel, as far as it is known. Two unknown arguments are never equal.

use cxx::eval::{Machine, Ty, Value};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub enum Argument {
    /// Numbers, booleans and enumerators.
    Number(i64),
    /// A function by its name.
    Function(String),
    Type(String),
    /// The contents of a pack.
    Pack(Vec<Argument>),
    /// None of the above: a floating-point number, a string.
    Other(String),
    Unknown,
}

impl Argument {
    pub(crate) fn of(machine: &Machine<'_>, value: &Value) -> Argument {
        match value {
            Value::Pack(list) => Argument::Pack(list.iter().map(|value| Argument::of(machine, value)).collect()),
            Value::Int(..) => {
                let shown = machine.show(value);
                shown.parse().map_or(Argument::Other(shown), Argument::Number)
            }
            Value::Float(..) | Value::Str(_) | Value::Null => Argument::Other(machine.show(value)),
            Value::Fn(found) => {
                let name = machine.program.text(found.name);
                with_arguments(machine, name, &found.args).map_or(Argument::Unknown, Argument::Function)
            }
            Value::Type(ty) => type_text(machine, ty).map_or(Argument::Unknown, Argument::Type),
            _ => Argument::Unknown,
        }
    }

    pub fn number(&self) -> Option<i64> {
        match self {
            Argument::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn is_known(&self) -> bool {
        match self {
            Argument::Unknown => false,
            Argument::Pack(list) => list.iter().all(Argument::is_known),
            _ => true,
        }
    }

    /// Whether two arguments are the same; None if one of them is unknown.
    pub fn same(&self, other: &Argument) -> Option<bool> {
        match (self, other) {
            (Argument::Unknown, _) | (_, Argument::Unknown) => None,
            (Argument::Pack(a), Argument::Pack(b)) => same_all(a, b),
            (a, b) => Some(a == b),
        }
    }
}

/// A name with its own template arguments; None if one of them is unknown.
fn with_arguments(machine: &Machine<'_>, name: &str, args: &[Value]) -> Option<String> {
    let args: Vec<Argument> = args.iter().map(|value| Argument::of(machine, value)).collect();
    match args.as_slice() {
        [] => Some(name.to_owned()),
        args => args.iter().all(Argument::is_known).then(|| format!("{name}<{}>", joined(args))),
    }
}

/// A type as it is written; None if it is unknown or unnamed.
fn type_text(machine: &Machine<'_>, ty: &Rc<Ty>) -> Option<String> {
    match ty.as_ref() {
        Ty::Ptr(inner) => Some(format!("{} *", type_text(machine, inner)?)),
        Ty::Struct(instance) => with_arguments(machine, machine.program.text(instance.of.name?), &instance.args),
        Ty::Float(32) | Ty::Float(64) | Ty::Void | Ty::Bool | Ty::Int(..) | Ty::Named(_) => {
            Some(machine.show(&Value::Type(ty.clone())))
        }
        Ty::Float(_) | Ty::Array(..) | Ty::List(_) | Ty::Map(..) | Ty::Owner(_) | Ty::Enum | Ty::Func | Ty::Unknown => {
            None
        }
    }
}

/// Whether two lists are equal; None if that depends on an unknown value.
pub(crate) fn same_all<'a>(
    a: impl IntoIterator<Item = &'a Argument>,
    b: impl IntoIterator<Item = &'a Argument>,
) -> Option<bool> {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let mut all = Some(true);
    loop {
        match (a.next(), b.next()) {
            (None, None) => return all,
            (Some(a), Some(b)) => match a.same(b) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => all = None,
            },
            _ => return Some(false),
        }
    }
}

pub(crate) fn joined<'a>(args: impl IntoIterator<Item = &'a Argument>) -> String {
    args.into_iter().map(Argument::to_string).collect::<Vec<_>>().join(",")
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Number(number) => write!(f, "{number}"),
            Argument::Function(text) | Argument::Type(text) | Argument::Other(text) => f.write_str(text),
            Argument::Pack(list) => f.write_str(&joined(list)),
            Argument::Unknown => f.write_str("?"),
        }
    }
}

impl Serialize for Argument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_the_same_as_nothing() {
        let unknown = Argument::Unknown;
        let float = Argument::Type("float".to_owned());
        assert_eq!(unknown.same(&Argument::Unknown), None);
        assert_eq!(float.same(&unknown), None);
        assert_eq!(Argument::Number(1).same(&Argument::Number(2)), Some(false));
        assert_eq!(same_all([&unknown, &Argument::Number(1)], [&unknown, &Argument::Number(2)]), Some(false));
        assert_eq!(same_all([&unknown, &float], [&float, &float]), None);
        assert_eq!(same_all([&float], [&float, &float]), Some(false));
        let pack = |list: &[&Argument]| Argument::Pack(list.iter().map(|arg| (*arg).clone()).collect());
        assert_eq!(pack(&[&unknown]).same(&pack(&[&float])), None);
        assert!(!pack(&[&unknown]).is_known());
        assert_eq!(pack(&[&float]).to_string(), "float");
    }
}
