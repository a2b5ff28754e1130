"""Steps of PyTorch whose launches are compared: the real GPU by CUPTI, and the stand-in. Each step begins with the kernel of
torch.cuda._sleep, which marks it in both. No step reads a value back, and none chooses by time.
    steps.py            runs all; writes "N NAME" lines, and the steps that failed, to $STEPS"""
import os, sys
import torch, torch.nn as nn, torch.nn.functional as F

import torch._inductor.config

# Without it, compiled pointwise kernels are chosen by time.
torch._inductor.config.triton.autotune_pointwise = False
torch.manual_seed(0)
D = "cuda"
half, bf16 = torch.float16, torch.bfloat16


def r(*shape, dtype=torch.float32, grad=False):
    return torch.zeros(*shape, device=D, dtype=dtype).requires_grad_(grad)


def ints(*shape, dtype=torch.int64):
    return torch.zeros(*shape, device=D, dtype=dtype)


STEPS = []


def step(name):
    def add(function):
        STEPS.append((name, function))
        return function
    return add


def simple(name, function):
    STEPS.append((name, function))


simple("add f32", lambda: r(1000, 1000) + r(1000, 1000))
simple("add bf16", lambda: r(1000, 1000, dtype=bf16) + r(1000, 1000, dtype=bf16))
simple("add f16, not contiguous", lambda: r(512, 1024, dtype=half).t() + r(1024, 512, dtype=half))
simple("multiply by a scalar", lambda: r(4097) * 3.0)
simple("broadcast", lambda: r(64, 1, 128) * r(1, 32, 128))
simple("exp, log, sqrt", lambda: r(5000).exp().log().sqrt())
simple("gelu", lambda: F.gelu(r(32, 4096, dtype=bf16)))
simple("silu times gate", lambda: F.silu(r(32, 11008, dtype=bf16)) * r(32, 11008, dtype=bf16))
simple("where", lambda: torch.where(r(1000) > 0, r(1000), r(1000)))
simple("clamp and cast", lambda: r(10000).clamp(-1, 1).to(torch.int8))
simple("cast to bf16", lambda: r(333, 777).to(bf16))
simple("arange and linspace", lambda: (torch.arange(5000, device=D), torch.linspace(0, 1, 777, device=D)))
simple("fill and eye", lambda: (torch.ones(300, 300, device=D), torch.eye(257, device=D)))
simple("complex", lambda: torch.complex(r(100, 100), r(100, 100)) * 2)
simple("sum", lambda: r(1024, 1024).sum())
simple("sum over rows", lambda: r(512, 3000).sum(1))
simple("sum over columns", lambda: r(3000, 512).sum(0))
simple("mean and variance", lambda: (r(64, 4096).mean(-1), r(64, 4096).var(-1)))
simple("max with index", lambda: r(100, 5000).max(1))
simple("argmax bf16", lambda: r(8, 32000, dtype=bf16).argmax(-1))
simple("norm", lambda: r(10000).norm())
simple("cumsum", lambda: r(64, 2048).cumsum(1))
simple("cumsum of one long row", lambda: r(100000).cumsum(0))
simple("sort rows", lambda: r(16, 1000).sort(1))
simple("sort one long row", lambda: r(200000).sort())
simple("topk", lambda: r(4, 32000).topk(50))
simple("gather and scatter", lambda: r(100, 100).scatter(1, ints(100, 10), r(100, 10)).gather(1, ints(100, 10)))
simple("index select", lambda: r(5000, 128).index_select(0, ints(300)))
simple("index put", lambda: r(1000, 64).index_put((ints(200),), r(200, 64), accumulate=True))
simple("masked fill", lambda: r(64, 64).masked_fill(r(64, 64) == 0, -1.0))
simple("cat of three", lambda: torch.cat([r(10, 100), r(20, 100), r(30, 100)]))
simple("stack and permute copy", lambda: torch.stack([r(64, 64)] * 4).permute(2, 0, 1).contiguous())
simple("transpose copy bf16", lambda: r(2048, 1024, dtype=bf16).t().contiguous())
simple("roll and flip", lambda: r(128, 128).roll(3, 1).flip(0))
simple("pad reflect", lambda: F.pad(r(1, 3, 64, 64), (2, 2, 2, 2), mode="reflect"))
simple("triu", lambda: r(1024, 1024).triu(1))
simple("random normal", lambda: torch.randn(100000, device=D))
simple("random bits and permutation", lambda: (torch.rand(3000, device=D), torch.randint(0, 9, (4000,), device=D)))
simple("dropout", lambda: F.dropout(r(64, 1024), 0.1))
simple("softmax short rows", lambda: r(128, 512).softmax(-1))
simple("softmax long rows bf16", lambda: r(16, 50000, dtype=bf16).softmax(-1))
simple("log softmax", lambda: r(128, 1000).log_softmax(-1))
simple("cross entropy", lambda: F.cross_entropy(r(64, 1000), ints(64)))
simple("layer norm", lambda: F.layer_norm(r(64, 1024), (1024,), r(1024), r(1024)))
simple("rms norm", lambda: F.rms_norm(r(64, 4096, dtype=bf16), (4096,), r(4096, dtype=bf16)))
simple("group norm", lambda: F.group_norm(r(4, 32, 16, 16), 8, r(32), r(32)))
simple("batch norm inference", lambda: F.batch_norm(r(8, 16, 16, 16), r(16), r(16)))
simple("embedding", lambda: F.embedding(ints(8, 128), r(32000, 512)))
simple("linear f32", lambda: F.linear(r(64, 256), r(512, 256), r(512)))
simple("linear bf16", lambda: F.linear(r(64, 256, dtype=bf16), r(512, 256, dtype=bf16), r(512, dtype=bf16)))
simple("matmul f16", lambda: r(128, 256, dtype=half) @ r(256, 512, dtype=half))
simple("batched matmul", lambda: torch.bmm(r(8, 64, 128), r(8, 128, 32)))
simple("matrix times vector", lambda: r(1000, 1000) @ r(1000))
simple("max pool", lambda: F.max_pool2d(r(4, 16, 64, 64), 2))
simple("average pool", lambda: F.adaptive_avg_pool2d(r(4, 16, 64, 64), 1))
simple("interpolate", lambda: F.interpolate(r(1, 3, 64, 64), scale_factor=2, mode="bilinear"))


def attention(backend, dtype, causal):
    def run():
        with nn.attention.sdpa_kernel(backend):
            q = r(2, 8, 256, 64, dtype=dtype)
            F.scaled_dot_product_attention(q, q, q, is_causal=causal)
    return run


simple("attention, flash, causal", attention(nn.attention.SDPBackend.FLASH_ATTENTION, bf16, True))
simple("attention, flash", attention(nn.attention.SDPBackend.FLASH_ATTENTION, half, False))
simple("attention, efficient, causal", attention(nn.attention.SDPBackend.EFFICIENT_ATTENTION, bf16, True))
simple("attention, math", lambda: torch.ops.aten._scaled_dot_product_attention_math(*[r(1, 4, 64, 32)] * 3))
simple("attention, memory-efficient", lambda: F.scaled_dot_product_attention(*[r(1, 4, 128, 64)] * 3))


@step("rotary embedding")
def _():
    q, cos, sin = r(2, 8, 128, 64, dtype=bf16), r(128, 64, dtype=bf16), r(128, 64, dtype=bf16)
    a, b = q.chunk(2, -1)
    return q * cos + torch.cat((-b, a), -1) * sin


@step("KV cache write")
def _():
    cache = r(2, 8, 512, 64, dtype=bf16)
    cache[:, :, 5:9] = r(2, 8, 4, 64, dtype=bf16)
    return cache.index_copy(2, ints(4), r(2, 8, 4, 64, dtype=bf16))


@step("backward of an MLP")
def _():
    torch.manual_seed(0)
    x, a, b = r(32, 64), r(128, 64, grad=True), r(10, 128, grad=True)
    F.cross_entropy(F.relu(x @ a.t()) @ b.t(), ints(32)).backward()


@step("backward of layer norm and gelu")
def _():
    x, w, b = r(64, 512, grad=True), r(512, grad=True), r(512, grad=True)
    F.gelu(F.layer_norm(x, (512,), w, b)).sum().backward()


@step("backward of embedding")
def _():
    table = r(1000, 64, grad=True)
    F.embedding(ints(16, 32), table).sum().backward()


def optimizer(make):
    def run():
        weights = [nn.Parameter(r(100, 100)), nn.Parameter(r(100))]
        for w in weights:
            w.grad = torch.ones_like(w)
        chosen = make(weights)
        chosen.step()
        chosen.zero_grad()
    return run


simple("SGD with momentum", optimizer(lambda w: torch.optim.SGD(w, 0.1, momentum=0.9)))
simple("AdamW, for each", optimizer(lambda w: torch.optim.AdamW(w, 1e-3)))
simple("AdamW, fused", optimizer(lambda w: torch.optim.AdamW(w, 1e-3, fused=True)))
simple("gradient norm clip", lambda: torch.ops.aten._foreach_norm([r(100), r(1000)]))


@step("transformer layer, forward and backward")
def _():
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True, device=D)
    layer(r(2, 16, 64)).sum().backward()


@step("MLP, training step")
def _():
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 8)).to(D)
    chosen = torch.optim.AdamW(model.parameters(), 1e-3)
    model(r(16, 64)).square().mean().backward()
    chosen.step()


@step("CUDA graph, three replays")
def _():
    x = r(1000)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = (x * 2).relu()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x * 2).relu().sum()
    for _ in range(3):
        graph.replay()


@step("Triton kernel")
def _():
    import triton_kernels
    triton_kernels.add(r(10000), r(10000))


@step("torch.compile, pointwise")
def _():
    torch.compile(lambda a, b: (a * b + 1).relu())(r(4096), r(4096))


@step("torch.compile, softmax and sum")
def _():
    torch.compile(lambda a: (a.softmax(-1) * 2).sum(-1))(r(64, 1000))



if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    with open(os.environ["STEPS"], "w") as log:
        torch.zeros(1, device=D)
        for number, (name, function) in enumerate(STEPS):
            torch.cuda.synchronize()
            torch.cuda._sleep(1)
            try:
                function()
                torch.cuda.synchronize()
                said = "ran"
            except Exception as error:
                said = f"failed: {type(error).__name__}: {str(error).splitlines()[0][:120]}"
            print(number, name, said, sep="\t", file=log, flush=True)
        torch.cuda._sleep(1)
        torch.cuda.synchronize()
