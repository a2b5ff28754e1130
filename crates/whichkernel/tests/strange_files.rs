//! A name given by a user may lead to a pipe, a device or an endless file: every verb reports that and ends.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Makes a hang a failure instead of a test that never ends.
const PATIENCE: Duration = Duration::from_secs(120);

fn ends_with_2(words: &[&str], file: &Path, home: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command
        .args(words)
        .arg(file)
        .env("WHICHKERNEL_LEDGER", home.join("ledger"))
        .env("WHICHKERNEL_CACHE", home.join("cache"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(2), "{words:?} {}", file.display());
            return;
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{words:?} {}: it does not end", file.display());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn pipes_devices_and_endless_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (pipe, sparse) = (dir.path().join("pipe"), dir.path().join("sparse"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let long = std::fs::File::create(&sparse).unwrap();
    // The longest of these that the file system supports.
    let lengths = [8_u64 << 40, 1 << 40];
    assert!(lengths.into_iter().any(|length| long.set_len(length).is_ok()));
    for words in
        [&["watch", "--read"][..], &["inspect"], &["isa"], &["ledger", "import"], &["runtime", "add"], &["check"]]
    {
        for file in [pipe.as_path(), &sparse, Path::new("/dev/zero")] {
            ends_with_2(words, file, dir.path());
        }
    }
}

/// Empty, invalid or truncated files: the answer is neither "device code" nor "no device code", and the message is in
/// the reader's language.
#[test]
fn what_could_not_be_read_is_neither_device_code_nor_without_it() {
    let dir = tempfile::tempdir().unwrap();
    let elf = std::fs::read("/bin/ls").unwrap();
    let files = [("empty", Vec::new()), ("rubbish", vec![0x5a; 1000]), ("cut", elf[..5000].to_vec())];
    for (name, bytes) in files {
        std::fs::write(dir.path().join(name), bytes).unwrap();
        for lang in ["en", "ja"] {
            let run = |words: &[&str]| {
                let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
                command.args(words).arg(name).args(["--lang", lang]).current_dir(dir.path());
                command.env("WHICHKERNEL_LEDGER", dir.path().join("ledger")).output().unwrap()
            };
            let output = run(&["inspect"]);
            let text = String::from_utf8(output.stdout).unwrap();
            assert_eq!(output.status.code(), Some(2), "{name}: {text}");
            for wrong in ["bytes of device code", "has no AMD", "デバイスコード 1,000", "not a file with GPU code"]
            {
                assert!(!text.contains(wrong), "{name}: {text}");
            }
            let says = match (name, lang) {
                ("empty", "en") => "The file is empty.",
                ("empty", _) => "ファイルは空です。",
                (_, "en") => "so it is unknown whether it has GPU code",
                _ => "GPU コードが含まれるかどうかは不明です",
            };
            assert!(text.contains(says), "{name} {lang}: {text}");
            assert_eq!(run(&["inspect", "--has-target", "gfx1201"]).status.code(), Some(2), "{name}");
        }
    }
}
