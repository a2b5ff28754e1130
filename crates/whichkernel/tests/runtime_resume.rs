//! `runtime fetch` from a mirror whose connection breaks: the next run continues where the last one stopped.
//!
//! The test runs its own mirror on the loopback device, with one package, signed with a key made for the test.

use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::{fs, thread};

const DEB: &str = "librocrand1_1.0-1_amd64.deb";

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A signed archive with one package of a little over 2 MB; returns the keyring.
fn archive(dir: &Path, content: &[u8]) -> PathBuf {
    let (package, pool, dist) = (dir.join("package"), dir.join("pool"), dir.join("dists/bookworm"));
    let index = dist.join("main/binary-amd64");
    for place in [&package.join("DEBIAN"), &package.join("usr/lib"), &pool, &index] {
        fs::create_dir_all(place).expect("a directory");
    }
    let fields = "Package: librocrand1\nVersion: 1.0-1\nArchitecture: amd64\nMaintainer: Nobody <nobody@example.org>\n\
                  Installed-Size: 2000\nDescription: random bytes\n";
    fs::write(package.join("DEBIAN/control"), fields).expect("written");
    fs::write(package.join("usr/lib/librocrand.so.1.1"), content).expect("written");
    run(Command::new("dpkg-deb").args(["--root-owner-group", "-Znone", "-b"]).arg(&package).arg(pool.join(DEB)));
    let deb = fs::read(pool.join(DEB)).expect("the package");
    let packages = format!("{fields}Filename: pool/{DEB}\nSize: {}\nSHA256: {}\n\n", deb.len(), hash(&deb));
    fs::write(index.join("Packages"), &packages).expect("written");
    let release = format!(
        "Origin: Debian\nSuite: bookworm\nCodename: bookworm\nDate: Sun, 15 Nov 2026 00:00:00 +0000\nArchitectures: amd64\n\
         Components: main\nSHA256:\n {} {} main/binary-amd64/Packages\n",
        hash(packages.as_bytes()),
        packages.len()
    );
    fs::write(dist.join("Release"), release).expect("written");
    let home = dir.join("gnupg");
    fs::create_dir(&home).expect("a directory");
    fs::set_permissions(&home, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("set");
    let gpg = || {
        let mut gpg = Command::new("gpg");
        gpg.env("GNUPGHOME", &home).args(["--batch", "--quiet"]);
        gpg
    };
    let identity = "archive <archive@example.org>";
    run(gpg().args(["--passphrase", "", "--quick-gen-key", identity, "ed25519", "sign", "never"]));
    run(gpg().arg("--clearsign").arg("-o").arg(dist.join("InRelease")).arg(dist.join("Release")));
    let keyring = dir.join("key.gpg");
    fs::write(&keyring, run(gpg().arg("--export")).stdout).expect("written");
    let _ = Command::new("gpgconf").env("GNUPGHOME", &home).args(["--kill", "all"]).output();
    keyring
}

/// The requests to the mirror: path and start offset.
type Asked = Arc<Mutex<Vec<(String, usize)>>>;

/// Answers requests for files below `dir`. The first `breaks` answers with the package end after `piece` bytes.
fn serve(listener: TcpListener, dir: PathBuf, asked: Asked, mut breaks: usize, piece: usize) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { return };
        let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
        while let Some((path, start)) = request(&mut reader) {
            asked.lock().expect("no panic elsewhere").push((path.clone(), start));
            if !answer(&stream, &dir, &path, start, &mut breaks, piece) {
                let _ = stream.shutdown(std::net::Shutdown::Both);
                break;
            }
        }
    }
}

fn request(reader: &mut BufReader<TcpStream>) -> Option<(String, usize)> {
    let mut path = None;
    let mut start = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Some((path?, start));
        }
        if let Some(rest) = line.strip_prefix("GET ") {
            path = rest.split(' ').next().map(str::to_owned);
        } else if let Some(rest) = line.strip_prefix("Range: bytes=") {
            start = rest.trim_end_matches('-').parse().ok()?;
        }
    }
}

/// False if the connection is to be broken.
fn answer(mut stream: &TcpStream, dir: &Path, path: &str, start: usize, breaks: &mut usize, piece: usize) -> bool {
    let Ok(bytes) = fs::read(dir.join(path.trim_start_matches('/'))) else {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").is_ok();
    };
    let rest = &bytes[start.min(bytes.len())..];
    let range = format!("Content-Range: bytes {start}-{}/{}\r\n", bytes.len() - 1, bytes.len());
    let (status, range) = if start > 0 { ("206 Partial Content", range.as_str()) } else { ("200 OK", "") };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{range}Accept-Ranges: bytes\r\n\
         Last-Modified: Sun, 15 Nov 2026 00:00:00 GMT\r\n\r\n",
        rest.len()
    );
    let broken = path.ends_with(".deb") && *breaks > 0;
    let sent = if broken { &rest[..piece.min(rest.len())] } else { rest };
    *breaks -= usize::from(broken);
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(sent)).is_ok() && !broken
}

#[test]
fn a_broken_download_goes_on_in_the_next_run() {
    for tool in ["apt-get", "gpg", "dpkg-deb"] {
        if test_artifacts::program(tool, "this test makes a small Debian archive of its own").is_none() {
            return;
        }
    }
    let dir = tempfile::tempdir().expect("a directory");
    // Incompressible bytes without repetitions.
    let content: Vec<u8> = (0u64..65_000).flat_map(|n| Sha256::digest(n.to_le_bytes())).collect();
    let keyring = archive(dir.path(), &content);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mirror = format!("http://{}", listener.local_addr().expect("an address"));
    let asked = Asked::default();
    let (root, seen) = (dir.path().to_owned(), asked.clone());
    // apt tries three times in one run: three breaks end the first run, and the second must continue.
    thread::spawn(move || serve(listener, root, seen, 3, 400_000));
    let fetch = || {
        Command::new(env!("CARGO_BIN_EXE_whichkernel"))
            .env("WHICHKERNEL_CACHE", dir.path().join("cache"))
            .env_remove("http_proxy")
            .args(["--lang", "en", "runtime", "fetch", "debian-bookworm", "--yes", "--mirror", &mirror, "--keyring"])
            .arg(&keyring)
            .output()
            .expect("it runs")
    };
    let first = fetch();
    let said = String::from_utf8_lossy(&first.stderr).into_owned();
    assert_eq!(first.status.code(), Some(2), "{said}");
    let requests = || -> Vec<usize> {
        let asked = asked.lock().expect("no panic elsewhere");
        asked.iter().filter(|(path, _)| path.ends_with(".deb")).map(|(_, start)| *start).collect()
    };
    assert_eq!(requests(), [0, 400_000, 800_000], "{said}");
    let second = fetch();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(0), "{said}");
    assert_eq!(requests(), [0, 400_000, 800_000, 1_200_000], "{said}");
    let came = dir.path().join("cache/runtimes/debian-bookworm/root/usr/lib/librocrand.so.1.1");
    assert!(fs::read(came).expect("the library") == content);
}
