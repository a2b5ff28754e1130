"""A machine with one AMD GPU for vLLM's rules: torch.cuda, amdsmi, compiled operators, declared packages.

Nothing here answers a rule. Code that would run on the GPU or in an absent package raises `Called`, with the name.
"""
import builtins
import importlib.abc
import importlib.machinery
import os
import sys
import types

ASKED = []


class Called(BaseException):
    """Something that only the real package or GPU can answer. A BaseException, so that no rule swallows it."""

    def __init__(self, name):
        super().__init__(name)
        self.name = name


class Absent:
    """A function, class or value of a package or operator library that is not here."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return Absent(f"{self._name}.{attribute}")

    def __call__(self, *args, **kwargs):
        raise Called(self._name)

    def __mro_entries__(self, bases):
        return (object,)

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __repr__(self):
        return f"<{self._name}>"


class AbsentModule(types.ModuleType):
    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return Absent(f"{self.__name__}.{attribute}")


class Declared(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the packages that the question declares as installed, and hides those it declares as absent."""

    def __init__(self, present, hidden):
        self.present = present
        self.hidden = hidden

    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top in self.hidden or name in self.hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if top in self.present:
            spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
            return spec
        return None

    def create_module(self, spec):
        module = AbsentModule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


# The operator libraries of a vLLM build. They are compiled for one vendor, so that a build for another one hides them.
OPERATORS = ("_C", "_moe_C", "_rocm_C", "_C_cache_ops", "_C_custom_ar", "_C_cuda_utils", "_C_utils")


def operators(torch, present):
    """Attributes of absent operator libraries; `hasattr` says no unless the library is declared as present."""
    namespace = torch._ops._OpNamespace
    real = namespace.__getattr__

    def attribute(self, name):
        try:
            return real(self, name)
        except AttributeError:
            if self.name in OPERATORS and not name.startswith("__"):
                return Absent(f"torch.ops.{self.name}.{name}")
            raise

    namespace.__getattr__ = attribute
    real_hasattr = builtins.hasattr
    real_getattr = builtins.getattr

    def has(thing, name):
        found = real_hasattr(thing, name)
        if found and isinstance(thing, namespace) and isinstance(real_getattr(thing, name), Absent):
            answer = thing.name in present
            ASKED.append(("operator", f"torch.ops.{thing.name}.{name}", answer, place(sys._getframe(1))))
            return answer
        return found

    builtins.hasattr = has

    def get(thing, name, *default):
        if default and isinstance(thing, namespace) and not has(thing, name):
            return default[0]
        return real_getattr(thing, name, *default)

    builtins.getattr = get


def place(frame):
    return (frame.f_code.co_filename, frame.f_lineno)


def common(torch):
    """What is the same for every card."""
    torch.version.hip = torch.version.hip or "7.2.0"
    torch.version.cuda = None
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda._device_count_amdsmi = lambda: 1
    torch.cuda.current_device = lambda: 0
    torch.cuda.is_initialized = lambda: False
    torch.cuda.is_current_stream_capturing = lambda: False

    class Handle:
        """A stream or an event: vLLM creates some with the model, and uses them with the first tokens."""

        def __init__(self, *args, **kwargs):
            pass

    torch.cuda.Stream = torch.cuda.Event = Handle


def card(torch, card):
    """The chosen card, as torch and amdsmi describe it."""
    properties = types.SimpleNamespace(
        name=card["title"],
        gcnArchName=card["gcn_arch_name"],
        major=card["major"],
        minor=card["minor"],
        multi_processor_count=card["compute_units"],
        total_memory=card["memory"],
        warp_size=card["wavefront"],
        shared_memory_per_block=card["shared_memory"],
    )
    torch.cuda.get_device_properties = lambda device=None: properties
    torch.cuda.get_device_capability = lambda device=None: (card["major"], card["minor"])
    torch.cuda.get_device_name = lambda device=None: card["title"]
    torch.cuda.mem_get_info = lambda device=None: (card["memory"], card["memory"])

    smi = types.ModuleType("amdsmi")
    smi.__spec__ = importlib.machinery.ModuleSpec("amdsmi", None)

    class AmdSmiException(Exception):
        pass

    smi.AmdSmiException = AmdSmiException
    smi.AmdSmiMemoryType = types.SimpleNamespace(VRAM=0, VIS_VRAM=1, GTT=2)
    smi.amdsmi_init = lambda *flags: None
    smi.amdsmi_shut_down = lambda: None
    smi.amdsmi_get_processor_handles = lambda: [0]
    smi.amdsmi_get_gpu_asic_info = lambda handle: {
        "market_name": card["title"],
        "device_id": card["device_id"],
        "target_graphics_version": card["target"],
    }
    smi.amdsmi_get_gpu_device_uuid = lambda handle: "00000000-0000-0000-0000-000000000000"
    smi.amdsmi_get_gpu_memory_total = lambda handle, kind: card["memory"]

    def unanswered(name):
        def call(*args, **kwargs):
            raise AmdSmiException(f"{name}: the stand-in has no answer")

        return call

    smi.__getattr__ = lambda name: unanswered(name) if name.startswith("amdsmi_") else missing(name)

    def missing(name):
        raise AttributeError(name)

    sys.modules["amdsmi"] = smi
    os.environ.pop("HIP_VISIBLE_DEVICES", None)
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
