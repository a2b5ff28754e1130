//! Checks whether a command can be run here: its program, files, privileges, network and server.
//!
//! The check starts nothing and sends nothing. It reads only files, the environment and the kernel's tables. Every
//! command that is printed as advice is checked here, so that missing prerequisites are shown with it.

use crate::advice::Need;
use doctor::Facts;
use server::process::{OLLAMA_PORT, PROGRAMS};
use server::sockets::listener;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use sys::http::Address;

/// The properties of this machine that a command may need.
#[derive(Debug, Clone, Default)]
pub struct Feasibility {
    /// Whether we are root or have the capabilities for watching another process.
    may_probe: bool,
    /// Whether there is a connection to other machines: a route or a proxy.
    network: bool,
    /// Names and ids of the running processes.
    processes: BTreeSet<String>,
    /// Ports on which something listens.
    ports: BTreeSet<u16>,
    /// Whether installations are in the cache.
    runtimes: bool,
}

/// Shell builtins.
const BUILTIN: [&str; 9] = ["cd", "echo", "exit", "export", "printf", "set", "test", "unset", "umask"];

impl Feasibility {
    pub fn this(facts: &Facts) -> Feasibility {
        let lines = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let proxy = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
        let proxied = proxy.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        // A default route: destination zero, in either family (proc(5)).
        let route = lines("/proc/net/route").lines().any(|line| line.split('\t').nth(1) == Some("00000000"))
            || lines("/proc/net/ipv6_route")
                .lines()
                .any(|line| line.starts_with(&"0".repeat(32)) && !line.ends_with(" lo"));
        let tcp = lines("/proc/net/tcp") + &lines("/proc/net/tcp6");
        Feasibility {
            may_probe: ["bpf", "perfmon"].iter().all(|right| facts.permissions.has(right)),
            network: proxied || route,
            processes: processes(),
            ports: tcp.lines().filter_map(listener).map(|(at, _)| at.port()).collect(),
            runtimes: fs::read_dir(runtime::Cache::from_env().runtimes()).is_ok_and(|mut all| all.next().is_some()),
        }
    }

    /// The conditions that matter to most commands, as a cache key.
    pub fn state(&self) -> (bool, bool, bool, Vec<&str>, bool) {
        let servers = PROGRAMS.into_iter().filter(|name| self.processes.contains(*name)).collect();
        (self.may_probe, self.network, self.runtimes, servers, self.ports.contains(&OLLAMA_PORT))
    }

    /// The missing prerequisites of the command; empty if it can be run.
    pub fn needs(&self, command: &str) -> Vec<Need> {
        let mut needs = BTreeSet::new();
        for part in parts(command) {
            self.part(&words(&part), &mut needs);
        }
        needs.into_iter().collect()
    }

    fn part(&self, words: &[String], needs: &mut BTreeSet<Need>) {
        let is_setting =
            |word: &&String| word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'));
        let words: Vec<&String> = words.iter().skip_while(is_setting).collect();
        let (Some(program), rest) = (words.first(), words.get(1..).unwrap_or_default()) else { return };
        let found = |program: &str| sys::on_path(OsStr::new(program)).is_some();
        match program.as_str() {
            "sudo" => {
                if !found("sudo") {
                    needs.insert(Need::Program("sudo".to_owned()));
                }
                let options = |word: &&&String| word.starts_with('-');
                let rest: Vec<String> = rest.iter().skip_while(options).map(|word| (*word).clone()).collect();
                // With sudo, the current user's rights do not matter.
                Feasibility { may_probe: true, ..self.clone() }.part(&rest, needs);
            }
            "whichkernel" => self.own(rest, needs),
            "pgrep" if found("pgrep") => {
                let pattern = rest.last().map_or("", |word| word.as_str());
                let name = pattern.split(' ').next().unwrap_or_default();
                if !self.processes.contains(name) {
                    needs.insert(Need::Process(pattern.to_owned()));
                }
            }
            program if BUILTIN.contains(&program) || found(program) => {}
            program => {
                needs.insert(Need::Program(program.to_owned()));
            }
        }
    }

    /// Checks a `whichkernel` command.
    fn own(&self, words: &[&String], needs: &mut BTreeSet<Need>) {
        let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        let (ours, theirs) = (words.get(..end).unwrap_or_default(), words.get(end + 1..).unwrap_or_default());
        let value = |name: &str| {
            let at = ours.iter().position(|word| *word == name)?;
            ours.get(at + 1).map(|value| value.as_str())
        };
        let has = |name: &str| ours.iter().any(|word| *word == name);
        let mut plain = ours.iter().filter(|word| !word.starts_with('-')).map(|word| word.as_str());
        let (verb, first) = (plain.next().unwrap_or_default(), plain.next());
        if !theirs.is_empty() {
            let theirs: Vec<String> = theirs.iter().map(|word| (*word).clone()).collect();
            self.part(&theirs, needs);
        }
        for hole in ours.iter().skip(1).filter(|word| is_hole(word)) {
            needs.insert(Need::Filled((*hole).clone()));
        }
        match (verb, first) {
            ("watch", _) if theirs.is_empty() && value("--read").is_none() => {
                if !self.may_probe {
                    needs.insert(Need::Rights("CAP_BPF, CAP_PERFMON".to_owned()));
                }
                let target = value("--name").or_else(|| value("--pid"));
                needs.extend(target.filter(|it| !self.runs(it)).map(|it| Need::Process(it.to_owned())));
            }
            ("runtime", Some("fetch")) => self.fetches(needs),
            ("investigate", _) if has("--yes") => self.fetches(needs),
            ("probe", url) => {
                let named = url.filter(|url| url.contains(':')).and_then(|url| Address::parse(url, Some(80)).ok());
                let at = named.unwrap_or_else(|| Address::tcp("127.0.0.1", OLLAMA_PORT));
                if !self.answers(&at) {
                    needs.insert(Need::Server(at.url()));
                }
            }
            ("dryrun", _) if theirs.is_empty() && value("--runtime").is_none() && !self.runtimes => {
                needs.insert(Need::Runtime("debian-sid".to_owned()));
            }
            ("inspect" | "isa" | "source" | "history" | "diff", Some(what)) if !is_hole(what) => {
                needs.extend(self.missing(what));
            }
            _ => {}
        }
        needs.extend(value("--read").and_then(|file| self.missing(file)));
    }

    fn fetches(&self, needs: &mut BTreeSet<Need>) {
        if !self.network {
            needs.insert(Need::Network);
        }
    }

    fn runs(&self, target: &str) -> bool {
        // With a substitution, the process is known only at run time. The command inside it is checked separately.
        target.starts_with('$') || self.processes.contains(target)
    }

    /// Returns the missing requirement if a file, a process, or a tree at a commit does not exist.
    fn missing(&self, what: &str) -> Option<Need> {
        if what.chars().all(|c| c.is_ascii_digit()) {
            return (!self.processes.contains(what)).then(|| Need::Process(what.to_owned()));
        }
        let path = what.split('@').next().unwrap_or(what);
        // The path is a name that whichkernel itself resolves: `llama.cpp@b10586`, `debian-sid`.
        let known = !path.contains('/') && !path.contains(".so") && !path.ends_with(".gguf");
        let there = known || what.starts_with(['$', '<']) || Path::new(path).exists() || Path::new(what).exists();
        (!there).then(|| Need::File(path.to_owned()))
    }

    /// Whether a program listens at the address. For another machine, only checks whether there is a network, because
    /// nothing is sent.
    fn answers(&self, at: &Address) -> bool {
        match at {
            Address::Tcp { port, .. } if at.is_here() => self.ports.contains(port),
            Address::Tcp { .. } => self.network,
            Address::Unix(path) => path.exists(),
        }
    }
}

/// Whether the word is a placeholder for the user to fill in: `FILE`, `RUNNER_PID`.
fn is_hole(word: &str) -> bool {
    let word = word.split('/').next().unwrap_or(word);
    word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_') && word.chars().any(|c| c != '_')
}

/// Process ids, the kernel's names for them, and the names of their programs.
fn processes() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_string_lossy().into_owned();
        if !pid.chars().all(|c| c.is_ascii_digit()) {
            continue;
        }
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let program = command.split(|byte| *byte == 0).next().unwrap_or_default();
        let program = String::from_utf8_lossy(program);
        all.extend(program.rsplit('/').next().map(str::to_owned));
        all.extend(fs::read_to_string(entry.path().join("comm")).ok().map(|name| name.trim().to_owned()));
        all.insert(pid);
    }
    all
}

/// The commands separated by `;`, `&&`, `||` and `|`, and those in `$(...)` and `<(...)`.
fn parts(command: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut inner: Vec<String> = Vec::new();
    let (mut quote, mut depth) = (None, 0_usize);
    for c in command.chars() {
        match (c, quote) {
            ('\'' | '"', None) if depth == 0 => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('(', None) => {
                depth += 1;
                if depth == 1 {
                    inner.push(String::new());
                    continue;
                }
            }
            (')', None) => depth = depth.saturating_sub(1),
            (';' | '|' | '&', None) if depth == 0 => {
                all.push(String::new());
                continue;
            }
            _ => {}
        }
        let to = if depth > 0 { inner.last_mut() } else { all.last_mut() };
        if let Some(to) = to {
            to.push(c);
        }
    }
    all.into_iter().chain(inner.iter().flat_map(|inner| parts(inner))).filter(|part| !part.trim().is_empty()).collect()
}

/// Words as a shell splits them, without redirections.
fn words(part: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quote = None;
    for c in part.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => all.push(String::new()),
            _ => all.last_mut().map_or((), |word| word.push(c)),
        }
    }
    all.retain(|word| !word.is_empty() && !word.starts_with('>') && !word.starts_with("2>"));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare() -> Feasibility {
        Feasibility { processes: BTreeSet::from(["1".to_owned(), "init".to_owned()]), ..Feasibility::default() }
    }

    #[test]
    fn a_command_that_cannot_be_run_says_what_is_missing() {
        let program = |name: &str| Need::Program(name.to_owned());
        let on_path = |name: &str| sys::on_path(OsStr::new(name)).is_some();
        let cases: [(&str, Vec<Need>); 13] = [
            (
                "whichkernel inspect $(pgrep -o -f 'ollama runner') --record",
                vec![if on_path("pgrep") { Need::Process("ollama runner".into()) } else { program("pgrep") }],
            ),
            ("whichkernel doctor --record", vec![]),
            ("whichkernel no-such-verb", vec![]),
            ("no-such-program --now", vec![program("no-such-program")]),
            ("A=1 no-such-program && cd / | no-other", vec![program("no-other"), program("no-such-program")]),
            (
                "whichkernel inspect /no/such/libggml-hip.so --record",
                vec![Need::File("/no/such/libggml-hip.so".into())],
            ),
            ("whichkernel inspect 99999999 --record", vec![Need::Process("99999999".into())]),
            ("whichkernel isa FILE --record", vec![Need::Filled("FILE".into())]),
            ("whichkernel investigate --yes", vec![Need::Network]),
            ("whichkernel runtime fetch debian-sid --yes", vec![Need::Network]),
            ("whichkernel probe --model x --record", vec![Need::Server("http://127.0.0.1:11434".into())]),
            (
                "whichkernel watch --name ollama --record",
                vec![Need::Rights("CAP_BPF, CAP_PERFMON".into()), Need::Process("ollama".into())],
            ),
            ("whichkernel watch --how logs --record -- no-such-program serve", vec![program("no-such-program")]),
        ];
        for (command, needs) in cases {
            let mut found = bare().needs(command);
            let mut needs = needs;
            found.sort();
            needs.sort();
            assert_eq!(found, needs, "{command}");
        }
    }

    #[test]
    fn what_is_here_is_not_asked_for() {
        let full = Feasibility {
            may_probe: true,
            network: true,
            processes: BTreeSet::from(["ollama".to_owned()]),
            ports: BTreeSet::from([11434]),
            runtimes: true,
        };
        for command in [
            "whichkernel watch --name ollama --record",
            "whichkernel investigate --yes",
            "whichkernel probe http://127.0.0.1:11434 --record",
            "whichkernel dryrun --gpu mi25 --record; whichkernel dryrun --gpu rx-9070-xt --record",
            "whichkernel source llama.cpp@b10586 --gpu gfx1201",
            "sh -c 'a | b'",
        ] {
            assert_eq!(full.needs(command), [], "{command}");
        }
        assert_eq!(
            full.needs("whichkernel inspect $(no-such-pgrep -o x) --record"),
            [Need::Program("no-such-pgrep".into())]
        );
    }
}
