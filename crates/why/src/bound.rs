//! Upper bounds: the maximum speed of a model on this hardware, computed from stated inputs.
//!
//! Decoding one token reads every weight and the KV cache once; evaluating a prompt multiplies every parameter with
//! every token. Leaving out work (attention, activations, the output layer of a prompt) can only raise the bound, so it
//! remains an upper bound. If an input is unknown, the error names it and there is no bound.

use crate::model::Model;
use gpu::Number;
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Limit {
    /// Tokens per second.
    pub value: f64,
    pub by: By,
    /// Every input of the computation.
    pub inputs: Vec<Input>,
}

/// The component that limits the speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    MemoryBandwidth,
    SystemMemory,
    /// Part of the model is in each memory.
    BothMemories,
    Int8Matrix,
    Fp16Matrix,
    /// The kernel is unknown, and no units of the card that ggml uses are faster than these.
    FastestMatrix,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Input {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
    /// The source of the value.
    pub origin: String,
}

/// A memory and its maximum read rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Bytes per second.
    pub rate: f64,
    pub origin: String,
}

impl From<&Number> for Memory {
    fn from(number: &Number) -> Memory {
        Memory { rate: number.value as f64, origin: number.origin.clone() }
    }
}

/// The location of the weights.
#[derive(Debug, Clone, PartialEq)]
pub enum Placement {
    Gpu(Memory),
    Cpu(Memory),
    /// The share of the layers on the GPU, and whether the output layer is there too.
    Split {
        share: f64,
        output: bool,
        gpu: Memory,
        cpu: Memory,
    },
}

/// Types of the keys and values in the cache, and the tokens in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cache<'a> {
    pub k: &'a str,
    pub v: &'a str,
    pub tokens: u64,
}

pub(crate) fn input(name: &'static str, value: f64, unit: &'static str, origin: impl Into<String>) -> Input {
    Input { name, value, unit, origin: origin.into() }
}

/// The maximum decode speed in tokens per second.
pub fn decode(model: &Model, placement: &Placement, cache: Cache<'_>) -> Result<Limit, Message> {
    let Some(weights) = model.weights else { return Err(say!("why-missing-size")) };
    let Some(per_token) = model.kv_bytes(cache.k, cache.v) else { return Err(say!("why-missing-size")) };
    let kv = per_token * model.read_back(cache.tokens) as f64;
    let layers = weights.layer_bytes + kv;
    let of_file = |value: f64| input("weights", value, "B", "model file");
    let of_cache = input("kv", kv, "B", format!("model file, {} tokens, {}/{}", cache.tokens, cache.k, cache.v));
    let rate = |name, memory: &Memory| input(name, memory.rate, "B/s", &memory.origin);
    let (seconds, by, mut inputs) = match placement {
        Placement::Gpu(memory) => {
            let bytes = layers + weights.output_bytes;
            (bytes / memory.rate, By::MemoryBandwidth, vec![rate("bandwidth", memory)])
        }
        Placement::Cpu(memory) => {
            let bytes = layers + weights.output_bytes;
            (bytes / memory.rate, By::SystemMemory, vec![rate("system-memory", memory)])
        }
        Placement::Split { share, output, gpu, cpu } => {
            let there = layers * share + if *output { weights.output_bytes } else { 0.0 };
            let here = layers + weights.output_bytes - there;
            let seconds = there / gpu.rate + here / cpu.rate;
            let mut inputs = vec![rate("bandwidth", gpu), rate("system-memory", cpu)];
            inputs.push(input("gpu-bytes", there, "B", "the split and the model file"));
            inputs.push(input("cpu-bytes", here, "B", "the split and the model file"));
            (seconds, By::BothMemories, inputs)
        }
    };
    inputs.push(of_file(weights.layer_bytes + weights.output_bytes));
    inputs.push(of_cache);
    bound(1.0 / seconds, by, inputs)
}

/// The maximum prompt evaluation speed in tokens per second.
pub fn prefill(model: &Model, peak: &Number, by: By) -> Result<Limit, Message> {
    let Some(weights) = model.weights else { return Err(say!("why-missing-size")) };
    let work = 2.0 * weights.parameters;
    let inputs = vec![
        input("peak", peak.value as f64, "operations/s", &peak.origin),
        input("work", work, "operations/token", "model file: two for each parameter of the layers"),
    ];
    bound(peak.value as f64 / work, by, inputs)
}

/// Values from a file can be arbitrary: a result that is not a positive finite number is not a bound.
fn bound(value: f64, by: By, inputs: Vec<Input>) -> Result<Limit, Message> {
    if value.is_finite() && value > 0.0 { Ok(Limit { value, by, inputs }) } else { Err(say!("why-missing-size")) }
}

impl Limit {
    pub fn input(&self, name: &str) -> Option<f64> {
        self.inputs.iter().find(|input| input.name == name).map(|input| input.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Weights;

    /// The sizes of Llama 3.1 8B Q4_K_M.
    fn llama() -> Model {
        Model {
            name: "Llama-3.1-8B".into(),
            file_type: Some("Q4_K_M".into()),
            main_type: Some("Q4_K".into()),
            layers: 32,
            weights: Some(Weights {
                layer_bytes: 4.194e9,
                output_bytes: 0.431e9,
                parameters: 6.979e9,
                total: 4_921_000_000,
            }),
            kv_elements: Some(2048),
            window: None,
            head: Some(128),
            heads: Some(32),
            experts: None,
        }
    }

    fn memory(rate: f64) -> Memory {
        Memory { rate, origin: "a test".into() }
    }

    const CACHE: Cache<'static> = Cache { k: "f16", v: "f16", tokens: 512 };

    /// 640 / (4.625 + 0.067); 1 / (2.93 / 640 + 1.763 / 89.6).
    #[test]
    fn decode_is_bytes_over_bandwidth() {
        let on_card = decode(&llama(), &Placement::Gpu(memory(640e9)), CACHE).expect("a bound");
        assert!((on_card.value - 136.4).abs() < 0.1, "{}", on_card.value);
        let (share, output) = (22.0 / 32.0, false);
        let split = Placement::Split { share, output, gpu: memory(640e9), cpu: memory(89.6e9) };
        let split = decode(&llama(), &split, CACHE).expect("a bound");
        assert!((split.value - 41.2).abs() < 0.2, "{}", split.value);
        assert!((split.input("gpu-bytes").expect("an input") - 2.93e9).abs() < 1e7);
        let names: Vec<&str> = split.inputs.iter().map(|input| input.name).collect();
        assert_eq!(names, ["bandwidth", "system-memory", "gpu-bytes", "cpu-bytes", "weights", "kv"]);
    }

    #[test]
    fn everything_on_one_side_of_a_split_is_no_split() {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        let split = |share, output| {
            let place = Placement::Split { share, output, gpu: memory(640e9), cpu: memory(89.6e9) };
            decode(&llama(), &place, CACHE).expect("a bound").value
        };
        let alone = |place: Placement| decode(&llama(), &place, CACHE).expect("a bound").value;
        assert!(close(split(1.0, true), alone(Placement::Gpu(memory(640e9)))));
        assert!(close(split(0.0, false), alone(Placement::Cpu(memory(89.6e9)))));
    }

    #[test]
    fn prefill_is_multiplications_over_peak() {
        let peak = Number { value: 389_000_000_000_000, origin: "a test".into() };
        let limit = prefill(&llama(), &peak, By::Int8Matrix).expect("a bound");
        assert!((limit.value - 27_868.0).abs() < 5.0, "{}", limit.value);
    }

    #[test]
    fn a_bound_without_its_inputs_is_left_out() {
        let place = Placement::Gpu(memory(640e9));
        assert!(decode(&Model { weights: None, ..llama() }, &place, CACHE).is_err());
        assert!(decode(&Model { kv_elements: None, ..llama() }, &place, CACHE).is_err());
        assert!(decode(&llama(), &place, Cache { k: "nonsense", ..CACHE }).is_err());
        assert!(decode(&llama(), &Placement::Gpu(memory(0.0)), CACHE).is_err());
        assert!(decode(&llama(), &Placement::Gpu(memory(f64::NAN)), CACHE).is_err());
    }

    #[test]
    fn a_window_shortens_what_is_read_back() {
        let long = Cache { tokens: 16_384, ..CACHE };
        let place = Placement::Gpu(memory(640e9));
        let whole = decode(&llama(), &place, long).expect("a bound").value;
        let window = decode(&Model { window: Some(512), ..llama() }, &place, long).expect("a bound").value;
        assert!((window - 136.4).abs() < 0.1 && whole < 100.0, "{window} {whole}");
    }
}
