//! Tests that bodies expanded on demand give the same result as bodies expanded at once. Any directive in a body, even
//! an empty one, forces immediate expansion, so every case is read both ways.

use cxx::eval::{Handoff, Machine, Platform};
use cxx::files::Unreadable;
use cxx::{Dialect, Program, Sources};
use std::collections::BTreeMap;
use std::sync::Arc;

static PLAIN: Dialect = Dialect::PLAIN;

/// A body that is long enough to be deferred. `AT_ONCE` adds a directive, which prevents that.
const LATE: &str = "int a = 1; int b = 2; int c = 3; int d = 4; int e = 5; int f = 6;";
const AT_ONCE: &str = "int a = 1; int b = 2; int c = 3; int d = 4; int e = 5; int f = 6;\n#\n";

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

fn gives(program: &Program, name: &str) -> Option<i64> {
    let all: fn(&Program, &Handoff) -> bool = |_, _| true;
    let mut machine = Machine::new(program, &PLAIN, Platform::default(), all);
    machine.reset(1, 1);
    let given = machine.call_by_name(name, Vec::new()).ok()?;
    machine.settle(&given)
}

/// Reads all units, one after the other. `long` replaces `LONG` in their text.
fn read(files: &[(&'static str, &str)], long: &str) -> Program {
    let texts = Texts(files.iter().map(|(path, text)| (*path, text.replace("LONG", long))).collect());
    let mut program = Program::new(&PLAIN.vocabulary, &[]).expect("an empty program");
    for (path, _) in files.iter().filter(|(path, _)| path.ends_with(".cpp")) {
        program.load(&texts, path).expect("it loads");
    }
    program
}

/// Checks the results of functions, with deferred and with immediate expansion.
#[track_caller]
fn check(files: &[(&'static str, &str)], expected: &[(&str, Option<i64>)]) {
    for long in [LATE, AT_ONCE] {
        let program = read(files, long);
        for (name, value) in expected {
            assert_eq!(gives(&program, name), *value, "{name} with {long:?}");
        }
    }
}

/// Checks that invalid or unsupported code gives the same results, with deferred and with immediate expansion.
#[track_caller]
fn check_same(text: &str, names: &[&str]) {
    let (late, at_once) = (read(&[("a.cpp", text)], LATE), read(&[("a.cpp", text)], AT_ONCE));
    for name in names {
        assert_eq!(gives(&late, name), gives(&at_once, name), "{name} of {text}");
    }
}

#[test]
fn a_macro_is_what_it_was_where_the_body_stands() {
    let text = "#define K 1\n#define L K + M\n#define M 10\nint first() { LONG return K; }\nint second() { LONG return L; }\n\
                #undef K\nenum { K = 7 };\nint third() { LONG return L; }\n#define K 2\n#undef M\n#define M 20\n\
                int fourth() { LONG return L; }\nint fifth() { LONG return K; }\n#undef K\n#undef L\n#undef M\n";
    let expected = [("first", 1), ("second", 11), ("third", 17), ("fourth", 22), ("fifth", 2)];
    check(&[("a.cpp", text)], &expected.map(|(name, value)| (name, Some(value))));
}

#[test]
fn a_macro_that_is_put_aside_comes_back() {
    let text = "#define K 1\n#pragma push_macro(\"K\")\n#undef K\n#define K 2\nint first() { LONG return K; }\n\
                #pragma pop_macro(\"K\")\nint second() { LONG return K; }\n#pragma push_macro(\"K\")\n#undef K\nenum { K = 5 };\n\
                int third() { LONG return K; }\n#pragma pop_macro(\"K\")\n";
    check(&[("a.cpp", text)], &[("first", Some(2)), ("second", Some(1)), ("third", Some(5))]);
}

#[test]
fn macros_that_open_what_they_do_not_close_end_a_body_where_they_did() {
    let text = "#define OPEN {\n#define CLOSE }\n#define BEGIN if (f == 6) OPEN\n#define TWICE(x) x x\n#define FIRST(x, y) x\n\
                int first() { LONG if (f == 5) OPEN return 1; CLOSE return 2; }\nint second() { LONG BEGIN return 3; CLOSE return 4; }\n\
                int third() { LONG TWICE({) return 5; } }}\nint fourth() { return 6; }\n\
                int fifth() { LONG int n = 1; if (n) FIRST({ n += 7, n += 8 }); n += 2; } return n; }\nint sixth() { return 9; }\n";
    let expected = [("first", 2), ("second", 3), ("third", 5), ("fourth", 6), ("fifth", 10), ("sixth", 9)];
    check(&[("a.cpp", text)], &expected.map(|(name, value)| (name, Some(value))));
    let open = "#define TWICE(x) x x\nint first() { LONG TWICE({) return 5; }\nint second() { LONG return 6; }\n";
    check_same(open, &["first", "second"]);
}

#[test]
fn names_that_macros_make_are_made() {
    let text = "#define JOIN(x, y) x##y\n#define NAME(x) JOIN(x, 2)\n#define TEXT(x) #x\n#define SELF (1 + SELF)\n#define CALL(x) (x) * 2\n\
                int first() { LONG int z2 = 8; return NAME(z); }\nint second() { LONG const char * text = TEXT(abc); return text[1]; }\n\
                int fourth() { LONG int CALL = 3; return CALL + CALL(f); }\n\
                enum { SELF = 3 };\nint third() { LONG return SELF; }\n";
    check(&[("a.cpp", text)], &[("first", Some(8)), ("second", Some(98)), ("fourth", Some(15))]);
}

#[test]
fn directives_in_a_body_are_obeyed() {
    let files = [
        ("part.inc", "int n = 3;\n"),
        (
            "a.cpp",
            "int first() { LONG\n#if defined(X)\nreturn 1;\n#else\nreturn 2;\n#endif\n}\n\
             int second() { LONG\n#include \"part.inc\"\nreturn n; }\n\
             int third() { LONG\n#define Y 4\nreturn Y; }\nint fourth() { LONG return Y; }\n\
             #undef Y\nint fifth() { LONG\n#error not here\nreturn f; }\n",
        ),
    ];
    let expected = [("first", 2), ("second", 3), ("third", 4), ("fourth", 4), ("fifth", 6)];
    check(&files, &expected.map(|(name, value)| (name, Some(value))));
}

#[test]
fn each_unit_has_its_own_of_a_header() {
    let part = "static int part() { LONG return K * 10 + f; }\n";
    let files = [
        ("part.hpp", part),
        ("a.cpp", "#define K 1\n#include \"part.hpp\"\nint from_a() { return part(); }\n"),
        ("b.cpp", "#define K 2\n#include \"part.hpp\"\nint from_b() { return part(); }\n"),
        ("c.cpp", "enum { K = 3 };\n#include \"part.hpp\"\nint from_c() { return part(); }\n"),
        ("d.cpp", "#define K 1\n#include \"part.hpp\"\nint from_d() { return part(); }\n"),
    ];
    let expected = [("from_a", 16), ("from_b", 26), ("from_c", 36), ("from_d", 16)];
    check(&files, &expected.map(|(name, value)| (name, Some(value))));
}

#[test]
fn a_struct_within_a_body_is_read_where_it_stands() {
    let part = "static int part() { LONG struct pair { int x = N; int y = 4; int sum() { LONG return x + y + f; } };\n\
                pair list[2]; list[1].x = f; return list[0].sum() * 100 + list[1].x + list[1].y; }\n";
    let files = [
        ("part.hpp", part),
        ("a.cpp", "#define N 3\n#include \"part.hpp\"\nint from_a() { return part(); }\n"),
        ("b.cpp", "int before() { return 1; }\n#define N 3\n#include \"part.hpp\"\nint from_b() { return part(); }\n"),
    ];
    check(&files, &[("from_a", Some(1310)), ("from_b", Some(1310))]);
}

#[test]
fn what_a_macro_writes_to_in_a_body_is_not_known() {
    let text = "#define SET state = 5\n#define GIVE(x) x++\nstatic int state = 4;\nstatic int count = 4;\nstatic int kept = 4;\n\
                void first() { LONG SET; }\nvoid second() { LONG GIVE(count); }\nint third() { LONG return kept; }\n\
                int state_is() { return state; }\nint count_is() { return count; }\n";
    check(&[("a.cpp", text)], &[("state_is", None), ("count_is", None), ("third", Some(4))]);
}

#[test]
fn what_is_not_whole_is_read_as_it_was() {
    let made = "#define FN(name, n) int name() { int a[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; return n; }\n\
                #define HEAD(name) int name()\nFN(first, 1)\nHEAD(second) { LONG return 2; }\n";
    check(&[("a.cpp", made)], &[("first", Some(1)), ("second", Some(2))]);
    // A missing end, one too many, and mismatched brackets.
    for end in ["return 1;", "return (1; }", "return 1]; }", "return 1; } }", "return 1; ) }"] {
        check_same(&format!("int first() {{ LONG {end}\nint second() {{ LONG return 2; }}\n"), &["first", "second"]);
    }
}

#[test]
fn braces_after_a_parenthesis_that_are_no_body_are_what_they_are() {
    let text = "#define N 4\nstruct two { int n = 0; int get() { LONG return n + N; } };\nint second() { two t; t.n = 5; return t.get(); }\n";
    check(&[("a.cpp", text)], &[("second", Some(9))]);
    let text = "#define N 4\nstruct alignas(8) { int x = N; LONG } one;\nstatic auto made = [](int n) { LONG return n + N; };\n\
                typedef struct __align__(8) { int x = N; LONG } three;\nint x MACRO(8) { LONG N };\n\
                int first() { return one.x; }\nint third() { three t; return t.x; }\nint fourth() { return made(1); }\n";
    check_same(text, &["first", "third", "fourth"]);
}
