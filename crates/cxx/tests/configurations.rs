//! Tests the configurations of hand-offs, and unknown conditions that do not matter.

use cxx::ast::REMOTE;
use cxx::eval::{Handoff, Machine, Platform, Setting, Stop, Value};
use cxx::files::Unreadable;
use cxx::{Dialect, Program, Sources, Vocabulary, Word};
use std::sync::Arc;

/// One file.
struct Text(&'static str);

impl Sources for Text {
    fn has(&self, path: &str) -> bool {
        path == "main.cpp"
    }

    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::once("main.cpp"))
    }

    fn text(&self, _: &str) -> Result<Arc<str>, Unreadable> {
        Ok(Arc::from(self.0))
    }
}

/// A dialect in which functions marked `__far__` do work elsewhere.
static FAR: Dialect = Dialect {
    vocabulary: Vocabulary { words: &[("__far__", Word::Mark(REMOTE))], ..Vocabulary::PLAIN },
    ..Dialect::PLAIN
};

fn program(text: &'static str) -> Program {
    let mut program = Program::new(&FAR.vocabulary, &[]).expect("no defines");
    program.load(&Text(text), "main.cpp").expect("it loads");
    // Declared and defined nowhere.
    let unknown = program.interner.get("unknown");
    program.missing.extend(unknown);
    program
}

const WAYS: &str = r#"
int unknown();
int written = 0;
template <int width> __far__ void work(int n) { }
template <typename F> static void start(F f, int blocks, int n) {
    static bool known = unknown() > 0;
    if (known) { f<<<blocks, 32>>>(n); return; }
    if (unknown() > 1) { f<<<blocks, 32>>>(n); } else { f<<<blocks, 32, 0>>>(n); }
}
template <typename F> static void differs(F f, int n) { if (unknown() > 0) { f<<<n, 32>>>(n); } else { f<<<n, 64>>>(n); } }
template <typename F> static void writes(F f, int n) { if (unknown() > 0) { written = 1; } f<<<n, 32>>>(n); }
void alike(int n) { start(work<1>, n, n); start(work<2>, n + 1, n); start(work<3>, n, n); }
void apart(int n) { differs(work<1>, n); }
void changed(int n) { writes(work<1>, n); }
"#;

/// A run without a script, with every hand-off followed: the hand-offs, or why the run stopped.
fn followed(name: &str) -> Result<Vec<[Option<[i64; 3]>; 2]>, String> {
    let program = program(WAYS);
    let mut machine = Machine::new(&program, &FAR, Platform::default(), |_, _| false);
    machine.follows = true;
    machine.reset(1, 1);
    machine.call_by_name(name, vec![Value::int(3)]).map_err(|stop| format!("{stop:?}"))?;
    let numbers = |setting: &Setting| setting.as_ref().ok().map(|[x, y, z]| [x, y, z].map(|it| it.at(1).unwrap_or(-1)));
    let of = |handoff: &Handoff| handoff.config.as_ref().map_or([None; 2], |[a, b, _]| [numbers(a), numbers(b)]);
    Ok(machine.handoffs.iter().map(of).collect())
}

#[test]
fn unknown_conditions_do_not_matter_where_every_way_hands_over_the_same() {
    let one = |x| [Some([x, 1, 1]), Some([32, 1, 1])];
    assert_eq!(followed("alike"), Ok(vec![one(3), one(4), one(3)]), "27 ways through three calls, and one result");
    let stop = followed("apart").expect_err("the second number differs");
    assert!(stop.starts_with("Fork"), "{stop}");
    let stop = followed("changed").expect_err("a variable differs afterwards");
    assert!(stop.starts_with("Fork"), "{stop}");
}

#[test]
fn the_configuration_of_the_deciding_hand_off_is_found_without_following_it() {
    let program = program(WAYS);
    let mut machine = Machine::new(&program, &FAR, Platform::default(), |_, _| true);
    machine.configures = true;
    for (name, second) in [("alike", Some(32)), ("apart", None)] {
        machine.reset(1, 1);
        let ended = machine.call_by_name(name, vec![Value::int(3)]);
        assert!(matches!(ended, Err(Stop::Decided)), "{ended:?}");
        let [only] = machine.handoffs.as_slice() else { panic!("{:?}", machine.handoffs) };
        let [first, found, _] = only.config.as_ref().expect("a configuration");
        assert_eq!(first.as_ref().ok().and_then(|[x, ..]| x.at(1)), Some(3), "{name}");
        assert_eq!(found.as_ref().ok().and_then(|[x, ..]| x.at(1)), second, "{name}: {found:?}");
        let why = found.as_ref().err().map(|open| open.why.to_string().contains("unknown()"));
        assert_eq!(why, second.is_none().then_some(true), "{name}: a part that is not known has its reason");
    }
}

const PARTIAL: &str = r#"
enum layout { ROWS, COLUMNS };
template <int A, int B, typename T, layout L = ROWS> struct tile { static constexpr int n = 1; };
template <int A_, int B_, typename T> struct tile<A_, B_, T, COLUMNS> { static constexpr int n = A_ * 100 + B_; };
template <int A_, int B_> struct tile<A_, B_, float, ROWS> { static constexpr int n = A_ * 1000 + B_; };
template <typename T> static int of() { typedef tile<7, 3, T> mine; return mine::n; }
int plain(int) { return of<int>(); }
int special(int) { return of<float>(); }
int other(int) { using mine = tile<7, 3, int, COLUMNS>; return mine::n; }
int counted(int) { const int list[] = {1, 2, 3, 4}; return std::size(list); }
"#;

#[test]
fn the_most_specialised_struct_is_taken() {
    let program = program(PARTIAL);
    for (name, number) in [("plain", 1), ("special", 7003), ("other", 703), ("counted", 4)] {
        let mut machine = Machine::new(&program, &FAR, Platform::default(), |_, _| false);
        machine.reset(1, 1);
        let value = machine.call_by_name(name, vec![Value::int(0)]).expect("it runs");
        assert_eq!(machine.settle(&value), Some(number), "{name}");
    }
}
