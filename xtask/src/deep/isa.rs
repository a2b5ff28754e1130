//! Compares random encodings, then real code with LLVM's disassembler, twice: every distinct encoding of every code
//! object with libLLVM, then every instruction with llvm-objdump.
//!
//! llvm-objdump manages some 0.1 to 0.3 million instructions a second, so the last step takes hours. Results are cached
//! per object and not recomputed until the decoder's tables change.

use crate::isa_oracle::distinct::Distinct;
use crate::isa_oracle::{line, objdump, objects, random, sets};
use crate::isa_tables::llvm::Llvm;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    objects: u64,
    instructions: u64,
    /// The number of instructions that llvm-objdump printed.
    printed: u64,
    undecoded: u64,
    differences: u64,
}

type Counts = BTreeMap<(&'static str, String), Count>;

pub fn run() -> anyhow::Result<bool> {
    let mut agreed = random::run(&[])?;
    let (distinct, printed) = (Store::open("distinct")?, Store::open("objdump")?);
    let llvm = Llvm::open()?;
    let mut seen = Distinct::default();
    let mut counts = Counts::new();
    for method in [Method::Distinct, Method::Objdump] {
        for set in sets::all() {
            for file in &set.files {
                // Objects of other machines and broken archives concern the readers, not the decoder.
                let compared = objects::each(file, &mut |label, processor, bytes| {
                    if processor.is_empty() {
                        return Ok(());
                    }
                    let key = format!("{label} {processor} {:016x}", fnv(bytes));
                    let store = if method == Method::Distinct { &distinct } else { &printed };
                    let compare = || match method {
                        Method::Distinct => seen.compare(llvm, label, bytes).map(|(comparison, _)| comparison),
                        Method::Objdump => objdump::compare(label, bytes),
                    };
                    let (instructions, undecoded, differences) = store.known_or(&key, compare)?;
                    let count = counts.entry((set.name, processor.to_owned())).or_default();
                    match method {
                        Method::Distinct => {
                            count.objects += 1;
                            count.instructions += instructions;
                        }
                        Method::Objdump => count.printed += instructions,
                    }
                    count.undecoded += undecoded;
                    count.differences += differences;
                    agreed &= undecoded == 0 && differences == 0;
                    Ok(())
                });
                if let Err(error) = compared {
                    eprintln!("{}: {error:#}", file.display());
                }
            }
            write_table(&counts)?;
        }
    }
    Ok(agreed)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Distinct,
    Objdump,
}

/// The comparisons so far, one per line.
struct Store {
    path: PathBuf,
    known: HashMap<String, (u64, u64, u64)>,
}

impl Store {
    /// One file per state of the tables: a changed table needs a new comparison.
    fn open(method: &str) -> anyhow::Result<Self> {
        let tables = ["scalar", "vector", "vop3", "memory"];
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/isa/tables");
        let mut all = Vec::new();
        for name in tables {
            all.extend(fs::read(root.join(format!("{name}.txt")))?);
        }
        let dir = test_artifacts::cache().join("deep");
        fs::create_dir_all(&dir)?;
        let path = dir.join(format!("isa-{method}-{:016x}.tsv", fnv(&all)));
        let mut known = HashMap::new();
        for text in fs::read_to_string(&path).unwrap_or_default().lines() {
            let parts: Vec<&str> = text.split('\t').collect();
            if let [key, a, b, c] = parts[..]
                && let (Ok(a), Ok(b), Ok(c)) = (a.parse(), b.parse(), c.parse())
            {
                known.insert(key.to_owned(), (a, b, c));
            }
        }
        Ok(Store { path, known })
    }

    /// Instructions, undecoded words and differences of an object, from the store or from a new comparison.
    fn known_or(
        &self,
        key: &str,
        compare: impl FnOnce() -> anyhow::Result<objdump::Comparison>,
    ) -> anyhow::Result<(u64, u64, u64)> {
        if let Some(known) = self.known.get(key) {
            return Ok(*known);
        }
        let comparison = compare()?;
        if !comparison.agrees() {
            println!("{key} {}", line(&comparison));
        }
        let result = (comparison.instructions, comparison.undecoded, comparison.different());
        self.add(key, result)?;
        Ok(result)
    }

    fn add(&self, key: &str, (a, b, c): (u64, u64, u64)) -> anyhow::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        Ok(writeln!(file, "{key}\t{a}\t{b}\t{c}")?)
    }
}

fn write_table(counts: &Counts) -> anyhow::Result<()> {
    let mut text = String::from(
        "| files | target | code objects | instructions | of them with llvm-objdump too | undecoded words | differences |\n",
    );
    text += "|---|---|---:|---:|---:|---:|---:|\n";
    let mut total = Count::default();
    let row = |text: &mut String, set: &str, target: &str, count: &Count| {
        let numbers = [count.objects, count.instructions, count.printed, count.undecoded, count.differences];
        let cells: Vec<String> = numbers.iter().map(u64::to_string).collect();
        writeln!(text, "| {set} | {target} | {} |", cells.join(" | "))
    };
    for ((set, target), count) in counts {
        row(&mut text, set, target, count)?;
        total.objects += count.objects;
        total.instructions += count.instructions;
        total.printed += count.printed;
        total.undecoded += count.undecoded;
        total.differences += count.differences;
    }
    row(&mut text, "**all**", "", &total)?;
    print!("{text}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/measurements/isa-oracle.md");
    let page = fs::read_to_string(&path).unwrap_or_default();
    let marker = "<!-- written by cargo xtask deep isa -->\n";
    let head = page.split(marker).next().unwrap_or_default();
    let now = sys::clock::now_to_the_second();
    let date = now.get(..10).unwrap_or(&now);
    fs::write(&path, format!("{head}{marker}\n{date}, LLVM 22:\n\n{text}"))?;
    Ok(())
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
