//! 200 synthetic machines with real ledgers: the rows, hashes and tables that the product writes, with planted changes.

use evidence::{
    About, Contamination, Coverage, DeviceKind, Fact, Finding, Launched, Loaded, Observation, ObserverId, Selected,
    Subject,
};
use export::Origin;
use ledger::{Hash, Ledger, Reader, Row, RowKind};
use std::path::{Path, PathBuf};

pub const MACHINES: usize = 200;
/// The days on which every machine records.
const DAYS: [&str; 4] = ["2026-11-02", "2026-11-08", "2026-11-12", "2026-11-18"];

/// What is planted on a machine, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    Nothing,
    /// A new runtime before the third day, and since then BLAS for long prompts.
    UpgradeToFallback,
    /// A new runtime, the same paths.
    UpgradeOnly,
    /// A new driver, the same paths.
    DriverOnly,
    /// No record after the second day.
    Silent,
    /// The machine's disk was cloned after the first day.
    Clone,
    /// Two cards; a new library on the third day takes only the second card to BLAS.
    TwoCards,
    /// The clock goes back before the last record.
    ClockBack,
    /// BLAS from the first record on.
    AlwaysFallback,
    /// BLAS only on a stand-in GPU.
    StandIn,
    /// BLAS only in a run that the observer changed.
    Contaminated,
    /// No record before the third day.
    New,
    /// Other column counts since the third day.
    OtherColumns,
    /// BLAS on the second day only.
    Recovered,
    /// BLAS only in rows that were imported from another ledger.
    Imported,
}

pub fn planted(machine: usize) -> Planted {
    match machine {
        _ if machine % 20 == 3 => Planted::UpgradeToFallback,
        5 => Planted::UpgradeOnly,
        7 => Planted::DriverOnly,
        11 => Planted::Silent,
        13 | 14 => Planted::Clone,
        17 => Planted::TwoCards,
        19 => Planted::ClockBack,
        21 => Planted::AlwaysFallback,
        25 => Planted::StandIn,
        27 => Planted::Contaminated,
        29 => Planted::New,
        31 => Planted::OtherColumns,
        33 => Planted::Recovered,
        37 => Planted::Imported,
        _ => Planted::Nothing,
    }
}

pub fn host(machine: usize) -> String {
    format!("host-{machine:03}")
}

/// One recorded run.
struct Run {
    day: usize,
    time: String,
    planted: Planted,
}

impl Run {
    fn late(&self) -> bool {
        self.day >= 2
    }

    fn path(&self) -> &'static str {
        let fallback = match self.planted {
            Planted::UpgradeToFallback => self.late(),
            Planted::AlwaysFallback => true,
            Planted::Recovered => self.day == 1,
            Planted::ClockBack => self.day == 2,
            _ => false,
        };
        if fallback { "BLAS" } else { "MMQ" }
    }

    fn subject(&self, card: &str) -> Subject {
        let upgraded = matches!(self.planted, Planted::UpgradeToFallback | Planted::UpgradeOnly) && self.late();
        let other_file = upgraded || self.planted == Planted::TwoCards && self.late();
        let runtime = if upgraded { "ollama-rocm-70000" } else { "ollama-rocm-60303" };
        let file = if other_file { "cd" } else { "ab" }.repeat(32);
        Subject::file("libggml-hip.so", file).runtime(runtime).target("gfx1201").gpu(card).model("llama-8b.gguf")
    }

    fn launch(&self, subject: Subject, columns: &str, path: &str) -> Observation {
        let phase = if columns == "1" { "decode" } else { "prefill" };
        let about = About::new([("type", "Q4_K"), ("columns", columns), ("phase", phase)]);
        let finding = Finding::Saw(Fact::new("matmul.path", about, path));
        let (id, coverage) = (ObserverId::new("uprobe", "0.1.0"), Coverage::complete("launches", 9));
        let subject = subject.device(DeviceKind::Real);
        Observation::on::<Launched>(id, subject, finding, coverage, self.time.clone()).expect("an observation")
    }

    fn driver(&self) -> Observation {
        let version = if self.planted == Planted::DriverOnly && self.late() { "7.0.0" } else { "6.3.3" };
        let fact = Fact::new("host.rocm", About::new([("version", version)]), "/opt/rocm");
        let (id, coverage) = (ObserverId::new("host", "0.1.0"), Coverage::listed("facts", 1));
        Observation::on::<Loaded>(id, Subject::this_host(), Finding::Saw(fact), coverage, self.time.clone())
            .expect("an observation")
    }

    fn stand_in(&self) -> Observation {
        let about = About::new([("type", "Q4_K"), ("columns", "290"), ("phase", "prefill")]);
        let finding = Finding::Saw(Fact::new("matmul.path", about, "BLAS"));
        let (id, coverage) = (ObserverId::new("dryrun", "0.1.0"), Coverage::complete("launches", 9));
        let subject = self.subject("rx-9070-xt").device(DeviceKind::StandIn);
        Observation::on::<Selected>(id, subject, finding, coverage, self.time.clone()).expect("an observation")
    }

    /// The rows of the run: observation and origin.
    fn rows(&self) -> Vec<(Observation, Option<String>)> {
        let columns = if self.planted == Planted::OtherColumns && self.late() { "317" } else { "290" };
        let card = "rx-9070-xt";
        let decode = if columns == "317" { "2" } else { "1" };
        let mut all = vec![
            self.driver(),
            self.launch(self.subject(card), decode, "MMVQ"),
            self.launch(self.subject(card), columns, self.path()),
        ];
        match self.planted {
            Planted::TwoCards => {
                let path = if self.late() { "BLAS" } else { "MMQ" };
                all.push(self.launch(self.subject("rx-7900-xtx"), "290", path));
            }
            Planted::StandIn if self.late() => all.push(self.stand_in()),
            Planted::Contaminated if self.late() => {
                let differences = vec!["launches".to_owned()];
                let seen = self.launch(self.subject(card), "290", "BLAS");
                all.push(seen.contamination(Contamination::Contaminated { differences }));
            }
            _ => {}
        }
        let mut all: Vec<_> = all.into_iter().map(|seen| (seen, None)).collect();
        if self.planted == Planted::Imported && self.late() {
            let origin = format!("{}#{}@{}", "ee".repeat(16), self.day, "ff".repeat(32));
            all.push((self.launch(self.subject(card), "290", "BLAS"), Some(origin)));
        }
        all
    }
}

/// Appends a run to a ledger, recorded at the run's time. The product records at the time of the call, so the row is
/// inserted here; its format and hash are the ledger's own.
fn record(dir: &Path, run: &Run) {
    drop(Ledger::open(dir).expect("a ledger"));
    let (id, mut seq, mut prev) = {
        let reader = Reader::open(dir).expect("a reader");
        let id = reader.id().expect("read").expect("an id");
        let (mut seq, mut prev) = (0, Hash::genesis(&id));
        let last = |row: Row| {
            (seq, prev) = (row.seq, row.hash);
            Ok(std::ops::ControlFlow::Break(()))
        };
        reader.rows_back(last).expect("read");
        (id, seq, prev)
    };
    assert_eq!(id.len(), 32);
    let mut database = rusqlite::Connection::open(dir.join("ledger.sqlite")).expect("the database");
    database.pragma_update(None, "synchronous", "OFF").expect("a setting");
    let transaction = database.transaction().expect("a transaction");
    for (seen, origin) in run.rows() {
        seq += 1;
        let (time, body) = (run.time.clone(), seen.canonical());
        let mut row = Row { seq, kind: RowKind::Observation, origin, time, body, prev, hash: prev };
        row.hash = row.expected_hash();
        prev = row.hash;
        let values = (seq as i64, "observation", &row.origin, &row.time, &row.body, &row.prev.0[..], &row.hash.0[..]);
        let sql = "INSERT INTO row (seq, kind, origin, time, body, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        transaction.execute(sql, values).expect("a row");
    }
    transaction.commit().expect("committed");
}

fn export(dir: &Path, machine: usize, lake: &Path) {
    // All digits, which an engine must not read as a number.
    let (id, name) = (format!("{machine:012}"), host(machine));
    let origin = Origin { host: Some(&name), machine: &id, title: "A fleet", claims: &[] };
    export::write(&Reader::open(dir).expect("a reader"), &origin, lake).expect("exported");
}

/// The lake of all machines; each exports after every run.
pub fn lake(dir: &Path) -> PathBuf {
    let lake = dir.join("lake");
    for (day, date) in DAYS.iter().enumerate() {
        for machine in 0..MACHINES {
            let planted = planted(machine);
            let ledger = dir.join(host(machine));
            match planted {
                Planted::Silent if day >= 2 => continue,
                Planted::New if day < 2 => continue,
                // The second machine starts with the first one's disk.
                Planted::Clone if machine == 14 && day == 0 => {
                    let copied =
                        std::process::Command::new("cp").arg("-a").args([&dir.join(host(13)), &ledger]).status();
                    assert!(copied.expect("cp").success());
                    continue;
                }
                _ => {}
            }
            let date = if planted == Planted::ClockBack && day == 3 { "2026-11-05" } else { date };
            let time = format!("{date}T{:02}:{:02}:00.000Z", machine % 24, machine % 60);
            record(&ledger, &Run { day, time, planted });
            export(&ledger, machine, &lake);
        }
    }
    lake
}
