//! A compiler for WebAssembly: rustup's, if it has the target; otherwise Debian's, unpacked into a folder without installing anything.

use anyhow::{Context as _, bail, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian sid's packages for the parts: the compiler, the standard library, a linker, a C compiler for zstd.
const PACKAGES: [&str; 4] = ["rustc", "libstd-rust-dev-wasm32", "lld-22", "clang-22"];

#[derive(Debug)]
pub enum Toolchain {
    /// `rustup target add wasm32-unknown-unknown`, and a clang for C.
    Own { clang: PathBuf },
    /// A folder with Debian's programs; each is started by a script in `bin`.
    Unpacked(PathBuf),
}

impl Toolchain {
    pub fn find(top: &Path) -> anyhow::Result<Toolchain> {
        if let Some(clang) = program("clang").or_else(|| program("clang-22")).filter(|_| has_target()) {
            return Ok(Toolchain::Own { clang });
        }
        let dir = match std::env::var_os("WHICHKERNEL_TEST_CACHE") {
            Some(cache) => PathBuf::from(cache).join("wasm-toolchain"),
            None => top.join("target/web/toolchain"),
        };
        if !dir.join("bin/rustc").is_file() {
            unpack(&dir).with_context(|| {
                "no compiler for WebAssembly: run `rustup target add wasm32-unknown-unknown` and install clang, or build on Debian"
            })?;
        }
        Ok(Toolchain::Unpacked(dir))
    }

    /// The settings that cargo needs for it.
    pub fn set(&self, cargo: &mut Command) {
        match self {
            Toolchain::Own { clang } => {
                cargo.env("CC_wasm32_unknown_unknown", clang);
            }
            Toolchain::Unpacked(dir) => {
                let bin = dir.join("bin");
                cargo
                    .env("RUSTC", bin.join("rustc"))
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", bin.join("wasm-ld"))
                    .env("CC_wasm32_unknown_unknown", bin.join("clang"));
            }
        }
    }
}

fn program(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|dir| dir.join(name)).find(|path| path.is_file())
}

fn has_target() -> bool {
    let out = Command::new("rustc").args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"]).output();
    out.is_ok_and(|out| Path::new(String::from_utf8_lossy(&out.stdout).trim()).is_dir())
}

/// Fetches the packages by apt, which checks their signatures, and unpacks them.
fn unpack(dir: &Path) -> anyhow::Result<()> {
    ensure!(program("apt-get").is_some() && program("dpkg-deb").is_some(), "this is not a Debian system");
    let (work, root) = (dir.join("apt"), dir.join("root"));
    for folder in ["state/lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(work.join(folder))?;
    }
    let (mirror, keyring) =
        test_artifacts::debian_mirror().context("no Debian mirror in /etc/apt names its keyring with Signed-By")?;
    fs::write(work.join("sources.list"), format!("deb [signed-by={keyring}] {mirror} sid main\n"))?;
    // Resolved as if nothing were installed, so that the C library of these programs is included.
    fs::write(work.join("status"), "")?;
    let apt = |args: &[&str]| -> anyhow::Result<()> {
        let mut apt = Command::new("apt-get");
        for (name, path) in [
            ("Dir::State", "state"),
            ("Dir::State::status", "status"),
            ("Dir::Cache", "cache"),
            ("Dir::Etc::SourceList", "sources.list"),
        ] {
            apt.arg("-o").arg(format!("{name}={}", work.join(path).display()));
        }
        apt.args([
            "-o",
            "Dir::Etc::SourceParts=-",
            "-o",
            "APT::Sandbox::User=",
            "-o",
            "APT::Architectures=amd64",
            // A mirror's Release file can be expired; the signatures are still checked.
            "-o",
            "Acquire::Check-Valid-Until=false",
            "-qq",
            "-y",
        ]);
        ensure!(apt.args(args).status()?.success(), "apt-get {} failed", args.join(" "));
        Ok(())
    };
    eprintln!("fetching Debian's compiler for WebAssembly (300 MB, once)");
    apt(&["update"])?;
    apt(&[&["install", "--download-only", "--no-install-recommends"], PACKAGES.as_slice()].concat())?;
    fs::create_dir_all(&root)?;
    for entry in fs::read_dir(work.join("cache/archives"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ext| ext == "deb") {
            let done = Command::new("dpkg-deb").arg("-x").args([&path, &root]).status()?;
            ensure!(done.success(), "{} can't be unpacked", path.display());
        }
    }
    scripts(dir, &root)?;
    fs::remove_dir_all(work)?;
    Ok(())
}

/// The programs need the C library that came with them, which may be newer than this system's.
fn scripts(dir: &Path, root: &Path) -> anyhow::Result<()> {
    let usr = root.join("usr");
    let loader = ["lib64", "lib/x86_64-linux-gnu"].map(|lib| usr.join(lib).join("ld-linux-x86-64.so.2"));
    let Some(loader) = loader.into_iter().find(|path| path.is_file()) else { bail!("the packages have no loader") };
    let libraries = format!("{0}/lib/x86_64-linux-gnu:{0}/lib/llvm-22/lib", usr.display());
    let bin = dir.join("bin");
    fs::create_dir_all(&bin)?;
    let sysroot = format!("--sysroot {} ", usr.display());
    let headers = format!("-resource-dir {}/lib/llvm-22/lib/clang/22 ", usr.display());
    for (name, program, more) in [
        ("wasm-ld", "lib/llvm-22/bin/lld", ""),
        ("clang", "lib/llvm-22/bin/clang", headers.as_str()),
        // Last: it marks the folder as complete.
        ("rustc", "bin/rustc", sysroot.as_str()),
    ] {
        let line = format!(
            "#!/bin/sh\nexec {} --library-path {libraries} --argv0 {name} {} {more}\"$@\"\n",
            loader.display(),
            usr.join(program).display()
        );
        let path = bin.join(name);
        fs::write(&path, line)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
