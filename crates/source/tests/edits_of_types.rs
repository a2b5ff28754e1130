//! More edits that a commit might make to a rule: types, overloads, references, labels, lists, state under another
//! name. Each was once silently answered wrong. Unsupported code is undetermined; every answer equals the compiled one.

mod ours;

use ours::{files, plain, tree};
use source::{Path, Tree};

const RULE: &str = "    return ne11 < 64;";
const HEAD: &str = "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {";

fn edited(before: &str, rule: &str) -> Tree {
    let mut all = files();
    for (path, text) in &mut all {
        if *path == "src/cuda/mmq.cu" {
            *text = text.replace(HEAD, &format!("{before}\n{HEAD}")).replace(RULE, &format!("    {rule}"));
        }
    }
    tree(all)
}

/// The answer at every count from 9 to 400: whether tiles are chosen, or None.
fn answers(tree: &Tree) -> Vec<(i64, Option<bool>)> {
    let columns: Vec<i64> = (9..=400).collect();
    let found = plain(tree, "gfx1030", "Q4_K", &columns);
    columns.into_iter().zip(found.into_iter().map(|answer| answer.map(|(path, _)| path == Path::Mmq))).collect()
}

/// Asserts that the edit is followed at every count.
fn followed(before: &str, rule: &str, wanted: impl Fn(i64) -> bool) {
    for (count, found) in answers(&edited(before, rule)) {
        assert_eq!(found, Some(wanted(count)), "{before} {rule} at {count}");
    }
}

/// Asserts that the edit is followed or undetermined, never answered wrong.
fn never_wrong(before: &str, rule: &str, wanted: impl Fn(i64) -> bool) {
    for (count, found) in answers(&edited(before, rule)) {
        assert!(found.is_none_or(|found| found == wanted(count)), "{before} {rule} at {count}: {found:?}");
    }
}

/// The source does not determine the answer.
fn open(before: &str, rule: &str) {
    for (count, found) in answers(&edited(before, rule)) {
        assert_eq!(found, None, "{before} {rule} at {count}");
    }
}

#[test]
fn a_number_becomes_what_its_type_keeps_of_it() {
    followed("", "const char16_t n = ne11 - 100; return n < 100;", |n| ((n - 100) as u16) < 100);
    followed("enum class e : uint8_t { a = 50 };", "const e x = (e) ne11; return (int) x < 100;", |n| n as u8 <= 99);
    never_wrong("", "struct f { unsigned n : 6; }; f x; x.n = ne11; return x.n < 30;", |n| n % 64 < 30);
    never_wrong("", "struct f { unsigned n : 6; }; f x = { (unsigned) ne11 }; return x.n < 30;", |n| n % 64 < 30);
    never_wrong("", "float f = ne11; uint32_t b; memcpy(&b, &f, 4); return (b >> 23) - 127 < 6;", |n| n < 64);
    never_wrong(
        "template <bool s> using num = std::conditional_t<s, uint8_t, int64_t>;",
        "num<true> x = ne11; return x < 100;",
        |n| (n as u8) < 100,
    );
    never_wrong("", "std::make_unsigned_t<int> x = ne11 - 100; return x > 100;", |n| (n - 100) as u32 > 100);
    never_wrong("", "std::optional<int> o = 0; return o && ne11 < 100;", |n| n < 100);
    followed("static auto f(int64_t n) -> uint8_t { return n; }", "return f(ne11) < 100;", |n| (n as u8) < 100);
    followed("", "const auto f = [](int64_t n) -> uint8_t { return n; }; return f(ne11) < 100;", |n| (n as u8) < 100);
    followed("", "const auto f = [](int64_t n) -> bool { return n & 64; }; return f(ne11) == 1;", |n| n & 64 != 0);
    followed("struct s { uint8_t f(int64_t n) const { return n; } };", "s x; return x.f(ne11) < 100;", |n| {
        (n as u8) < 100
    });
    followed("", "std::vector<uint8_t> v; v.push_back(ne11); return v[0] < 100;", |n| (n as u8) < 100);
    followed("", "std::vector<uint32_t> v(2); v[0] = ne11; return v[0] - 100 > 200;", |n| {
        (n as u32).wrapping_sub(100) > 200
    });
    followed("", "std::vector<bool> v; v.push_back(ne11 & 64); return v[0] == true;", |n| n & 64 != 0);
    followed("", "std::array<uint8_t, 2> v{}; v.fill(356); return ne11 < v[1];", |n| n < 100);
}

#[test]
fn fractions_have_as_many_digits_as_their_type() {
    followed("", "float b; b = ne11; return b / 64 < 1.5;", |n| n < 96);
    followed("", "float b = 0; b = 16777217 + ne11; return (int64_t) b % 4 == 0;", |n| {
        (16_777_217 + n) as f32 as i64 % 4 == 0
    });
    followed("", "return ne11 * 0.1f == 10.0f;", |n| n as f32 * 0.1 == 10.0);
    followed(
        "template <typename T> static T same(T x) { T y = x; return y; }",
        "return same(ne11 * 0.1) == 0.1 * ne11;",
        |_| true,
    );
}

#[test]
fn sizes_are_the_compilers() {
    let size =
        |before: &str, bytes: i64| never_wrong(before, "return ne11 < (int64_t) sizeof(s) * 5;", |n| n < bytes * 5);
    size("struct __attribute__((packed)) s { char a; int64_t b; };", 9);
    size("struct s { char a; int64_t b; } __attribute__((packed));", 9);
    size("#pragma pack(push, 1)\nstruct s { char a; int64_t b; };\n#pragma pack(pop)", 9);
    size("struct s { char a; alignas(16) char b; };", 32);
    size("struct s { int a; virtual int f() { return 1; } };", 16);
    size("struct b { int64_t a; }; struct s : b { int c; };", 16);
}

#[test]
fn labels_are_found_wherever_they_stand() {
    followed(
        "",
        "switch (ne11) { case 9 ... 100: return true; case 200 ... 300: return true; default: return false; }",
        |n| n <= 100 || (200..=300).contains(&n),
    );
    followed(
        "",
        "switch (const int64_t n = ne11 / 32; n) { case 0: case 1: return true; default: return n > 8; }",
        |n| n / 32 < 2 || n / 32 > 8,
    );
    followed(
        "",
        "int l = 0; switch (ne11 / 64) { case 0: l = 1; [[fallthrough]]; case 1: l += 2; break; default: l = 4; } return l == 3;",
        |n| n < 64,
    );
    never_wrong(
        "",
        "switch (ne11 / 64) { case 0: if (ne11 < 20) { case 1: return true; } break; default: return false; } return false;",
        |n| n < 20 || n / 64 == 1,
    );
    never_wrong(
        "",
        "switch (ne11 / 64) { { case 0: return true; } case 1: { break; } default: { return false; } } return ne11 < 100;",
        |n| n < 100,
    );
}

#[test]
fn the_types_of_arguments_choose_among_functions() {
    followed(
        "template <typename T> static int f(T) { return 50; }\nstatic int f(int) { return 100; }",
        "return ne11 < f(1u);",
        |n| n < 50,
    );
    followed(
        "static int f(int, int = 3) { return 50; }\nstatic int f(int64_t) { return 100; }",
        "return ne11 < f(1);",
        |n| n < 50,
    );
    followed(
        "struct s { int f(int) { return 50; } int f(int64_t) { return 100; } };",
        "s x; return ne11 < x.f((int64_t) 1);",
        |n| n < 100,
    );
    followed("struct s { int n; s(int x) : n(x) {} s(long x) : n(x * 2) {} };", "s x(50L); return ne11 < x.n;", |n| {
        n < 100
    });
    never_wrong(
        "struct s { int f() { return 50; } int f() const { return 100; } };",
        "const s x{}; return ne11 < x.f();",
        |n| n < 100,
    );
    never_wrong(
        "static int operator|(ggml_type a, ggml_type b) { return (int) a + (int) b; }",
        "return (GGML_TYPE_Q4_K | GGML_TYPE_Q4_0) == 14 && ne11 < 100;",
        |n| n < 100,
    );
    never_wrong("__attribute__((weak)) int f() { return 50; }", "return ne11 < f();", |_| {
        unreachable!("another may be linked")
    });
}

#[test]
fn what_an_object_does_itself_is_not_taken_for_the_plain_thing() {
    never_wrong(
        "struct w { int64_t n; int64_t operator*() const { return n * 2; } };",
        "w x{50}; return ne11 < *x;",
        |n| n < 100,
    );
    never_wrong(
        "struct i { int64_t n = 100; }; struct w { int64_t n = 50; i x; const i * operator->() const { return &x; } };",
        "w x; return ne11 < x->n;",
        |n| n < 100,
    );
    never_wrong(
        "struct w { int64_t n; w operator,(const w & o) const { return w{n + o.n}; } };",
        "w a{50}, b{60}; return ne11 < (a, b).n;",
        |n| n < 110,
    );
    never_wrong("struct l { int a[3]; int c; };", "l x = { 1, 2, 3, 100 }; return ne11 < x.c;", |n| n < 100);
    for name in ["held", "guard"] {
        let object = format!("struct {name} {{ int & r; ~{name}() {{ r = 100; }} }};");
        never_wrong(&object, &format!("int l = 50; {{ {name} g{{l}}; }} return ne11 < l;"), |n| n < 100);
        never_wrong(&object, &format!("int l = 50; {{ {name} g{{l}}; l = 60; }} return ne11 < l;"), |n| n < 100);
    }
}

#[test]
fn what_is_written_through_a_reference_or_a_pointer_is_written() {
    followed(
        "static int & pick(int & a, int & b) { return b; }",
        "int a = 50, b = 60; pick(a, b) = 100; return ne11 < b;",
        |n| n < 100,
    );
    followed("struct s { int l = 50; int & get() { return l; } };", "s x; x.get() = 100; return ne11 < x.l;", |n| {
        n < 100
    });
    followed(
        "struct s { int l = 0; s & set(int n) { l = n; return *this; } s & twice() { l *= 2; return *this; } };",
        "s x; x.set(50).twice(); return ne11 < x.l;",
        |n| n < 100,
    );
    followed("struct s { int & r; void set() { r = 100; } };", "int l = 50; s g{l}; g.set(); return ne11 < l;", |n| {
        n < 100
    });
    followed("", "int l = 50; auto f = [&]() -> int & { return l; }; f() = 100; return ne11 < l;", |n| n < 100);
    followed("", "int a[4] = { 1, 2, 3, 50 }; int * p = a; p += 3; *p = 100; return ne11 < a[3];", |n| n < 100);
    followed(
        "static void set(int (&a)[2]) { a[0] = 100; }",
        "int a[2] = { 50, 60 }; set(a); return ne11 < a[0];",
        |n| n < 100,
    );
    never_wrong(
        "",
        "int v[] = { 20, 30, 50 }; int s = 0; std::for_each(v, v + 3, [&](int x) { s += x; }); return ne11 < s;",
        |n| n < 100,
    );
}

#[test]
fn names_mean_what_stands_nearest() {
    followed("enum { A = 50 };", "enum { A = 100 }; return ne11 < A;", |n| n < 100);
    followed("", "enum { A = 98, B, C }; return ne11 < C;", |n| n < 100);
    followed("enum class e { a = 50 };\nenum class f { a = 100 };", "return ne11 < (int) f::a;", |n| n < 100);
    followed("enum class e { limit = 50 };\nstatic const int limit = 100;", "return ne11 < limit;", |n| n < 100);
    let spaces = "namespace a { static int f() { return 100; } }\nstatic int f() { return 50; }\n";
    never_wrong(spaces, "using a::f; return ne11 < f();", |n| n < 100);
    let inner = format!("{spaces}namespace b {{ using a::f; static bool go(int64_t n) {{ return n < f(); }} }}");
    never_wrong(&inner, "return b::go(ne11);", |n| n < 100);
    let alias =
        "using t = int64_t;\nnamespace b { using t = uint8_t; static bool go(int64_t n) { t x = n; return x < 100; } }";
    never_wrong(alias, "return b::go(ne11);", |n| (n as u8) < 100);
    followed(
        "#define ANY defined(MAX_BATCH)",
        "\n#if ANY\n    return ne11 < 100;\n#else\n    return ne11 < 50;\n#endif",
        |n| n < 100,
    );
}

/// A persistent variable is written to under another name, by an object, or from a unit that is not read.
#[test]
fn state_has_many_writers() {
    for writer in [
        "void at_start() { int * p = t; p[1] = 20; }",
        "void at_start() { for (int & x : t) { x = 20; } }",
        "void at_start() { int x[2] = { 1, 2 }; memcpy(t, x, sizeof(x)); }",
        "static void change(int * p) { p[1] = 20; }\nvoid at_start() { change(t); }",
        "void at_start() { (t[1]) = 20; }",
        "void at_start() { t[1] >>= 2; }",
    ] {
        open(&format!("static int t[2] = {{ 50, 500 }};\n{writer}"), "return ne11 < t[1];");
    }
    for writer in [
        "static int & r = t;\nvoid at_start() { r = 20; }",
        "struct c { void put(int & x) { x = 20; } };\nvoid at_start() { c o; o.put(t); }",
        "struct c { c(int & x) { x = 20; } };\nstatic c made(t);",
        "struct c { c(int & x) { x = 20; } };\nstatic c made{t};",
        "int & get() { return t; }",
        "static int u = 5;\nvoid at_start(bool b) { (b ? t : u) = 20; }",
        "static auto put = [](int & x) { x = 20; };\nvoid at_start() { put(t); }",
    ] {
        open(&format!("static int t = 500;\n{writer}"), "return ne11 < t;");
    }
    open("int t = 500;", "return ne11 < t;");
    open("struct c { inline static int n = 500; };", "return ne11 < c::n;");
    open("", "thread_local int n = 0; return ++n < 500;");
    open("", "static int n = 0; int & r = n; r++; return n < 500;");
}
