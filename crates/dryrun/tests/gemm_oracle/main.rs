//! Compares the computed choice of GEMM kernels with the libraries themselves: a C program asks hipBLASLt and rocBLAS
//! on the stand-in GPU. This test uses some hundred products. `cargo xtask deep gemm` sets `WHICHKERNEL_DEEP_GEMM` to
//! the number of products per library, release and card, and can name more trees with libraries and catalogs in
//! `WHICHKERNEL_GEMM_TREES`.

mod products;

use dryrun::{Blas, Described, Ending, Request, RunRoot, Streams};
use products::{Random, line, product};
use runtime::catalogs::{LibraryDir, of_library};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use tensile::Files;
use tensile::select::{Call, Choice, Hardware, Library, Release, Selector};

/// Cards of different targets; for some targets, two cards with different numbers of compute units. Each is tested if a
/// catalog supports it.
const CARDS: [&str; 18] = [
    "rx-9070-xt",
    "rx-7900-xtx",
    "8060s",
    "mi210",
    "mi100",
    "mi50",
    "rx-6900-xt",
    "mi300x",
    "rx-9060-xt",
    "rx-7800-xt",
    "rx-7600",
    "vega-64",
    "rx-5700-xt",
    "rx-580",
    "rx-7900-xt",
    "mi250x",
    "rx-7900-gre",
    "rx-9070",
];

/// Products in one run of the oracle.
const CHUNK: usize = 1000;

/// How the computed answers compare with the library's.
#[derive(Debug, Default, Clone)]
struct Account {
    equal: usize,
    none: usize,
    gemv: usize,
    set: usize,
    not_computed: usize,
    different: Vec<String>,
}

impl Account {
    fn add(&mut self, other: Account) {
        self.equal += other.equal;
        self.none += other.none;
        self.gemv += other.gemv;
        self.set += other.set;
        self.not_computed += other.not_computed;
        self.different.extend(other.different);
    }

    fn asked(&self) -> usize {
        self.equal + self.none + self.gemv + self.set + self.not_computed + self.different.len()
    }
}

/// The library's answer for each product: the number of its first solution, or the name of its kernel.
type Truth = HashMap<usize, Option<String>>;

struct Oracle {
    program: PathBuf,
    home: tempfile::TempDir,
    /// The tree whose C library the program uses.
    root: PathBuf,
}

impl Oracle {
    fn new(root: PathBuf) -> Option<Oracle> {
        let gcc = test_artifacts::program("gcc", "apt-get install gcc")?;
        let home = tempfile::tempdir().expect("a directory");
        let source = home.path().join("oracle.c");
        std::fs::write(&source, include_str!("oracle.c")).expect("written");
        let program = home.path().join("oracle");
        let status = Command::new(gcc).arg("-O1").arg("-o").arg(&program).arg(&source).arg("-ldl").status();
        assert!(status.expect("gcc runs").success());
        Some(Oracle { program, home, root })
    }

    fn ask(&self, dir: &LibraryDir, file: &Path, library: Library, card: &str, calls: &[Call]) -> Truth {
        let list = self.home.path().join("products");
        let text: String = calls.iter().enumerate().map(|(id, call)| line(id, call, library)).collect();
        std::fs::write(&list, text).expect("written");
        let place = RunRoot::Tree { name: "oracle".to_owned(), root: self.root.clone() };
        let described = Described { table: Vec::new(), ships: true, ..Described::default() };
        let command: Vec<OsString> =
            vec![self.program.clone().into(), library.name().into(), file.into(), list.into(), dir.dir().into()];
        let shown = [self.home.path(), file.parent().expect("a directory"), dir.dir()].map(Path::to_owned);
        let outcome = Request {
            place: &place,
            profiles: &[gpu::find(card).expect("a card")],
            described: &described,
            strict: false,
            command: &command,
            show: &shown,
            blas: Blas::Recorded,
            streams: Streams::Captured,
            preload: false,
            sparse_read: false,
            variables: &[],
        }
        .run()
        .expect("a run");
        assert_eq!(outcome.ending, Ending::Code(0), "{card}: {}", outcome.said);
        let truth = if library == Library::HipBlasLt { numbers(&outcome.said) } else { kernels(&outcome.said) };
        assert_eq!(truth.len(), calls.len(), "{card}: the oracle answers every product");
        truth
    }
}

/// Parses lines of the form `id status count index...`.
fn numbers(said: &str) -> Truth {
    let answer = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let id = words.first()?.parse().ok()?;
        let count: usize = words.get(2)?.parse().ok()?;
        Some((id, words.get(3).filter(|_| count > 0).map(|index| (*index).to_owned())))
    };
    said.lines().filter_map(answer).collect()
}

/// Parses `@ id`, then `Running kernel: NAME` if a kernel runs, then `= status`.
fn kernels(said: &str) -> Truth {
    let mut out = Truth::new();
    let mut id = None;
    for line in said.lines() {
        if let Some(number) = line.strip_prefix("@ ") {
            id = number.trim().parse().ok();
            out.extend(id.map(|id| (id, None)));
        } else if let (Some(name), Some(id)) = (line.strip_prefix("Running kernel: "), id) {
            out.entry(id).or_default().get_or_insert_with(|| name.trim().to_owned());
        }
    }
    out
}

fn compare(selector: &Selector<'_>, library: Library, calls: &[Call], truth: &Truth) -> Account {
    let mut account = Account::default();
    for (id, call) in calls.iter().enumerate() {
        let real = truth.get(&id).cloned().flatten();
        let choice = selector.choose(call);
        let agrees = match &choice {
            Choice::Determined(chosen) => {
                let ours = if library == Library::HipBlasLt { chosen.index.to_string() } else { chosen.name.clone() };
                real.as_deref() == Some(ours.as_str())
            }
            Choice::OneOf(all) => all.iter().any(|chosen| real.as_deref() == Some(chosen.index.to_string().as_str())),
            Choice::None | Choice::Gemv => real.is_none(),
            Choice::NotComputed(_) => true,
        };
        match (&choice, agrees) {
            (_, false) => account.different.push(format!("{call:?}: {choice:?}, the library {real:?}")),
            (Choice::Determined(_), _) => account.equal += 1,
            (Choice::OneOf(_), _) => account.set += 1,
            (Choice::None, _) => account.none += 1,
            (Choice::Gemv, _) => account.gemv += 1,
            (Choice::NotComputed(_), _) => account.not_computed += 1,
        }
    }
    account
}

/// The shared library beside its catalog. None if only the catalog was fetched.
fn library_file(dir: &LibraryDir, library: Library) -> Option<PathBuf> {
    let stem = format!("lib{}.so.", library.name());
    let mut dirs = dir.dir().ancestors().take(5);
    dirs.find_map(|dir| {
        let entries = std::fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
        entries
            .filter(|path| path.is_file())
            .find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&stem)))
    })
}

/// Compares one library of one tree for one card. Chunks that were compared before are not repeated.
struct Comparison<'a> {
    oracle: &'a Oracle,
    dir: &'a LibraryDir,
    library: Library,
    version: String,
    card: &'a str,
    done: Option<PathBuf>,
}

impl Comparison<'_> {
    fn run(&self, seed: u64, count: usize) -> Account {
        let profile = gpu::find(self.card).expect("a card");
        let hardware = Hardware {
            processor: profile.processor().to_owned(),
            compute_units: u64::try_from(profile.get("multiProcessorCount")).expect("a count"),
            is_apu: profile.get("integrated") != 0,
        };
        let selector = Selector::new(self.dir, self.library, &self.version, hardware);
        let Some(file) = library_file(self.dir, self.library).filter(|_| selector.serves()) else {
            return Account::default();
        };
        let mut account = Account::default();
        for chunk in 0..count.div_ceil(CHUNK) {
            let mut random = Random::new(seed + chunk as u64);
            let wanted = CHUNK.min(count - chunk * CHUNK);
            let calls: Vec<Call> = (0..wanted).map(|_| product(&mut random, self.library)).collect();
            let truth = self.truth(chunk, seed, &file, &calls);
            account.add(compare(&selector, self.library, &calls, &truth));
        }
        account
    }

    /// The library's answers, which are kept between runs.
    fn truth(&self, chunk: usize, seed: u64, file: &Path, calls: &[Call]) -> Truth {
        // Stored answers for other products, or from another program, are not used.
        let mut asked = DefaultHasher::new();
        calls.iter().enumerate().for_each(|(id, call)| line(id, call, self.library).hash(&mut asked));
        include_str!("oracle.c").hash(&mut asked);
        let name =
            format!("{}-{}-{}-{seed}-{chunk}-{:016x}", self.library.name(), self.version, self.card, asked.finish());
        let kept = self.done.as_ref().map(|dir| dir.join(name));
        if let Some(text) = kept.as_ref().and_then(|path| std::fs::read_to_string(path).ok()) {
            let answer = |line: &str| {
                let (id, answer) = line.split_once(' ')?;
                Some((id.parse().ok()?, (answer != "-").then(|| answer.to_owned())))
            };
            return text.lines().filter_map(answer).collect();
        }
        let truth = self.oracle.ask(self.dir, file, self.library, self.card, calls);
        if let Some(path) = kept {
            let mut text = String::new();
            for (id, answer) in &truth {
                writeln!(text, "{id} {}", answer.as_deref().unwrap_or("-")).expect("text");
            }
            std::fs::write(path, text).expect("kept");
        }
        truth
    }
}

fn trees() -> Vec<PathBuf> {
    let more = std::env::var_os("WHICHKERNEL_GEMM_TREES").unwrap_or_default();
    let cache = test_artifacts::cache().join("runtimes");
    let usual = ["debian-sid", "debian-experimental"].map(|name| cache.join(name).join("root"));
    std::env::split_paths(&more).chain(usual).filter(|root| root.is_dir()).collect()
}

#[test]
fn computed_choices_are_those_of_the_libraries() {
    let root = test_artifacts::cache().join("runtimes/debian-sid/root");
    if !root.join("usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2").exists() {
        return test_artifacts::skip("debian-sid", "cargo xtask fetch");
    }
    let deep = std::env::var("WHICHKERNEL_DEEP_GEMM").ok().and_then(|count| count.parse::<usize>().ok());
    let done = deep.map(|_| Path::new(env!("CARGO_TARGET_TMPDIR")).join("gemm-oracle"));
    if let Some(done) = &done {
        std::fs::create_dir_all(done).expect("a directory");
    }
    let Some(oracle) = Oracle::new(root) else { return };
    let mut table: BTreeMap<(&str, String, String), Account> = BTreeMap::new();
    let mut seen = HashSet::new();
    for tree in trees() {
        for library in [Library::HipBlasLt, Library::RocBlas] {
            let Some(dir) = of_library(&tree, library.name()).expect("a tree") else { continue };
            let Some(version) = dir.version().filter(|version| Release::of(library, version).is_some()) else {
                continue;
            };
            for card in CARDS {
                let processor = gpu::find(card).expect("a card").processor().to_owned();
                // The same release in two trees is one comparison.
                let known = !seen.insert((library.name(), version.clone(), card));
                if known || !dir.listing().has(&format!("TensileLibrary_lazy_{processor}.dat")) {
                    continue;
                }
                let (dir, done, oracle) = (&dir, done.clone(), &oracle);
                let one = Comparison { oracle, dir, library, version: version.clone(), card, done };
                // Each comparison has its own products.
                let seed = 20_261_118 + 1_000_000 * seen.len() as u64;
                let account = one.run(seed, deep.unwrap_or(100));
                eprintln!(
                    "{} {version} {card}: {} asked, {} differ",
                    library.name(),
                    account.asked(),
                    account.different.len()
                );
                account.different.iter().take(5).for_each(|line| eprintln!("  {line}"));
                table.entry((library.name(), version.clone(), processor)).or_default().add(account);
            }
        }
    }
    if let Some(path) = std::env::var_os("WHICHKERNEL_GEMM_TABLE") {
        std::fs::write(path, rows(&table)).expect("written");
    }
    let different: Vec<&String> = table.values().flat_map(|account| &account.different).collect();
    assert!(
        different.is_empty(),
        "{} differ, such as {:#?}",
        different.len(),
        different.iter().take(3).collect::<Vec<_>>()
    );
    let equal: usize = table.values().map(|account| account.equal).sum();
    assert!(equal >= 200, "only {equal} products have a kernel");
}

fn rows(table: &BTreeMap<(&str, String, String), Account>) -> String {
    let mut out = String::new();
    let mut sum = Account::default();
    let row = |head: &str, account: &Account| {
        format!(
            "| {head} | {} | {} | {} | {} | {} | {} | {} |\n",
            account.asked(),
            account.equal,
            account.none,
            account.gemv,
            account.set,
            account.not_computed,
            account.different.len()
        )
    };
    for ((library, version, target), account) in table {
        out += &row(&format!("{library} {version} | {target}"), account);
        sum.add(account.clone());
    }
    out + &row("all | ", &sum)
}
