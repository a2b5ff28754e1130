//! Recognises server programs by their command lines.

use schemars::JsonSchema;
use serde::Serialize;

/// Program names as installed by packages, and the usual names of units.
pub const PROGRAMS: [&str; 3] = ["ollama", "llama-server", "vllm"];
pub const UNITS: [&str; 4] = ["ollama.service", "llama-server.service", "llama.cpp.service", "vllm.service"];
pub const OLLAMA_PORT: u16 = 11434;

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Role: name {
        OllamaServer = "ollama serve",
        OllamaRunner = "ollama runner",
        LlamaServer = "llama-server",
        VllmServer = "vllm serve",
        /// `VLLM::EngineCore` or a worker of it.
        VllmEngine = "vllm engine",
    }
}

impl Role {
    /// The role of a process, by the program's own name and its first word, so that `grep ollama` does not count.
    pub fn of(command: &[String]) -> Option<Role> {
        let name = |at: usize| command.get(at).and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        let word = |at: usize| command.get(at).map_or("", String::as_str);
        match (name(0), word(1)) {
            ("ollama" | "ollama-lib", "serve" | "start") => Some(Role::OllamaServer),
            ("ollama" | "ollama-lib", "runner") => Some(Role::OllamaRunner),
            // Some packages install the server under their own name.
            ("llama-server" | "llama-server-impl", _) => Some(Role::LlamaServer),
            ("vllm", "serve") => Some(Role::VllmServer),
            // vLLM's processes set their own titles (vllm/utils, set_process_title).
            (title, _) if title.starts_with("VLLM::APIServer") => Some(Role::VllmServer),
            (title, _) if title.starts_with("VLLM::") => Some(Role::VllmEngine),
            (python, "-m") if python.starts_with("python") && word(2) == "vllm.entrypoints.openai.api_server" => {
                Some(Role::VllmServer)
            }
            (python, _) if python.starts_with("python") && name(1) == "vllm" && word(2) == "serve" => {
                Some(Role::VllmServer)
            }
            _ => None,
        }
    }

    /// Whether clients connect to the process; the other processes answer only their own server.
    pub fn answers(self) -> bool {
        !matches!(self, Role::OllamaRunner | Role::VllmEngine)
    }

    /// Whether the process has a model and computes with it.
    pub fn computes(self) -> bool {
        !matches!(self, Role::OllamaServer | Role::VllmServer)
    }
}

/// Splits the content of `/proc/PID/cmdline` or `environ`.
pub fn strings(bytes: &[u8]) -> Vec<String> {
    let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// Whether a program's command line makes claims: the servers, and llama.cpp's other programs.
pub fn makes_claims(command: &[String]) -> bool {
    let program = command.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    program.starts_with("llama") || program.starts_with("ollama") || Role::of(command).is_some()
}

/// `--port 81`, `--port=81`.
pub fn option(command: &[String], names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        let joined = command.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned));
        joined.or_else(|| command.get(command.iter().position(|word| word == name)? + 1).cloned())
    })
}

/// The program and its listening address, from the command line that starts it: `llama-server --port 8081`, `ollama
/// serve`.
pub fn listens_at(command: &[String]) -> Option<(&'static str, String)> {
    let named = |name: &str| command.iter().any(|word| word.rsplit('/').next() == Some(name));
    let has = |word: &str| command.iter().any(|known| known == word);
    if named("ollama") && has("serve") {
        let host = std::env::var("OLLAMA_HOST").ok().filter(|host| host.contains(':'));
        let host = host.unwrap_or_else(|| format!("127.0.0.1:{OLLAMA_PORT}")).replace("0.0.0.0", "127.0.0.1");
        return Some(("ollama", format!("http://{}", host.trim_start_matches("http://"))));
    }
    let (program, usual) = match () {
        () if named("llama-server") => ("llama-server", "8080"),
        () if named("vllm") && has("serve") => ("vllm", "8000"),
        () => return None,
    };
    let host = option(command, &["--uds", "--host"]).filter(|host| host != "0.0.0.0");
    let port = option(command, &["--port"]).unwrap_or_else(|| usual.to_owned());
    Some((
        program,
        match host.unwrap_or_else(|| "127.0.0.1".to_owned()) {
            path if path.starts_with('/') => format!("unix:{path}"),
            host => format!("http://{host}:{port}"),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn servers_are_told_from_bystanders() {
        let of = |text: &str| Role::of(&words(text));
        assert_eq!(of("/usr/local/bin/ollama serve"), Some(Role::OllamaServer));
        assert_eq!(of("/usr/local/bin/ollama runner --model x"), Some(Role::OllamaRunner));
        assert_eq!(of("grep ollama serve"), None);
        assert_eq!(of("ollama run qwen"), None);
        assert_eq!(of("/usr/bin/python3 /usr/local/bin/vllm serve org/model"), Some(Role::VllmServer));
        assert_eq!(of("python3.12 -m vllm.entrypoints.openai.api_server --port 81"), Some(Role::VllmServer));
        assert_eq!(of("VLLM::EngineCore"), Some(Role::VllmEngine));
        assert_eq!(of("VLLM::Worker_TP0"), Some(Role::VllmEngine));
        assert_eq!(of("python3 -m vllm.entrypoints.cli.main bench"), None);
        assert_eq!(of("tail -f vllm serve"), None);
    }

    #[test]
    fn a_command_says_where_its_server_listens() {
        let of = |text: &str| listens_at(&words(text));
        let at = |program: &'static str, url: &str| Some((program, url.to_owned()));
        assert_eq!(of("llama-server -m m.gguf"), at("llama-server", "http://127.0.0.1:8080"));
        assert_eq!(of("/usr/bin/llama-server --port=81 --host 0.0.0.0"), at("llama-server", "http://127.0.0.1:81"));
        assert_eq!(
            of("whichkernel dryrun --gpu x -- llama-server --port 82"),
            at("llama-server", "http://127.0.0.1:82")
        );
        assert_eq!(of("llama-server --host /run/l.sock"), at("llama-server", "unix:/run/l.sock"));
        assert_eq!(of("vllm serve org/model"), at("vllm", "http://127.0.0.1:8000"));
        assert_eq!(of("vllm serve org/model --uds /run/v.sock"), at("vllm", "unix:/run/v.sock"));
        assert_eq!(of("llama-bench -m m.gguf"), None);
    }
}
