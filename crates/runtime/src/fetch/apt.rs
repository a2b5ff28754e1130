//! A private apt root: the system's apt with its own directories. It needs no root privileges, and signatures are
//! checked as usual.
//!
//! One check is relaxed, for this root only: Valid-Until of the Release file, because mirrors and snapshots may be
//! older than it allows. apt itself checks signatures (`signed-by`) and hashes.

use crate::error::{Error, Result, at};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
};
use sys::files::{self, Access};

pub const DEFAULT_KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The downloader that apt's own maintainer scripts use.
const HELPER: &str = "/usr/lib/apt/apt-helper";

/// The system's hooks are cleared: one of Docker's empties the system's own package cache after each update. Proxies
/// and similar settings of the system stay in force.
const CONFIGURATION: &str = "\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear APT::Architectures;
APT::Architecture \"amd64\";
APT::Sandbox::User \"root\";
APT::Update::Error-Mode \"any\";
Acquire::Check-Valid-Until \"false\";
Acquire::GzipIndexes \"false\";
Acquire::Languages \"none\";
Acquire::Retries \"2\";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";
Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled \"false\";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled \"false\";
";

#[derive(Debug)]
pub struct Apt {
    dir: PathBuf,
}

impl Apt {
    /// Creates the private root in `dir` for these suites.
    pub fn new(dir: &Path, mirror: &str, keyring: &Path, suites: &[&str]) -> Result<Self> {
        if !keyring.is_file() {
            return Err(Error::NoKeyring { path: keyring.to_owned() });
        }
        for sub in ["etc/preferences.d", "state/lists/partial", "cache/archives/partial"] {
            let sub = dir.join(sub);
            files::create_dir_all(&sub, Access::Public).map_err(at(&sub))?;
        }
        let mut sources = String::new();
        for suite in suites {
            sources.push_str(&format!("deb [signed-by={} arch=amd64] {mirror} {suite} main\n", keyring.display()));
        }
        let write = |name: &str, text: &str| {
            let path = dir.join(name);
            files::replace(&path, Access::Public, text).map_err(at(&path))
        };
        write("etc/sources.list", &sources)?;
        write("etc/apt.conf", CONFIGURATION)?;
        write("state/status", "")?;
        let dir = dir.canonicalize().map_err(at(dir))?;
        Ok(Apt { dir })
    }

    /// The directory of the packages.
    pub fn archives(&self) -> PathBuf {
        self.dir.join("cache/archives")
    }

    pub fn update(&self) -> Result<()> {
        self.run(&["update", "-q"].map(OsString::from)).map(drop)
    }

    /// Suite name and text of each Packages index, in the order of the sources.
    pub fn indices(&self, suites: &[&str]) -> Result<Vec<(String, String)>> {
        let listing = self.run(
            &["indextargets", "--format", "$(RELEASE)\t$(FILENAME)", "Created-By: Packages"].map(OsString::from),
        )?;
        let mut out = Vec::new();
        for suite in suites {
            for (_, file) in listing.lines().filter_map(|line| line.split_once('\t')).filter(|(name, _)| name == suite)
            {
                let path = PathBuf::from(file);
                out.push(((*suite).to_owned(), sys::regular_file::text(&path, 1 << 30).map_err(at(&path))?));
            }
        }
        Ok(out)
    }

    /// Downloads packages and resumes partial downloads. apt provides addresses and hashes (`apt-get download` itself
    /// starts over in every run); its helper downloads and checks.
    pub fn download(&self, packages: &[String]) -> Result<()> {
        let mut args: Vec<OsString> = vec!["download".into(), "-q".into()];
        args.extend(packages.iter().map(OsString::from));
        if !Path::new(HELPER).is_file() {
            return self.run(&args).map(drop);
        }
        // With its own archives directory, apt would delete partial downloads.
        let empty = self.dir.join("cache/uris");
        files::create_dir_all(&empty.join("partial"), Access::Public).map_err(at(&empty))?;
        let mut elsewhere = OsString::from("Dir::Cache::archives=");
        elsewhere.push(&empty);
        args.extend(["--print-uris".into(), "-o".into(), elsewhere]);
        let listing = self.run_program("apt-get", &args, &empty)?;
        let mut files: Vec<OsString> = vec!["download-file".into()];
        for line in listing.lines() {
            // 'URI' FILE SIZE SHA256:HASH
            let mut words = line.split(' ');
            if let (Some(uri), Some(file), Some(_), Some(hash)) =
                (words.next(), words.next(), words.next(), words.next())
            {
                files.extend([uri.trim_matches('\''), file, hash].map(OsString::from));
            }
        }
        self.run_program(HELPER, &files, &self.archives()).map(drop)
    }

    fn run(&self, args: &[OsString]) -> Result<String> {
        self.run_program("apt-get", args, &self.archives())
    }

    fn run_program(&self, program: &str, args: &[OsString], place: &Path) -> Result<String> {
        let mut command = sys::program::command(program).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Error::NoApt { advice: String::new() },
            _ => Error::Io { path: program.into(), source },
        })?;
        command.arg("-c").arg(self.dir.join("etc/apt.conf"));
        let option = |name: &str, value: &Path| {
            let mut text = OsString::from(format!("{name}="));
            text.push(value);
            text
        };
        for (name, value) in [
            ("Dir", self.dir.clone()),
            ("Dir::Etc", self.dir.join("etc")),
            ("Dir::Etc::sourcelist", self.dir.join("etc/sources.list")),
            ("Dir::Etc::sourceparts", PathBuf::from("/dev/null")),
            ("Dir::Etc::trusted", PathBuf::from("/dev/null")),
            ("Dir::Etc::trustedparts", PathBuf::from("/dev/null")),
            ("Dir::State", self.dir.join("state")),
            ("Dir::State::status", self.dir.join("state/status")),
            ("Dir::Cache", self.dir.join("cache")),
        ] {
            command.arg("-o").arg(option(name, &value));
        }
        command.args(args).current_dir(place).env("LC_ALL", "C").stdin(Stdio::null());
        let output = command.output().map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Error::NoApt { advice: String::new() },
            _ => Error::Io { path: program.into(), source },
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let mut said: Vec<&str> = stderr.lines().filter(|line| line.starts_with("E:")).collect();
        if said.is_empty() {
            said = stderr.lines().rev().take(1).collect();
        }
        let verb = args.first().map(|verb| verb.to_string_lossy().into_owned()).unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or(program);
        Err(Error::Apt { command: format!("{program} {verb}"), said: said.join(" ") })
    }
}
