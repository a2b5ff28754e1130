//! A damaged catalog never leads to another kernel. The files come from Debian's hipBLASLt. Their package's checksums
//! are where dpkg puts them, so every change is recognised. Without checksums, only damage to the structure is
//! recognised.

use md5::{Digest, Md5};
use runtime::catalogs::{LibraryDir, of_library};
use std::fs;
use std::path::{Path, PathBuf};
use tensile::Files as _;
use tensile::select::{Call, Choice, DataType, Hardware, Library, NotComputed, Selector};

const TARGET: &str = "gfx1201";
const PLACE: &str = "usr/lib/x86_64-linux-gnu/hipblaslt/library";

/// xorshift64*: the same damage on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % count
    }
}

fn calls() -> Vec<Call> {
    let mut out = Vec::new();
    for (m, n, k) in [(4096, 290, 4096), (1, 4096, 4096), (14336, 512, 4096), (97, 33, 1000)] {
        let mut call = Call::plain(m, n, k, DataType::Half);
        call.trans_a = true;
        call.ld = call.packed();
        out.push(call);
    }
    out
}

fn choices(dir: &LibraryDir) -> Vec<Choice> {
    let hardware = Hardware { processor: TARGET.to_owned(), compute_units: 32, is_apu: false };
    let selector = Selector::new(dir, Library::HipBlasLt, "1.1", hardware);
    calls().iter().map(|call| selector.choose(call)).collect()
}

/// The files that the questions need, in a separate root.
struct Copy {
    root: tempfile::TempDir,
    /// The root of the target, and the leaves.
    files: Vec<PathBuf>,
    truth: Vec<Choice>,
}

impl Copy {
    fn new(from: &LibraryDir) -> Copy {
        let root = tempfile::tempdir().expect("a directory");
        let place = root.path().join(PLACE);
        fs::create_dir_all(&place).expect("made");
        let truth = choices(from);
        let mut names = vec![format!("TensileLibrary_lazy_{TARGET}.dat")];
        for choice in &truth {
            let Choice::Determined(chosen) = choice else { panic!("{choice:?}") };
            let name = format!("{}.dat", chosen.leaf);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let files: Vec<PathBuf> = names.iter().map(|name| place.join(name)).collect();
        for (name, file) in names.iter().zip(&files) {
            fs::copy(from.dir().join(name), file).expect("copied");
        }
        Copy { root, files, truth }
    }

    fn list_checksums(&self) {
        let info = self.root.path().join("var/lib/dpkg/info");
        fs::create_dir_all(&info).expect("made");
        let line = |file: &PathBuf| {
            let sum = hex::encode(Md5::digest(fs::read(file).expect("read")));
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            format!("{sum}  {PLACE}/{name}\n")
        };
        let list: String = self.files.iter().map(line).collect();
        fs::write(info.join("libhipblaslt1.md5sums"), list).expect("written");
    }

    fn open(&self) -> LibraryDir {
        LibraryDir::open(&self.root.path().join(PLACE)).expect("read").expect("a catalog")
    }

    /// Damages one file, asks, and repairs it. Returns the answers.
    fn with(&self, file: &Path, damage: &Damage, random: &mut Random) -> Vec<Choice> {
        let whole = fs::read(file).expect("read");
        match damage.on(&whole, random) {
            Some(bytes) => fs::write(file, bytes).expect("written"),
            None => fs::remove_file(file).expect("removed"),
        }
        let answers = choices(&self.open());
        fs::write(file, whole).expect("repaired");
        answers
    }

    /// Answers that name another kernel, or no kernel although there is one.
    fn wrong(&self, answers: &[Choice]) -> usize {
        let wrong = |(answer, truth): &(&Choice, &Choice)| !matches!(answer, Choice::NotComputed(_)) && answer != truth;
        answers.iter().zip(&self.truth).filter(wrong).count()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Damage {
    Flip,
    Zeros,
    Swap,
    Noise,
    Cut,
    Longer,
    Gone,
}

const ALL: [Damage; 7] =
    [Damage::Flip, Damage::Zeros, Damage::Swap, Damage::Noise, Damage::Cut, Damage::Longer, Damage::Gone];

impl Damage {
    /// None: the file is removed.
    fn on(self, whole: &[u8], random: &mut Random) -> Option<Vec<u8>> {
        let mut bytes = whole.to_vec();
        let at = random.below(bytes.len() - 128);
        match self {
            Damage::Flip => bytes[at] ^= 1 << random.below(8),
            Damage::Zeros => bytes[at..at + 16].fill(0),
            Damage::Swap => {
                let other = random.below(whole.len() - 128);
                bytes[at..at + 64].copy_from_slice(&whole[other..other + 64]);
            }
            Damage::Noise => bytes[at..at + 32].iter_mut().for_each(|byte| *byte = random.below(256) as u8),
            Damage::Cut => bytes.truncate(at),
            Damage::Longer => bytes.extend_from_slice(&whole[at..at + 100]),
            Damage::Gone => return None,
        }
        Some(bytes)
    }
}

#[test]
fn a_damaged_catalog_never_leads_to_another_kernel() {
    let root = test_artifacts::cache().join("runtimes/debian-sid/root");
    let found = of_library(&root, "hipblaslt").ok().flatten();
    let Some(dir) = found.filter(|dir| dir.listing().has(&format!("TensileLibrary_lazy_{TARGET}.dat"))) else {
        return test_artifacts::skip("debian-sid", "cargo xtask fetch");
    };
    let copy = Copy::new(&dir);
    assert_eq!(choices(&copy.open()), copy.truth, "the copy answers as the original");
    let mut random = Random(20_261_117);
    // Without checksums: a changed structure is recognised, a changed number may not be.
    let mut wrong = 0;
    for round in 0..42 {
        let damage = ALL[round % ALL.len()];
        let file = &copy.files[random.below(copy.files.len())];
        let answers = copy.with(file, &damage, &mut random);
        let other = copy.wrong(&answers);
        assert!(
            other == 0 || !matches!(damage, Damage::Cut | Damage::Longer | Damage::Gone),
            "{damage:?}: {answers:?}"
        );
        wrong += other;
    }
    eprintln!("without checksums: {wrong} of {} answers of a damaged catalog are wrong", 42 * copy.truth.len());
    copy.list_checksums();
    assert_eq!(choices(&copy.open()), copy.truth, "the checksums fit the files");
    for round in 0..210 {
        let damage = ALL[round % ALL.len()];
        let file = &copy.files[random.below(copy.files.len())];
        let answers = copy.with(file, &damage, &mut random);
        assert_eq!(copy.wrong(&answers), 0, "{damage:?} of {}: {answers:?}", file.display());
    }
    let mut bytes = fs::read(&copy.files[1]).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&copy.files[1], bytes).expect("written");
    let altered = |choice: &Choice| matches!(choice, Choice::NotComputed(NotComputed::Altered(_)));
    assert!(choices(&copy.open()).iter().any(altered), "the reason is the checksum");
}
