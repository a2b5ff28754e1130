//! Edits that depend on details of the language: conversions, order of evaluation, overload resolution, edge cases of
//! libraries. Every answer equals the compiled one; unsupported code is undetermined.

mod ours;

use ours::{files, plain, tree};
use source::Path;

const RULE: &str = "    return ne11 < 64;";
const HEAD: &str = "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {";

fn answers(before: &str, rule: &str) -> Vec<(i64, Option<bool>)> {
    let mut all = files();
    for (path, text) in &mut all {
        if *path == "src/cuda/mmq.cu" {
            *text = text.replace(HEAD, &format!("{before}\n{HEAD}")).replace(RULE, &format!("    {rule}"));
        }
    }
    let columns: Vec<i64> = (9..=400).collect();
    let found = plain(&tree(all), "gfx1030", "Q4_K", &columns);
    columns.into_iter().zip(found.into_iter().map(|answer| answer.map(|(path, _)| path == Path::Mmq))).collect()
}

fn followed(before: &str, rule: &str, wanted: impl Fn(i64) -> bool) {
    for (count, found) in answers(before, rule) {
        assert_eq!(found, Some(wanted(count)), "{before} {rule} at {count}");
    }
}

fn never_wrong(before: &str, rule: &str, wanted: impl Fn(i64) -> bool) {
    for (count, found) in answers(before, rule) {
        assert!(found.is_none_or(|found| found == wanted(count)), "{before} {rule} at {count}: {found:?}");
    }
}

#[test]
fn both_sides_of_a_choice_have_one_type() {
    followed("", "float f = 0.5f; return ne11 < ((ne11 < 1000 ? 3 : f) / 2) * 64;", |n| n < 96);
    followed("", "return ne11 < (int)((ne11 > 0 ? 0.7f : 0.2) * 100);", |n| n < 69);
    followed("", "struct s { double d = 0.5; }; s x; return ne11 < ((ne11 < 1000 ? 3 : x.d) / 2) * 64;", |n| n < 96);
    followed("", "float f = 0.5f; return ne11 < ((ne11 < 1000 ? 3 : ne11 < 2000 ? 2 : f) / 2) * 64;", |n| n < 96);
    followed("", "return ne11 < ((ne11 < 1000 ? 3 : std::sqrt((float) ne11)) / 2) * 64;", |n| n < 96);
    let given = "auto g = [](int64_t x) { return x; }; uint32_t u = 50; return (ne11 < 1000 ? u : g(ne11)) - 100 < 0;";
    never_wrong("", given, |_| true);
    let method = "struct s { int64_t v() const { return -5; } }; s o; uint32_t u = 50; return (ne11 < 1000 ? u : o.v()) - 100 < 0;";
    never_wrong("", method, |_| true);
}

#[test]
fn what_is_assigned_is_evaluated_first() {
    followed("", "int i = 0; int a[3] = {40, 50, 60}; a[i++] = i * 64; return ne11 < a[0] + 70;", |n| n < 70);
    followed("", "int i = 0; int a[3] = {40, 50, 60}; a[i++] += i * 64; return ne11 < a[0];", |n| n < 40);
    never_wrong("", "int i = 0; int a[3] = {1, 2, 3}; a[i] = i = 2; return ne11 < a[0] * 10 + a[2] * 30;", |n| n < 70);
    let bump = "static int * bump(int * a) { a[1] = 70; return a; }";
    never_wrong(bump, "int a[2] = {0, 0}; bump(a)[0] = a[1]; return ne11 < 64 + a[0];", |n| n < 64);
    let pointer = "struct s { int x; }; s u{50}, v{60}; s * p = &u; p->x = (p = &v, 100); return ne11 < u.x;";
    never_wrong("", pointer, |n| n < 50);
}

#[test]
fn a_name_means_what_is_in_scope() {
    for (function, rule, limit) in [
        ("static int min(int a, int b) { return a + b; }", "return ne11 < own::min(100, 50);", 150),
        ("static double floor(double a) { return a - 40; }", "return ne11 < own::floor(100.0);", 60),
        ("static int64_t move(int64_t n) { return n + 20; }", "return own::move(ne11) < 80;", 60),
        (
            "static void fill(int64_t & a, int64_t n) { a = n; }",
            "int64_t a = 0; own::fill(a, ne11); return a < 80;",
            80,
        ),
    ] {
        followed(&format!("namespace own {{ {function} }}"), rule, |n| n < limit);
    }
    let method = "struct s { int max(int a, int b) { return a - b; } int f() { return max(100, 50); } };";
    followed(method, "s x; return ne11 < x.f();", |n| n < 50);
    let hidden = "static int w() { return 100; }\nstruct s { int w() { return 50; } int f() { return w(); } };";
    followed(hidden, "s x; return ne11 < x.f();", |n| n < 50);
}

#[test]
fn what_arguments_change_is_changed() {
    followed("", "int n = 0; printf(\"%s\", (n = 100, \"\")); return ne11 < n;", |n| n < 100);
    never_wrong("", "int n = 0; GGML_LOG_DEBUG(\"%d\", ++n); return ne11 < n * 100;", |n| n < 100);
    never_wrong("", "int n = 0; GGML_UNUSED(n = 100); return ne11 < n;", |n| n < 100);
    never_wrong("", "int n = 100; assert(n++ > 0); return ne11 < n;", |n| n < 100);
}

#[test]
fn structs_and_functions_are_themselves_whatever_they_are_called() {
    let context = "struct mmq_context { bool force = false; void set(int64_t n) { force = n < 100; } };";
    followed(context, "mmq_context c; c.set(ne11); return c.force;", |n| n < 100);
    let pool = "static void * tile_pool_get(int64_t n) { static int x; return n < 100 ? &x : nullptr; }";
    never_wrong(pool, "void * p = tile_pool_get(ne11); return p != nullptr;", |n| n < 100);
}

#[test]
fn types_tell_calls_and_instances_apart() {
    let widths = "struct a { int n; static constexpr int w = 1; };\nstruct b { int n; static constexpr int w = 2; };\ntemplate <typename T> static int width(const T & t) { return T::w; }";
    never_wrong(widths, "const a x{1}; const b y{1}; return ne11 < width(x) * 32 + width(y) * 64;", |n| n < 160);
    let sizes = "template <typename T> static int64_t st() { static const int64_t n = sizeof(T) * 20; return n; }";
    followed(sizes, "return ne11 < st<char>() + st<int64_t>();", |n| n < 180);
    let numbers = "template <int A, int B> static int64_t st() { static const int64_t n = A * 100 + B; return n; }";
    followed(numbers, "return ne11 < st<1, 0>() + st<0, 31>();", |n| n < 131);
    let kept = "auto f = [](auto x) { static const int64_t n = sizeof(x) * 20; return n; }; return ne11 < f((char) 1) + f((int64_t) 1);";
    never_wrong("", kept, |n| n < 180);
    let over = "static int f(int & x) { return 50; }\nstatic int f(const int & x) { return 100; }";
    never_wrong(over, "return ne11 < f(3);", |n| n < 100);
    never_wrong(over, "const int x = 3; return ne11 < f(x);", |n| n < 100);
}

#[test]
fn numbers_of_64_bits_wrap_within_a_range() {
    followed("", "return ((uint64_t) ne11 << 56 >> 56) < 100;", |n| (n as u64) << 56 >> 56 < 100);
    followed("", "return (uint64_t) ne11 * 0x0100000000000000ull / 0x0100000000000000ull < 100;", |n| n % 256 < 100);
}

#[test]
fn sizes_are_of_types_and_run_nothing() {
    never_wrong("enum big { A = 1, B = 0x100000000 };", "return ne11 < (int64_t) sizeof(big) * 10;", |n| n < 80);
    never_wrong(
        "static int f(int & n) { return ++n; }",
        "int n = 50; int s = sizeof(f(n)); return ne11 < n + s;",
        |n| n < 54,
    );
    never_wrong("", "struct s { enum { A = sizeof(\"abcd\") }; }; return ne11 < s::A * 10;", |n| n < 50);
}

#[test]
fn a_lambda_that_calls_itself_has_variables_of_its_own() {
    let sum = "auto f = [](auto && self, int n) -> int { int a = n; if (n <= 1) { return 1; } int b = self(self, n - 1); return a + b; }; return ne11 < f(f, 10);";
    never_wrong("", sum, |n| n < 55);
}

#[test]
fn the_library_is_followed_to_its_edges() {
    followed("", "return ne11 < floorf(0.99999999999) * 100;", |n| n < 100);
    followed("", "return ne11 < ceilf(1.00000000001) * 50;", |n| n < 50);
    never_wrong("", "std::string s = \"a\"; return ne11 < (s.find(\"b\") == (size_t) -1 ? 100 : 50);", |n| n < 100);
    never_wrong("", "std::string s = \"a\"; return ne11 < (s.find(\"b\") + 1 == 0 ? 100 : 50);", |n| n < 100);
    never_wrong("", "return ne11 < (strtol(\"99999999999999999999\", nullptr, 10) > 0 ? 100 : 50);", |n| n < 100);
    never_wrong("", "return ne11 < 10 * (int64_t) strlen(\"abc\\0def\");", |n| n < 30);
    never_wrong("", "return ne11 < (strcmp(\"\\xff\", \"a\") > 0 ? 100 : 50);", |n| n < 100);
    let part = "struct s { int a, b; }; s x{50, 60}, y{100, 100}; memcpy(&x, &y, sizeof(int)); return ne11 < x.b;";
    never_wrong("", part, |n| n < 60);
    let zeroed = "struct s { int a, b; }; s x{50, 60}; memset(&x, 0, sizeof(x.a)); return ne11 < x.b + 40;";
    never_wrong("", zeroed, |n| n < 100);
}

#[test]
fn macros_that_are_made_anew_are_new() {
    let log = "#undef GGML_LOG_DEBUG\n#define GGML_LOG_DEBUG(...) if (ne11 > 100) return false\n GGML_LOG_DEBUG(\"x\"); return true;";
    never_wrong("", log, |n| n <= 100);
    followed("", "#if 'ab' == 24930\n    return ne11 < 100;\n#endif\n    return ne11 < 50;", |n| n < 100);
}
