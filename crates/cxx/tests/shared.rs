//! Tests that shared headers are read once, and that each unit still gets the result that it would get alone.

use cxx::eval::{Handoff, Machine, Platform};
use cxx::files::Unreadable;
use cxx::{Dialect, Program, Sources};
use std::collections::BTreeMap;
use std::sync::Arc;

static PLAIN: Dialect = Dialect::PLAIN;

struct Texts(BTreeMap<&'static str, String>);

impl Sources for Texts {
    fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.0.keys().copied())
    }

    fn text(&self, path: &str) -> Result<Arc<str>, Unreadable> {
        self.0
            .get(path)
            .map(|text| Arc::from(text.as_str()))
            .ok_or_else(|| Unreadable::verbatim(format!("{path} is not there")))
    }
}

/// A body that is long enough to be left out of the units after the first.
const LONG: &str = "int a = 1; int b = 2; int c = 3; int d = 4; int e = 5; int f = 6;";

fn texts(files: &[(&'static str, &str)]) -> Texts {
    Texts(files.iter().map(|(path, text)| (*path, text.replace("LONG", LONG))).collect())
}

fn loaded(files: &Texts, units: &[&str], defines: &[(String, Option<String>)]) -> Program {
    let mut program = Program::new(&PLAIN.vocabulary, defines).expect("an empty program");
    units.iter().for_each(|unit| program.load(files, unit).expect("it loads"));
    program
}

/// The result of the function of this name.
fn gives(program: &Program, name: &str) -> Option<i64> {
    let all: fn(&Program, &Handoff) -> bool = |_, _| true;
    let mut machine = Machine::new(program, &PLAIN, Platform::default(), all);
    machine.reset(1, 1);
    let given = machine.call_by_name(name, Vec::new()).ok()?;
    machine.settle(&given)
}

#[test]
fn a_body_that_another_unit_has_is_run_with_the_names_of_its_own() {
    let files = texts(&[
        ("part.hpp", "#pragma once\nstatic int own();\nstatic int part() { LONG return own() * 10 + f; }\n"),
        ("a.cpp", "#include \"part.hpp\"\nstatic int own() { return 1; }\nint from_a() { return part(); }\n"),
        ("b.cpp", "#include \"part.hpp\"\nstatic int own() { return 2; }\nint from_b() { return part(); }\n"),
    ]);
    let program = loaded(&files, &["a.cpp", "b.cpp"], &[]);
    assert_eq!([gives(&program, "from_a"), gives(&program, "from_b")], [Some(16), Some(26)]);
}

#[test]
fn a_header_that_is_read_within_a_function_is_all_there() {
    let files = texts(&[
        ("part.inc", "auto part = [&]() { LONG return n + f; };\n"),
        ("part.hpp", "static int n = 1;\nint whole() { LONG return n + f; }\n"),
        (
            "a.cpp",
            "#include \"part.hpp\"\nint from_a() {\n    int n = 3;\n#include \"part.inc\"\n    return part();\n}\n",
        ),
        ("b.cpp", "namespace inner {\n#include \"part.hpp\"\n}\nint from_b() { return inner::whole(); }\n"),
        ("c.cpp", "struct holder {\n#include \"part.hpp\"\n};\nint from_c() { holder h; LONG return f; }\n"),
    ]);
    let program = loaded(&files, &["a.cpp", "b.cpp", "c.cpp"], &[]);
    assert_eq!(gives(&program, "from_a"), Some(9));
    assert_eq!(gives(&program, "from_b"), Some(7));
    assert_eq!(gives(&program, "from_c"), Some(6));
}

#[test]
fn a_long_list_that_another_unit_has_is_read_with_the_names_of_its_own() {
    let numbers = "own, 2, ".repeat(120);
    let part =
        format!("static const int list[] = {{ {numbers} 7 }}, more[] = {{ {numbers} own }};\nstatic int after = 3;\n");
    let own = |value: i64, name: &str| {
        format!(
            "enum {{ own = {value} }};\n#include \"part.hpp\"\nint {name}() {{ return list[0] * 100 + list[240] + more[240] * 10000 + after; }}\n"
        )
    };
    let (a, b) = (own(4, "from_a"), own(5, "from_b"));
    let files = texts(&[
        ("part.hpp", &part),
        ("a.cpp", &a),
        ("b.cpp", &b),
        ("c.cpp", "struct holder {\n    enum { own = 6 };\n#include \"part.hpp\"\n};\nint from_c() { return 1; }\n"),
    ]);
    let program = loaded(&files, &["a.cpp", "b.cpp", "c.cpp"], &[]);
    let given = ["from_a", "from_b", "from_c"].map(|name| gives(&program, name));
    assert_eq!(given, [Some(40410), Some(50510), Some(1)]);
}

#[test]
fn a_variable_that_a_shared_body_writes_to_is_not_known() {
    let files = texts(&[
        ("part.hpp", "static int state = 4;\nstatic int kept = 5;\nstatic void part() { LONG state = f; }\n"),
        ("a.cpp", "#include \"part.hpp\"\nint from_a() { return state; }\n"),
        ("b.cpp", "#include \"part.hpp\"\nint from_b() { return state; }\nint kept_b() { return kept; }\n"),
    ]);
    let program = loaded(&files, &["a.cpp", "b.cpp"], &[]);
    assert_eq!(
        [gives(&program, "from_a"), gives(&program, "from_b"), gives(&program, "kept_b")],
        [None, None, Some(5)]
    );
}

#[test]
fn a_signature_is_read_anew_where_a_name_in_it_has_become_a_type() {
    // `(width) + 2` is a sum before `width` is a type, and a cast after.
    let files = texts(&[
        ("part.hpp", "static int sized(int n = (width) + 2) { return n; }\n"),
        ("a.cpp", "enum { width = 40 };\n#include \"part.hpp\"\nint from_a() { return sized(); }\n"),
        ("b.cpp", "typedef char width;\n#include \"part.hpp\"\nint from_b() { return sized(); }\n"),
    ]);
    assert_eq!(gives(&loaded(&files, &["a.cpp", "b.cpp"], &[]), "from_a"), Some(42));
    assert_eq!(gives(&loaded(&files, &["b.cpp"], &[]), "from_b"), Some(2));
    assert_eq!(gives(&loaded(&files, &["a.cpp", "b.cpp"], &[]), "from_b"), Some(2));
}

#[test]
fn a_build_under_another_define_has_its_own_of_what_hangs_on_it() {
    let files = texts(&[
        ("part.hpp", "#if V >= 3\nint part() { LONG return f; }\n#else\nint part() { LONG return e; }\n#endif\n"),
        ("a.cpp", "#include \"part.hpp\"\nint from_a() { return part(); }\n"),
    ]);
    let with = |value: &str| vec![("V".to_owned(), Some(value.to_owned()))];
    let first = loaded(&files, &["a.cpp"], &with("3"));
    let mut other = first.again(&with("2")).expect("an empty program");
    other.load(&files, "a.cpp").expect("it loads");
    assert_eq!([gives(&first, "from_a"), gives(&other, "from_a")], [Some(6), Some(5)]);
}

#[test]
fn builds_that_come_to_the_same_are_told_from_those_that_may_not() {
    let same = |text: &str, define: (&str, &str)| {
        let files = Texts(BTreeMap::from([("a.cpp", text.to_owned())]));
        let defines = [("V".to_owned(), Some("12".to_owned())), ("W".to_owned(), Some("8".to_owned()))];
        loaded(&files, &["a.cpp"], &defines).same_under(&[define])
    };
    let both = "#if V > 11 || (V == 11 && W >= 2)\nint a;\n#endif\n";
    assert!(same(both, ("W", "1")) && same(both, ("V", "11")) && !same(both, ("V", "10")));
    let chain = "#if V >= 20\nint a;\n#elif V >= 10\nint b;\n#else\nint c;\n#endif\n";
    assert!(same(chain, ("V", "19")) && !same(chain, ("V", "20")) && !same(chain, ("V", "9")));
    assert!(same("#if defined(U) && V > 100\nint a;\n#endif\n", ("V", "1")));
    // The define is used in code, used through another macro, defined or undefined by the sources, tested for
    // definition, or never read.
    assert!(!same("#if V > 1\nint a = V;\n#endif\n", ("V", "13")));
    assert!(!same("#define L (V > 12)\n#if L || V > 1\nint a;\n#endif\n", ("V", "13")));
    assert!(!same("#undef W\n#if V > 1 && !defined(W)\nint a;\n#endif\n", ("V", "13")));
    assert!(!same("#define K 12\n#if V > K\nint a;\n#endif\n", ("V", "13")));
    assert!(!same("#ifdef U\nint a;\n#elif V > 12\nint b;\n#endif\n", ("V", "13")));
    assert!(!same("#if __has_include(<v>)\nint a;\n#endif\n", ("__has_include(<v>)", "1")));
    assert!(!same("int a;\n", ("V", "13")));
    // A value that is not a number, or is negative.
    assert!(!same(both, ("V", "twelve")) && !same(both, ("V", "-1")));
}
