//! Finds the decisions at which two trees diverge on the way to a launch, rather than the first textual difference.
//!
//! Dispatchers are restructured between versions, so conditions are not compared line by line. The names of predicates
//! usually survive. If a function of one name returned different truth values, that function decided, and in it the
//! first inner decision that differs. Otherwise it is a condition with the same text but another outcome; otherwise the
//! decision that led one side to its path and the decision with which the other side refused that path; otherwise the
//! last decision of each side before its launch.

use crate::outcome::Reason;

/// The deciding condition of each side; None if a side has no condition at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionDiff<'r> {
    pub a: Option<&'r Reason>,
    pub b: Option<&'r Reason>,
    /// Whether both sides answered the same question differently, rather than taking unrelated decisions.
    pub turned: bool,
}

/// `paths`: the names of the two paths, such as MMQ and BLAS. A predicate that mentions one is more likely the cause.
pub fn decision_diff<'r>(a: &'r [Reason], b: &'r [Reason], paths: [&str; 2]) -> DecisionDiff<'r> {
    let (left, right) = (calls(a), calls(b));
    let mut turned: Vec<(&Call, &Call)> = Vec::new();
    for call in &left {
        let other = right.iter().find(|other| other.name == call.name && other.nth == call.nth);
        if let Some(other) = other.filter(|other| other.result != call.result) {
            turned.push((call, other));
        }
    }
    // Predicates are listed before their callers, so the last one is the outermost.
    let of_paths = |name: &str| paths.iter().any(|path| speaks(name, path));
    let outer = turned.iter().rev().find(|(call, _)| of_paths(&call.name)).or(turned.first());
    if let Some(&(x, y)) = outer {
        let inner = turned.iter().find(|(p, q)| x.holds(p) && y.holds(q));
        let (x, y) = inner.copied().unwrap_or((x, y));
        return DecisionDiff { a: a.get(x.decided_by), b: b.get(y.decided_by), turned: true };
    }
    let flip = a.iter().find_map(|x| b.iter().find(|y| same_words(x, y) && x.outcome != y.outcome).map(|y| (x, y)));
    if let Some((x, y)) = flip {
        return DecisionDiff { a: Some(x), b: Some(y), turned: true };
    }
    let [path_a, path_b] = paths;
    if path_a != path_b {
        if let Some(refused) = refusal(b, &right, path_a) {
            return DecisionDiff { a: led(a), b: Some(refused), turned: true };
        }
        if let Some(refused) = refusal(a, &left, path_b) {
            return DecisionDiff { a: Some(refused), b: led(b), turned: true };
        }
    }
    DecisionDiff { a: led(a), b: led(b), turned: false }
}

/// The position at which a path was considered and rejected: a predicate named after the path that returned false, or a
/// false condition.
fn refusal<'r>(list: &'r [Reason], calls: &[Call], path: &str) -> Option<&'r Reason> {
    let refused = calls.iter().rev().find(|call| !call.result && speaks(&call.name, path));
    if let Some(call) = refused {
        return list.get(call.decided_by);
    }
    list.iter().rev().find(|reason| reason.truth() == Some(false) && speaks(&reason.condition, path))
}

/// Whether a name or condition refers to a path: by its short name, or by the name of its functions.
fn speaks(text: &str, path: &str) -> bool {
    let long = match path {
        "MMVQ" => "mul_mat_vec_q",
        "MMVF" => "mul_mat_vec_f",
        "MMQ" => "mul_mat_q",
        "MMF" => "mul_mat_f",
        "DMMV" => "dequantize_mul_mat_vec",
        "MMV" => "mul_mat_vec",
        _ => "",
    };
    let (text, short) = (text.to_ascii_lowercase(), path.to_ascii_lowercase());
    let whole = |word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let after = text.as_bytes().get(at + word.len());
            !after.is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    whole(&short) || !long.is_empty() && whole(long)
}

fn same_words(x: &Reason, y: &Reason) -> bool {
    x.truth().is_some() && y.truth().is_some() && x.condition == y.condition
}

/// The decision that led to the launch: the last condition that held, otherwise the last condition.
fn led(list: &[Reason]) -> Option<&Reason> {
    let held = list.iter().rev().find(|reason| reason.truth() == Some(true));
    held.or(list.iter().rev().find(|reason| reason.truth().is_some())).or(list.last())
}

/// A function that returned a truth value: its conditions, and the one that decided the result.
struct Call {
    name: String,
    nth: usize,
    first: usize,
    last: usize,
    result: bool,
    decided_by: usize,
}

impl Call {
    fn holds(&self, inner: &Call) -> bool {
        self.first <= inner.first && inner.last < self.last
    }
}

fn calls(list: &[Reason]) -> Vec<Call> {
    let mut out: Vec<Call> = Vec::new();
    for (last, reason) in list.iter().enumerate() {
        let Some(returned) = reason.condition.strip_prefix("return ") else { continue };
        let Some(result) = reason.truth() else { continue };
        let mine = |other: &Reason| other.depth >= reason.depth;
        let first = list.iter().take(last).rposition(|other| !mine(other)).map_or(0, |before| before + 1);
        // If it returns a literal, the condition before it decided.
        let settled = matches!(returned.trim(), "true" | "false" | "0" | "1");
        let own = |other: &Reason| other.depth == reason.depth && other.function == reason.function;
        let before = list.get(first..last).unwrap_or_default().iter().rposition(own).map(|at| first + at);
        let decided_by = if settled { before.unwrap_or(last) } else { last };
        let nth = out.iter().filter(|call| call.name == reason.function).count();
        out.push(Call { name: reason.function.clone(), nth, first, last, result, decided_by });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(function: &str, depth: usize, line: usize, condition: &str, outcome: &str) -> Reason {
        Reason {
            function: function.to_owned(),
            depth,
            file: "x.cu".to_owned(),
            line,
            condition: condition.to_owned(),
            outcome: outcome.to_owned(),
            values: Vec::new(),
        }
    }

    fn lines(a: &[Reason], b: &[Reason]) -> (usize, usize) {
        let found = decision_diff(a, b, ["MMQ", "BLAS"]);
        (found.a.expect("a").line, found.b.expect("b").line)
    }

    #[test]
    fn a_predicate_that_turned_is_the_cause_wherever_its_answer_is_used() {
        let a = [
            reason("is_split", 2, 1, "return buft == split", "0"),
            reason("should_use_mmq", 2, 2, "return cc < RDNA3 || ne11 < 64", "1"),
            reason("mul_mat", 1, 3, "use_mul_mat_q", "1"),
        ];
        let b = [
            reason("is_split", 2, 11, "return buft == split", "0"),
            reason("fast_fp16", 2, 12, "return cc > 5", "1"),
            reason("should_use_mmq", 2, 13, "return !is_cdna(cc) || ne11 < 64", "0"),
            reason("mul_mat", 1, 14, "!split && use_mul_mat_q", "0"),
        ];
        assert_eq!(lines(&a, &b), (2, 13));
    }

    #[test]
    fn inside_it_the_inner_predicate_that_turned_or_the_condition_before_a_literal_is_named() {
        let a = [
            reason("wmma_available", 3, 1, "return is_rdna4(cc)", "0"),
            reason("should_use_mmq", 2, 2, "wmma_available(cc)", "0"),
            reason("should_use_mmq", 2, 3, "return ne11 < 64", "0"),
        ];
        let b = [
            reason("wmma_available", 3, 11, "return is_rdna4(cc) || is_rdna3(cc)", "1"),
            reason("should_use_mmq", 2, 12, "wmma_available(cc)", "1"),
            reason("should_use_mmq", 2, 13, "return true", "1"),
        ];
        assert_eq!(lines(&a, &b), (1, 11));
        let c =
            [reason("should_use_mmq", 2, 21, "ne11 <= 512", "1"), reason("should_use_mmq", 2, 22, "return true", "1")];
        assert_eq!(lines(&a, &c), (3, 21));
    }

    #[test]
    fn without_a_common_predicate_the_decisions_that_led_to_the_launches_are_named() {
        let a = [reason("mul_mat", 1, 1, "use_dmmv", "1")];
        let b = [reason("mul_mat", 1, 11, "use_mmvq", "0"), reason("mul_mat", 1, 12, "use_mmv", "1")];
        assert_eq!(lines(&a, &b), (1, 12));
        let turned = [reason("mul_mat", 1, 21, "use_mmv", "0"), reason("mul_mat", 1, 22, "use_dmmv", "0")];
        assert_eq!(lines(&b, &turned), (12, 21));
        assert_eq!(decision_diff(&[], &b, ["MMQ", "BLAS"]).a, None);
    }

    #[test]
    fn a_predicate_that_only_one_side_has_is_where_it_refused() {
        let a = [reason("mul_mat", 1, 1, "!split && use_mul_mat_vec_q", "1")];
        let b = [
            reason("should_use_mmvq", 2, 11, "return ne11 <= 3", "0"),
            reason("mul_mat", 1, 12, "should_use_mmvq(type, ne11)", "0"),
            reason("should_use_mmq", 2, 13, "return true", "1"),
            reason("mul_mat", 1, 14, "should_use_mmq(type, ne11)", "1"),
        ];
        let found = decision_diff(&a, &b, ["MMVQ", "MMQ"]);
        assert_eq!((found.a.map(|r| r.line), found.b.map(|r| r.line), found.turned), (Some(1), Some(11), true));
        let same = decision_diff(&a, &b, ["MMVQ", "MMVQ"]);
        assert!(!same.turned, "the same path by other words is no decision");
    }
}
