"""The oracle of `cargo xtask deep vllm`: calls vLLM's selecting functions directly, one process per case.

It shares no code with crates/vllm: amdsmi and aiter are packages in a folder, no model is built, nothing is traced, and
the arguments are computed here from config.json. Usage: vllm_direct.py CONFIG,... TARGET DEVICE_ID TITLE [PACKAGE,...]
"""
import json
import os
import sys
import tempfile
import types

paths, target, device_id, title = sys.argv[1:5]
packages = [name for name in (sys.argv[5] if len(sys.argv) > 5 else "").split(",") if name]
config = {}
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "amdsmi.py"), "w") as file:
    file.write(f'''
class AmdSmiException(Exception): pass
class AmdSmiMemoryType: VRAM = 0
def amdsmi_init(*a): pass
def amdsmi_shut_down(): pass
def amdsmi_get_processor_handles(): return ["gpu"]
def amdsmi_get_gpu_asic_info(h):
    return {{"market_name": {title!r}, "device_id": {device_id!r}, "target_graphics_version": {target!r}}}
def amdsmi_get_gpu_device_uuid(h): return ""
def amdsmi_get_gpu_memory_total(h, k): return 64 << 30
def amdsmi_topo_get_link_type(a, b): return {{}}
def amdsmi_topo_get_numa_node_number(h): return 0
''')
for name in packages:
    parts = {"aiter": ["", "ops", "ops/triton", "ops/triton/utils"], "flash_attn": [""]}.get(name, [""])
    for part in parts:
        os.makedirs(os.path.join(folder, name, part), exist_ok=True)
        with open(os.path.join(folder, name, part, "__init__.py"), "w") as file:
            file.write('''
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (), {})
''')
sys.path.insert(0, folder)
os.environ.update(VLLM_PLUGINS="", HF_HUB_OFFLINE="1")

import torch

torch.version.hip = "7.2.0"
torch.version.cuda = None
torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: 1
out = {}


def attempt(topic, function):
    try:
        out[topic] = function()
    except ValueError as error:
        out[topic] = "refused"
    except Exception as error:
        out[topic] = f"not known: {type(error).__name__}: {error}"[:300]


def heads():
    if "kv_lora_rank" in config:
        return config["kv_lora_rank"] + config["qk_rope_head_dim"]
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def attention(sliding):
    from vllm.platforms.rocm import RocmPlatform
    from vllm.v1.attention.backends.registry import AttentionBackendEnum
    from vllm.v1.attention.selector import AttentionSelectorConfig

    asked = AttentionSelectorConfig(
        head_size=heads(), dtype=torch.bfloat16, kv_cache_dtype="auto", block_size=None,
        use_mla="kv_lora_rank" in config, has_sink=config["model_type"] == "gpt_oss", has_sliding_window=sliding)
    path = RocmPlatform.get_attn_backend_cls(None, asked, num_heads=config["num_attention_heads"])
    return next(member.name for member in AttentionBackendEnum if member.value == path)


def mla_prefill():
    from vllm.platforms.rocm import RocmPlatform
    from vllm.v1.attention.backends.mla.prefill.base import MLADimensions
    from vllm.v1.attention.backends.mla.prefill.selector import MLAPrefillSelectorConfig

    dimensions = MLADimensions(
        qk_nope_head_dim=config["qk_nope_head_dim"], qk_rope_head_dim=config["qk_rope_head_dim"], v_head_dim=config["v_head_dim"])
    return RocmPlatform.get_mla_prefill_backend_cls(MLAPrefillSelectorConfig(torch.bfloat16, dimensions)).get_name()


def moe():
    from vllm.config import VllmConfig, set_current_vllm_config
    from vllm.model_executor.layers.fused_moe.activation import MoEActivation
    from vllm.model_executor.layers.fused_moe.config import FusedMoEConfig, FusedMoEParallelConfig, RoutingMethodType

    experts = config.get("n_routed_experts") or config.get("num_experts") or config.get("num_local_experts")
    oss = config["model_type"] == "gpt_oss"
    current = VllmConfig()
    current.model_config = types.SimpleNamespace(quantization_config=None, hf_text_config=None, hf_config=None)
    with set_current_vllm_config(current):
        routing = {"deepseek_v3": RoutingMethodType.DeepSeekV3, "mixtral": RoutingMethodType.Renormalize,
                   "qwen3_moe": RoutingMethodType.Renormalize, "gpt_oss": RoutingMethodType.Renormalize}
        asked = FusedMoEConfig(
            num_experts=experts, experts_per_token=config["num_experts_per_tok"], hidden_dim=config["hidden_size"],
            intermediate_size=config.get("moe_intermediate_size") or config["intermediate_size"],
            num_local_experts=experts, num_logical_experts=experts,
            activation=MoEActivation.SWIGLUOAI if oss else MoEActivation.SILU, device="cuda",
            routing_method=routing[config["model_type"]], moe_parallel_config=FusedMoEParallelConfig.make_no_parallel(),
            in_dtype=torch.bfloat16, has_bias=oss, swiglu_limit=config.get("swiglu_limit"))
        if oss:
            from vllm.model_executor.layers.fused_moe.oracle.mxfp4 import select_mxfp4_moe_backend as select
            backend, experts = select(asked)
        elif "quantization_config" in config:
            from vllm.model_executor.layers.fused_moe.oracle.fp8 import select_fp8_moe_backend as select
            backend, experts = select(asked, *fp8_keys())
        else:
            from vllm.model_executor.layers.fused_moe.oracle.unquantized import select_unquantized_moe_backend as select
            backend, experts = select(asked)
    return f"{backend.name}, {experts.__name__}" if experts else backend.name


def fp8_keys():
    from vllm.model_executor.layers.quantization.utils.quant_utils import kFp8Dynamic128Sym, kFp8Static128BlockSym

    return kFp8Static128BlockSym, kFp8Dynamic128Sym


def fp8_linear():
    from vllm.config import VllmConfig, set_current_vllm_config
    from vllm.model_executor.kernels.linear import init_fp8_linear_kernel

    weight, activation = fp8_keys()
    with set_current_vllm_config(VllmConfig()):
        kernel = init_fp8_linear_kernel(
            activation_quant_key=activation, weight_quant_key=weight, input_dtype=torch.bfloat16,
            out_dtype=torch.bfloat16, weight_shape=(config["hidden_size"], config["num_attention_heads"] * config["v_head_dim"]))
    return type(kernel).__name__


for path in paths.split(","):
    config, out = json.load(open(path)), {}
    kinds = {False}
    if config["model_type"] in ("gemma3_text", "gpt_oss"):
        kinds = {False, True}
    for sliding in sorted(kinds):
        attempt("sliding attention" if sliding else "attention", lambda: attention(sliding))
    if "kv_lora_rank" in config:
        attempt("mla-prefill", mla_prefill)
    if any(name in config for name in ("n_routed_experts", "num_experts", "num_local_experts")):
        attempt("moe", moe)
    if config.get("quantization_config", {}).get("quant_method") == "fp8":
        attempt("linear", fp8_linear)
    print("RESULT " + json.dumps(out), flush=True)
