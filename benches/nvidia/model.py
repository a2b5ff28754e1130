"""A small Llama with random weights, as a GGUF file in F16: real numbers to compute with, the same on every machine."""
import struct, sys
import numpy

EMBED, LAYERS, HEADS, KV_HEADS, FF, CONTEXT = 1024, 4, 16, 4, 2816, 2048
TOKENS = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + [f"\u2581w{i}" for i in range(253)]
U32, F32, STRING, ARRAY, I32 = 4, 6, 8, 9, 5
rng = numpy.random.default_rng(7)


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, kind, value):
    body = text(value) if kind == STRING else struct.pack("<f" if kind == F32 else "<I", value)
    return text(key) + struct.pack("<I", kind) + body


def array(key, kind, values):
    one = {STRING: text, F32: lambda v: struct.pack("<f", v), I32: lambda v: struct.pack("<i", v)}[kind]
    return text(key) + struct.pack("<IIQ", ARRAY, kind, len(values)) + b"".join(map(one, values))


tensors = [("token_embd.weight", (len(TOKENS), EMBED)), ("output_norm.weight", (EMBED,)), ("output.weight", (len(TOKENS), EMBED))]
for i in range(LAYERS):
    kv = EMBED // HEADS * KV_HEADS
    shapes = {"attn_norm": (EMBED,), "attn_q": (EMBED, EMBED), "attn_k": (kv, EMBED), "attn_v": (kv, EMBED), "attn_output": (EMBED, EMBED),
              "ffn_norm": (EMBED,), "ffn_gate": (FF, EMBED), "ffn_up": (FF, EMBED), "ffn_down": (EMBED, FF)}
    tensors += [(f"blk.{i}.{name}.weight", shape) for name, shape in shapes.items()]
meta = [
    entry("general.architecture", STRING, "llama"), entry("general.name", STRING, "random"), entry("general.file_type", U32, 1),
    entry("llama.context_length", U32, CONTEXT), entry("llama.embedding_length", U32, EMBED), entry("llama.block_count", U32, LAYERS),
    entry("llama.feed_forward_length", U32, FF), entry("llama.attention.head_count", U32, HEADS),
    entry("llama.attention.head_count_kv", U32, KV_HEADS), entry("llama.rope.dimension_count", U32, EMBED // HEADS),
    entry("llama.attention.layer_norm_rms_epsilon", F32, 1e-5), entry("llama.vocab_size", U32, len(TOKENS)),
    entry("tokenizer.ggml.model", STRING, "llama"), array("tokenizer.ggml.tokens", STRING, TOKENS),
    array("tokenizer.ggml.scores", F32, [0.0] * 3 + [-1000.0] * 256 + [-float(i) for i in range(253)]),
    array("tokenizer.ggml.token_type", I32, [2, 3, 3] + [6] * 256 + [1] * 253),
    entry("tokenizer.ggml.bos_token_id", U32, 1), entry("tokenizer.ggml.eos_token_id", U32, 2), entry("tokenizer.ggml.unknown_token_id", U32, 0),
]
table, blobs, offset = b"", [], 0
for name, shape in tensors:
    if len(shape) == 1:
        data, kind = numpy.ones(shape, numpy.float32).tobytes(), 0
    else:
        data, kind = (rng.standard_normal(shape) / shape[1] ** 0.5).astype(numpy.float16).tobytes(), 1
    table += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape)) + struct.pack("<IQ", kind, offset)
    blobs.append(data + bytes(-len(data) % 32))
    offset += len(blobs[-1])
head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(meta)) + b"".join(meta) + table
with open(sys.argv[1], "wb") as file:
    file.write(head + bytes(-len(head) % 32))
    for blob in blobs:
        file.write(blob)
