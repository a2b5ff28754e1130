//! Reads devices, layers and speed from the program's output: lines of llama.cpp and Ollama.

use regex::Regex;
use std::sync::LazyLock;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// Lines about devices: `Device 0: AMD Radeon RX 7900 XTX, gfx1100 ...`, `found 1 ROCm devices`, Ollama's
    /// `inference compute`.
    pub devices: Vec<String>,
    /// Lines about layers: `offloaded 29/29 layers to GPU`.
    pub layers: Vec<String>,
    /// Tokens per second of prompt and generation, in the order of output.
    pub speeds: Vec<f64>,
}

static DEVICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(Device \d+: [^\n]*|found \d+ \S+ devices?|using device [^\n]*?(?: -|$)|no ROCm-capable device[^\n]*|no CUDA-capable device[^\n]*)").ok()
});
static LAYERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"offloaded \d+/\d+ layers to GPU").ok());
static SPEED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([0-9]+(?:\.[0-9]+)?) tokens per second").ok());
/// A row of llama-bench ends in its speed: `| 123.45 ± 0.67 |`.
static BENCH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\|\s*([0-9]+(?:\.[0-9]+)?) ± [0-9.]+ \|").ok());
static COMPUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"msg="inference compute".*?library=(\S+).*?(?:name|description)=("[^"]*"|\S+)"#).ok()
});

impl Said {
    pub fn read(text: &str) -> Said {
        let all = |pattern: &Option<Regex>| -> Vec<String> {
            let found = pattern.iter().flat_map(|pattern| pattern.find_iter(text));
            found.map(|found| found.as_str().trim().to_owned()).collect()
        };
        let mut devices = all(&DEVICE);
        for found in COMPUTE.iter().flat_map(|pattern| pattern.captures_iter(text)) {
            devices.push(format!("{} {}", &found[1], &found[2]));
        }
        let patterns = SPEED.iter().chain(BENCH.iter());
        let speeds = patterns.flat_map(|pattern| pattern.captures_iter(text));
        let speeds = speeds.filter_map(|found| found[1].parse().ok()).collect();
        Said { devices, layers: all(&LAYERS), speeds }
    }

    /// The output without speeds, which differ in every run and are compared separately.
    pub fn without_speeds(text: &str) -> String {
        BENCH.iter().fold(text.to_owned(), |text, pattern| pattern.replace_all(&text, "| t/s |").into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_llama_cpp() {
        let text = "ggml_cuda_init: found 1 ROCm devices (Total VRAM: 24560 MiB):\n  Device 0: AMD Radeon RX 7900 XTX, gfx1100 (0x1100), VMM: no\n\
            load_tensors: offloaded 3/3 layers to GPU\n\
            llama_perf_context_print: prompt eval time =       1.50 ms /    16 tokens (    0.09 ms per token, 10666.67 tokens per second)\n";
        let said = Said::read(text);
        assert_eq!(
            said.devices,
            ["found 1 ROCm devices", "Device 0: AMD Radeon RX 7900 XTX, gfx1100 (0x1100), VMM: no"]
        );
        assert_eq!((said.layers, said.speeds), (vec!["offloaded 3/3 layers to GPU".to_owned()], vec![10666.67]));
    }

    #[test]
    fn rows_of_llama_bench_are_compared_without_their_speed() {
        let row = |speed: &str| format!("| llama 1B Q8_0 | 1.2 GiB | 1.24 B | ROCm | 99 |  pp64 | {speed} |\n");
        let (one, two) = (row("      12045.11 ± 0.00"), row("       9045.11 ± 22.10"));
        assert_eq!(Said::read(&one).speeds, [12045.11]);
        assert_eq!(Said::without_speeds(&one), Said::without_speeds(&two));
    }
}
