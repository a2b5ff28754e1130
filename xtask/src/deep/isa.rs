//! Random encodings, then every instruction of every code object at hand, against LLVM's disassembler.
//!
//! llvm-objdump manages some 0.1 to 0.3 million instructions a second, so this takes hours: what has been compared is
//! kept in the cache, object by object, and not compared again until the decoder's tables change.

use crate::isa_oracle::{line, objdump, objects, random, sets};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    objects: u64,
    instructions: u64,
    undecoded: u64,
    differences: u64,
}

pub fn run() -> anyhow::Result<bool> {
    let mut agreed = random::run(&[])?;
    let store = Store::open()?;
    let mut table: BTreeMap<(&'static str, String), Count> = BTreeMap::new();
    for set in sets::all() {
        for file in &set.files {
            // Objects of other machines and broken archives are the readers' business, not the decoder's.
            let compared = objects::each(file, &mut |label, processor, bytes| {
                if processor.is_empty() {
                    return Ok(());
                }
                let key = format!("{label} {processor} {:016x}", fnv(bytes));
                let (instructions, undecoded, differences) = match store.known.get(&key) {
                    Some(known) => *known,
                    None => {
                        let comparison = objdump::compare(label, bytes)?;
                        if !comparison.agrees() {
                            println!("{label} {}", line(&comparison));
                        }
                        let result = (comparison.instructions, comparison.undecoded, comparison.different());
                        store.add(&key, result)?;
                        result
                    }
                };
                let count = table.entry((set.name, processor.to_owned())).or_default();
                count.objects += 1;
                count.instructions += instructions;
                count.undecoded += undecoded;
                count.differences += differences;
                agreed &= undecoded == 0 && differences == 0;
                Ok(())
            });
            if let Err(error) = compared {
                eprintln!("{}: {error:#}", file.display());
            }
        }
        write_table(&table)?;
    }
    Ok(agreed)
}

/// What has been compared, a line each.
struct Store {
    path: PathBuf,
    known: HashMap<String, (u64, u64, u64)>,
}

impl Store {
    /// One file per state of the tables: another table is another comparison.
    fn open() -> anyhow::Result<Self> {
        let tables = ["scalar", "vector", "vop3", "memory"];
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/isa/tables");
        let mut all = Vec::new();
        for name in tables {
            all.extend(fs::read(root.join(format!("{name}.txt")))?);
        }
        let dir = artifacts::cache().join("deep");
        fs::create_dir_all(&dir)?;
        let path = dir.join(format!("isa-{:016x}.tsv", fnv(&all)));
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

    fn add(&self, key: &str, (a, b, c): (u64, u64, u64)) -> anyhow::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        Ok(writeln!(file, "{key}\t{a}\t{b}\t{c}")?)
    }
}

fn write_table(table: &BTreeMap<(&'static str, String), Count>) -> anyhow::Result<()> {
    let mut text = String::from("| files | target | code objects | instructions | undecoded words | differences |\n");
    text += "|---|---|---:|---:|---:|---:|\n";
    let mut total = Count::default();
    for ((set, target), count) in table {
        writeln!(
            text,
            "| {set} | {target} | {} | {} | {} | {} |",
            count.objects, count.instructions, count.undecoded, count.differences
        )?;
        total.objects += count.objects;
        total.instructions += count.instructions;
        total.undecoded += count.undecoded;
        total.differences += count.differences;
    }
    writeln!(
        text,
        "| **all** | | {} | {} | {} | {} |",
        total.objects, total.instructions, total.undecoded, total.differences
    )?;
    print!("{text}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/isa-oracle.md");
    let page = fs::read_to_string(&path).unwrap_or_default();
    let marker = "<!-- written by cargo xtask deep isa -->\n";
    let head = page.split(marker).next().unwrap_or_default();
    let now = runtime::date::now();
    let date = now.get(..10).unwrap_or(&now);
    fs::write(&path, format!("{head}{marker}\n{date}, LLVM 22:\n\n{text}"))?;
    Ok(())
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
