"""A small PyTorch job: training steps, products in three types, a captured graph that is replayed. Prints a hash of its results."""
import hashlib, sys
import torch

torch.manual_seed(7)
torch.backends.cuda.matmul.allow_tf32 = False
torch.use_deterministic_algorithms(True, warn_only=True)
gpu = torch.device("cuda")
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.LayerNorm(128), torch.nn.Linear(128, 8)).to(gpu)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
digest = hashlib.sha256()
x, y = torch.randn(256, 64, device=gpu), torch.randint(0, 8, (256,), device=gpu)
for step in range(20):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
digest.update(loss.detach().cpu().numpy().tobytes())
with torch.no_grad():
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        a = torch.ones(96, 96, device=gpu, dtype=kind)
        for _ in range(10):
            a = torch.softmax(a @ a, dim=1)
        digest.update(a.float().cpu().numpy().tobytes())
    still = torch.zeros(256, 64, device=gpu)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        model(still)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = model(still)
    for step in range(30):
        still.fill_(step / 30)
        graph.replay()
    torch.cuda.synchronize()
    digest.update(out.cpu().numpy().tobytes())
print("result", digest.hexdigest(), flush=True)
