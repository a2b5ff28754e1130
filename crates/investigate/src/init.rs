//! Creates a new investigation: a commented file based on this machine, for the user to edit and run.

use doctor::{Facts, Host, Trials};
use observe::ObserveContext;
use say::shell;
use source::decision_table::DecisionTable;
use std::fmt::Write as _;

/// The GPU, server and model found on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// The target of the GPU: `gfx1201`.
    pub target: Option<String>,
    /// The name of the card: `rx-9070-xt`.
    pub card: Option<String>,
    /// An installation with GPU code, by its name: `debian-sid`.
    pub runtime: Option<String>,
    /// The server that answers: `ollama`, `llama-server` or `vllm`.
    pub server: Option<String>,
    pub server_version: Option<String>,
    pub model: Option<String>,
    /// The type of the model's weights on that server, by name: `Q4_K_M`.
    pub file_type: Option<String>,
    /// Whether a server here has ggml's Vulkan backend loaded, but neither HIP nor CUDA.
    pub vulkan: bool,
}

/// The target that the embedded tables know best. Used if this machine has no card.
const OTHERWISE: &str = "gfx1201";
const COLUMNS: i64 = 512;

impl Machine {
    /// Examines this machine like `whichkernel` without a verb: files, and the servers on loopback.
    pub fn this(around: &ObserveContext) -> Machine {
        let host = Host::this();
        let facts = Facts::read(&host);
        let answers = Trials::answers_only(&host, &facts).answers;
        let answer = answers.iter().filter(|one| one.server.is_some()).max_by_key(|one| !one.models.is_empty());
        let gpu = facts.gpus.iter().find(|gpu| gpu.target.is_some());
        let nvidia = facts.nvidia.cards.first();
        let has = |library: &str| facts.servers.running.iter().any(|process| process.loaded(library) == Some(true));
        Machine {
            target: gpu
                .and_then(|gpu| gpu.target.clone())
                .or_else(|| nvidia.and_then(|title| gpu::nvidia_target(title)).map(str::to_owned)),
            card: gpu.and_then(|gpu| gpu.card.clone()).or_else(|| nvidia.cloned()),
            runtime: around.runtimes().into_iter().find_map(|installed| installed.name),
            server: answer.and_then(|one| one.server).map(|server| server.name().to_owned()),
            server_version: answer.and_then(|one| one.version.clone()),
            model: answer.and_then(|one| one.models.first().cloned()),
            file_type: answer.and_then(|one| one.types.first().cloned()),
            vulkan: has("libggml-vulkan.so") && !has("libggml-hip.so") && !has("libggml-cuda.so"),
        }
    }

    /// The release for the declared part: the server's own if there is a table for exactly that release, otherwise the
    /// newest.
    fn table(&self) -> Option<&'static DecisionTable> {
        let server = self.server.as_deref().zip(self.server_version.as_deref());
        let own = server.and_then(|(server, version)| source::versions::resolve(&format!("{server}@{version}")));
        match own.or_else(|| source::versions::resolve("llama.cpp")) {
            Some(source::versions::Known::Exact(table)) => Some(table),
            _ => source::decision_table::all().last(),
        }
    }

    /// The commented file. It can be loaded and run without changes.
    pub fn investigation(&self) -> String {
        let target = self.target.as_deref().unwrap_or(OTHERWISE);
        let table = self.table();
        let ty = self.weights(table);
        let found = table.and_then(|table| table.look_up(target, &ty, COLUMNS));
        let path = found.and_then(|found| found.chosen()).map(|path| path.name().to_owned());
        let mut out = String::from(HEAD);
        let card = self.card.as_deref().unwrap_or(target);
        let _ = writeln!(
            out,
            "schema = \"whichkernel.investigation/1\"\n\n[title]\nen = {}\nja = {}\n",
            quoted(&format!("Which kernel serves {ty} on {card}?")),
            quoted(&format!("{card} で {ty} を計算するカーネルはどれか")),
        );
        self.subject(&mut out, target, &ty, self.told_type(table).is_some());
        out.push_str(FRAME);
        if self.vulkan {
            self.through_vulkan(&mut out, &ty, card);
            return out;
        }
        if let (Some(table), Some(path)) = (table, &path) {
            declared(&mut out, table, target, &ty, path);
        }
        if target.starts_with("gfx") {
            self.shipped(&mut out, target);
        }
        self.launched(&mut out, &ty, path.as_deref(), table);
        out
    }

    /// The investigation for `investigate` without a file. If there is a server but no GPU, it does not ask about GPU
    /// kernels.
    pub fn of_this_machine(&self) -> String {
        match &self.server {
            Some(server) if self.target.is_none() && !self.vulkan => self.on_cpu(server),
            _ => self.investigation(),
        }
    }

    /// The file for a machine without a GPU. It claims only that a server runs, and that it uses only the CPU.
    fn on_cpu(&self, server: &str) -> String {
        let version = self.server_version.as_deref().unwrap_or_default();
        let mut out = String::from(HEAD);
        let _ = writeln!(
            out,
            r#"schema = "whichkernel.investigation/1"

[title]
en = {en}
ja = {ja}

[subject]
{FRAME}
[[claims]]
id = "server-runs"
phase = "F"
page = "here"
en = {runs}
ja = {runs_ja}
rung = "loaded"
topic = "server.running"
about = {{ name = {name} }}
expected = {{ present = true }}
closes = "whichkernel doctor --record"

[[claims]]
id = "no-gpu"
phase = "F"
page = "here"
en = "This machine has no AMD GPU that the kernel's compute driver knows"
ja = "このマシンには、Linux カーネルの計算ドライバーが認識する AMD GPU がない"
rung = "loaded"
topic = "gpu.present"
expected = {{ absent = true }}
closes = "whichkernel doctor --record""#,
            en = quoted(&format!("{server} {version} on the CPU of this machine")),
            ja = quoted(&format!("このマシンの CPU で動作する {server} {version}")),
            runs = quoted(&format!("{server} runs on this machine")),
            runs_ja = quoted(&format!("{server} がこのマシンで動作している")),
            name = quoted(&format!("{server}*")),
        );
        out
    }

    /// The type of the weights: a ggml type in the model's type name that the table knows.
    fn weights(&self, table: Option<&DecisionTable>) -> String {
        self.told_type(table).unwrap_or_else(|| "Q4_K".to_owned())
    }

    fn told_type(&self, table: Option<&DecisionTable>) -> Option<String> {
        let said: Vec<String> =
            [&self.file_type, &self.model].into_iter().flatten().map(|name| name.to_ascii_uppercase()).collect();
        let mut known: Vec<&String> =
            table.into_iter().flat_map(|table| table.targets.values()).flat_map(|rules| rules.types.keys()).collect();
        known.sort_by_key(|ty| (std::cmp::Reverse(ty.len()), (*ty).clone()));
        let found = said.iter().find_map(|name| known.iter().find(|ty| name.contains(ty.as_str())));
        found.map(|ty| (*ty).clone())
    }

    /// Writes the subject. `typed` is true if the type of the weights is known rather than only likely.
    fn subject(&self, out: &mut String, target: &str, ty: &str, typed: bool) {
        let found = |what: &str, value: Option<&str>| match value {
            Some(value) => format!("# {what}: {}\n", plain(value)),
            None => format!("# {what}: none found here\n"),
        };
        let server =
            self.server.as_ref().map(|name| format!("{name} {}", self.server_version.as_deref().unwrap_or("")));
        out.push_str("# The default subject of the claims. Found on this machine:\n");
        out.push_str(&found("GPU", self.target.as_deref()));
        out.push_str(&found("server", server.as_deref()));
        out.push_str(&found("model", self.model.as_deref()));
        out.push_str(&found("runtime with GPU code", self.runtime.as_deref()));
        if !typed {
            let _ =
                writeln!(out, "# The type of the model's weights is unknown; {ty} is assumed. Replace it with yours.");
        }
        let _ = writeln!(out, "[subject]\ntarget = {}", quoted(target));
        let mut line = |key: &str, value: Option<&str>, example: &str| match value {
            Some(value) => drop(writeln!(out, "{key} = {}", quoted(value))),
            None => drop(writeln!(out, "# {key} = {}", quoted(example))),
        };
        line("gpu", self.card.as_deref(), "rx-9070-xt");
        line("runtime", self.runtime.as_deref(), "ollama-rocm-60303");
        line("model", self.model.as_deref(), "llama3.2:3b");
        out.push_str("device = \"real\"             # a launch on a stand-in GPU shows only the choice\n\n");
    }

    fn shipped(&self, out: &mut String, target: &str) {
        let _ = writeln!(
            out,
            r#"[[claims]]
id = "code-for-my-card"
phase = "B"
page = "here"
en = {}
ja = {}
rung = "shipped"
topic = "file.target"
about = {{ name = {} }}
expected = {{ present = true }}
scope = {{ file = "libggml-hip.so*", target = "*"{} }}
closes = "whichkernel inspect {{file:libggml-hip.so}} --record"
shows = {{ en = "a code object for this target is in the file", ja = "このターゲット用のコードオブジェクトがファイルにあること" }}
cannot = {{ en = "that any of this code runs", ja = "そのどれかが実行されること" }}
"#,
            quoted(&format!("libggml-hip.so has code for {target}")),
            quoted(&format!("libggml-hip.so に {target} 用のコードがある")),
            quoted(target),
            if self.runtime.is_some() { "" } else { r#", runtime = "*""# },
        );
    }

    /// The file for a server that uses Vulkan, which has other rules and kernels and its own topics. No table of
    /// releases covers them, so the file has no declared claims.
    fn through_vulkan(&self, out: &mut String, ty: &str, card: &str) {
        let watch =
            format!("whichkernel watch --name {} --record", shell::word(self.server.as_deref().unwrap_or("ollama")));
        let card_word = shell::word(card);
        let dry =
            format!("whichkernel dryrun --backend vulkan --gpu {card_word} --type {ty} --columns {COLUMNS} --record");
        let _ = writeln!(
            out,
            r#"# The server computes through Vulkan: its driver compiles what the library ships as SPIR-V.
[[claims]]
id = "modules-for-matrices"
phase = "B"
page = "here"
en = "libggml-vulkan.so ships SPIR-V modules that multiply matrices"
ja = "libggml-vulkan.so に、行列積を計算する SPIR-V モジュールが入っている"
rung = "shipped"
topic = "file.modules"
about = {{ feature = "matrix" }}
expected = {{ at_least = 1 }}
scope = {{ file = "libggml-vulkan.so*", target = "*", runtime = "*" }}
closes = "whichkernel inspect {{file:libggml-vulkan.so}} --record"
cannot = {{ en = "that any of this code runs", ja = "そのどれかが実行されること" }}

# What the real program chooses on this card, on a stand-in for its kernel driver: a choice, not a launch.
[[claims]]
id = "selected-path"
phase = "A"
page = "here"
en = {selected}
ja = {selected_ja}
rung = "selected"
topic = "vulkan.path"
about = {{ type = {ty}, columns = "{COLUMNS}" }}
expected = {{ equals = "matmul" }}                 # mul_mat_vec up to eight columns
scope = {{ device = "stand-in", runtime = "*", model = "*" }}
closes = {dry}

# Only a live process can close this one.
[[claims]]
id = "live-path"
phase = "F"
page = "here"
en = {live}
ja = {live_ja}
rung = "launched"
topic = "vulkan.path"
about = {{ type = {ty}, columns = "1" }}
expected = {{ equals = "mul_mat_vec" }}
scope = {scope}
closes = {watch}

[[questions]]
id = "which-pipeline"
phase = "F"
page = "here"
en = {ask}
ja = {ask_ja}
ask = {{ rung = "launched", topic = "vulkan.pipeline", about = {{ type = {ty} }}, scope = {scope} }}
closes = {watch}"#,
            selected = quoted(&format!("On {card} a prompt of {COLUMNS} tokens selects matmul for {ty}")),
            selected_ja = quoted(&format!("{card} では、{COLUMNS} トークンのプロンプトで {ty} に matmul が選ばれる")),
            live = quoted(&format!("Each generated token launches mul_mat_vec for {ty}")),
            live_ja = quoted(&format!("トークンを生成するたびに、{ty} の mul_mat_vec が起動される")),
            ask = quoted(&format!("Which Vulkan pipelines multiply with {ty} weights here?")),
            ask_ja = quoted(&format!("このマシンで {ty} の重みとの行列積を計算する Vulkan パイプラインはどれか")),
            ty = quoted(ty),
            dry = quoted(&dry),
            watch = quoted(&watch),
            // A Vulkan server does not use a HIP runtime. Without a card, it computes on any device of its driver.
            scope = if self.target.is_some() { r#"{ runtime = "*" }"# } else { r#"{ runtime = "*", target = "*" }"# },
        );
    }

    fn launched(&self, out: &mut String, ty: &str, path: Option<&str>, table: Option<&DecisionTable>) {
        let watch =
            format!("whichkernel watch --name {} --record", shell::word(self.server.as_deref().unwrap_or("ollama")));
        if let Some(path) = path {
            let _ = writeln!(
                out,
                r#"# What a source declares need not be what runs: this one only a live process can close.
[[claims]]
id = "live-path"
phase = "F"
page = "here"
en = {}
ja = {}
rung = "launched"
topic = "matmul.path"
about = {{ type = {}, columns = "{COLUMNS}" }}
expected = {{ equals = {} }}
closes = {}
"#,
                quoted(&format!("A prompt of {COLUMNS} tokens launches {path} for {ty}")),
                quoted(&format!("{COLUMNS} トークンのプロンプトでは、{ty} の計算に {path} が起動される")),
                quoted(ty),
                quoted(path),
                quoted(&watch),
            );
        }
        let elsewhere = table.map(|table| {
            format!(
                "\nelsewhere = {{ rung = \"declared\", topic = \"matmul.path\", about = {{ type = {} }}, scope = {{ source = {}, commit = {} }} }}",
                quoted(ty),
                quoted(&table.source),
                quoted(&table.commit)
            )
        });
        let _ = writeln!(
            out,
            r#"[[questions]]
id = "which-path"
phase = "F"
page = "here"
en = {}
ja = {}
ask = {{ rung = "launched", topic = "matmul.path", about = {{ type = {} }} }}{}
closes = {}"#,
            quoted(&format!("Which path do the multiplications with {ty} weights take here?")),
            quoted(&format!("このマシンで {ty} の重みとの行列積はどの経路を通るか")),
            quoted(ty),
            elsewhere.unwrap_or_default(),
            quoted(&watch),
        );
    }
}

fn declared(out: &mut String, table: &DecisionTable, target: &str, ty: &str, path: &str) {
    let _ = writeln!(
        out,
        r#"# What the source declares: {} {}. `whichkernel explain` tells why.
[[claims]]
id = "declared-path"
phase = "A"
page = "here"
en = {}
ja = {}
rung = "declared"
topic = "matmul.path"
about = {{ type = {}, columns = "{COLUMNS}" }}    # "9..256" is a range, "Q4_K|Q5_K" means both
expected = {{ equals = {} }}                       # also one_of, between, at_least, contains, present, absent
scope = {{ source = {}, commit = {} }}
expect = "any"                                     # "holds": `check` exits 1 where it does not
closes = {}
"#,
        plain(&table.source),
        plain(&table.version),
        quoted(&format!("{} {} declares {path} for {ty} at {COLUMNS} columns", table.source, table.version)),
        quoted(&format!("{} {} は {COLUMNS} 列の {ty} に {path} を使うと宣言している", table.source, table.version)),
        quoted(ty),
        quoted(path),
        quoted(&table.source),
        quoted(&table.commit),
        quoted(&format!(
            "whichkernel explain --gpu {} --type {} --columns {COLUMNS}",
            shell::word(target),
            shell::word(ty)
        )),
    );
}

const HEAD: &str = "\
# An investigation of this machine, begun by `whichkernel investigate init`. Change what you like:
#   `whichkernel investigate THIS_FILE` looks with every observer, records, and grades each claim and question
#   `whichkernel check THIS_FILE` grades again, from what was recorded
#   `whichkernel report THIS_FILE` makes pages from it
# Every key is explained in docs/investigation-files.md, every topic in crates/evidence/topics.md; an unknown one is an error that names the nearest.
";

const FRAME: &str = r#"# Phases are A to F; each that is used stands here. Pages are where something was said.
[[phases]]
id = "A"
en = "What the source declares"
ja = "ソースの宣言"

[[phases]]
id = "B"
en = "What the files ship"
ja = "ファイルに入っているもの"

[[phases]]
id = "F"
en = "What a live run takes"
ja = "実行時に通る経路"

[[pages]]
id = "here"
en = "This machine"
ja = "このマシン"

"#;

/// Quotes any text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Reduces a text to one line, for a comment.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::Investigation;

    fn full() -> Machine {
        let text = |word: &str| Some(word.to_owned());
        Machine {
            target: text("gfx1201"),
            card: text("rx-9070-xt"),
            runtime: text("ollama-rocm-60303"),
            server: text("ollama"),
            server_version: text("0.12.6"),
            model: text("llama3.2:3b-instruct-q6_K"),
            file_type: text("Q6_K"),
            vulkan: false,
        }
    }

    #[test]
    fn the_file_loads_whatever_is_on_the_machine() {
        let evil = Some("\"\"\"x'\\\n[subject]\n# é\u{1b}".to_owned());
        let hostile = Machine {
            card: evil.clone(),
            runtime: evil.clone(),
            server: evil.clone(),
            server_version: evil.clone(),
            model: evil.clone(),
            file_type: evil,
            target: Some("gfx1201".to_owned()),
            vulkan: false,
        };
        let through_vulkan = |machine: &Machine| Machine { vulkan: true, ..machine.clone() };
        for machine in [through_vulkan(&full()), through_vulkan(&hostile), through_vulkan(&Machine::default())] {
            let text = machine.investigation();
            let read = Investigation::parse("new.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!((read.claims.len(), read.questions.len()), (3, 1), "{text}");
            assert!(!text.contains("matmul.path") && text.contains("vulkan.path"), "HIP's topics are not asked for");
        }
        for machine in [Machine::default(), full(), hostile.clone()] {
            let text = machine.investigation();
            let read = Investigation::parse("new.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(read.subject.model, machine.model);
            assert_eq!(read.claims.len(), 3, "{text}");
            assert_eq!(read.questions.len(), 1);
        }
        let strange = Machine { target: Some("gfx9999".to_owned()), ..Machine::default() };
        let text = strange.investigation();
        let read = Investigation::parse("new.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read.claims.len(), 1, "of a target that no table knows nothing is declared: {text}");
    }

    #[test]
    fn a_server_on_the_cpu_gives_claims_about_the_cpu() {
        let machine = Machine { target: None, card: None, ..full() };
        let text = machine.of_this_machine();
        assert_eq!(full().of_this_machine(), full().investigation());
        let read = Investigation::parse("new.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read.claims.len(), 2, "{text}");
        assert!(read.claims.iter().all(|stated| stated.claim.topic != "matmul.path"), "{text}");
        assert_eq!(read.subject.target, None);
    }

    #[test]
    fn what_was_found_stands_in_it_and_what_was_not_is_said() {
        let text = full().investigation();
        assert!(text.contains("target = \"gfx1201\"\ngpu = \"rx-9070-xt\"\nruntime = \"ollama-rocm-60303\""), "{text}");
        assert!(text.contains("type = \"Q6_K\"") && !text.contains("Q4_K\""), "the model's type: {text}");
        let none = Machine::default().investigation();
        assert!(none.contains("Q4_K is assumed") && !text.contains("is assumed"), "{none}");
        assert!(none.contains("# GPU: none found here") && none.contains("# model = \"llama3.2:3b\""), "{none}");
    }
}
