//! State that code may write to: the value of such a variable at a dispatch is unknown. A variable keeps its initial
//! value only if every mention of it is a plain read.

mod ours;

use ours::{files, plain, tree};
use source::Path;

const RULE: &str = "    return ne11 < 64;";
const HEAD: &str = "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {";

fn answers(before: &str, rule: &str, columns: &[i64]) -> Vec<Option<bool>> {
    let mut all = files();
    for (path, text) in &mut all {
        if *path == "src/cuda/mmq.cu" {
            *text = text.replace(HEAD, &format!("{before}\n{HEAD}")).replace(RULE, &format!("    {rule}"));
        }
    }
    let found = plain(&tree(all), "gfx1030", "Q4_K", columns);
    found.into_iter().map(|answer| answer.map(|(path, _)| path == Path::Mmq)).collect()
}

#[rustfmt::skip]
const WRITTEN: &[(&str, &str)] = &[
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { std::fill(std::begin(limit), std::end(limit), x); }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { std::fill_n(limit, 2, x); }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { std::reverse(limit, limit + 2); }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { std::generate(limit, limit + 2, [=] { return x; }); }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { FILE * f = fopen(\"x\", \"r\"); fread(limit, 4, 1, f); }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { qsort(limit, 2, 4, [](const void * a, const void * b) { return *(const int *) b - *(const int *) a; }); }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { *(limit + 0) = x; }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { (limit + 0)[0] = x; }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { 0[limit] = x; }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { auto p = limit; p[0] = x; }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { auto p = std::begin(limit); *p = x; }", "return ne11 < limit[0];"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { int64_t & r(limit); r = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\nstruct holder_ { int64_t & r; };\nvoid set_from_elsewhere(int x) { holder_ h = { limit }; h.r = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\nstruct holder_ { int64_t & r; };\nvoid set_from_elsewhere(int x) { holder_{ limit }.r = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\nstruct holder_ { int64_t & r; holder_(int64_t & a) : r(a) {} };\nvoid set_from_elsewhere(int x) { holder_ h(limit); h.r = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { auto set = [](int64_t & v, int64_t w) { v = w; }; set(limit, x); }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { auto set = [](auto & v, int64_t w) { v = w; }; set(limit, x); }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\nstruct setter_ { static void set(int64_t & v, int64_t w) { v = w; } };\nvoid set_from_elsewhere(int x) { setter_::set(limit, x); }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\nstatic void set_(int64_t & v, int64_t w) { v = w; }\nvoid set_from_elsewhere(int x) { void (*fn)(int64_t &, int64_t) = set_; fn(limit, x); }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\nstatic void set_(int64_t & v, int64_t w) { v = w; }\nvoid set_from_elsewhere(int x) { (set_)(limit, x); }", "return ne11 < limit;"),
    ("static int64_t g_a_ = 1; static int64_t limit = 50;\ntemplate <typename... A> static void setall_(int v, A &... a) { ((a = v), ...); }\nvoid set_from_elsewhere(int x) { setall_(x, g_a_, limit); }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\ntemplate <typename T> static void set_(T & v, T w) { v = w; }\nvoid set_from_elsewhere(int x) { set_<int64_t>(limit, x); }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { ++(limit); (void) x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { (x, limit) = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { int64_t l = 0; (x ? l : limit) = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { int64_t l = 0; auto & r = x ? l : limit; r = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { std::pair<int64_t &, int> p(limit, 0); p.first = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { std::forward_as_tuple(limit) = std::make_tuple((int64_t) x); }", "return ne11 < limit;"),
    ("struct pt_ { int64_t a, b; }; static pt_ limit = {50, 1};\n\nvoid set_from_elsewhere(int x) { auto & [a, b] = limit; a = x; }", "return ne11 < limit.a;"),
    ("struct pt_ { int64_t a, b; }; static pt_ limit = {50, 1};\n\nvoid set_from_elsewhere(int x) { pt_ & r = limit; r.a = x; }", "return ne11 < limit.a;"),
    ("static int64_t limit = 50;\nstruct init_ { init_() { limit = 100; } }; static init_ g_init_;\nvoid set_from_elsewhere(int x) { (void) x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\nstatic int64_t g_other_ = (limit = 100);\nvoid set_from_elsewhere(int x) { (void) x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\nstatic const bool g_done_ = [] { limit = 100; return true; }();\nvoid set_from_elsewhere(int x) { (void) x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n_attribute_((constructor)) static void ini_() { limit = 100; }\nvoid set_from_elsewhere(int x) { (void) x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\nstruct fr_ { friend void set_fr_(fr_ &, int v) { limit = v; } };\nvoid set_from_elsewhere(int x) { (void) x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\nvoid deflt_(int64_t v = (limit = 100)) { (void) v; }\nvoid set_from_elsewhere(int x) { (void) x; }", "return ne11 < limit;"),
    ("static char limit[8] = \"5\";\n\nvoid set_from_elsewhere(int x) { strcat(limit, \"0\"); }", "return ne11 < atoi(limit) * 20;"),
    ("static char limit[8] = \"5\";\n\nvoid set_from_elsewhere(int x) { strncat(limit, \"0\", x); }", "return ne11 < atoi(limit) * 20;"),
    ("static std::string limit = \"50\";\n\nvoid set_from_elsewhere(int x) { std::getline(std::cin, limit); }", "return ne11 < atoi(limit.c_str());"),
    ("static char limit[8] = \"50\";\n\nvoid set_from_elsewhere(int x) { fgets(limit, 8, stdin); }", "return ne11 < atoi(limit);"),
    ("static char limit[8] = \"50\";\n\nvoid set_from_elsewhere(int x) { scanf(\"%s\", limit); }", "return ne11 < atoi(limit);"),
    ("static std::vector<int> limit = {50};\n\nvoid set_from_elsewhere(int x) { for (auto it = std::begin(limit); it != std::end(limit); ++it) { *it = x; } }", "return ne11 < limit[0];"),
    ("static std::vector<int> limit = {50};\n\nvoid set_from_elsewhere(int x) { std::fill(std::begin(limit), std::end(limit), x); }", "return ne11 < limit[0];"),
    ("static std::array<int, 2> limit = {50, 60};\n\nvoid set_from_elsewhere(int x) { std::fill(std::begin(limit), std::end(limit), x); }", "return ne11 < limit[0];"),
    ("static int limit[2][2] = {{50,1},{2,3}};\n\nvoid set_from_elsewhere(int x) { auto & row = limit[0]; row[0] = x; }", "return ne11 < limit[0][0];"),
    ("static int limit[2][2] = {{50,1},{2,3}};\n\nvoid set_from_elsewhere(int x) { int * row = limit[0]; row[0] = x; }", "return ne11 < limit[0][0];"),
    ("static int limit[2][2] = {{50,1},{2,3}};\n\nvoid set_from_elsewhere(int x) { auto row = limit[0]; row[0] = x; }", "return ne11 < limit[0][0];"),
    ("static int limit[2][2] = {{50,1},{2,3}};\n\nvoid set_from_elsewhere(int x) { for (auto & row : limit) for (auto & v : row) v = x; }", "return ne11 < limit[0][0];"),
    ("struct pt_ { int64_t a, b; }; static pt_ limit = {50, 1};\n\nvoid set_from_elsewhere(int x) { int64_t & r = limit.a; r = x; }", "return ne11 < limit.a;"),
    ("struct pt_ { int64_t a, b; }; static pt_ limit = {50, 1};\nstatic void set_(int64_t & v, int64_t w) { v = w; }\nvoid set_from_elsewhere(int x) { set_(limit.a, x); }", "return ne11 < limit.a;"),
    ("static int limit[2] = {50, 60};\nstatic void set_(int & v, int w) { v = w; }\nvoid set_from_elsewhere(int x) { set_(limit[0], x); }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { std::swap(limit[0], limit[1]); }", "return ne11 < limit[0];"),
    ("struct pt_ { int64_t a, b; }; static pt_ limit = {50, 100};\n\nvoid set_from_elsewhere(int x) { std::swap(limit.a, limit.b); }", "return ne11 < limit.a;"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { int * p = &limit[0]; *p = x; }", "return ne11 < limit[0];"),
    ("static int limit[2] = {50, 60};\n\nvoid set_from_elsewhere(int x) { [&](int & v) { v = x; }(limit[0]); }", "return ne11 < limit[0];"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { int64_t l = 99; std::max(l, limit) = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { const int64_t & c = limit; const_cast<int64_t &>(c) = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { (int64_t &) limit = x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { static_cast<int64_t &>(limit) = x; }", "return ne11 < limit;"),
    ("static std::vector<int> limit = {50};\n\nvoid set_from_elsewhere(int x) { std::vector<int> v = {x}; std::swap(v, limit); }", "return ne11 < limit[0];"),
    ("namespace n_ { static int64_t limit = 50; }\n\nvoid set_from_elsewhere(int x) { using n_::limit; limit = x; }", "return ne11 < n_::limit;"),
    ("namespace n_ { static int64_t limit = 50; }\n\nvoid set_from_elsewhere(int x) { namespace m = n_; m::limit = x; }", "return ne11 < n_::limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { limit += x; }", "return ne11 < limit;"),
    ("static int64_t limit = 50;\n\nvoid set_from_elsewhere(int x) { asm volatile(\"\" : \"=m\"(limit)); }", "return ne11 < limit;"),
    ("", "static int calls = 0; auto inc = [](int & v) { ++v; }; inc(calls); return calls < 2;"),
    ("", "static int calls = 0; auto inc = [&] { calls++; }; inc(); return calls < 2;"),
    ("", "static int a[2] = {0, 0}; std::fill(std::begin(a), std::end(a), a[0] + 1); return a[0] < 2;"),
    ("", "static int a[2] = {0, 0}; auto p = a; p[0]++; return a[0] < 2;"),
    ("", "static int a[2] = {0, 0}; (*(a + 0))++; return a[0] < 2;"),
    ("", "static int a = 0; int & r(a); r++; return a < 2;"),
    ("", "struct h { int & r; }; static int a = 0; h x = { a }; x.r++; return a < 2;"),
    ("", "struct h { int n = 0; int next() { return n++; } }; static h x; return x.next() < 1;"),
    ("", "static auto next = [n = 0]() mutable { return n++; }; return next() < 1;"),
    ("", "static bool first = true; if (std::exchange(first, false)) { return true; } return false;"),
    ("", "static int64_t seen = ne11; return ne11 <= seen;"),
    ("", "static int64_t seen = 0; seen = std::max(seen, ne11); return seen < 100;"),
    ("", "static const bool big = ne11 > 100; return !big;"),
];

#[test]
fn whatever_may_be_written_to_is_unknown() {
    for (before, rule) in WRITTEN {
        assert_eq!(answers(before, rule, &[9, 40, 128]), [None; 3], "{before} {rule}");
    }
}

/// Plain reads are not writes, wherever they are.
#[test]
fn what_is_only_read_is_what_it_starts_with() {
    let number = "static int64_t limit = 50; static int64_t twice(int64_t n) { return 2 * n; } static void seen(const int64_t & n);";
    let array = "static int limits[2] = { 50, 60 };";
    for (before, uses, rule) in [
        (
            number,
            "int64_t a = limit; a += limit + 1; if (limit) { a = (int) limit; } (void) a;",
            "return ne11 < limit;",
        ),
        (
            number,
            "int64_t a[3] = {}; a[limit] = twice(limit); x = limit > 3 && !limit ? 1 : 2; printf(\"%d\", (int) limit);",
            "return ne11 < limit;",
        ),
        (
            number,
            "seen(limit); x = std::max<int64_t>(limit, x); switch (limit) { default: x = float(limit); }",
            "return ne11 < limit;",
        ),
        (
            array,
            "for (int n : limits) { x += n; } x = limits[1] + sizeof(limits); int y = limits[0]; (void) y;",
            "return ne11 < limits[0];",
        ),
        (
            "struct pair { int64_t a; int b[2]; }; static pair both = { 50, { 1, 2 } };",
            "int64_t a = both.a; pair copy = both; copy.a = 3; x = both.b[1]; (void) a;",
            "return ne11 < both.a;",
        ),
    ] {
        let before = format!("{before}\nvoid used_elsewhere(int x) {{ {uses} }}");
        assert_eq!(answers(&before, rule, &[49, 50]), [Some(true), Some(false)], "{before}");
    }
    assert_eq!(
        answers("", "static int limits[2] = {64, 3}; return ne11 < limits[0];", &[63, 64]),
        [Some(true), Some(false)]
    );
}

/// The first call determines the initial value of a static, and the question does not say with which count that call
/// was made.
#[test]
fn a_static_that_begins_as_its_call_was_given_is_unknown() {
    for rule in [
        "static const int64_t eighths = ne11 / 8; return eighths < 12;",
        "static const bool large = ne11 > 100; return !large;",
        "const int kind = ne11 > 100 ? 1 : 2; static const int kept = kind; return kept == 2;",
        "static const int64_t kept{ne11}; return kept < 64;",
        "static const int64_t kept(ne11); return kept < 64;",
        "static const bool kept = [&] { return ne11 > 100; }(); return !kept;",
        "static const int64_t kept[1] = { ne11 }; return kept[0] < 64;",
    ] {
        assert_eq!(answers("", rule, &[9, 40, 128]), [None; 3], "{rule}");
    }
    let own = "static const int64_t kept = [] { int64_t n = 8; for (int i = 0; i < 3; ++i) { n *= 2; } return n; }(); return ne11 < kept;";
    assert_eq!(answers("", own, &[63, 64]), [Some(true), Some(false)]);
}
