//! Lines of llama.cpp (src/llama-model.cpp, llama-context.cpp, llama-kv-cache.cpp, ggml-backend-reg.cpp), of Ollama
//! (discover/types.go, llm/server.go, ml/backend/ggml/ggml.go, runner/*/runner.go) and of vLLM (vllm/platforms, vllm/config), as their versions since
//! 2024 print them.

use crate::claims::{Claim, Claims, Meaning, Origin};
use regex::{Captures, Regex};
use std::sync::LazyLock;

type Reader = fn(&Captures<'_>) -> Option<Meaning>;

/// A pattern, and the meaning of a line that matches it. A claim quotes the part that matched.
static PATTERNS: LazyLock<Vec<(Regex, Reader)>> = LazyLock::new(|| {
    let list: [(&str, Reader); 16] = [
        (r"offloaded (\d+)/(\d+) layers to GPU", |c| layers(&c[1], Some(&c[2]))),
        (r"layers\.model=(\d+) layers\.offload=(\d+)", |c| layers(&c[2], Some(&c[1]))),
        (r"GPULayers:(\d+)\[ID:[^\]]*\]", |c| layers(&c[1], None)),
        (r#"msg="inference compute".*?library=("[^"]*"|\S+)(?:.*?\bcompute=("[^"]*"|\S+))?"#, |c| {
            Some(backend(&c[1], c.get(2).map_or("", |device| device.as_str())))
        }),
        (r"using device ([A-Za-z]+)\d* \(([^)]*)\)", |c| Some(backend(&c[1], &c[2]))),
        (r"loaded (ROCm|CUDA|HIP) backend from \S+", |c| Some(backend(&c[1], ""))),
        (r"flash_attn\s+= (\S+)", |c| flash(&c[1])),
        (r"(?i)flash attention (?:was auto, set to|is|was)? ?(enabled|disabled)", |c| flash(&c[1])),
        (r#"msg="enabling flash attention""#, |_| Some(Meaning::FlashAttention(true))),
        (r"\bFlashAttention:(\w+)", |c| flash(&c[1])),
        (r"K \((\w+)\): +[0-9.]+ MiB, V \((\w+)\)", |c| {
            Some(Meaning::Cache { k: c[1].to_ascii_lowercase(), v: c[2].to_ascii_lowercase() })
        }),
        (r"n_ubatch\s+= (\d+)", |c| c[1].parse().ok().map(Meaning::MicroBatch)),
        (r"Automatically detected platform (\w+)\.", |c| Some(backend(&c[1], ""))),
        (r"Chunked prefill is enabled with max_num_batched_tokens=(\d+)", |c| {
            c[1].parse().ok().map(Meaning::MicroBatch)
        }),
        (r"graph splits = (\d+)", |c| c[1].parse().ok().map(Meaning::Splits)),
        (r"nodes = \d+, splits = (\d+)", |c| c[1].parse().ok().map(Meaning::Splits)),
    ];
    list.into_iter().filter_map(|(text, read)| Some((Regex::new(text).ok()?, read))).collect()
});

static BLOCKS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:n_layer\s+= |\.block_count u32\s+= )(\d+)").ok());
static MODEL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"tensors from (\S+) \(version GGUF").ok());

fn layers(gpu: &str, of: Option<&str>) -> Option<Meaning> {
    Some(Meaning::Layers { gpu: gpu.parse().ok()?, of: of.and_then(|of| of.parse().ok()) })
}

fn backend(library: &str, device: &str) -> Meaning {
    let plain = |text: &str| text.trim_matches('"').to_owned();
    Meaning::Backend { library: plain(library), device: plain(device) }
}

/// `auto` decides nothing: the line that resolves it comes later.
pub(super) fn flash(value: &str) -> Option<Meaning> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "on" | "true" | "enabled" => Some(Meaning::FlashAttention(true)),
        "0" | "off" | "false" | "disabled" => Some(Meaning::FlashAttention(false)),
        _ => None,
    }
}

/// Reads a log from its beginning; later lines on the same topic replace earlier ones.
pub fn of_log(file: &str, text: &str, into: &mut Claims) {
    for (at, line) in text.lines().enumerate() {
        of_line(file, at + 1, line, into);
    }
}

/// Reads one line; `number` counts from 1.
pub fn of_line(file: &str, number: usize, line: &str, into: &mut Claims) {
    // Ollama's request to unload a model has the same fields.
    if line.contains("Operation:close") {
        return;
    }
    for (pattern, read) in PATTERNS.iter() {
        let Some(found) = pattern.captures(line) else { continue };
        let Some(meaning) = read(&found) else { continue };
        let said: String = found[0].split_whitespace().collect::<Vec<_>>().join(" ");
        into.put(Claim { meaning, said, origin: Origin::Log { file: file.to_owned(), line: number } });
    }
    if let Some(found) = BLOCKS.as_ref().and_then(|pattern| pattern.captures(line)) {
        into.blocks = found[1].parse().ok().filter(|blocks| *blocks > 0).or(into.blocks);
    }
    if let Some(found) = MODEL.as_ref().and_then(|pattern| pattern.captures(line)) {
        into.model = Some(found[1].to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Meaning, String)> {
        let mut claims = Claims::default();
        of_log("server.log", text, &mut claims);
        claims.list.into_iter().map(|claim| (claim.meaning, format!("{} @ {}", claim.said, claim.origin))).collect()
    }

    /// From Debian's llama-server 0.7.0 (build 11669) on the stand-in.
    #[test]
    fn lines_of_llama_server() {
        let text = "0.00.100.1 I llama_prepare_model_devices: using device ROCm0 (AMD Radeon RX 7900 XTX) (0000:03:00.0) - 24560 MiB free\n\
            0.00.100.7 I load_tensors: offloaded 5/5 layers to GPU\n\
            0.00.105.3 I llama_context: n_ubatch              = 512\n\
            0.00.105.3 I llama_context: flash_attn            = auto\n\
            0.00.101.2 I llama_kv_cache: size =    4.00 MiB (  1024 cells,   4 layers,  1/1 seqs), K (f16):    2.00 MiB, V (q8_0):    2.00 MiB\n\
            0.00.108.3 I resolve_fused_ops: Flash Attention enabled\n\
            0.00.108.9 I sched_reserve: graph: nodes = 145, splits = 10, input objects = 4, input tensors = 9\n";
        let device = "AMD Radeon RX 7900 XTX".to_owned();
        assert_eq!(
            read(text),
            [
                (
                    Meaning::Backend { library: "ROCm".into(), device },
                    "using device ROCm0 (AMD Radeon RX 7900 XTX) @ server.log:1".into()
                ),
                (Meaning::Layers { gpu: 5, of: Some(5) }, "offloaded 5/5 layers to GPU @ server.log:2".into()),
                (Meaning::MicroBatch(512), "n_ubatch = 512 @ server.log:3".into()),
                (
                    Meaning::Cache { k: "f16".into(), v: "q8_0".into() },
                    "K (f16): 2.00 MiB, V (q8_0) @ server.log:5".into()
                ),
                (Meaning::FlashAttention(true), "Flash Attention enabled @ server.log:6".into()),
                (Meaning::Splits(10), "nodes = 145, splits = 10 @ server.log:7".into()),
            ]
        );
    }

    /// The first three from Ollama 0.9.3 on a CPU and from the RX 9070 XT field notes; the last as runner.go of late 2025 prints it.
    #[test]
    fn lines_of_ollama() {
        let cpu = r#"time=2026-11-15T01:29:22.041Z level=INFO source=server.go:187 msg=offload library=cpu layers.requested=-1 layers.model=3 layers.offload=0 layers.split="" memory.available="[22.9 GiB]""#;
        assert_eq!(read(cpu)[0].0, Meaning::Layers { gpu: 0, of: Some(3) });
        let compute = r#"level=INFO source=types.go:42 msg="inference compute" id=0 library=ROCm compute=gfx1201 name=ROCm0 description="AMD Radeon RX 9070 XT""#;
        assert_eq!(read(compute)[0].0, Meaning::Backend { library: "ROCm".into(), device: "gfx1201".into() });
        let auto = "llama_context: Flash Attention was auto, set to enabled\nllama_context: graph splits = 2\n";
        let both: Vec<Meaning> = read(auto).into_iter().map(|(meaning, _)| meaning).collect();
        assert_eq!(both, [Meaning::FlashAttention(true), Meaning::Splits(2)]);
        let load = r#"level=INFO source=runner.go:1222 msg=load request="{Operation:commit LoraPath:[] Parallel:1 BatchSize:512 FlashAttention:true KvSize:4096 KvCacheType: NumThreads:8 GPULayers:29[ID:0 Layers:29(0..28)] MultiUserCache:false ProjectorPath: MainGPU:0 UseMmap:false}""#;
        let both: Vec<Meaning> = read(load).into_iter().map(|(meaning, _)| meaning).collect();
        assert_eq!(both, [Meaning::Layers { gpu: 29, of: None }, Meaning::FlashAttention(true)]);
    }

    /// From a vLLM 0.11.1 on ROCm, as its log is quoted in public.
    #[test]
    fn lines_of_vllm() {
        let text = "INFO 11-28 23:05:28 [__init__.py:225] Automatically detected platform rocm.\n\
            (APIServer pid=13) INFO 11-28 23:05:33 [scheduler.py:225] Chunked prefill is enabled with max_num_batched_tokens=2048.\n";
        let both: Vec<Meaning> = read(text).into_iter().map(|(meaning, _)| meaning).collect();
        let backend = Meaning::Backend { library: "rocm".into(), device: String::new() };
        assert_eq!(both, [backend, Meaning::MicroBatch(2048)]);
    }

    #[test]
    fn a_later_line_of_the_same_log_counts() {
        let list = read("x: offloaded 0/5 layers to GPU\nx: offloaded 5/5 layers to GPU\n");
        assert_eq!(
            list,
            [(Meaning::Layers { gpu: 5, of: Some(5) }, "offloaded 5/5 layers to GPU @ server.log:2".into())]
        );
    }
}
