//! The tensors of one layer, by architecture: names and dimensions as llama.cpp's loaders expect them
//! (src/models/*.cpp).

use crate::Error;
use crate::shape::{Experts, Latent, StateSpace};
use crate::skeleton::Plan;

impl Plan<'_> {
    pub fn layer(&mut self, layer: u32) -> Result<(), Error> {
        let at = |name: &str| format!("blk.{layer}.{name}");
        let width = u64::from(self.shape.width);
        self.plain(&at("attn_norm.weight"), &[width])?;
        if let Some(space) = self.shape.state_space {
            return self.state_space(&at, space);
        }
        match self.shape.latent {
            Some(latent) => self.latent(&at, latent)?,
            None => self.attention(&at)?,
        }
        match self.shape.architecture {
            // The norm after attention is the only one before the experts.
            "gpt-oss" => self.plain(&at("post_attention_norm.weight"), &[width])?,
            "gemma2" | "gemma3" => {
                self.plain(&at("post_attention_norm.weight"), &[width])?;
                self.plain(&at("ffn_norm.weight"), &[width])?;
                self.plain(&at("post_ffw_norm.weight"), &[width])?;
            }
            _ => self.plain(&at("ffn_norm.weight"), &[width])?,
        }
        match self.shape.experts {
            // The first layer of these models is dense.
            Some(experts) if self.shape.latent.is_none() || layer > 0 => self.experts(&at, experts),
            _ => self.gated(&at, "", u64::from(self.shape.feed_forward)),
        }
    }

    fn attention(&mut self, at: &dyn Fn(&str) -> String) -> Result<(), Error> {
        let shape = self.shape;
        let (width, head) = (u64::from(shape.width), u64::from(shape.head));
        let (q, kv) = (u64::from(shape.heads) * head, u64::from(shape.kv_heads) * head);
        if shape.architecture == "phi3" {
            self.weight(&at("attn_qkv.weight"), &[width, q + 2 * kv])?;
        } else {
            self.weight(&at("attn_q.weight"), &[width, q])?;
            self.weight(&at("attn_k.weight"), &[width, kv])?;
            self.weight(&at("attn_v.weight"), &[width, kv])?;
        }
        self.weight(&at("attn_output.weight"), &[q, width])?;
        if matches!(shape.architecture, "qwen2" | "qwen2moe" | "gpt-oss") {
            self.plain(&at("attn_q.bias"), &[q])?;
            self.plain(&at("attn_k.bias"), &[kv])?;
            self.plain(&at("attn_v.bias"), &[kv])?;
        }
        if shape.architecture == "gpt-oss" {
            self.plain(&at("attn_output.bias"), &[width])?;
            self.plain(&at("attn_sinks.weight"), &[u64::from(shape.heads)])?;
        }
        if matches!(shape.architecture, "qwen3" | "qwen3moe" | "gemma3") {
            self.plain(&at("attn_q_norm.weight"), &[head])?;
            self.plain(&at("attn_k_norm.weight"), &[head])?;
        }
        Ok(())
    }

    fn state_space(&mut self, at: &dyn Fn(&str) -> String, space: StateSpace) -> Result<(), Error> {
        let width = u64::from(self.shape.width);
        let [kernel, inner, state, heads, groups] =
            [space.kernel, space.inner, space.state, space.heads, space.groups].map(u64::from);
        let mixed = inner + 2 * groups * state;
        self.weight(&at("ssm_in.weight"), &[width, inner + mixed + heads])?;
        self.plain(&at("ssm_conv1d.weight"), &[kernel, mixed])?;
        self.plain(&at("ssm_conv1d.bias"), &[mixed])?;
        self.plain(&at("ssm_dt.bias"), &[heads])?;
        self.plain(&at("ssm_a"), &[1, heads])?;
        self.plain(&at("ssm_d"), &[1, heads])?;
        self.plain(&at("ssm_norm.weight"), &[inner / groups.max(1), groups])?;
        self.weight(&at("ssm_out.weight"), &[inner, width])
    }

    fn latent(&mut self, at: &dyn Fn(&str) -> String, latent: Latent) -> Result<(), Error> {
        let [width, heads] = [self.shape.width, self.shape.heads].map(u64::from);
        let [query, kept, rotated, plain, value] =
            [latent.query, latent.key_value, latent.rotated, latent.plain, latent.value].map(u64::from);
        let q = heads * (plain + rotated);
        if query > 0 {
            self.plain(&at("attn_q_a_norm.weight"), &[query])?;
            self.weight(&at("attn_q_a.weight"), &[width, query])?;
            self.weight(&at("attn_q_b.weight"), &[query, q])?;
        } else {
            self.weight(&at("attn_q.weight"), &[width, q])?;
        }
        self.plain(&at("attn_kv_a_norm.weight"), &[kept])?;
        self.weight(&at("attn_kv_a_mqa.weight"), &[width, kept + rotated])?;
        self.weight(&at("attn_k_b.weight"), &[plain, kept, heads])?;
        self.weight(&at("attn_v_b.weight"), &[kept, value, heads])?;
        self.weight(&at("attn_output.weight"), &[heads * value, width])
    }

    fn experts(&mut self, at: &dyn Fn(&str) -> String, experts: Experts) -> Result<(), Error> {
        let width = u64::from(self.shape.width);
        let [inner, count, shared] = [experts.width, experts.count, experts.shared].map(u64::from);
        self.plain(&at("ffn_gate_inp.weight"), &[width, count])?;
        self.weight(&at("ffn_gate_exps.weight"), &[width, inner, count])?;
        self.weight(&at("ffn_up_exps.weight"), &[width, inner, count])?;
        self.weight(&at("ffn_down_exps.weight"), &[inner, width, count])?;
        if self.shape.architecture == "gpt-oss" {
            self.plain(&at("ffn_gate_inp.bias"), &[count])?;
            self.plain(&at("ffn_gate_exps.bias"), &[inner, count])?;
            self.plain(&at("ffn_up_exps.bias"), &[inner, count])?;
            self.plain(&at("ffn_down_exps.bias"), &[width, count])?;
        }
        if self.shape.architecture == "qwen2moe" {
            self.plain(&at("ffn_gate_inp_shexp.weight"), &[width])?;
        }
        if shared > 0 { self.gated(at, "_shexp", shared) } else { Ok(()) }
    }

    /// Gate, up and down of one feed-forward network. Phi 3 combines gate and up in one matrix.
    fn gated(&mut self, at: &dyn Fn(&str) -> String, of: &str, inner: u64) -> Result<(), Error> {
        let width = u64::from(self.shape.width);
        if self.shape.architecture == "phi3" {
            self.weight(&at("ffn_up.weight"), &[width, 2 * inner])?;
            return self.weight(&at("ffn_down.weight"), &[inner, width]);
        }
        self.weight(&at(&format!("ffn_gate{of}.weight")), &[width, inner])?;
        self.weight(&at(&format!("ffn_up{of}.weight")), &[width, inner])?;
        self.weight(&at(&format!("ffn_down{of}.weight")), &[inner, width])
    }
}
