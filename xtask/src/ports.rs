//! Builds for other systems, in a root with Debian sid's Rust: Windows (standard library from its sources, MinGW, wine), arm64
//! (cross compiler, QEMU) and WebAssembly (clang).
//!
//! Sources, registry and results have the same paths in the root on every machine, so the programs contain no path of the builder.

use crate::dist::build::top;
use anyhow::{Context as _, bail, ensure};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Rust for this machine, for arm64 and for WebAssembly; the rest as named above.
const PACKAGES: &str = "ca-certificates,cargo,rustc,rust-src,libstd-rust-dev-wasm32,libstd-rust-dev:arm64,clang,llvm,lld,gcc,libc6-dev,\
gcc-aarch64-linux-gnu,libc6-dev-arm64-cross,gcc-mingw-w64-x86-64-win32,g++-mingw-w64-x86-64-win32,wine64,qemu-user,git";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    Windows,
    Arm64,
    Wasm,
}

impl Port {
    pub const ALL: [Port; 3] = [Port::Windows, Port::Arm64, Port::Wasm];

    pub fn name(self) -> &'static str {
        match self {
            Port::Windows => "windows",
            Port::Arm64 => "arm64",
            Port::Wasm => "wasm",
        }
    }

    pub fn target(self) -> &'static str {
        match self {
            Port::Windows => "x86_64-pc-windows-gnu",
            Port::Arm64 => "aarch64-unknown-linux-gnu",
            Port::Wasm => "wasm32-unknown-unknown",
        }
    }

    /// The program's file name.
    pub fn program(self) -> &'static str {
        if self == Port::Windows { "whichkernel.exe" } else { "whichkernel" }
    }

    /// The program that runs the port's programs in the root.
    pub fn runner(self) -> &'static [&'static str] {
        match self {
            Port::Windows => &["wine64"],
            Port::Arm64 => &["qemu-aarch64"],
            Port::Wasm => &[],
        }
    }

    /// The arguments for `cargo`. Debian has no standard library for Windows, only its sources.
    fn cargo(self) -> &'static [&'static str] {
        match self {
            Port::Windows => &["build", "-Zbuild-std=std,panic_abort", "--package", "whichkernel"],
            Port::Arm64 => &["build", "--package", "whichkernel"],
            // The page is a separate crate; these are the crates that it consists of.
            Port::Wasm => &[
                "check",
                "--no-default-features",
                "--package",
                "whichkernel-findings",
                "--package",
                "whichkernel-source",
            ],
        }
    }
}

/// `cargo xtask ports [NAME...]`: builds, and prints the location.
pub fn run(args: &[String]) -> anyhow::Result<std::process::ExitCode> {
    let known = |name: &String| Port::ALL.into_iter().find(|port| port.name() == name);
    let root = Root::ready()?;
    let mut ports = Vec::new();
    for name in args {
        ports.push(known(name).with_context(|| format!("{name} is no port: windows, arm64, wasm"))?);
    }
    for port in if ports.is_empty() { Port::ALL.to_vec() } else { ports } {
        let built = root.build(port, &[])?;
        println!("{} {}", port.name(), built.display());
    }
    Ok(std::process::ExitCode::SUCCESS)
}

/// A directory with Debian sid.
#[derive(Debug)]
pub struct Root(PathBuf);

impl Root {
    /// Created once, in the tests' cache; WHICHKERNEL_PORTS_ROOT names another directory.
    pub fn ready() -> anyhow::Result<Root> {
        let own = || test_artifacts::cache().join("ports-sid");
        let dir = env::var_os("WHICHKERNEL_PORTS_ROOT").map_or_else(own, PathBuf::from);
        if !dir.join("usr/bin/wine64").exists() || !dir.join("usr/bin/cargo").exists() {
            let making = dir.with_extension("new");
            let _ = fs::remove_dir_all(&making);
            let mut make = Command::new("mmdebstrap");
            // A mirror may be out of date, but its content is still signed.
            make.args([
                "--aptopt=Acquire::Check-Valid-Until \"false\"",
                "--variant=minbase",
                "--architectures=amd64,arm64",
            ]);
            make.arg(format!("--include={PACKAGES}")).arg("sid").arg(&making);
            let status = make.status().context("mmdebstrap could not be started: sudo apt-get install mmdebstrap")?;
            ensure!(status.success(), "mmdebstrap failed");
            fs::rename(&making, &dir)?;
        }
        for inside in ["whichkernel", "cargo/registry", "target", "artifacts"] {
            fs::create_dir_all(dir.join(inside))?;
        }
        fs::create_dir_all(target())?;
        Ok(Root(dir))
    }

    /// The outside path of a file in the root.
    pub fn path(&self, inside: &str) -> PathBuf {
        self.0.join(inside)
    }

    /// A command in the root, with this tree, the registry and the results bound into it; the binds end with the command.
    pub fn command(&self, place: &str, words: &[&str]) -> Command {
        const ENTER: &str = "set -e; root=$1; place=$2; shift 2
            mount --rbind \"$SOURCE\" \"$root/whichkernel\"; mount --rbind \"$REGISTRY\" \"$root/cargo/registry\"
            mount --rbind \"$RESULTS\" \"$root/target\"; mount --rbind \"$ARTIFACTS\" \"$root/artifacts\"
            mount -t proc proc \"$root/proc\"; mount --rbind /dev \"$root/dev\"
            exec chroot \"$root\" sh -c 'cd \"$0\" && exec \"$@\"' \"$place\" \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", ENTER, "sh"]).arg(&self.0).arg(place).args(words);
        command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("SOURCE", top()).env("REGISTRY", registry()).env("RESULTS", target());
        command.env("ARTIFACTS", test_artifacts::cache()).env("HOME", "/root").env("LANG", "C.UTF-8");
        command.env("WINEDEBUG", "-all").env("WINEPREFIX", "/target/wine").stdin(Stdio::null());
        command
    }

    /// Builds a release for a port and returns its program (for WebAssembly, the directory of the results). `more`: variables for the build.
    pub fn build(&self, port: Port, more: &[(&str, String)]) -> anyhow::Result<PathBuf> {
        fetch(&["--target", port.target()], &top())?;
        if port == Port::Windows {
            // The dependencies of the standard library. Cargo reads settings from the directory in which it runs; those
            // of the library would name Debian's copies, which the build below does not use.
            let manifest = self.path("usr/lib/rustlib/src/rust/library/std/Cargo.toml");
            fetch(&["--manifest-path", &manifest.display().to_string()], Path::new("/"))?;
        }
        let mut words = vec!["cargo"];
        words.extend(port.cargo());
        words.extend(["--release", "--locked", "--offline", "--target", port.target()]);
        let mut cargo = self.command("/whichkernel", &words);
        cargo.env("CARGO_HOME", "/cargo").env("CARGO_TARGET_DIR", "/target").env("RUSTC_BOOTSTRAP", "1");
        cargo.env("CC_wasm32_unknown_unknown", "clang").env("AR_wasm32_unknown_unknown", "llvm-ar");
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
        cargo.envs(more.iter().map(|(name, value)| (*name, value.as_str())));
        let status = cargo.status().context("unshare could not be started")?;
        ensure!(status.success(), "the build for {} failed", port.target());
        let results = target().join(port.target()).join("release");
        Ok(if port == Port::Wasm { results } else { results.join(port.program()) })
    }
}

fn fetch(more: &[&str], from: &Path) -> anyhow::Result<()> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["fetch", "--quiet", "--locked"]).args(more).current_dir(from).env("RUSTC_BOOTSTRAP", "1");
    ensure!(cargo.status()?.success(), "cargo fetch {} failed", more.join(" "));
    Ok(())
}

/// The directory of the results, outside the root; inside it is `/target`.
pub fn target() -> PathBuf {
    top().join("target/ports")
}

fn registry() -> PathBuf {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    home.unwrap_or_else(|| Path::new("/root/.cargo").to_owned()).join("registry")
}

/// The path of a port's program inside the root.
pub fn inside(port: Port) -> anyhow::Result<String> {
    if port == Port::Wasm {
        bail!("a page has no program");
    }
    Ok(format!("/target/{}/release/{}", port.target(), port.program()))
}
