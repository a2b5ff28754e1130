//! A server that systemd runs: a temporary drop-in restarts it for a measurement, and a permanent one keeps a fix.
//!
//! Every start is systemd's own, so that the user, the limits and the sandbox of the service apply. The temporary file is in the
//! runtime directory: a reboot removes it, even if we were killed.

use super::running::{Running, Setting};
use super::systemd::Systemd;
use probe::lanes::{Lane, Served, Starter, free_port};
use probe::live::Ended;
use say::{Message, bail, say};
use server::Endpoint;
use server::dialect::listen_at;
use server::process::option;
use std::path::{Path, PathBuf};
use sys::files::{self, Access};
use sys::http::Address;
use why::facts::Unit;
use why::fixes::{DROP_IN, environment_line, exec_lines};

/// Its name sorts after the file of a kept fix, so its settings take precedence.
const MEASURE: &str = "60-whichkernel-measure.conf";
const MOST: u64 = 1 << 20;

/// A service, and the process that it runs.
#[derive(Debug)]
pub struct Service {
    pub systemd: Systemd,
    running: Running,
    /// The drop-in directories: a permanent one, and one that lasts until the next boot.
    lasting: PathBuf,
    fleeting: PathBuf,
    /// Whether `ExecStart` has a prefix that a copy of the process's command line would lose.
    prefixed: bool,
}

/// The server's process as a drop-in changes it; `variables` are those that the drop-in sets.
struct Wanted {
    words: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Service {
    /// Checks everything that can be checked before the service is touched.
    pub fn read(unit: &Unit, pid: u32) -> say::Result<Service> {
        let name = &unit.name;
        let systemd = Systemd::of(unit)?;
        let running = if unit.of_user { Running::read(pid)? } else { Running::any(pid)? };
        let (lasting, fleeting) = Self::places(unit)?;
        let service = Service { systemd, running, lasting, fleeting, prefixed: false };
        let shown = service.systemd.show(&["LoadState", "MainPID", "Transient", "ExecStartEx"])?;
        let of = |key: &str| shown.get(key).map_or("", String::as_str);
        if of("LoadState") != "loaded" || of("MainPID") != pid.to_string() {
            bail!("why-fix-service-process", unit = name, pid, main = of("MainPID"));
        }
        if of("Transient") == "yes" {
            bail!("why-fix-service-transient", unit = name);
        }
        let left = service.fleeting.join(MEASURE);
        if left.exists() {
            bail!("why-fix-service-left", path = left, unit = name);
        }
        let prefixed = of("ExecStartEx").split("flags=").skip(1).any(|flags| !flags.starts_with(" ;"));
        Ok(Service { prefixed, ..service })
    }

    fn places(unit: &Unit) -> say::Result<(PathBuf, PathBuf)> {
        let dir = format!("{}.d", unit.name);
        if !unit.of_user {
            return Ok((Path::new("/etc/systemd/system").join(&dir), Path::new("/run/systemd/system").join(&dir)));
        }
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
        let run = variable("XDG_RUNTIME_DIR").unwrap_or_else(|| format!("/run/user/{}", sys::host::user()).into());
        let Some(config) = config else { bail!("why-fix-service-home") };
        Ok((config.join("systemd/user").join(&dir), run.join("systemd/user").join(&dir)))
    }

    /// The drop-in of a kept fix.
    pub fn file(&self) -> PathBuf {
        self.lasting.join(DROP_IN)
    }

    pub fn running(&self) -> &Running {
        &self.running
    }

    /// The command line and the variables with this setting, and with another address if `port` is given.
    fn wanted(&self, setting: Option<&Setting>, port: Option<u16>) -> Wanted {
        let (mut words, mut variables) = (self.running.words().to_vec(), Vec::new());
        if let Some(port) = port {
            variables.extend(listen_at(port).map(|(name, value)| (name.to_owned(), value)));
            for (names, value) in [(["--port"], port.to_string()), (["--host"], "127.0.0.1".to_owned())] {
                if option(&words, &names).is_some() {
                    why::fixes::set_option(&mut words, &names, &value);
                }
            }
        }
        if let Some(setting) = setting {
            setting.apply(&mut words, &mut variables);
        }
        Wanted { words, variables }
    }

    fn lines(&self, wanted: &Wanted) -> Result<Vec<String>, Message> {
        let unfit = || say!("why-fix-service-words", unit = self.systemd.unit.name);
        let one = |(name, value): &(String, String)| environment_line(name, value).ok_or_else(unfit);
        let mut lines = wanted.variables.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        if wanted.words != self.running.words() {
            if self.prefixed {
                return Err(say!("why-fix-service-prefix", unit = self.systemd.unit.name));
            }
            lines.extend(exec_lines(self.running.program(), &wanted.words).ok_or_else(unfit)?);
        }
        Ok(lines)
    }

    /// Whether the process has the settings of a drop-in; None until it runs the server's program.
    fn holds(&self, wanted: &Wanted, pid: u32) -> Option<bool> {
        let now = Running::any(pid).ok().filter(|now| now.program() == self.running.program())?;
        let set = |(name, value): &(String, String)| now.variable(name) == Some(value.as_str());
        Some(now.words() == wanted.words && wanted.variables.iter().all(set))
    }

    /// Writes the permanent drop-in, after the lines of an earlier fix, and restarts the service with it.
    pub fn keep(&self, setting: &Setting, before: Option<&str>, at: &Endpoint) -> Result<u32, Message> {
        let head = before.map_or_else(|| "[Service]\n".to_owned(), str::to_owned);
        let wanted = self.wanted(Some(setting), None);
        Self::write(&self.file(), &format!("{head}{}\n", self.lines(&wanted)?.join("\n")))?;
        self.systemd.restart(at, &|pid| self.holds(&wanted, pid))
    }

    /// Errors in both drop-ins of a measurement are reported before anything is changed.
    pub fn check(&self, setting: &Setting) -> Result<(), Message> {
        let lines = |setting| self.lines(&self.wanted(setting, Some(1)));
        lines(Some(setting)).and(lines(None)).map(drop)
    }

    fn write(path: &Path, content: &str) -> Result<(), Message> {
        let about = |error: std::io::Error| say!("about-why", what = path.display().to_string(), why = error);
        let dir = path.parent().unwrap_or(path);
        files::create_dir_all(dir, Access::Public).map_err(about)?;
        files::replace(path, Access::Public, content).map_err(about)
    }

    /// Gives one of our files this content. None removes the file, and its directory if that is then empty.
    pub fn place(path: &Path, content: Option<&str>) -> Result<(), Message> {
        match content {
            Some(content) => Self::write(path, content),
            None => {
                let gone = match files::remove(path) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                    _ => Ok(()),
                };
                let empty = |dir: &&Path| std::fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none());
                if let Some(dir) = path.parent().filter(empty) {
                    let _ = files::remove_dir_all(dir);
                }
                gone.map_err(|error| say!("about-why", what = path.display().to_string(), why = error))
            }
        }
    }

    /// Ends a measurement by removing its file. The service keeps the settings until it is restarted.
    pub fn tidy(&self) -> Result<(), Message> {
        Self::place(&self.fleeting.join(MEASURE), None)
    }
}

/// The starter of the measurement: the lane `with` has the setting.
#[derive(Debug)]
pub struct Restarts<'a> {
    pub service: &'a Service,
    pub setting: Setting,
    pub key: Option<server::Key>,
}

struct Restarted {
    at: Endpoint,
    pid: u32,
    command: Vec<String>,
}

impl Starter for Restarts<'_> {
    fn start(&self, lane: &Lane) -> Result<Box<dyn Served>, Ended> {
        if sys::interrupt::asked() {
            return Err(Ended::Interrupted);
        }
        let (service, port) = (self.service, free_port()?);
        let setting = (lane.name == super::fix::WITH).then_some(&self.setting);
        let begun = || {
            let wanted = service.wanted(setting, Some(port));
            let lines = service.lines(&wanted)?.join("\n");
            Service::write(&service.fleeting.join(MEASURE), &format!("[Service]\n{lines}\n"))?;
            let at = Endpoint { key: self.key.clone(), ..Endpoint::new(Address::tcp("127.0.0.1", port)) };
            let pid = service.systemd.restart(&at, &|pid| service.holds(&wanted, pid))?;
            Ok(Restarted { at, pid, command: wanted.words })
        };
        Ok(Box::new(begun().map_err(Ended::Server)?))
    }
}

impl Served for Restarted {
    fn at(&self) -> &Endpoint {
        &self.at
    }

    fn pid(&self) -> u32 {
        self.pid
    }

    fn command(&self) -> &[String] {
        &self.command
    }

    fn log(&self) -> Option<&Path> {
        None
    }
}

/// The current content of one of our drop-ins; None if there is none.
pub fn present(path: &Path) -> Option<String> {
    sys::regular_file::text(path, MOST).ok()
}
