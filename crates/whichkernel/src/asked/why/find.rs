//! Finds the server in question: the named one, or the only one that runs.

use doctor::{Facts, Process};
use say::bail;
use say::shell::CommandLine;
use server::{Endpoint, Key, Role};
use sys::http::Address;

/// The chosen server.
#[derive(Debug, Clone)]
pub struct Chosen {
    pub at: Endpoint,
    /// The server's process, if it runs on this machine.
    pub pid: Option<u32>,
}

/// The user's way of naming a server.
#[derive(Debug, Default)]
pub struct Wanted<'a> {
    pub url: Option<&'a str>,
    pub pid: Option<u32>,
    pub name: Option<&'a str>,
}

/// Servers that clients connect to, each with its first address.
pub fn fronts(found: &Facts) -> Vec<(&Process, &Address)> {
    let of_ollama = |process: &&Process| {
        let servers = &found.servers.running;
        !servers.iter().any(|other| other.pid == process.parent && other.role == Role::OllamaServer)
    };
    let answers = found.servers.running.iter().filter(|process| process.role.answers()).filter(of_ollama);
    answers.filter_map(|process| Some((process, process.listens.first()?))).collect()
}

/// The command for a word that is not an address: a port, a server's name, a model file, or a model of Ollama's.
fn meant(word: &str) -> Option<CommandLine> {
    if let Ok(port) = word.parse::<u16>() {
        return Some(CommandLine::new("whichkernel why {}", [format!("http://127.0.0.1:{port}")]));
    }
    if word.ends_with(".gguf") {
        return Some(CommandLine::new("whichkernel why --model {} --gpu CARD", [word]));
    }
    match ["ollama", "llama-server", "vllm"].into_iter().find(|name| word.eq_ignore_ascii_case(name)) {
        Some(name) => Some(CommandLine::new("whichkernel why --name {}", [name])),
        // `llama3.1:8b`: no port begins with a digit and ends with a letter.
        None => {
            let (name, tag) = word.split_once(':')?;
            let model = !name.is_empty() && !word.contains('/') && tag.parse::<u16>().is_err() && !tag.is_empty();
            model.then(|| CommandLine::new("whichkernel why --name {}", ["ollama"]))
        }
    }
}

pub fn choose(found: &Facts, wanted: &Wanted<'_>, key: Option<Key>) -> say::Result<Chosen> {
    let fronts = fronts(found);
    let at = |to: &Address, key| Endpoint { key, ..Endpoint::new(to.clone()) };
    if let Some(url) = wanted.url {
        let endpoint = match (Endpoint::parse(url, key), meant(url)) {
            (Ok(endpoint), _) => endpoint,
            (Err(_), Some(command)) => bail!("why-typed", given = url, command),
            (Err(error), None) => return Err(error.into()),
        };
        let port = |at: &Address| if let Address::Tcp { port, .. } = at { Some(*port) } else { None };
        let same = |at: &Address| *at == endpoint.to || (port(at).is_some() && port(at) == port(&endpoint.to));
        let here = endpoint.to.is_here();
        let pid = fronts.iter().find(|(process, _)| here && process.listens.iter().any(same)).map(|(one, _)| one.pid);
        return Ok(Chosen { at: endpoint, pid });
    }
    if let Some(pid) = wanted.pid {
        let family = |front: u32| server::claims::tree(vec![front]);
        let mine = fronts.iter().find(|(process, _)| process.pid == pid || family(process.pid).contains(&pid));
        let Some((process, to)) = mine else { bail!("why-no-process", pid) };
        return Ok(Chosen { at: at(to, key), pid: Some(process.pid) });
    }
    let named = |process: &Process| match wanted.name {
        Some(name) => process.role.name().split(' ').next() == Some(name) || process.role.name() == name,
        None => true,
    };
    let fitting: Vec<_> = fronts.iter().filter(|(process, _)| named(process)).collect();
    match (fitting.as_slice(), wanted.name) {
        ([], Some(name)) => bail!("why-no-name", name),
        ([], None) => bail!("why-no-server"),
        ([(process, to)], _) => Ok(Chosen { at: at(to, key), pid: Some(process.pid) }),
        (several, _) => {
            let line = |(process, _): &&(&Process, &Address)| {
                let command = CommandLine::new("whichkernel why --pid {}", [process.pid.to_string()]);
                format!("{command} ({})", process.role.name())
            };
            bail!("why-several", list = several.iter().map(line).collect::<Vec<_>>())
        }
    }
}
