"""Builds a model with vLLM's own code on torch's meta device and reports what its rules chose.

Reads one JSON question from the file in argv[1] and writes one JSON line per case to the file in argv[2]. Each case
runs in a child process, which is forked after the imports that don't depend on the card.
"""
import gc
import importlib
import importlib.util
import json
import os
import re
import resource
import signal
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stand_in
import follow

# Imports that don't depend on the card, made once. A missing one is imported by the child if vLLM needs it.
EARLY = ("torch", "torch._dynamo", "torch.distributed", "transformers", "pydantic", "numpy", "PIL.Image", "triton",
         "fastapi", "openai", "aiohttp", "zmq", "msgspec", "xgrammar", "compressed_tensors", "mistral_common")
MEMORY = 48 << 30


def limits(seconds):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def offline():
    """Leaves the network, where the system allows it. vLLM and transformers are told to stay offline in any case."""
    try:
        import ctypes

        ctypes.CDLL(None).unshare(0x40000000)
    except Exception:
        pass


def early():
    for name in EARLY:
        try:
            importlib.import_module(name)
        except Exception:
            pass
        if name == "torch":
            import torch
            yield torch


class Sources:
    """Source lines, as paths below the package's folder."""

    def __init__(self, root):
        self.root = root
        self.files = {}

    def text(self, path):
        if path not in self.files:
            try:
                with open(path, encoding="utf-8") as file:
                    self.files[path] = file.read().splitlines()
            except (OSError, UnicodeError):
                self.files[path] = []
        return self.files[path]

    def at(self, path, line):
        lines = self.text(path)
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        short = path[len(self.root):].lstrip("/") if path.startswith(self.root) else path
        return {"file": short, "line": line, "text": text}


def number(value):
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def engine(question):
    """The engine's configuration, made as `vllm serve` makes it. Options that a version lacks are an error."""
    from vllm.engine.arg_utils import EngineArgs

    wanted = {"model": question["model"], "skip_tokenizer_init": True, "load_format": "dummy"}
    wanted.update(question.get("engine", {}))
    return EngineArgs(**wanted).create_engine_config()


def in_process():
    """vLLM inspects a model's class in a new interpreter, which would lack the stand-in."""
    registry = importlib.import_module("vllm.model_executor.models.registry")
    if hasattr(registry, "_run_in_subprocess"):
        registry._run_in_subprocess = lambda function: function()


def build(config, root):
    import torch
    from vllm.config import set_current_vllm_config
    from vllm.distributed import init_distributed_environment, initialize_model_parallel
    from vllm.model_executor.model_loader.utils import initialize_model

    ranks = config.parallel_config.tensor_parallel_size
    with set_current_vllm_config(config):
        groups(ranks, config, init_distributed_environment, initialize_model_parallel)
        before = torch.get_default_dtype()
        torch.set_default_dtype(config.model_config.dtype)
        watched = follow.Trace(root)
        model = failure = None
        try:
            with torch.device("meta"), watched:
                model = initialize_model(config)
        except (Exception, stand_in.Called) as error:
            failure = error
        finally:
            torch.set_default_dtype(before)
        return model, watched.selections, failure


def groups(ranks, config, world, parallel):
    """One process that is rank 0 of `ranks`. torch's fake backend stands for the other ranks; no rule communicates."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    real = dist.new_group
    dist.init_process_group(backend="fake", rank=0, world_size=ranks, store=FakeStore())

    def new_group(*args, **kwargs):
        kwargs["backend"] = "fake"
        return real(*args, **kwargs)

    dist.new_group = new_group
    # The communicator of a group allocates on the GPU.
    platform = importlib.import_module("vllm.platforms").current_platform
    base = "vllm.distributed.device_communicators.base_device_communicator.DeviceCommunicatorBase"
    type(platform).get_device_communicator_cls = classmethod(lambda cls: base)
    world(ranks, 0, "env://", 0, "fake")
    parallel(ranks, 1, backend="fake")


def failure_of(error, sources):
    """A refusal by vLLM's own rules, or something that the stand-in cannot answer."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(sources.root)]
    place = own[-1] if own else (frames[-1] if frames else None)
    out = {"message": f"{error.name}" if isinstance(error, stand_in.Called) else f"{type(error).__name__}: {error}"[:2000]}
    if place is not None:
        out["at"] = sources.at(place.filename, place.lineno)
    # Raised by vLLM itself: the last frame is in its tree and raises.
    raised = bool(frames) and bool(own) and frames[-1].filename == own[-1].filename
    raised = raised and isinstance(error, (ValueError, NotImplementedError, RuntimeError))
    raised = raised and (frames[-1].line or "").lstrip().startswith("raise")
    out["refused"] = raised and not isinstance(error, stand_in.Called)
    return out


def behind(entries, sources):
    """Adds the environment variables that a rule reads through a constant of its class, `_ENABLED = envs.NAME`."""
    for kind, name, value, (path, line) in entries:
        yield kind, name, value, (path, line)
        if kind != "rule":
            continue
        text = sources.text(path)
        start = line
        while start > 1 and not text[start - 1].lstrip().startswith("def "):
            start -= 1
        for constant in re.findall(r"\b(?:cls|self)\.(_[A-Z0-9_]+)", "\n".join(text[start - 1:line + 1])):
            for number, other in enumerate(text, 1):
                found = re.match(rf"\s+{constant} = envs\.(\w+)$", other)
                if found:
                    envs = sys.modules["vllm.envs"]
                    yield "environment", found[1], getattr(envs, found[1]), (path, number)
                    break


def asked(entries, sources):
    out, seen = [], set()
    for kind, name, value, (path, line) in behind(entries, sources):
        if (kind, name) in seen:
            continue
        seen.add((kind, name))
        out.append({"kind": kind, "name": name, "value": value if isinstance(value, str) else json.dumps(value), "at": sources.at(path, line)})
    return out


def registered(value):
    """The name under which a user selects an attention backend. Several backends share one `get_name`."""
    try:
        from vllm.v1.attention.backends.registry import AttentionBackendEnum as backends
    except Exception:
        return None
    for member in backends:
        try:
            if member.get_path() == f"{value.__module__}.{value.__qualname__}":
                return member.name
        except Exception:
            continue
    return None


def backend_name(backend):
    """Layers of a vision tower have a member of the list instead of a class."""
    if not isinstance(backend, type):
        return follow.said(backend)
    return registered(backend) or backend.get_name()


def chosen(selection):
    value = getattr(selection, "value", None)
    if value is None:
        return None
    if selection.topic == "attention" and isinstance(value, type) and registered(value):
        return registered(value)
    name = getattr(value, "get_name", None)
    if isinstance(value, type) and callable(name):
        try:
            return str(name())
        except Exception:
            return value.__name__
    return follow.said(value)


def choices(selections, sources):
    """Selections with the same outcome are one choice with a count."""
    grouped = {}
    for selection in selections:
        # Later calls may come from vLLM's own cache, so the first one has the lines.
        key = (selection.topic, chosen(selection), selection.failed)
        if key in grouped:
            grouped[key]["count"] += 1
            continue
        # A wrapper repeats the reason of the function that it calls, sometimes with more words.
        rejected = {}
        for name, reason, path, line in selection.rejected:
            rejected[name] = {"name": name, "reason": reason, "at": rejected.get(name, {}).get("at") or sources.at(path, line)}
        lines, seen = [], set()
        for function, path, line, text in selection.returns:
            if (path, line) not in seen:
                seen.add((path, line))
                lines.append({"function": function, "value": text, "at": sources.at(path, line)})
        grouped[key] = {
            "topic": selection.topic,
            "function": selection.function,
            "chosen": chosen(selection),
            "failed": selection.failed,
            "count": 1,
            "rejected": list(rejected.values()),
            "lines": lines,
            "asked": asked(selection.asked, sources),
        }
    return list(grouped.values())


def layers(model):
    """Module classes with the method that vLLM gave them."""
    counts = {}
    for _, module in model.named_modules():
        method = getattr(module, "quant_method", None)
        backend = getattr(module, "attn_backend", None)
        if method is None and backend is None:
            continue
        name = type(method).__name__ if backend is None else backend_name(backend)
        key = (type(module).__name__, str(name))
        counts[key] = counts.get(key, 0) + 1
    return [{"module": module, "method": method, "count": count} for (module, method), count in counts.items()]


def linear_shapes(model):
    """Output and input sizes of linear layers without quantization, by name of the layer's last part."""
    shapes = {}
    for name, module in model.named_modules():
        method = getattr(module, "quant_method", None)
        weight = getattr(module, "weight", None)
        if type(method).__name__ not in ("UnquantizedLinearMethod", "UnquantizedEmbeddingMethod") or weight is None:
            continue
        if "Embedding" in type(module).__name__ or weight.dim() != 2:
            continue
        shape = (weight.shape[0], weight.shape[1], getattr(module, "bias", None) is not None and hasattr(module.bias, "shape"))
        shapes.setdefault(shape, name.rsplit(".", 1)[-1])
    return shapes


def gemms(model, config, tokens, sources):
    """vLLM chooses the kernel of an unquantized product at run time, by shape: its function is called on meta tensors."""
    import torch

    shapes = linear_shapes(model)
    if not shapes:
        return []
    utils = importlib.import_module("vllm.model_executor.layers.utils")
    function = getattr(utils, "rocm_unquantized_gemm_impl", None)
    out = []
    for (rows, columns, bias), name in shapes.items():
        for count in tokens:
            row = {"layer": name, "m": rows, "k": columns, "tokens": count}
            if function is None:
                row["unknown"] = "vllm.model_executor.layers.utils.rocm_unquantized_gemm_impl"
                out.append(row)
                continue
            last = {}

            def local(frame, kind, argument):
                if kind == "line":
                    last["at"] = (frame.f_code.co_filename, frame.f_lineno)
                return local

            def tracer(frame, kind, argument):
                return local if frame.f_code is function.__code__ else None

            try:
                dtype = config.model_config.dtype
                x = torch.empty(count, columns, dtype=dtype, device="meta")
                weight = torch.empty(rows, columns, dtype=dtype, device="meta")
                extra = torch.empty(rows, dtype=dtype, device="meta") if bias else None
                sys.settrace(tracer)
                function(x, weight, extra)
                row["chosen"] = "torch.nn.functional.linear"
            except stand_in.Called as call:
                # A question about the device is no kernel: its answer would decide.
                row["unknown" if call.name.rsplit(".", 1)[-1].startswith("get_") else "chosen"] = call.name
            except Exception as error:
                row["unknown"] = f"{type(error).__name__}: {error}"[:500]
            finally:
                sys.settrace(None)
            if "at" in last:
                row["at"] = sources.at(*last["at"])
            out.append(row)
    return out


def cache(config, platform):
    from vllm.config import set_current_vllm_config

    out = {"dtype": str(config.cache_config.cache_dtype)}
    try:
        with set_current_vllm_config(config):
            platform.update_block_size_for_backend(config)
        out["block_size"] = number(config.cache_config.block_size)
    except (Exception, stand_in.Called) as error:
        out["unknown"] = f"{type(error).__name__}: {error}"[:500]
    return out


def answer(question, case):
    import torch

    os.environ.update(case["env"])
    stand_in.card(torch, case["card"])
    spec = importlib.util.find_spec("vllm")
    if spec is None or not spec.submodule_search_locations:
        return {"outcome": "unknown", "failure": {"message": "vllm", "refused": False}}
    root = os.path.realpath(list(spec.submodule_search_locations)[0])
    sources = Sources(os.path.dirname(root))
    out = {"outcome": "unknown", "choices": [], "layers": [], "gemms": []}
    try:
        import vllm

        out["version"] = str(getattr(vllm, "__version__", ""))
        in_process()
        from vllm.platforms import current_platform as platform

        out["platform"] = type(platform).__name__
        if not platform.is_rocm():
            out["failure"] = {"message": f"platform {type(platform).__name__}", "refused": False}
            return out
        out["device_name"] = platform.get_device_name()
        config = engine(question)
        model_config = config.model_config
        out["model"] = {
            "architecture": ", ".join(model_config.architectures or []),
            "dtype": str(model_config.dtype).removeprefix("torch."),
            "quantization": model_config.quantization,
        }
    except (Exception, stand_in.Called) as error:
        out["failure"] = failure_of(error, sources)
        out["outcome"] = "refused" if out["failure"]["refused"] else "unknown"
        return out
    try:
        model, selections, failure = build(config, root)
    except (Exception, stand_in.Called) as error:
        out["failure"] = dict(failure_of(error, sources), refused=False)
        return out
    out["choices"] = choices(selections, sources)
    if failure is not None:
        out["failure"] = failure_of(failure, sources)
        out["outcome"] = "refused" if out["failure"]["refused"] else "unknown"
        return out
    out["layers"] = layers(model)
    out["gemms"] = gemms(model, config, question["tokens"], sources)
    out["cache"] = cache(config, platform)
    out["outcome"] = "built"
    return out


def child(question, case, pipe):
    limits(question["seconds"])
    signal.alarm(question["seconds"])
    # vLLM's log and warnings are not the answer.
    if not os.environ.get("WHICHKERNEL_RULES_LOG"):
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
    try:
        out = answer(question, case)
    except BaseException as error:
        out = {"outcome": "unknown", "failure": {"message": f"{type(error).__name__}: {error}"[:2000], "refused": False}}
    with os.fdopen(pipe, "w") as file:
        json.dump(out, file)
    os._exit(0)


def main():
    offline()
    with open(sys.argv[1], encoding="utf-8") as file:
        question = json.load(file)
    rounds = -(-len(question["cases"]) // question["parallel"])
    signal.alarm(question["seconds"] * (rounds + 1))
    for entry in reversed(question["paths"]):
        sys.path.insert(0, entry)
    hidden = set(question.get("hidden", []))
    finder = stand_in.Declared(set(), hidden)
    sys.meta_path.insert(0, finder)
    modules = early()
    try:
        torch = next(modules)
    except (StopIteration, ImportError) as error:
        with open(sys.argv[2], "w") as file:
            json.dump({"missing": "torch", "message": str(error)[:500]}, file)
        return
    # The compiled operators of a build for another vendor would answer for that vendor.
    if getattr(torch.version, "hip", None) is None:
        hidden.update(f"vllm.{name}" for name in ("_C", "_moe_C", "_rocm_C", "_C_stable_libtorch", "_moe_C_stable_libtorch"))
    stand_in.common(torch)
    for _ in modules:
        pass
    gc.freeze()
    waiting, running, out = list(enumerate(question["cases"])), {}, {}
    while waiting or running:
        while waiting and len(running) < question["parallel"]:
            number, case = waiting.pop(0)
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(read)
                for other, _ in running.values():
                    os.close(other)
                finder.present = set(name for name in case["with"] if name not in stand_in.OPERATORS)
                hidden.update(case.get("without", []))
                stand_in.operators(torch, set(case["with"]))
                child(question, case, write)
            os.close(write)
            running[pid] = (read, number)
        # The pipe of the first child: a long answer must be read while the child writes.
        pid, (read, number) = next(iter(running.items()))
        with os.fdopen(read, "rb") as file:
            text = file.read()
        _, status = os.waitpid(pid, 0)
        del running[pid]
        try:
            out[number] = json.loads(text)
        except ValueError:
            ended = f"exit {os.WEXITSTATUS(status)}"
            if os.WIFSIGNALED(status):
                ended = f"{signal.Signals(os.WTERMSIG(status)).name} ({question['seconds']} s)"
            out[number] = {"outcome": "unknown", "failure": {"message": ended, "refused": False}}
    with open(sys.argv[2], "w") as file:
        json.dump({"cases": [out[number] for number in sorted(out)], "python": sys.version.split()[0], "torch": torch.__version__}, file)


if __name__ == "__main__":
    main()
