//! Random rules (operators, types, constants, order, scope), each compiled by g++ and inserted into a tree that is
//! evaluated. Every answer must equal the compiled one at every column count. Undetermined is allowed, wrong is not.
//!
//! `WHICHKERNEL_MUTANTS` and `WHICHKERNEL_SEED` set the number and the seed (`cargo xtask deep mutants`).

mod ours;

use ours::{files, tree};
use source::{Device, Outcome, Overrides, Path, Shape, Survey};
use std::fmt::Write;
use std::process::Command;

const FROM: i64 = 9;
const TO: i64 = 300;
const TYPES: &[&str] = &[
    "int", "unsigned", "int64_t", "uint64_t", "size_t", "int8_t", "uint8_t", "int16_t", "uint16_t", "bool", "long",
    "uint32_t",
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }
    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        let index = self.below(list.len() as u64) as usize;
        list[index]
    }
}

/// A rule: the text before the function, and the function's body.
struct Mutant {
    before: String,
    body: String,
    /// The same names with other values, which another unit defines.
    elsewhere: String,
}

struct Maker<'r> {
    random: &'r mut Random,
    names: Vec<String>,
}

impl Maker<'_> {
    fn literal(&mut self) -> String {
        let value = match self.random.below(6) {
            0 => self.random.below(4),
            1 => 64,
            2 => 97 + self.random.below(200),
            3 => 255 + self.random.below(3),
            4 => 0x7fff_ff00 + self.random.below(0x200),
            _ => 1 + self.random.below(300),
        };
        let suffix = self.random.of(&["", "", "", "u", "u", "ll", "ull", "L"]);
        if self.random.below(4) == 0 { format!("{value:#x}{suffix}") } else { format!("{value}{suffix}") }
    }

    fn leaf(&mut self) -> String {
        match self.random.below(5) {
            0 => self.literal(),
            1 => format!("sizeof({})", self.random.of(TYPES)),
            _ => {
                let index = self.random.below(self.names.len() as u64) as usize;
                self.names[index].clone()
            }
        }
    }

    fn number(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let inner = self.number(depth - 1);
        match self.random.below(12) {
            0 => format!("(({}) {inner})", self.random.of(TYPES)),
            1 => format!("(-{inner})"),
            2 => format!("(~{inner})"),
            3 => format!("({inner} {} {})", self.random.of(&["/", "%"]), 1 + self.random.below(60)),
            4 => format!("({inner} {} {})", self.random.of(&["<<", ">>"]), self.random.below(7)),
            5 => format!("({} ? {inner} : {})", self.truth(depth - 1), self.number(depth - 1)),
            6 => format!(
                "std::min<{}>({inner}, {})",
                self.random.of(&["int64_t", "int", "unsigned"]),
                self.number(depth - 1)
            ),
            7 => format!("static_cast<{}>({inner})", self.random.of(TYPES)),
            _ => {
                let op = self.random.of(&["+", "-", "-", "*", "&", "|", "^", "+"]);
                format!("({inner} {op} {})", self.number(depth - 1))
            }
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        if depth > 0 && self.random.below(3) == 0 {
            let (a, b) = (self.truth(depth - 1), self.truth(depth - 1));
            return match self.random.below(3) {
                0 => format!("({a} && {b})"),
                1 => format!("({a} || {b})"),
                _ => format!("!{a}"),
            };
        }
        let op = self.random.of(&["<", ">", "<=", ">=", "==", "!="]);
        format!("({} {op} {})", self.number(depth), self.number(depth))
    }
}

fn mutant(random: &mut Random) -> Mutant {
    let (mut before, mut body, mut elsewhere) = (String::new(), String::new(), String::new());
    let mut maker = Maker { random, names: vec!["ne11".to_owned()] };
    for index in 0..maker.random.below(3) {
        let (value, other) = (maker.random.below(300), maker.random.below(300));
        let ty = maker.random.of(TYPES);
        let kind = maker.random.below(4);
        let declare = |value: u64| match kind {
            0 => format!("static const {ty} LIMIT_{index} = {value};\n"),
            1 => format!("enum {{ LIMIT_{index} = {value} }};\n"),
            2 => format!("namespace {{ constexpr {ty} LIMIT_{index} = {value}; }}\n"),
            _ => format!("inline namespace now_{index} {{ static {ty} LIMIT_{index} = {value}; }}\n"),
        };
        before.push_str(&declare(value));
        elsewhere.push_str(&declare(other));
        maker.names.push(format!("LIMIT_{index}"));
    }
    for index in 0..1 + maker.random.below(3) {
        let (ty, value) = (maker.random.of(TYPES), maker.number(2));
        let _ = writeln!(body, "    {}{ty} v{index} = {value};", maker.random.of(&["const ", ""]));
        maker.names.push(format!("v{index}"));
    }
    match maker.random.below(5) {
        0 => {
            let step = maker.number(1);
            let ty = maker.random.of(TYPES);
            let _ = write!(
                body,
                "    {ty} sum = 0;\n    for (int i = 0; i < {}; ++i) {{ sum += {step}; }}\n",
                1 + maker.random.below(5)
            );
            maker.names.push("sum".to_owned());
        }
        1 => {
            let cond = maker.truth(1);
            let _ = write!(
                body,
                "    const auto test = [=](const {} n) {{ return {cond} && n > 20; }};\n    if (test(ne11)) {{ return {}; }}\n",
                maker.random.of(TYPES),
                maker.truth(1)
            );
        }
        2 => {
            let _ = writeln!(
                body,
                "    switch (ne11 % 3) {{ case 0: return {}; case 1: break; default: return {}; }}",
                maker.truth(1),
                maker.truth(1)
            );
        }
        3 => {
            let cond = maker.truth(2);
            let _ = writeln!(body, "    if ({cond}) {{ return {}; }}", maker.truth(1));
        }
        _ => {}
    }
    let _ = writeln!(body, "    return {};", maker.truth(2));
    Mutant { before, body, elsewhere }
}

/// The results of the compiled rules: one list of truth values per rule.
fn compiled(mutants: &[Mutant]) -> Vec<Vec<bool>> {
    let dir = tempfile::tempdir().expect("a directory");
    let mut text = "#include <algorithm>\n#include <cstdint>\n#include <cstdio>\n#include <cstddef>\n".to_owned();
    for (index, mutant) in mutants.iter().enumerate() {
        let _ = write!(
            text,
            "namespace m{index} {{\n{}static bool rule(int64_t ne11) {{\n{}}}\n}}\n",
            mutant.before, mutant.body
        );
    }
    text.push_str("int main() {\n");
    for index in 0..mutants.len() {
        let _ = writeln!(
            text,
            "    for (int64_t n = {FROM}; n <= {TO}; n++) putchar('0' + m{index}::rule(n)); putchar('\\n');"
        );
    }
    text.push_str("}\n");
    let (source, program) = (dir.path().join("rules.cpp"), dir.path().join("rules"));
    std::fs::write(&source, text).expect("written");
    let out = Command::new("g++")
        .args(["-std=c++17", "-O0", "-fwrapv", "-w", "-o"])
        .arg(&program)
        .arg(&source)
        .output()
        .expect("g++");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let out = Command::new(&program).output().expect("runs");
    assert!(out.status.success());
    String::from_utf8_lossy(&out.stdout).lines().map(|line| line.chars().map(|c| c == '1').collect()).collect()
}

#[test]
fn no_rule_made_at_random_is_answered_wrong() {
    if test_artifacts::program("g++", "apt-get install g++").is_none() {
        return;
    }
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (count, seed) = (number("WHICHKERNEL_MUTANTS", 60), number("WHICHKERNEL_SEED", 20_261_115));
    let mut random = Random(seed | 1);
    let mutants: Vec<Mutant> = (0..count).map(|_| mutant(&mut random)).collect();
    let truth = compiled(&mutants);
    let columns: Vec<i64> = (FROM..=TO).collect();
    let (mut followed, mut open, mut wrong) = (0, 0, Vec::new());
    for (mutant, truth) in mutants.iter().zip(&truth) {
        let mut all = files();
        for (path, text) in &mut all {
            match *path {
                "src/cuda/mmq.cu" => {
                    let head = "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {";
                    *text = text
                        .replace(head, &format!("{}{head}", mutant.before))
                        .replace("    return ne11 < 64;\n", &mutant.body);
                }
                "src/cuda/main.cu" => text.insert_str(0, &mutant.elsewhere),
                _ => {}
            }
        }
        let tree = tree(all);
        let shape = Shape::MulMat { rows: 4096, k: 4096 };
        let device = Device::find("gfx1030").expect("known");
        let question = shape.question(vec![device], vec!["Q4_K".to_owned()], columns.clone());
        let survey = Survey::run(&tree, question, &Overrides::default()).expect("evaluates");
        let mut undetermined = false;
        for (&n, &compiled) in columns.iter().zip(truth) {
            match &survey.answer(0, 0, n).expect("answered").outcome {
                Outcome::Chosen(choice) if (choice.path == Path::Mmq) != compiled => {
                    wrong.push(format!("at {n} g++ says {compiled}:\n{}{}", mutant.before, mutant.body));
                    break;
                }
                Outcome::Chosen(_) => {}
                Outcome::Undetermined { .. } => undetermined = true,
            }
        }
        followed += usize::from(!undetermined);
        open += usize::from(undetermined);
    }
    println!("{followed} followed at every count, {open} undetermined at some, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} wrong, the first {}", wrong.len(), wrong[0]);
    assert!(followed * 2 > mutants.len(), "most are followed: {followed} of {}", mutants.len());
}
