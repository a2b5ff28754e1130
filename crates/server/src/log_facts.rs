//! Facts in a server's log about its evaluations: batches, slots, contexts, cache hits, truncated prompts.
//!
//! Lines of llama.cpp (src/llama-context.cpp, tools/server), of Ollama (runner/*/cache.go, runner/*/runner.go,
//! llm/server.go) and of vLLM (vllm/config/scheduler.py). Claims about backend, layers and attention are gathered by
//! [`crate::claims`].

use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The values of the last lines; a later load replaces those of an earlier one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stage {
    pub batch: Option<u64>,
    pub micro_batch: Option<u64>,
    pub context: Option<u64>,
    /// The number of sequences that may be evaluated together.
    pub slots: Option<u64>,
    /// The build that the log names.
    pub build: Option<u64>,
    /// Tensors by type, from the loader's list.
    pub types: Vec<(String, u64)>,
    /// `gfx1201`, `sm_89`, or a card's title.
    pub device: Option<String>,
    pub no_gpu: bool,
    /// The model's quantization as the loader names it: `Q4_K - Medium`.
    pub file_type: Option<String>,
    /// Whether the server also keeps old prompts in host memory.
    pub prompt_cache: Option<bool>,
    /// Vulkan's devices as ggml lists them, and the numbers of those that the model is on.
    pub vulkan: Vec<VulkanDevice>,
    pub vulkan_used: BTreeSet<u64>,
}

/// `ggml_vulkan: 0 = NAME | ... | matrix cores: KHR_coopmat` (ggml-vulkan.cpp, `ggml_vk_print_gpu_info`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VulkanDevice {
    pub number: u64,
    pub name: String,
    /// `KHR_coopmat`, `NV_coopmat2` or `none`.
    pub matrix: String,
}

impl Stage {
    /// The Vulkan device of the model: the used one, or the only one. None if there are several, or none.
    pub fn vulkan_device(&self) -> Option<&VulkanDevice> {
        let mut candidates =
            self.vulkan.iter().filter(|one| self.vulkan_used.is_empty() || self.vulkan_used.contains(&one.number));
        candidates.next().filter(|_| candidates.next().is_none())
    }
}

/// Ollama's `loading cache slot`: the number of tokens that remain to be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheSlot {
    pub id: u64,
    pub prompt: u64,
    pub used: u64,
    pub remaining: u64,
    /// The whole log line, to recognise an entry that several requests kept.
    pub line: String,
}

/// Ollama's `truncating input prompt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    pub prompt: u64,
    pub new: u64,
}

/// The facts in the log lines of one exchange.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lines {
    pub slots: Vec<CacheSlot>,
    pub truncations: Vec<Truncation>,
    /// The server slots that were active in this range.
    pub working: BTreeSet<u64>,
    /// llama-server put a checkpoint into the prompt: it is evaluated in pieces that do not follow from its batch
    /// sizes.
    pub checkpoints: bool,
}

macro_rules! pattern {
    ($text:literal) => {{
        static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
        PATTERN.as_ref()
    }};
}

fn number(pattern: Option<&Regex>, line: &str) -> Option<u64> {
    pattern?.captures(line)?.get(1)?.as_str().parse().ok()
}

impl Stage {
    pub fn line(&mut self, line: &str) {
        let newer = |known: &mut Option<u64>, found: Option<u64>| *known = found.or(*known);
        newer(&mut self.batch, number(pattern!(r"\bn_batch\s+= (\d+)"), line));
        newer(&mut self.micro_batch, number(pattern!(r"\bn_ubatch\s+= (\d+)"), line));
        let step = number(pattern!(r"\bmax_num_batched_tokens=(\d+)"), line);
        newer(&mut self.batch, step);
        newer(&mut self.micro_batch, step);
        newer(&mut self.slots, number(pattern!(r"\bn_seq_max\s+= (\d+)"), line));
        newer(&mut self.slots, number(pattern!(r"initializing(?: slots)?, n_slots = (\d+)"), line));
        newer(&mut self.slots, number(pattern!(r"\brunner\.parallel=(\d+)"), line));
        newer(&mut self.context, number(pattern!(r"\bn_ctx_(?:per_seq|seq|slot)\s*= (\d+)"), line));
        newer(&mut self.build, number(pattern!(r"\bbuild(?:: |[ =])(\d{3,6})\b"), line));
        if let Some(found) = pattern!(r"- type +(\w+): +(\d+) tensors").and_then(|pattern| pattern.captures(line)) {
            let (kind, count) = (found[1].to_ascii_uppercase(), found[2].parse().unwrap_or(0));
            self.types.retain(|(known, _)| *known != kind);
            self.types.push((kind, count));
        }
        if line.contains("loaded meta data with") {
            self.types.clear();
        }
        if let Some(found) =
            pattern!(r"\bDevice \d+: .*?\b(gfx[0-9a-f]{3,5})\b").and_then(|pattern| pattern.captures(line))
        {
            self.device = Some(found[1].to_owned());
        }
        let nvidia = pattern!(r"\bDevice \d+: .*?compute capability (\d+)\.(\d)");
        if let Some(found) = nvidia.and_then(|pattern| pattern.captures(line)) {
            self.device = Some(format!("sm_{}{}", &found[1], &found[2]));
        }
        if let Some(found) =
            pattern!(r"print_info: file type +=(?: guessed)? +(.+)$").and_then(|pattern| pattern.captures(line))
        {
            self.file_type = Some(found[1].trim().to_owned());
        }
        let vulkan = pattern!(r"ggml_vulkan: (\d+) = ([^|]+?) +\|.*\| matrix cores: (\w+)");
        if let Some(found) = vulkan.and_then(|pattern| pattern.captures(line))
            && let Ok(number) = found[1].parse()
        {
            let device = VulkanDevice { number, name: found[2].to_owned(), matrix: found[3].to_owned() };
            self.vulkan.retain(|known| known.number != number);
            self.vulkan.push(device);
        }
        self.vulkan_used.extend(number(pattern!(r"using device Vulkan(\d+) "), line));
        self.no_gpu |= line.contains("no usable GPU found");
        if line.contains("prompt cache is enabled") {
            self.prompt_cache = Some(true);
        } else if line.contains("prompt cache is disabled") {
            self.prompt_cache = Some(false);
        }
    }
}

impl Lines {
    pub fn read(text: &str) -> Lines {
        let mut lines = Lines::default();
        text.lines().for_each(|line| lines.line(line));
        lines
    }

    fn line(&mut self, line: &str) {
        let slot = pattern!(r#"msg="loading cache slot" id=(\d+) cache=\d+ prompt=(\d+) used=(\d+) remaining=(\d+)"#);
        if let Some(found) = slot.and_then(|pattern| pattern.captures(line)) {
            let at = |i: usize| found[i].parse().ok();
            if let (Some(id), Some(prompt), Some(used), Some(remaining)) = (at(1), at(2), at(3), at(4)) {
                self.working.insert(id);
                self.slots.push(CacheSlot { id, prompt, used, remaining, line: line.to_owned() });
            }
        }
        let cut = pattern!(r#"msg="truncating input prompt" .*?\bprompt=(\d+) .*?\bnew=(\d+)"#);
        if let Some(found) = cut.and_then(|pattern| pattern.captures(line))
            && let (Ok(prompt), Ok(new)) = (found[1].parse(), found[2].parse())
        {
            self.truncations.push(Truncation { prompt, new });
        }
        self.working.extend(number(pattern!(r"slot +launch_slot_: id +(\d+) \| task \d+ \| processing task"), line));
        self.checkpoints |= line.contains("created context checkpoint");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of public logs: an integrated GPU beside a card, and a server that names the one it uses.
    #[test]
    fn vulkan_devices_and_their_matrix_cores() {
        let intel = "ggml_vulkan: 0 = Intel(R) Iris(R) Xe Graphics (RPL-P) (Intel open-source Mesa driver) | uma: 1 | fp16: 1 | \
                     bf16: 0 | fp4: 0 | warp size: 32 | shared memory: 65536 | int dot: 1 | matrix cores: none";
        let nvidia = "ggml_vulkan: 1 = NVIDIA GeForce RTX 3050 (NVIDIA) | uma: 0 | fp16: 1 | bf16: 0 | fp4: 0 | warp size: 32 | \
                      shared memory: 49152 | int dot: 1 | matrix cores: NV_coopmat2";
        let mut stage = Stage::default();
        assert_eq!(stage.vulkan_device(), None);
        stage.line(intel);
        assert_eq!(stage.vulkan_device().map(|one| one.matrix.as_str()), Some("none"));
        stage.line(nvidia);
        assert_eq!(stage.vulkan_device(), None, "either of the two");
        stage.line(
            "0.00.000.363 I llama_model_load_from_file: using device Vulkan1 (NVIDIA GeForce RTX 3050) - 5803 MiB free",
        );
        let used = stage.vulkan_device().expect("the used one");
        assert_eq!((used.name.as_str(), used.matrix.as_str()), ("NVIDIA GeForce RTX 3050 (NVIDIA)", "NV_coopmat2"));
        for odd in ["ggml_vulkan: 0 = ", "ggml_vulkan: x = a | matrix cores: none", "matrix cores: none"] {
            let mut stage = Stage::default();
            stage.line(odd);
            assert!(stage.vulkan.is_empty(), "{odd}");
        }
    }

    #[test]
    fn lines_of_both_servers() {
        let mut stage = Stage::default();
        for line in [
            "0.00.105.333 I llama_context: n_batch               = 2048",
            "0.00.105.333 I llama_context: n_ubatch              = 128",
            "0.00.112.775 I srv    load_model: initializing, n_slots = 4, n_ctx_slot = 512, kv_unified = 'false'",
            "common_params_print_info: build 11669 (Debian) with GNU 16.2.0 for Linux x86_64",
            "ggml_cuda_init:   Device 0: AMD Radeon RX 9070 XT, gfx1201 (0x1201), VMM: no, Wave Size: 32",
            "llama_model_loader: - type q4_K:   29 tensors",
        ] {
            stage.line(line);
        }
        assert_eq!((stage.batch, stage.micro_batch, stage.slots), (Some(2048), Some(128), Some(4)));
        assert_eq!((stage.build, stage.device.as_deref()), (Some(11669), Some("gfx1201")));
        assert_eq!(stage.types, [("Q4_K".to_owned(), 29)]);
        stage.line("  Device 0: NVIDIA H200, compute capability 9.0, VMM: yes");
        assert_eq!(stage.device.as_deref(), Some("sm_90"));
    }

    #[test]
    fn lines_of_a_request() {
        let text = "time=2026-11-15T01:29:41.399Z level=WARN source=runner.go:128 msg=\"truncating input prompt\" limit=512 prompt=600 keep=4 new=512\n\
            time=2026-11-15T01:29:41.400Z level=DEBUG source=cache.go:104 msg=\"loading cache slot\" id=0 cache=8 prompt=512 used=0 remaining=512\n";
        let lines = Lines::read(text);
        assert_eq!(lines.truncations, [Truncation { prompt: 600, new: 512 }]);
        assert_eq!((lines.slots[0].remaining, lines.working.len()), (512, 1));
    }
}
