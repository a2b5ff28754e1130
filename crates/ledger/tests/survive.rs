//! Tests the failures that a ledger survives: kill -9 at any moment, several concurrent writers, a full disk, a
//! read-only directory.

mod common;

use common::{observation, problems, record};
use ledger::{Ledger, LedgerError, Reader};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

/// This is not a test but the child process of the tests below. It records rows, and prints each row's number after
/// `append` has returned.
#[test]
#[ignore = "the writer that other tests start"]
fn scribe() {
    let Some(dir) = env::var_os("SCRIBE_DIR") else { return };
    let count: u64 = env::var("SCRIBE_COUNT").unwrap().parse().unwrap();
    let mut ledger = None;
    for n in 0..count {
        if ledger.is_none() {
            ledger = match Ledger::open(Path::new(&dir)) {
                Ok(ledger) => Some(ledger),
                Err(error) => {
                    println!("error {error}");
                    break;
                }
            };
        }
        match record(ledger.as_mut().unwrap(), n + u64::from(std::process::id()) * 1000) {
            Ok(seq) => println!("row {seq}"),
            Err(error) => {
                println!("error {error}");
                break;
            }
        }
    }
    let proof = Reader::open(Path::new(&dir)).and_then(|reader| reader.verify(&mut |_| {}));
    match proof {
        Ok(proof) => println!("verified {} problems {}", proof.rows, proof.problems.len()),
        Err(error) => println!("unverified {error}"),
    }
}

fn arguments(command: &mut Command, dir: &Path, count: u64) {
    command.env("SCRIBE_DIR", dir).env("SCRIBE_COUNT", count.to_string()).stdout(Stdio::piped());
}

fn start(dir: &Path, count: u64) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "scribe", "--nocapture"]);
    arguments(&mut command, dir, count);
    command.spawn().unwrap()
}

fn rows(output: &str) -> Vec<u64> {
    output.lines().filter_map(|line| line.split("row ").nth(1)?.trim().parse().ok()).collect()
}

fn output(child: Child) -> String {
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn killed_at_any_moment_it_loses_nothing_that_was_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("ledger");
    let mut acknowledged = 0;
    let mut died_writing = 0;
    for round in 0..60_u64 {
        let mut child = start(&dir, 1_000_000);
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        // The first rounds are killed while the ledger is being created, the others 0 to 6 ms after a row.
        if round >= 6 {
            while rows(&text).is_empty() {
                assert_ne!(lines.read_line(&mut text).unwrap(), 0, "{text}");
            }
        }
        thread::sleep(Duration::from_micros(round * 7919 % 6000));
        child.kill().unwrap();
        child.wait().unwrap();
        lines.read_to_string(&mut text).unwrap();
        acknowledged = rows(&text).into_iter().max().unwrap_or(acknowledged);
        let proof = Reader::open_as_it_is(&dir).unwrap().verify(&mut |_| {}).unwrap();
        assert_eq!(proof.problems, [], "round {round}");
        assert!(proof.rows >= acknowledged, "round {round}: {} rows, {acknowledged} acknowledged", proof.rows);
        died_writing += u64::from(proof.rows > acknowledged);
    }
    println!("60 kills, {acknowledged} rows acknowledged, {died_writing} kills between commit and acknowledgement");
    assert!(acknowledged >= 54);
}

#[test]
fn several_processes_write_one_chain() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("ledger");
    let children: Vec<Child> = (0..4).map(|_| start(&dir, 25)).collect();
    let mut all: Vec<u64> = children.into_iter().flat_map(|child| rows(&output(child))).collect();
    all.sort_unstable();
    assert_eq!(all, (1..=100).collect::<Vec<u64>>());
    assert_eq!(problems(&dir), Vec::<String>::new());
}

/// A limit on the file size makes writes fail as on a full disk, without any privileges.
#[test]
fn a_full_disk_is_said_and_leaves_the_ledger_whole() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("ledger");
    record(&mut Ledger::open(&dir).unwrap(), 1).unwrap();
    let mut command = Command::new("sh");
    // The limit is 128 blocks of 512 bytes. The signal is ignored, because a full disk sends none.
    command.args(["-c", "ulimit -f 128; trap '' XFSZ; exec \"$0\" --ignored --exact scribe --nocapture"]);
    command.arg(env::current_exe().unwrap());
    arguments(&mut command, &dir, 1_000_000);
    let text = output(command.spawn().unwrap());
    assert!(text.contains("no space left") && text.contains("the ledger is intact"), "{text}");
    let acknowledged = rows(&text).into_iter().max().unwrap();
    let proof = Reader::open_as_it_is(&dir).unwrap().verify(&mut |_| {}).unwrap();
    assert_eq!((proof.problems.len(), proof.rows), (0, acknowledged));
    assert_eq!(record(&mut Ledger::open(&dir).unwrap(), 2).unwrap(), acknowledged + 1, "with space it goes on");
}

/// A real full file system, if this process may mount a small one.
#[test]
fn a_full_file_system_too() {
    let dir = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=400k none \"$SCRIBE_DIR\" && exec \"$0\" --ignored --exact scribe --nocapture";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", mount]).arg(env::current_exe().unwrap()).stderr(Stdio::null());
    arguments(&mut command, dir.path(), 1_000_000);
    if test_artifacts::program("unshare", "install util-linux").is_none() {
        return;
    }
    let text = output(command.spawn().unwrap());
    if !text.contains("row ") {
        return test_artifacts::skip("a mount of its own", "as root, or where users may make namespaces");
    }
    assert!(text.contains("no space left") && text.contains("the ledger is intact"), "{text}");
    let last = rows(&text).into_iter().max().unwrap();
    assert!(text.contains(&format!("verified {last} problems 0")), "{text}");
}

#[test]
fn a_read_only_directory_is_read_and_not_written() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("ledger");
    record(&mut Ledger::open(&dir).unwrap(), 1).unwrap();
    // The directory is readable by all, because another user tries to write below.
    let read_only = |on: bool| {
        let mut open = vec![dir.clone()];
        while let Some(path) = open.pop() {
            use std::os::unix::fs::PermissionsExt;
            let mode = match (path.is_dir(), on) {
                (true, true) => 0o555,
                (true, false) => 0o755,
                (false, true) => 0o444,
                (false, false) => 0o644,
            };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            if path.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
    };
    read_only(true);
    let mut program = env::current_exe().unwrap();
    let root = rustix::process::getuid().is_root();
    if root {
        // Root can write anywhere, so another user must try, with a copy of this program in an accessible place.
        use std::os::unix::fs::PermissionsExt;
        let copied = keep.path().join("scribe");
        assert!(Command::new("cp").arg(&program).arg(&copied).status().unwrap().success());
        fs::set_permissions(keep.path(), fs::Permissions::from_mode(0o755)).unwrap();
        program = copied;
    }
    let scribe = |count: u64| {
        let mut command = Command::new(&program);
        command.args(["--ignored", "--exact", "scribe", "--nocapture"]).current_dir("/");
        if root {
            command.uid(65534).gid(65534);
        }
        arguments(&mut command, &dir, count);
        output(command.spawn().unwrap())
    };
    let (reading, writing) = (scribe(0), scribe(1));
    read_only(false);
    assert!(reading.contains("verified 1 problems 0"), "{reading}");
    assert!(writing.contains("cannot be written") && writing.contains("reading works"), "{writing}");
    assert!(writing.contains("verified 1 problems 0"), "{writing}");
}

#[test]
fn paths_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join(std::ffi::OsStr::from_bytes(b"led\xffger\x80"));
    record(&mut Ledger::open(&dir).unwrap(), 1).unwrap();
    assert_eq!(problems(&dir), Vec::<String>::new());
}

#[test]
fn an_archive_is_merged_once_and_keeps_its_origin() {
    let keep = tempfile::tempdir().unwrap();
    let theirs = keep.path().join("theirs");
    let mut other = Ledger::open(&theirs).unwrap();
    for n in 0..3 {
        record(&mut other, n).unwrap();
    }
    other.keep("launch trace", &b"\xff\x00 not text"[..]).unwrap();
    let raw = other.keep("launch trace", &b"\xff\x00 not text"[..]).unwrap();
    other.append(&[observation(9).evidence(raw.clone())]).unwrap();
    other.note("seen on another machine").unwrap();
    let id = other.reader().id().unwrap().unwrap();
    let archive = keep.path().join("archive.json");
    other.reader().export(&mut fs::File::create(&archive).unwrap()).unwrap();

    let dir = keep.path().join("mine");
    let mut ledger = Ledger::open(&dir).unwrap();
    record(&mut ledger, 100).unwrap();
    for path in [&archive, &theirs] {
        let before = ledger.reader().last().unwrap().unwrap().seq;
        let imported = ledger.import(path).unwrap();
        assert_eq!(imported.from, id);
        assert_eq!(imported.added + imported.known, 5);
        assert_eq!(imported.added, if before == 1 { 5 } else { 0 }, "twice adds nothing");
    }
    let row = ledger.reader().row(2).unwrap().unwrap();
    assert!(row.origin.as_deref().is_some_and(|origin| origin.starts_with(&format!("{id}#1@"))), "{row:?}");
    assert_eq!(ledger.reader().blobs().measure(&raw).unwrap(), ledger::Measured::Same);
    assert_eq!(problems(&dir), Vec::<String>::new());
    // After importing the archive back, both our own rows and the other ledger's rows are known.
    ledger.reader().export(&mut fs::File::create(&archive).unwrap()).unwrap();
    let imported = other.import(&archive).unwrap();
    assert_eq!((imported.added, imported.known), (1, 5));
}

#[test]
fn an_archive_that_was_touched_is_refused_whole() {
    let keep = tempfile::tempdir().unwrap();
    let mut other = Ledger::open(&keep.path().join("theirs")).unwrap();
    for n in 0..3 {
        record(&mut other, n).unwrap();
    }
    let mut bytes = Vec::new();
    other.reader().export(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).expect("an archive is plain JSON");
    let second = text.lines().nth(2).unwrap();
    let touched = [
        (text.replace("\"value\":1", "\"value\":2"), "row 2 was altered or moved"),
        (text.replace(&format!("{second}\n"), ""), "row 2 is missing"),
        (text.replace("raw evidence 1\\n", "raw evidence X\\n"), "was altered: its hash is"),
        (text.replace("whichkernel.ledger/1", "whichkernel.ledger/9"), "this version reads"),
        (text[..text.len() / 2].to_owned(), "EOF"),
        ("{}".to_owned(), "the archive is incomplete"),
        ("[1, 2]".to_owned(), "expected an archive"),
    ];
    let dir = keep.path().join("mine");
    let mut ledger = Ledger::open(&dir).unwrap();
    for (text, wanted) in touched {
        let path = keep.path().join("archive.json");
        fs::write(&path, text).unwrap();
        let error = ledger.import(&path).unwrap_err();
        assert!(matches!(error, LedgerError::Archive { .. }) && error.to_string().contains(wanted), "{error}");
        assert!(ledger.reader().last().unwrap().is_none());
    }
    let error = ledger.import(&keep.path().join("nothing")).unwrap_err().to_string();
    assert!(error.contains("No such file"), "{error}");
}

/// The state after a kill in the middle of the first transaction: the file has some of the pages, and a journal says
/// that the file was empty before (<https://www.sqlite.org/fileformat2.html#the_rollback_journal>).
#[test]
fn a_creation_that_was_killed_reads_as_empty_and_is_made_again() {
    let keep = tempfile::tempdir().unwrap();
    let made = keep.path().join("made");
    drop(Ledger::open(&made).unwrap());
    let database = fs::read(made.join("ledger.sqlite")).unwrap();
    let page = 4096;
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    for word in [0_u32, 7, 0, 512, page as u32] {
        journal.extend(word.to_be_bytes());
    }
    journal.resize(512, 0);
    for pages in 0..=database.len() / page {
        for (lock, head) in [(true, false), (false, false), (true, true)] {
            let dir = keep.path().join(format!("killed-{pages}-{lock}-{head}"));
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join("ledger.sqlite"), &database[..pages * page]).unwrap();
            fs::write(dir.join("ledger.sqlite-journal"), &journal).unwrap();
            if lock {
                fs::write(dir.join("lock"), "").unwrap();
            }
            if head {
                fs::write(dir.join("head.new"), "half").unwrap();
            }
            let writer_first = dir.with_extension("writer");
            common::copy(&dir, &writer_first);
            let reader = Reader::open_as_it_is(&dir).unwrap();
            assert_eq!(reader.verify(&mut |_| {}).unwrap().problems, [], "{pages} pages");
            assert!(!reader.exists() && reader.observations().unwrap().is_empty(), "{pages} pages");
            for dir in [dir, writer_first] {
                assert_eq!(record(&mut Ledger::open(&dir).unwrap(), 1).unwrap(), 1, "{pages} pages");
                assert_eq!(problems(&dir), Vec::<String>::new());
            }
        }
    }
}
