//! Constants of C headers.

use super::value::Value;
use crate::syntax::integer::IntTy;

/// The value of a name that no unit declares.
pub(super) fn constant(name: &str) -> Option<Value> {
    Some(match name {
        "INT_MAX" | "INT32_MAX" => Value::int(i64::from(i32::MAX)),
        "INT_MIN" | "INT32_MIN" => Value::int(i64::from(i32::MIN)),
        "UINT32_MAX" | "UINT_MAX" => Value::Int(i64::from(u32::MAX), IntTy::U32),
        "INT64_MAX" | "LLONG_MAX" => Value::Int(i64::MAX, IntTy::I64),
        "UINT64_MAX" | "SIZE_MAX" => Value::Int(-1, IntTy::U64),
        "INT64_MIN" | "LLONG_MIN" => Value::Int(i64::MIN, IntTy::I64),
        "INT16_MAX" => Value::int(i64::from(i16::MAX)),
        "UINT16_MAX" => Value::int(i64::from(u16::MAX)),
        "UINT8_MAX" => Value::int(255),
        "INFINITY" | "HUGE_VALF" => Value::Float(f64::INFINITY, 32),
        "FLT_MAX" => Value::Float(f64::from(f32::MAX), 32),
        "FLT_EPSILON" => Value::Float(f64::from(f32::EPSILON), 32),
        "M_PI" => Value::Float(std::f64::consts::PI, 64),
        "__ATOMIC_RELAXED" | "__ATOMIC_SEQ_CST" => Value::int(0),
        "true" => Value::bool(true),
        "false" => Value::bool(false),
        "stderr" | "stdout" => Value::Host("stream", 1),
        "__func__" | "__FUNCTION__" => Value::Str("function".into()),
        _ => return None,
    })
}
