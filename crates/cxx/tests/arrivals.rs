//! Tests that a buffer filled from elsewhere is known as long as nothing else may have written to it.

use cxx::ast::REMOTE;
use cxx::eval::{Arrival, Machine, Platform, Run, Stop, Ty, Value};
use cxx::files::Unreadable;
use cxx::{Dialect, Outside, Program, Sources, Vocabulary, Word};
use std::rc::Rc;
use std::sync::Arc;

static FAR: Dialect = Dialect {
    vocabulary: Vocabulary { words: &[("__far__", Word::Mark(REMOTE))], ..Vocabulary::PLAIN },
    outside: |name| if name.starts_with("fetch") { Outside::Moves } else { Outside::Unknown },
    ..Dialect::PLAIN
};

struct One(String);

impl Sources for One {
    fn has(&self, path: &str) -> bool {
        path == "main.cpp"
    }

    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::once("main.cpp"))
    }

    fn text(&self, _: &str) -> Result<Arc<str>, Unreadable> {
        Ok(Arc::from(self.0.as_str()))
    }
}

/// The result of `choose(far)` with these lines after a copy of twelve bytes that contain the words 7, -2 and 300.
fn told(lines: &str) -> Run<Value> {
    let copy = "std::vector<char> v(n); fetch(v.data(), far, n, 2);";
    whole(&format!("int choose(const void * far, int n) {{ {copy} {lines} }}"), 12)
}

fn whole(text: &str, bytes: i64) -> Run<Value> {
    let mut program = Program::new(&FAR.vocabulary, &[]).expect("it begins");
    program.load(&One(format!("typedef int int32_t; {text}")), "main.cpp").expect("it loads");
    let mut machine = Machine::new(&program, &FAR, Platform::default(), |_, _| false);
    machine.follows = true;
    machine.allowance = 1 << 22;
    machine.reset(1, 1);
    let words: Vec<u8> = [7_i32, -2, 300].iter().flat_map(|word| word.to_le_bytes()).collect();
    machine.arrivals = Rc::from([Arrival { from: 64, length: 12, bytes: Some(words.into()) }]);
    let entry = program.interner.get("choose").map_or(&[][..], |name| program.overloads(name))[0];
    machine.run_function(entry, vec![Value::Pointer(Rc::new(Ty::Void), Some(64)), Value::int(bytes)])
}

fn is(run: Run<Value>, expected: i64) -> bool {
    matches!(run, Ok(Value::Int(value, 0, _)) if value == expected)
}

fn unknown(run: Run<Value>) -> bool {
    matches!(run, Ok(Value::Opaque(_)) | Err(Stop::Fork { .. }))
}

#[test]
fn bytes_are_read_as_what_they_are_read_as() {
    assert!(is(told("return *(const int32_t *)(v.data() + 4);"), -2));
    assert!(is(told("return *(const int32_t *)(v.data() + 1*8);"), 300));
    assert!(is(told("return ((const int32_t *) v.data())[2];"), 300));
    assert!(is(told("const char * p = v.data(); return ((const int32_t *) p)[1];"), -2));
    assert!(is(told("return v[8];"), 44));
    assert!(is(told("const int32_t * p = (const int32_t *) v.data(); return p[0] + p[1] + (int) v.size();"), 17));
    let sum = "int s = 0; for (int i = 0; i < 3; ++i) { if (*(const int32_t *)(v.data() + i*4) > 0) s++; } return s;";
    assert!(is(told(sum), 2));
}

#[test]
fn a_loop_over_it_may_be_long() {
    let lines =
        "int s = 0; for (int i = 0; i < 100000; ++i) { s += *(const int32_t *)(v.data() + (i % 3)*4) == 7; } return s;";
    assert!(is(told(lines), 33334));
    // A run without data from elsewhere may not take that many steps.
    let ended = whole(
        "int choose(const void * far, int n) { int s = 0; for (int i = 0; i < 1000000; ++i) { s += i; } return s; }",
        1,
    );
    assert!(matches!(ended, Err(Stop::Undetermined { .. })), "{ended:?}");
    let never = told("int i = 0; while (true) { i += v[0] - 7; } return i;");
    assert!(matches!(never, Err(Stop::Undetermined { .. })), "{never:?}");
}

#[test]
fn what_lies_beside_it_or_was_written_to_is_not_known() {
    for lines in [
        "return *(const int32_t *)(v.data() + 9);",
        "return *(const int32_t *)(v.data() - 4);",
        "return *(const int32_t *)(v.data() + 4000000000);",
        "return *(const float *) v.data();",
        "v[0] = 1; return v[4];",
        "const int32_t * p = (const int32_t *) v.data(); v[0] = 1; return p[1];",
        "((int32_t *) v.data())[0] = 3; return v[4];",
        "*(v.data() + 2) = 3; return v[4];",
        "memset(v.data(), 0, 4); return v[4];",
        "memcpy(v.data(), far, 4); return v[4];",
        "std::sort(v.begin(), v.end()); return v[4];",
        "const char * p = v.data(); std::sort(v.begin(), v.end()); return p[4];",
        "stranger(v.data()); return v[4];",
        "std::swap(v, other); return v[4];",
        "const char * p = v.data(); v.clear(); return p[4];",
        "fetch(v.data(), far, n, 2); return v[4];",
    ] {
        let run = told(lines);
        assert!(unknown(run.clone()), "{lines}: {run:?}");
    }
}

#[test]
fn a_copy_that_is_another_brings_nothing() {
    let other = |text: &str, bytes| whole(&format!("int choose(const void * far, int n) {{ {text} }}"), bytes);
    // Another length, another address, a buffer that is too small, a place within it, and no buffer at all.
    assert!(unknown(other("std::vector<char> v(n); fetch(v.data(), far, n, 2); return v[0];", 8)));
    assert!(unknown(other("std::vector<char> v(n); fetch(v.data(), (const char *) far + 4, n, 2); return v[0];", 12)));
    assert!(unknown(other("std::vector<char> v(4); fetch(v.data(), far, n, 2); return v[0];", 12)));
    assert!(unknown(other("std::vector<char> v(20); fetch(v.data() + 1, far, n, 2); return v[4];", 12)));
    assert!(unknown(other("std::vector<int32_t> v(n); fetch(v.data(), far, n, 2); return v[0];", 12)));
    assert!(unknown(other("std::vector<char> v(n); return v[0];", 12)));
    // A negative size does not create a buffer.
    assert!(unknown(other("std::vector<char> v(-n); fetch(v.data(), far, n, 2); return v[0];", 12)));
}

#[test]
fn arrays_of_a_struct_are_copied_whole() {
    let other = |size: &str| {
        let of = "struct t { int ne[4]; int rest[2]; };";
        let copy = format!(
            "t a; t b; memset(&b, 0, sizeof(b)); memset(&a, 0, sizeof(a)); a.ne[2] = n; memcpy(b.ne, a.ne, {size});"
        );
        whole(&format!("{of} int choose(const void * far, int n) {{ {copy} return b.ne[2]; }}"), 5)
    };
    assert!(is(other("sizeof(b.ne)"), 5));
    assert!(unknown(other("sizeof(b.rest)")), "{:?}", other("sizeof(b.rest)"));
    assert!(unknown(other("4*n")));
}
