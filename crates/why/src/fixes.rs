//! The fix for each cause: one command, the command that reverts it, and the equivalent change to a process.

use crate::cause::{Change, Fix};
use crate::facts::{Card, Facts, Known, Other, Rules, Server, Unit};
use say::shell::{CommandLine, NOT_SHOWN};
use say::{Message, say};
use server::Kind;
use server::process::option;

pub const LAYERS: &[&str] = &["-ngl", "--gpu-layers", "--n-gpu-layers"];
const FLASH: &[&str] = &["-fa", "--flash-attn"];
const BATCH: &[&str] = &["-ub", "--ubatch-size"];
const CONTEXT: &[&str] = &["-c", "--ctx-size"];
const SLOTS: &[&str] = &["-np", "--parallel"];
const KEYS: &[&str] = &["-ctk", "--cache-type-k"];
const VALUES: &[&str] = &["-ctv", "--cache-type-v"];

fn fix(command: impl Into<String>, undo: impl Into<String>, verify: Message) -> Fix {
    Fix { command: command.into(), undo: undo.into(), verify, note: None, change: None }
}

fn again() -> Message {
    say!("why-verify-again")
}

/// The server's own command line with these options changed.
fn with_options(server: &Server, options: &[(&[&'static str], &str)]) -> String {
    let mut words: Vec<String> = server.command.clone();
    if words.is_empty() {
        words.push(server.kind.name().to_owned());
    }
    options.iter().for_each(|(names, value)| set_option(&mut words, names, value));
    quoted(&words)
}

/// Sets an option of a command line, whichever of its names and forms is present.
pub fn set_option(words: &mut Vec<String>, names: &[&str], value: &str) {
    let known = |word: &str| names.iter().any(|name| word == *name || word.starts_with(&format!("{name}=")));
    match words.iter().position(|word| known(word)) {
        Some(at) if words[at].contains('=') => {
            let name = words[at].split('=').next().unwrap_or_default().to_owned();
            words[at] = format!("{name}={value}");
        }
        Some(at) => match words.get_mut(at + 1) {
            // Before 2025-08, `-fa` had no value.
            Some(next) if !next.starts_with('-') || next.parse::<f64>().is_ok() => value.clone_into(next),
            _ => words.insert(at + 1, value.to_owned()),
        },
        None => words.extend([names.first().copied().unwrap_or_default().to_owned(), value.to_owned()]),
    }
}

/// Removes an option and its value.
pub fn remove_option(words: &mut Vec<String>, names: &[&str]) {
    let Some(at) = words.iter().position(|word| names.contains(&word.split('=').next().unwrap_or_default())) else {
        return;
    };
    let removed = words.remove(at);
    let has_value = |next: &String| !next.starts_with('-') || next.parse::<f64>().is_ok();
    if !removed.contains('=') && words.get(at).is_some_and(has_value) {
        words.remove(at);
    }
}

/// The words are untrusted. If one cannot be pasted safely, the whole command is hidden.
fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| say::shell::word(word)).collect();
    if words.iter().any(|word| word == NOT_SHOWN) { NOT_SHOWN.to_owned() } else { words.join(" ") }
}

fn changed(server: &Server, names: &'static [&'static str], old: &str, new: &str, verify: Message) -> Fix {
    let line = |value: &str| with_options(server, &[(names, value)]);
    let exec = || {
        let mut words = server.command.clone();
        set_option(&mut words, names, new);
        let program = std::path::PathBuf::from(words.first()?);
        // Only a whole path can be pasted into a unit.
        exec_lines(&program, &words).filter(|_| program.is_absolute())
    };
    let service = server.unit.as_ref().and_then(|unit| Some(drop_in(unit, &exec()?)));
    let (command, undo) = service.unwrap_or_else(|| (line(new), line(old)));
    let mut made = fix(command, undo, verify);
    made.change = Some(Change::Option { names: names.to_vec(), old: old.to_owned(), new: new.to_owned() });
    made
}

/// The file of a fix in a service's drop-in directory.
pub const DROP_IN: &str = "50-whichkernel.conf";

/// `ExecStart` lines that replace a service's own. Systemd expands `%` and `$` in them, and has quotes of its own
/// (systemd.service(5), COMMAND LINES). None if a word cannot be written.
pub fn exec_lines(program: &std::path::Path, words: &[String]) -> Option<Vec<String>> {
    let (name, rest) = words.split_first()?;
    let program = program.to_str()?;
    let mut line = match name == program {
        true => systemd_word(name, true)?,
        // `@`: the next word is the name under which the program runs.
        false => format!("@{} {}", systemd_word(program, true)?, systemd_word(name, true)?),
    };
    for word in rest {
        line.push(' ');
        line.push_str(&systemd_word(word, true)?);
    }
    Some(vec!["ExecStart=".to_owned(), format!("ExecStart={line}")])
}

/// An `Environment` line of a service, in which systemd does not expand `$`.
pub fn environment_line(name: &str, value: &str) -> Option<String> {
    Some(format!("Environment={}", systemd_word(&format!("{name}={value}"), false)?))
}

fn systemd_word(word: &str, dollars: bool) -> Option<String> {
    if word.chars().any(char::is_control) {
        return None;
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:=,@+-".contains(&byte);
    let mut text = word.replace('%', "%%");
    if dollars {
        text = text.replace('$', "$$");
    }
    if !word.is_empty() && word.bytes().all(plain) {
        return Some(text);
    }
    Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// Writes these lines next to a service's own file and restarts it; also returns the command that undoes this.
fn drop_in(unit: &Unit, lines: &[String]) -> (String, String) {
    let name = &unit.name;
    let (root, systemctl, dir) = match unit.of_user {
        true => ("", "systemctl --user", format!(".config/systemd/user/{name}.d")),
        false => ("sudo ", "sudo systemctl", format!("/etc/systemd/system/{name}.d")),
    };
    // A path below the home directory is quoted without it.
    let home = |path: &str| match unit.of_user {
        true => format!("~/{}", say::shell::word(path)),
        false => say::shell::word(path),
    };
    let file = home(&format!("{dir}/{DROP_IN}"));
    let lines: Vec<String> = lines.iter().map(|line| say::shell::word(line)).collect();
    let restart = format!("{systemctl} daemon-reload && {systemctl} restart {}", say::shell::word(name));
    let (dir, lines) = (home(&dir), lines.join(" "));
    let write = format!("{root}mkdir -p {dir} && printf '%s\\n' '[Service]' {lines} | {root}tee {file} >/dev/null");
    (format!("{write} && {restart}"), format!("{root}rm {file} && {restart}"))
}

fn variable(server: &Server, name: &'static str, old: Option<String>, new: &str, verify: Message) -> Fix {
    let line = || match server.command.is_empty() {
        true => "ollama serve".to_owned(),
        false => quoted(&server.command),
    };
    let serve = |value: &str| match line() {
        line if line == NOT_SHOWN => line,
        line => format!("{name}={} {line}", say::shell::word(value)),
    };
    let unset = || format!("env -u {name} {}", line());
    let (command, undo) = match &server.unit {
        Some(unit) => drop_in(unit, &[environment_line(name, new).unwrap_or_default()]),
        None => (serve(new), old.as_deref().map_or_else(unset, serve)),
    };
    let mut made = fix(command, undo, verify);
    made.change = Some(Change::Variable { name, old, new: new.to_owned() });
    made
}

/// All layers if the command line requests fewer, otherwise a context that fits.
pub fn offload(facts: &Facts, server: &Server, gpu: u64, of: u64) -> Option<Fix> {
    let verify = say!("why-verify-log", expect = format!("offloaded {of}/{of} layers to GPU"));
    match server.kind {
        Kind::LlamaServer if option(&server.command, LAYERS).is_some() => {
            Some(changed(server, LAYERS, &gpu.to_string(), "99", verify))
        }
        _ => less_context(facts, server),
    }
}

/// Halves the context until its cache fits, which gives a common power of two.
fn fitting_context(facts: &Facts, server: &Server) -> Option<(u64, u64)> {
    let (model, card) = (facts.model.as_ref()?, facts.card()?);
    let tokens = server.context.as_ref()?.value;
    let (k, v) = facts.cache();
    let per_token = model.kv_bytes(k, v).filter(|bytes| *bytes > 0.0)?;
    let room = (card.vram? as f64 - model.weights?.total as f64) / per_token;
    let mut fitting = tokens.checked_next_power_of_two()?;
    while fitting as f64 > room * 0.9 && fitting > 1024 {
        fitting /= 2;
    }
    (fitting < tokens && fitting as f64 <= room).then_some((tokens, fitting))
}

pub fn less_context(facts: &Facts, server: &Server) -> Option<Fix> {
    let (old, new) = fitting_context(facts, server)?;
    let mut made = match server.kind {
        Kind::Ollama => variable(server, "OLLAMA_CONTEXT_LENGTH", Some(old.to_string()), &new.to_string(), again()),
        Kind::LlamaServer => changed(server, CONTEXT, &old.to_string(), &new.to_string(), again()),
        _ => return None,
    };
    made.note = Some(say!("why-plan-loses", tokens = new));
    Some(made)
}

pub fn one_slot(server: &Server, old: u64) -> Option<Fix> {
    let (old, new) = (old.to_string(), "1");
    match server.kind {
        Kind::Ollama => Some(variable(server, "OLLAMA_NUM_PARALLEL", Some(old), new, again())),
        Kind::LlamaServer => Some(changed(server, SLOTS, &old, new, again())),
        _ => None,
    }
}

pub fn more_slots(server: &Server) -> Option<Fix> {
    let old = server.slots.as_ref().map_or(1, |slots| slots.value);
    let new = old.max(1).saturating_mul(2).to_string();
    match server.kind {
        Kind::Ollama => Some(variable(server, "OLLAMA_NUM_PARALLEL", Some(old.to_string()), &new, again())),
        Kind::LlamaServer => Some(changed(server, SLOTS, &old.to_string(), &new, again())),
        _ => None,
    }
}

pub fn flash_on(server: &Server) -> Option<Fix> {
    let verify = say!("why-verify-log", expect = "Flash Attention enabled");
    match server.kind {
        Kind::Ollama => Some(variable(server, "OLLAMA_FLASH_ATTENTION", Some("0".to_owned()), "1", verify)),
        Kind::LlamaServer => Some(changed(server, FLASH, "off", "on", verify)),
        _ => None,
    }
}

/// Uses the type of the keys for both; f16 if both already have the same type or the keys are f32.
pub fn cache_type(server: &Server, k: &str, v: &str) -> Option<Fix> {
    let new = if k != v && k != "f32" { k } else { "f16" };
    match server.kind {
        Kind::Ollama => Some(variable(server, "OLLAMA_KV_CACHE_TYPE", Some(k.to_owned()), new, again())),
        Kind::LlamaServer if k != v => Some(changed(server, VALUES, v, new, again())),
        Kind::LlamaServer => {
            let line = |k: &str, v: &str| with_options(server, &[(KEYS, k), (VALUES, v)]);
            Some(fix(line(new, new), line(k, v), again()))
        }
        _ => None,
    }
}

pub fn micro_batch(server: &Server, old: u64, new: u64) -> Option<Fix> {
    (server.kind == Kind::LlamaServer).then(|| changed(server, BATCH, &old.to_string(), &new.to_string(), again()))
}

/// A release with the newer rule, identified by its llama.cpp build.
pub fn upgrade(facts: &Facts, rules: &Rules) -> Option<Fix> {
    let (server, newer) = (facts.server.as_ref()?, rules.newer.as_ref()?);
    let version = server.version.as_deref()?;
    let verify = say!("why-verify-again");
    match server.kind {
        Kind::Ollama => {
            let build = newer.version.rsplit('b').next()?.parse::<u64>().ok()?;
            let release = first_ollama_with(build)?;
            let install =
                |version: &str| format!("curl -fsSL https://ollama.com/install.sh | OLLAMA_VERSION={version} sh");
            Some(fix(install(release), install(version), verify))
        }
        Kind::LlamaServer => {
            let build = |version: &str| {
                let words = CommandLine::new("git checkout {}", [version]);
                words.and(&"cmake --build build --target llama-server".into())
            };
            let newest = newer.version.rsplit(' ').next()?.to_owned();
            let old = version.split('-').next()?.to_owned();
            Some(fix(build(&newest), build(&old), verify))
        }
        _ => None,
    }
}

/// The oldest Ollama release whose llama.cpp is at least this build.
fn first_ollama_with(build: u64) -> Option<&'static str> {
    let builds = |release: &str| {
        let identity =
            server::Identity { kind: Kind::Ollama, version: Some(release.to_owned()), ..server::Identity::default() };
        server::llama_build::build(&identity, None).map(|known| known.number)
    };
    source::versions::ollama_releases().find(|release| builds(release).is_some_and(|known| known >= build))
}

pub fn release_build(known: &Known<String>) -> Fix {
    let dir = known.place.rsplit_once('/').map_or("build", |(dir, _)| dir);
    let build =
        |kind: &str| CommandLine::new("cmake -B {} -DCMAKE_BUILD_TYPE={} && cmake --build {}", [dir, kind, dir]);
    fix(build("Release"), build(&known.value), again())
}

/// Chooses by the package of the program: Debian packages its backends separately; other builds need a build option.
pub fn gpu_backend(server: &Server, card: &Card) -> Fix {
    let nvidia = card.target.as_deref().is_some_and(|target| target.starts_with("sm_"));
    let program = server.command.first().map_or("", String::as_str);
    match server.kind {
        Kind::Ollama => fix(
            "curl -fsSL https://ollama.com/install.sh | sh",
            "sudo rm -r /usr/local/lib/ollama",
            say!("why-verify-log", expect = "inference compute ... library=ROCm"),
        ),
        _ if program.starts_with("/usr/bin/") && !nvidia => fix(
            "sudo apt install libggml0-backend-hip",
            "sudo apt remove libggml0-backend-hip",
            Message::verbatim("llama-server --list-devices"),
        ),
        _ => {
            let switch = if nvidia { "GGML_CUDA" } else { "GGML_HIP" };
            let build = |on: &str| format!("cmake -B build -D{switch}={on} && cmake --build build");
            fix(build("ON"), build("OFF"), Message::verbatim("llama-server --list-devices"))
        }
    }
}

/// ROCm numbers GPUs in the order of the kernel's topology. Only the driver knows Vulkan's order, so no command is
/// suggested for Vulkan.
pub fn other_device(server: &Server, wanted: usize, used: usize) -> Option<Fix> {
    let hip = server.backends.as_ref().is_some_and(|all| all.iter().any(|name| name.contains("hip")));
    let number = |at: usize| at.to_string();
    hip.then(|| variable(server, "ROCR_VISIBLE_DEVICES", Some(number(used)), &number(wanted), again()))
}

/// ggml looks only at whether the variable exists, so no value turns the matrices on again.
pub fn coopmat_on(server: &Server, old: &str) -> Fix {
    let name = "GGML_VK_DISABLE_COOPMAT";
    let line = if server.command.is_empty() { "ollama serve".to_owned() } else { quoted(&server.command) };
    let (command, undo) = match &server.unit {
        Some(unit) => drop_in(unit, &[format!("UnsetEnvironment={name}")]),
        None => (format!("env -u {name} {line}"), format!("{name}={} {line}", say::shell::word(old))),
    };
    fix(command, undo, say!("why-verify-log", expect = "matrix cores: KHR_coopmat"))
}

/// A build for exactly this target; `old` is the override used before.
pub fn built_for(target: &str, old: Option<&str>) -> Fix {
    let command =
        CommandLine::new("cmake -B b -DGGML_HIP=ON -DGPU_TARGETS={} && cmake --build b", [target]).to_string();
    let undo = match old {
        Some(value) => CommandLine::new("rm -r b && export HSA_OVERRIDE_GFX_VERSION={}", [value]).to_string(),
        None => "rm -r b".to_owned(),
    };
    let verify = CommandLine::new("whichkernel inspect b/bin/libggml-hip.so --has-target {}", [target]);
    let note = old.map(|_| say!("why-note-override"));
    Fix { note, ..fix(command, undo, Message::verbatim(verify)) }
}

fn write(place: &str, file: &str, value: &str) -> String {
    CommandLine::new("echo {} | sudo tee {}", [value, &format!("{place}/{file}")]).to_string()
}

pub fn power_level(place: &str, old: &str) -> Fix {
    let file = "power_dpm_force_performance_level";
    fix(write(place, file, "auto"), write(place, file, old), again())
}

/// The driver expects microwatts.
pub fn power_cap(file: &str, old: u64, new: u64) -> Fix {
    let set = |watts: u64| {
        let micro = watts.saturating_mul(1_000_000).to_string();
        CommandLine::new("echo {} | sudo tee {}", [micro.as_str(), file])
    };
    fix(set(new), set(old), again())
}

/// Selects the card by its position on the PCI bus.
pub fn nvidia_power(slot: &str, old: u64, new: u64) -> Fix {
    let set = |watts: u64| CommandLine::new("sudo nvidia-smi -i {} -pl {}", [slot, &watts.to_string()]).to_string();
    fix(set(new), set(old), again())
}

pub fn stop_other(other: &Other) -> Fix {
    let pid = other.pid.to_string();
    fix(CommandLine::new("kill -STOP {}", [&pid]), CommandLine::new("kill -CONT {}", [&pid]), again())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Systemd 252 starts a program with exactly these words and this value, from exactly these lines.
    #[test]
    fn a_command_line_is_written_in_systemds_own_quotes() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let exec = |list: &[&str]| exec_lines(Path::new("/usr/bin/s"), &words(list)).map(|lines| lines[1].clone());
        assert_eq!(exec(&["/usr/bin/s", "-m", "/a/b.gguf"]).as_deref(), Some("ExecStart=/usr/bin/s -m /a/b.gguf"));
        assert_eq!(exec(&["s", "-ub", "512"]).as_deref(), Some("ExecStart=@/usr/bin/s s -ub 512"));
        assert_eq!(
            exec(&["/usr/bin/s", "a b", "50%", "$HOME", "q\"\\", "", ";"]).as_deref(),
            Some(r#"ExecStart=/usr/bin/s "a b" "50%%" "$$HOME" "q\"\\" "" ";""#)
        );
        assert_eq!(exec(&["/usr/bin/s", "a\nb"]), None);
        assert_eq!(exec(&[]), None);
        assert_eq!(environment_line("A", "x $y %").as_deref(), Some(r#"Environment="A=x $y %%""#));
    }
}
