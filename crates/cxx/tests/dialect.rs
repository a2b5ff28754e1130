//! Tests the evaluator alone: plain C++, and a dialect made for the test.

use cxx::ast::REMOTE;
use cxx::eval::{Builtin, Decision, Extent, Handoff, Machine, Platform, Stop, Value};
use cxx::files::Unreadable;
use cxx::{Dialect, LoadError, Outside, Program, Sources, Vocabulary, Word};
use std::collections::BTreeMap;
use std::sync::Arc;

static PLAIN: Dialect = Dialect::PLAIN;

struct Texts(BTreeMap<&'static str, &'static str>);

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
            .map(|text| Arc::from(*text))
            .ok_or_else(|| Unreadable::verbatim(format!("{path} is not there")))
    }
}

/// A dialect in which all functions that are marked `__far__` or named `send_...` do work elsewhere.
static FAR: Dialect = Dialect {
    vocabulary: Vocabulary {
        words: &[("__far__", Word::Mark(REMOTE)), ("__pinned__", Word::Storage), ("__at__", Word::WithArguments)],
        answered: |name| matches!(name, "far_count" | "far_sum"),
        ..Vocabulary::PLAIN
    },
    builtins: &[
        ("far_count", Builtin::Give(3)),
        (
            "far_sum",
            Builtin::Answer(|machine, args, _| {
                let mut sum = 0;
                for arg in args {
                    let value = machine.eval(arg)?;
                    sum += machine.settle(&value).unwrap_or(0);
                }
                Ok(Value::int(sum))
            }),
        ),
    ],
    constants: &[("FAR_OK", 0)],
    outside: |name| if name.starts_with("send_") { Outside::Work } else { Outside::Unknown },
    decision: |machine, handoff| {
        let width = handoff.args.first().and_then(|(_, value)| machine.settle(value)).unwrap_or(0);
        Some(Decision { class: usize::from(handoff.library), numbers: [width, 0] })
    },
    ..Dialect::PLAIN
};

const MAIN: &str = r#"
#include "width.hpp"
#define LIMIT (4 * 2)
template <int width> __far__ __at__(1) void work(int n) { }
template <int width> static void run(int n) { __pinned__ int slot = n; work<width><<<(n + width - 1) / width, 64>>>(slot); }
static int count() { int n = -1; return far_count(&n) == FAR_OK ? n : 0; }
void choose(int n) {
    if (n <= LIMIT) { run<1>(n); return; }
    if (n <= wide(count())) { run<16>(n); return; }
    send_away(n);
}
"#;

fn program(dialect: &'static Dialect, files: &Texts) -> Result<Program, LoadError> {
    let mut program = Program::new(&dialect.vocabulary, &[])?;
    program.load(files, "main.cpp")?;
    Ok(program)
}

fn texts() -> Texts {
    let header = "int wide(int n);\n";
    let unit = "#include \"width.hpp\"\nint wide(int n) { return far_sum(n, 29); }\n";
    Texts(BTreeMap::from([("main.cpp", MAIN), ("width.hpp", header), ("width.cpp", unit)]))
}

/// Runs `choose` for all inputs from 1 to 100 and returns the windows, as (from, to, class, width).
fn windows(program: &Program) -> Result<Vec<(i64, i64, usize, i64)>, Stop> {
    windows_of(program, 1, &[])
}

/// Like [`windows`], from an input on, limited to the wanted inputs if there are any.
fn windows_of(program: &Program, from: i64, wanted: &[i64]) -> Result<Vec<(i64, i64, usize, i64)>, Stop> {
    let all: fn(&Program, &Handoff) -> bool = |_, _| true;
    let mut machine = Machine::new(program, &FAR, Platform::default(), all);
    let entry = program.interner.get("choose").map_or(&[][..], |name| program.overloads(name));
    machine.reset(from, 100);
    machine.exploring = true;
    (machine.wanted, machine.points) = (wanted.into(), !wanted.is_empty());
    match machine.run_function(entry[0], vec![Value::Int(from, 1, cxx::IntTy::I64)]) {
        Err(Stop::Decided) => {}
        Err(stop) => return Err(stop),
        Ok(_) => panic!("it ended without a hand-off"),
    }
    let last = machine.handoffs.pop().and_then(|handoff| machine.window_of(handoff));
    let mut windows = std::mem::take(&mut machine.windows);
    windows.extend(last);
    Ok(windows.iter().map(|w| (w.from, w.to, w.decision.class, w.decision.numbers[0])).collect())
}

#[test]
fn one_run_goes_through_all_windows_of_its_input() {
    let files = texts();
    let mut program = program(&FAR, &files).expect("it loads");
    // A function that is only declared is reported as needed, and found beside its header.
    let Err(Stop::Need(name)) = windows(&program) else { panic!("wide is not loaded yet") };
    assert_eq!(program.text(name), "wide");
    assert!(program.define_function(&files, name).expect("it loads"));
    assert_eq!(windows(&program).expect("it runs"), [(1, 8, 0, 1), (9, 32, 0, 16), (33, 100, 1, 0)]);
}

const TABLE: &str = r#"
template <int width> __far__ void work(int n) { }
int table(int j) { if (j == 8) return 3; if (j == 16) return 5; if (j == 40) return 7; return 0; }
int most(int n) {
    int r = n < 64 ? n : 64;
    r -= r % 8;
    for (; r > 0; r -= 8) { if (table(r) != 0) return table(r); }
    return r;
}
void choose(int n) {
    switch (most(n)) {
        case 3: work<3><<<1, 1>>>(n); break;
        case 5: work<5><<<1, 1>>>(n); break;
        case 7: work<7><<<1, 1>>>(n); break;
        default: work<1><<<1, 1>>>(n);
    }
}
"#;

#[test]
fn what_is_the_same_in_a_window_is_what_it_is_at_each_of_its_counts() {
    let files = Texts(BTreeMap::from([("main.cpp", TABLE)]));
    let program = program(&FAR, &files).expect("it loads");
    let wanted = [1, 7, 8, 9, 15, 16, 17, 24, 39, 40, 41, 63, 64, 65, 100];
    let windows = windows_of(&program, 1, &wanted).expect("it runs");
    for count in wanted {
        let expected = match count - count % 8 {
            0 => 1,
            8 => 3,
            16..40 => 5,
            _ => 7,
        };
        let found: Vec<i64> = windows.iter().filter(|w| (w.0..=w.1).contains(&count)).map(|w| w.3).collect();
        assert_eq!(found, [expected], "at {count} of {windows:?}");
        let alone = windows_of(&program, count, &[count]).expect("it runs");
        assert!(matches!(alone.as_slice(), [(from, _, 0, width)] if (*from, *width) == (count, expected)), "{alone:?}");
    }
}

#[test]
fn a_static_that_the_first_input_settled_is_no_answer_for_the_next() {
    let text = "template <int width> __far__ void work(int n) { }\nint half(int n) { return n > 5 ? 1 : 2; }\n\
                void choose(int n) { static int first = half(n); if (first == 1) { work<1><<<1, 1>>>(n); return; } work<16><<<1, 1>>>(n); }\n";
    let files = Texts(BTreeMap::from([("main.cpp", text)]));
    let program = program(&FAR, &files).expect("it loads");
    // The input does not determine which call was the first.
    assert!(windows_of(&program, 1, &[]).is_err());
    assert!(windows_of(&program, 1, &[1, 9]).is_err());
    assert!(windows_of(&program, 9, &[9]).is_err());
}

#[test]
fn without_the_dialect_the_same_words_mean_nothing() {
    let files = texts();
    let program = program(&PLAIN, &files).expect("it loads");
    let run = program.interner.get("work").map_or(&[][..], |name| program.overloads(name));
    assert!(!run.iter().any(|&index| program.function(index).is_some_and(|function| function.is_remote())));
}

#[test]
fn a_file_that_cannot_be_read_is_told_in_its_owners_words() {
    let error = program(&FAR, &Texts(BTreeMap::new())).expect_err("nothing is there");
    assert_eq!(error.to_string(), "main.cpp is not there");
}

/// The results of each unit of a program, with shared headers.
fn asked_of_units(files: &[(&'static str, &'static str)], defines: &[(String, Option<String>)]) -> Vec<Option<i64>> {
    let texts = Texts(files.iter().copied().collect());
    let units: Vec<&str> = files.iter().map(|(path, _)| *path).filter(|path| path.ends_with(".cpp")).collect();
    let plain = Program::new(&PLAIN.vocabulary, &[]).expect("an empty program");
    let mut first = plain.again(&[]).expect("the same");
    units.iter().for_each(|path| first.load(&texts, path).expect("it can be read"));
    let mut program = first.again(defines).expect("under other defines");
    for path in &units {
        program.load(&texts, path).expect("it can be read");
    }
    let ask = |program: &Program, path: &&str| {
        let name = path.trim_end_matches(".cpp");
        let mut machine = Machine::new(program, &PLAIN, Platform::default(), |_, _| false);
        let value = machine.call_by_name(name, Vec::new()).ok()?;
        machine.settle(&value)
    };
    let known = units.iter().map(|path| ask(&first, path));
    known.chain(units.iter().map(|path| ask(&program, path))).collect()
}

#[test]
fn a_header_read_before_is_taken_over_only_where_it_comes_to_the_same() {
    let header = "#ifdef WIDE\n#define WIDTH 8\n#else\n#define WIDTH 4\n#endif\nstatic const int width = WIDTH;";
    let guarded = "#ifndef G\n#define G\nstatic const int seen = 1;\n#else\nstatic const int again = 2;\n#endif";
    let files = [
        ("h.hpp", header),
        ("g.hpp", guarded),
        ("once.hpp", "#pragma once\nstatic const int one = 1;"),
        ("both.hpp", "#include \"once.hpp\"\n#include \"h.hpp\""),
        ("deep.hpp", "#include \"far.hpp\"\nstatic const int deep = FAR;"),
        ("far.hpp", "#if LEVEL > 3\n#define FAR 9\n#else\n#define FAR 5\n#endif"),
        ("a.cpp", "#include \"h.hpp\"\nint a() { return width; }"),
        ("b.cpp", "#define WIDE\n#include \"h.hpp\"\nint b() { return width; }"),
        ("c.cpp", "#include \"h.hpp\"\nint c() { return width + WIDTH; }"),
        ("d.cpp", "#include \"g.hpp\"\n#include \"g.hpp\"\nint d() { return seen + again; }"),
        ("e.cpp", "#include \"once.hpp\"\n#include \"both.hpp\"\nint e() { return one * 10 + width; }"),
        ("f.cpp", "#include \"both.hpp\"\nint f() { return one * 10 + width; }"),
        ("i.cpp", "#define ADD(x, y) x + y\nint i() { return ADD(\n#include \"seven.hpp\"\n, 1); }"),
        ("j.cpp", "#define ADD(x, y) x + y\nint j() { return ADD(\n#include \"seven.hpp\"\n, 2); }"),
        ("k.cpp", "#define SUM(x) x + 1\nint k() { return\n#include \"open.hpp\"\n(7); }"),
        ("l.cpp", "#define SUM(x) x + 2\nint l() { return\n#include \"open.hpp\"\n(7); }"),
        ("m.cpp", "#include \"deep.hpp\"\nint m() { return deep; }"),
        ("open.hpp", "SUM"),
        ("seven.hpp", "7"),
    ];
    let before = [4, 8, 8, 3, 14, 14, 8, 9, 8, 9, 5];
    let after = [4, 8, 8, 3, 14, 14, 8, 9, 8, 9, 9];
    let expected: Vec<Option<i64>> = before.into_iter().chain(after).map(Some).collect();
    assert_eq!(asked_of_units(&files, &[("LEVEL".to_owned(), Some("4".to_owned()))]), expected);
    let wide = [8, 8, 16, 3, 18, 18, 8, 9, 8, 9, 5];
    let expected: Vec<Option<i64>> = before.into_iter().chain(wide).map(Some).collect();
    assert_eq!(asked_of_units(&files, &[("WIDE".to_owned(), Some(String::new()))]), expected);
}

#[test]
fn a_long_list_is_known_though_it_is_parsed_late() {
    let list: String = (0..300).map(|number| format!("{number}, ")).collect();
    let text = format!("static const int table[] = {{ {list} }};\nint last() {{ return table[299]; }}");
    let texts = Texts([("last.cpp", &*text.leak())].into_iter().collect());
    let mut program = Program::new(&PLAIN.vocabulary, &[]).expect("an empty program");
    program.load(&texts, "last.cpp").expect("it can be read");
    let mut machine = Machine::new(&program, &PLAIN, Platform::default(), |_, _| false);
    let value = machine.call_by_name("last", Vec::new()).expect("it runs");
    assert_eq!(machine.settle(&value), Some(299));
}

/// Runs a function of plain numbers and returns its result.
fn result(program: &Program, name: &str, values: Vec<Value>) -> Result<i64, String> {
    let mut machine = Machine::new(program, &PLAIN, Platform::default(), |_, _| false);
    machine.reset(1, 1);
    match machine.call_by_name(name, values) {
        Ok(Value::Int(value, 0, _)) => Ok(value),
        Ok(other) => Err(format!("{other:?}")),
        Err(stop) => Err(format!("{stop:?}")),
    }
}

const LISTS: &str = r#"
enum op { A = 1, B, C };
static inline bool fits(const int * list, int at, int count, const enum op * ops, const int * outs, int n) {
    for (int i = 0; i < count; ++i) { if (list[at + i] != ops[i]) { return false; } }
    return n > 0 && outs[0] == at + 1;
}
inline bool fits(const int * list, int at, std::initializer_list<enum op> ops, std::initializer_list<int> outs = {}) {
    return fits(list, at, ops.size(), ops.begin(), outs.begin(), outs.size());
}
static bool same(std::initializer_list<enum op> ops) {
    const auto is_equal = [](const std::initializer_list<enum op> & a, const std::initializer_list<enum op> & b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    std::initializer_list<enum op> wanted = { A, B };
    return is_equal(wanted, ops);
}
int overloads(int at) { int list[3] = { A, B, C }; return fits(list, at, { B, C }, { at + 1 }); }
int equal() { return same({ A, B }) * 100 + same({ A, C }) * 10 + same({ A, B, C }); }
int filled() { int ops[8]; std::fill(ops, ops + 8, 7); return ops[0] + ops[7]; }
int grown() { std::vector<int> v; v.insert(v.end(), { 1, 2 }); v.insert(v.end(), { 3 }); return v.size() * 10 + v.data()[2]; }
int apart(char * a, char * b) { return (long long) b - (long long) a; }
int moved(int * a) { return (long long) (a + 3) % 16; }
"#;

#[test]
fn lists_and_ranges_are_followed() {
    let files = Texts(BTreeMap::from([("main.cpp", LISTS)]));
    let program = program(&PLAIN, &files).expect("it loads");
    assert_eq!(result(&program, "overloads", vec![Value::int(1)]), Ok(1));
    assert_eq!(result(&program, "overloads", vec![Value::int(0)]), Ok(0));
    assert_eq!(result(&program, "equal", Vec::new()), Ok(100));
    assert_eq!(result(&program, "filled", Vec::new()), Ok(14));
    assert_eq!(result(&program, "grown", Vec::new()), Ok(33));
}

#[test]
fn addresses_that_are_told_are_computed_with() {
    let files = Texts(BTreeMap::from([("main.cpp", LISTS)]));
    let program = program(&PLAIN, &files).expect("it loads");
    let at = |ty, address| Value::Pointer(std::rc::Rc::new(ty), Some(address));
    let char = || cxx::eval::Ty::Int(8, true);
    assert_eq!(result(&program, "apart", vec![at(char(), 4096), at(char(), 4196)]), Ok(100));
    assert_eq!(result(&program, "moved", vec![at(cxx::eval::Ty::Int(32, true), 4096)]), Ok(12));
}

const WRAPPER: &str = r#"
struct config { int grid; int block; config(int g, int b) : grid(g), block(b) {} };
template <int width> __far__ void work(int n) { }
template <typename F> static void start(F f, const config & c, int n) { if (n > 0) { f<<<c.grid, c.block>>>(n); } }
void choose(int n) { const config c = config(n * 2, 32); start(work<4>, c, n); }
"#;

#[test]
fn a_wrapper_is_followed_to_what_it_hands_over() {
    let files = Texts(BTreeMap::from([("main.cpp", WRAPPER)]));
    let program = program(&FAR, &files).expect("it loads");
    let fixed = |x, y, z| Ok([x, y, z].map(Extent::Fixed));
    for (follows, config) in [(false, None), (true, Some([fixed(6, 1, 1), fixed(32, 1, 1), fixed(0, 1, 1)]))] {
        let mut machine = Machine::new(&program, &FAR, Platform::default(), |_, _| false);
        machine.follows = follows;
        machine.reset(1, 1);
        machine.call_by_name("choose", vec![Value::int(3)]).expect("it runs");
        assert_eq!(machine.handoffs.iter().map(|handoff| handoff.config.clone()).collect::<Vec<_>>(), [config]);
    }
}

const TRAITS: &str = r#"
template <typename T> struct alignas(sizeof(T) * 4) four { T v[4]; };
struct __align__(what + is) strange { int a; };
template <typename T> struct room { T * start = nullptr; int used(int n) { using held = T; return n * sizeof(held); } };
template <int kind> struct traits;
template <> struct traits<1> {
    using held = short;
    static const int number = 10;
    static auto twice(int n) { return n * 2; }
};
template <> struct traits<2> { using held = double; static const int number = 20; static auto twice(int n) { return n * 4; } };
template <int kind> static int asked(int n) {
    using of = traits<kind>;
    using held = typename of::held;
    typedef unsigned char small;
    return of::twice(n) + of::number * 100 + sizeof(held) * 10000 + (small) 257;
}
int first() { return asked<1>(3); }
int second() { return asked<2>(3); }
int shadowed() { using of = traits<1>; int sum = of::number; { using of = traits<2>; sum += of::number; } return sum + of::number; }
int methods() { room<double> r; return r.used(3); }
int aligned() { return alignof(four<float>) * 100 + sizeof(four<short>); }
int odd() { return alignof(strange); }
"#;

#[test]
fn types_that_a_function_names_are_what_its_template_arguments_make_of_them() {
    let files = Texts(BTreeMap::from([("main.cpp", TRAITS)]));
    let program = program(&PLAIN, &files).expect("it loads");
    let ask = |name: &str| {
        let mut machine = Machine::new(&program, &PLAIN, Platform::default(), |_, _| false);
        machine.follows = true;
        machine.reset(1, 1);
        let value = machine.call_by_name(name, Vec::new()).expect("it runs");
        machine.settle(&value)
    };
    assert_eq!(ask("first"), Some(21_007));
    assert_eq!(ask("second"), Some(82_013));
    assert_eq!(ask("shadowed"), Some(40));
    assert_eq!(ask("methods"), Some(24));
    assert_eq!(ask("aligned"), Some(1608));
    assert_eq!(ask("odd"), None, "an alignment that is not understood is not known");
}

#[test]
fn what_is_supposed_is_not_remembered() {
    static GUESS: Dialect = Dialect {
        builtins: &[("guess", Builtin::Answer(|machine, _, at| Ok(machine.suppose(9, at))))],
        ..Dialect::PLAIN
    };
    let text =
        "static int inner(int n) { return guess() + n; }\nstatic int kept() { static const int k = guess(); return k; }
        int once() { return inner(1); }\nint twice() { return guess() + guess(); }\nint stays() { return kept(); }";
    let files = Texts(BTreeMap::from([("main.cpp", text)]));
    let program = program(&GUESS, &files).expect("it loads");
    let mut machine = Machine::new(&program, &GUESS, Platform::default(), |_, _| false);
    for name in ["once", "stays"] {
        for number in [4, 7] {
            machine.supposed = Some(number);
            machine.reset(1, 1);
            let value = machine.call_by_name(name, Vec::new()).expect("it runs");
            assert_eq!(machine.settle(&value), Some(number + i64::from(name == "once")));
            assert_eq!(machine.asked.iter().map(|(_, most)| *most).collect::<Vec<_>>(), [9]);
        }
    }
    machine.reset(1, 1);
    assert!(matches!(machine.call_by_name("twice", Vec::new()), Ok(Value::Opaque(_))), "the second is not known");
}

const FOLDS: &str = r#"
template <int... ns> static int any(int n) { auto is = [=](auto i) -> bool { return n == decltype(i)::value; }; return (is(std::integral_constant<int, ns>{}) || ...); }
template <int... ns> static int minus() { return (ns - ...); }
template <int... ns> static int left() { return (... - ns); }
template <int... ns> static int last() { int sum = 0; ((sum += ns), ...); return sum; }
template <int n> static int given() { return n * 10; }
int found() { return any<1, 2, 3>(2) * 100 + any<1, 2, 3>(4) * 10 + any<>(1); }
int subtracted() { return minus<10, 4, 3>() * 100 + left<10, 4, 3>(); }
int summed() { return last<1, 2, 3>(); }
int constant() { auto f = [](auto dim) { return given<dim>(); }; return f(std::integral_constant<int, 7>{}); }
"#;

#[test]
fn folds_go_over_their_packs_and_constants_are_their_numbers() {
    static STD: Dialect = Dialect {
        vocabulary: Vocabulary {
            prelude: "template <typename T, T v> struct integral_constant { static constexpr T value = v; };",
            ..Vocabulary::PLAIN
        },
        ..Dialect::PLAIN
    };
    let files = Texts(BTreeMap::from([("main.cpp", FOLDS)]));
    let program = program(&STD, &files).expect("it loads");
    assert_eq!(result(&program, "found", Vec::new()), Ok(100));
    assert_eq!(result(&program, "subtracted", Vec::new()), Ok(903));
    assert_eq!(result(&program, "summed", Vec::new()), Ok(6));
    assert_eq!(result(&program, "constant", Vec::new()), Ok(70));
}

/// `#if defined(A) && false` depends on A alone: `false` needs no define.
#[test]
fn the_words_of_the_language_are_nothing_that_a_build_defines() {
    let text = "#if defined(ASKED) && false\nint f() { return 1; }\n#elif true and not OTHER\nint f() { return 2; }\n#endif\n\
                #if true and not true\nint g() { return 1; }\n#else\nint g() { return 2; }\n#endif\n";
    let files = Texts(BTreeMap::from([("a.cpp", text)]));
    let mut program = Program::new(&PLAIN.vocabulary, &[]).expect("an empty program");
    program.load(&files, "a.cpp").expect("it loads");
    let mut asked: Vec<&str> = program.asked().map(|(name, _)| name).collect();
    asked.sort_unstable();
    assert_eq!(asked, ["ASKED", "OTHER"]);
    let all: fn(&Program, &Handoff) -> bool = |_, _| true;
    for name in ["f", "g"] {
        let mut machine = Machine::new(&program, &PLAIN, Platform::default(), all);
        machine.reset(1, 1);
        let given = machine.call_by_name(name, Vec::new()).expect("it runs");
        assert_eq!(machine.settle(&given), Some(2), "{name}");
    }
}
