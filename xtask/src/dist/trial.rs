//! `cargo xtask dist-check DIR [ROOT...]`: installs every package of a directory into clean roots, runs it there as an
//! unprivileged user, and prints the time that this took.
//!
//! Without a ROOT, the root has only the C library of this machine, and the tools of this machine install into it. A
//! ROOT is a tar archive of a whole system (`mmdebstrap --variant=essential --include=python3-venv bookworm
//! bookworm.tar`), whose own tools install the package.

use crate::ports;
use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const QUESTION: [&str; 4] = ["explain", "9070xt", "Q4_K_M", "290"];
/// The path that the answer must name, as in README.md.
const ANSWER: &str = "MMQ";

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let Some((dir, systems)) = args.split_first() else {
        bail!("cargo xtask dist-check DIR [ROOT.tar...]");
    };
    let dir = fs::canonicalize(dir).with_context(|| dir.clone())?;
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&dir)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let mut checked = 0;
    for system in systems.iter().map(Some).chain(systems.is_empty().then_some(None)) {
        for name in &names {
            let Some(kind) = Kind::of(name) else { continue };
            if matches!(kind, Kind::Zip) {
                println!("{:6.2} s  {:8}  {name}", zip(&dir.join(name))?, "wine");
                checked += 1;
                continue;
            }
            // A container has no system: its root is empty.
            let system = system.filter(|_| !matches!(kind, Kind::Oci));
            let root = Root::new(system.map(Path::new))?;
            let seconds = root.installed_and_asked(kind, &dir.join(name))?;
            println!("{seconds:6.2} s  {:8}  {name}", root.name);
            checked += 1;
        }
    }
    ensure!(checked > 0, "{}: no package", dir.display());
    Ok(ExitCode::SUCCESS)
}

/// Unpacks the archive for Windows beside the other results of ports, and asks its program.
fn zip(package: &Path) -> anyhow::Result<f64> {
    let root = ports::Root::ready()?;
    // Wine creates its own directories at the first start, which is not part of the installation.
    done(&mut root.command("/", &["wine64", "wineboot", "--init"]))?;
    let place = ports::target().join("unpacked");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place)?;
    let start = Instant::now();
    done(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(package).arg(&place))?;
    let stem = package.file_stem().context("a file")?.to_string_lossy().into_owned();
    let program = format!("/target/unpacked/{stem}/whichkernel.exe");
    let answer = done(&mut root.command("/", &[&["wine64", &program], &QUESTION[..]].concat()))?;
    ensure!(answer.contains(ANSWER), "{stem} answered: {answer}");
    Ok(start.elapsed().as_secs_f64())
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Tar,
    Deb,
    Rpm,
    Wheel,
    Oci,
    /// The archive for Windows. Wine runs its program in the root that built it.
    Zip,
}

impl Kind {
    fn of(name: &str) -> Option<Kind> {
        let kinds = [
            ("x86_64-unknown-linux-gnu.tar.gz", Kind::Tar),
            (".deb", Kind::Deb),
            (".rpm", Kind::Rpm),
            (".whl", Kind::Wheel),
            ("-oci-amd64.tar", Kind::Oci),
            ("windows-gnu.zip", Kind::Zip),
        ];
        kinds.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, kind)| kind)
    }
}

struct Root {
    name: String,
    place: tempfile::TempDir,
    /// Whether the root is a system with its own tools.
    whole: bool,
}

impl Root {
    fn new(system: Option<&Path>) -> anyhow::Result<Root> {
        let place = tempfile::tempdir()?;
        // An unprivileged user must be able to enter it.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(place.path(), open)?;
        let Some(system) = system else {
            return Ok(Root { name: "empty".into(), place, whole: false });
        };
        done(Command::new("tar").arg("-xf").arg(system).arg("-C").arg(place.path()))?;
        let name = system.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Root { name, place, whole: true })
    }

    fn dir(&self) -> &Path {
        self.place.path()
    }

    fn installed_and_asked(&self, kind: Kind, package: &Path) -> anyhow::Result<f64> {
        let file = package.file_name().context("a file")?.to_string_lossy().into_owned();
        if self.whole {
            fs::copy(package, self.dir().join(&file))?;
        } else if !matches!(kind, Kind::Oci) {
            self.with_a_c_library()?;
        }
        let start = Instant::now();
        let program = match kind {
            Kind::Tar => self.tar(package)?,
            Kind::Deb => self.deb(package, &file)?,
            Kind::Rpm => self.rpm(package)?,
            Kind::Wheel => self.wheel(package, &file)?,
            Kind::Oci => self.oci(package)?,
            Kind::Zip => bail!("{file} is for Windows"),
        };
        let mut question = Command::new("chroot");
        question.arg("--userspec=65534:65534").arg(self.dir()).arg(program).args(QUESTION);
        question.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/nonexistent");
        let answer = done(&mut question)?;
        let seconds = start.elapsed().as_secs_f64();
        ensure!(answer.contains(ANSWER), "{file} answered: {answer}");
        Ok(seconds)
    }

    fn tar(&self, package: &Path) -> anyhow::Result<String> {
        done(Command::new("tar").arg("-xzf").arg(package).arg("-C").arg(self.dir()))?;
        let stem = package.file_name().unwrap_or_default().to_string_lossy().replace(".tar.gz", "");
        Ok(format!("/{stem}/whichkernel"))
    }

    fn deb(&self, package: &Path, file: &str) -> anyhow::Result<String> {
        if self.whole {
            done(self.inside("dpkg").arg("-i").arg(format!("/{file}")))?;
        } else {
            for dir in ["var/lib/dpkg/info", "var/lib/dpkg/updates"] {
                fs::create_dir_all(self.dir().join(dir))?;
            }
            fs::write(self.dir().join("var/lib/dpkg/status"), "")?;
            let root = format!("--root={}", self.dir().display());
            done(Command::new("dpkg").args([root.as_str(), "--force-depends", "-i"]).arg(package))?;
        }
        Ok("/usr/bin/whichkernel".into())
    }

    /// Uses rpm of this machine. A Debian root has no package that provides `libc.so.6` for rpm, so dependencies are
    /// only read.
    fn rpm(&self, package: &Path) -> anyhow::Result<String> {
        let needs = done(Command::new("rpm").args(["-qp", "--requires", "--nosignature"]).arg(package))?;
        ensure!(needs.contains("libc.so.6(GLIBC_2.34)(64bit)"), "{needs}");
        done(Command::new("rpm").args(["--checksig", "--nosignature"]).arg(package))?;
        let root = format!("--root={}", self.dir().display());
        done(Command::new("rpm").args([root.as_str(), "--nodeps", "--nosignature", "-i"]).arg(package))?;
        done(Command::new("rpm").args([root.as_str(), "-V", "--nodeps", "whichkernel"]))?;
        Ok("/usr/bin/whichkernel".into())
    }

    fn wheel(&self, package: &Path, file: &str) -> anyhow::Result<String> {
        const PIP: [&str; 6] = ["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"];
        if self.whole {
            done(self.inside("python3").args(["-m", "venv", "/venv"]))?;
            done(self.inside("/venv/bin/python3").args(PIP).arg(format!("/{file}")))?;
            return Ok("/venv/bin/whichkernel".into());
        }
        done(
            Command::new("python3")
                .args(PIP)
                .args(["--prefix=/usr", "--ignore-installed", "--root"])
                .arg(self.dir())
                .arg(package),
        )?;
        Ok("/usr/bin/whichkernel".into())
    }

    /// Reads the image like a container engine: layout, index, manifest, layers, and every blob by its digest.
    fn oci(&self, package: &Path) -> anyhow::Result<String> {
        let layout = tempfile::tempdir()?;
        done(Command::new("tar").arg("-xf").arg(package).arg("-C").arg(layout.path()))?;
        let read = |path: PathBuf| -> anyhow::Result<Value> { Ok(serde_json::from_slice(&fs::read(path)?)?) };
        let blob = |of: &Value| -> anyhow::Result<PathBuf> {
            let digest = of["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:")).context("a digest")?;
            let path = layout.path().join("blobs/sha256").join(digest);
            ensure!(super::sha256(&fs::read(&path)?) == digest, "{digest} is another blob");
            Ok(path)
        };
        let index = read(layout.path().join("index.json"))?;
        let manifest = read(blob(&index["manifests"][0])?)?;
        let config = read(blob(&manifest["config"])?)?;
        for layer in manifest["layers"].as_array().context("layers")? {
            done(Command::new("tar").arg("-xzf").arg(blob(layer)?).arg("-C").arg(self.dir()))?;
        }
        Ok(config["config"]["Entrypoint"][0].as_str().context("an entry point")?.to_owned())
    }

    fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("chroot");
        command.arg(self.dir()).arg(program).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/root");
        command
    }

    /// Copies only the libraries that the packages depend on.
    fn with_a_c_library(&self) -> anyhow::Result<()> {
        let listed = done(Command::new("ldd").arg("/bin/sh"))?;
        let loader = listed.split_whitespace().find(|word| word.contains("ld-linux")).context("a loader")?;
        let libraries = Path::new("/lib/x86_64-linux-gnu");
        let names = ["libc.so.6", "libm.so.6", "libgcc_s.so.1"].map(|name| libraries.join(name));
        for from in names.iter().map(PathBuf::as_path).chain([Path::new(loader)]) {
            let to = self.dir().join(from.strip_prefix("/")?);
            fs::create_dir_all(to.parent().context("a directory")?)?;
            fs::copy(from, to).with_context(|| from.display().to_string())?;
        }
        Ok(())
    }
}

/// The output of a command; if it failed, an error with all of the output.
fn done(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{command:?} failed: {said}{wrong}");
    Ok(said.into_owned())
}
