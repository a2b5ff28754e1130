"""Follows vLLM's selecting functions while the model is built: results, lines, and the questions they ask."""
import enum
import re
import sys

SELECTORS = (
    ("attention", re.compile(r"^get_attn_backend$")),
    ("mla-prefill", re.compile(r"^get_mla_prefill_backend$")),
    ("moe", re.compile(r"^select_\w*moe_backend$")),
    ("linear", re.compile(r"^(init|choose)_\w*linear_kernel$")),
)
# Functions that only hand on what they were given, and files that decide nothing.
CARRIERS = re.compile(r"^(get_(current_vllm|cached_comp)\w*|get_path|get_class|get_name|get_device_capability|get_supported\w*|init_logger|wrapper)$")
ASIDE = ("/vllm/logger.py", "/vllm/distributed/parallel_state.py", "/vllm/model_executor/custom_op.py")
PLAIN = (bool, int, str, type(None))


def said(value):
    """A short text of a result: the name of a class or member, never an address."""
    if isinstance(value, tuple):
        return ", ".join(filter(None, (said(one) for one in value)))
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, PLAIN):
        return "" if value is None else str(value)
    return type(value).__name__


class Selection:
    def __init__(self, topic, function, place):
        self.topic = topic
        self.function = function
        self.place = place
        self.result = None
        self.failed = None
        self.returns = []
        self.asked = []
        self.rejected = []

    def key(self):
        return (self.topic, self.function, self.result, self.failed, tuple(self.rejected))


class Trace:
    """`with Trace(root)` records every outermost call of a selecting function below `root`."""

    def __init__(self, root):
        self.root = root
        self.stack = []
        self.selections = []

    def __enter__(self):
        sys.settrace(self.called)
        return self

    def __exit__(self, *error):
        sys.settrace(None)

    def called(self, frame, event, argument):
        code = frame.f_code
        if not code.co_filename.startswith(self.root):
            return None
        name = code.co_name
        if self.stack:
            return self.inside(frame)
        for topic, pattern in SELECTORS:
            if pattern.match(name):
                selection = Selection(topic, name, (code.co_filename, code.co_firstlineno))
                self.stack.append(selection)
                self.selections.append(selection)
                return self.outermost(frame, selection)
        return None

    def outermost(self, top, selection):
        def event(frame, kind, argument):
            if kind == "return" and frame is top:
                self.stack.pop()
                if argument is not None:
                    selection.result = said(argument)
                    selection.value = argument
                    selection.returns.append((frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno, selection.result))
            elif kind == "exception" and frame is top:
                selection.failed = f"{argument[0].__name__}: {argument[1]}"
            return event

        return event

    def inside(self, frame):
        selection = self.stack[-1]
        name = frame.f_code.co_name
        if name.startswith("<") or name in ("__hash__", "__eq__", "__repr__", "__init__"):
            return None
        frame.f_trace_lines = False

        def event(frame, kind, argument):
            if kind == "return":
                self.returned(selection, frame, argument)
            return event

        return event

    def returned(self, selection, frame, value):
        code = frame.f_code
        if CARRIERS.match(code.co_name) or code.co_filename.endswith(ASIDE):
            return
        caller = frame.f_back
        at = (caller.f_code.co_filename, caller.f_lineno)
        if code.co_filename.endswith("/vllm/envs.py"):
            name = frame.f_locals.get("name")
            if isinstance(name, str) and isinstance(value, (bool, int, str, type(None))):
                kind = "set" if code.co_name == "is_set" else "environment"
                selection.asked.append((kind, name, value, at))
        elif isinstance(value, bool):
            owner = frame.f_locals.get("cls")
            owner = f"{owner.__name__}." if isinstance(owner, type) else ""
            selection.asked.append(("rule", f"{owner}{code.co_name}", value, (code.co_filename, frame.f_lineno)))
        elif isinstance(value, tuple) and len(value) == 2 and value[0] is False and isinstance(value[1], (str, type(None))):
            owner = frame.f_locals.get("cls") or frame.f_locals.get("self")
            if owner is None:
                return
            owner = owner.__name__ if isinstance(owner, type) else type(owner).__name__
            selection.rejected.append((owner, value[1] or "", code.co_filename, frame.f_lineno))
        elif isinstance(value, list) and value and all(isinstance(one, str) for one in value) and "cls" in frame.f_locals:
            owner = frame.f_locals["cls"]
            if code.co_name.startswith("validate"):
                selection.rejected.append((owner.__name__, "; ".join(value), code.co_filename, frame.f_lineno))
        elif code.co_name.startswith(("get_", "_get_", "select_", "_cached_", "_auto_", "_return", "choose_", "init_")) and value is not None and not isinstance(value, int):
            text = said(value)
            if isinstance(value, list):
                text = ", ".join(said(one) for one in value)
            if text and len(text) < 400:
                selection.returns.append((code.co_name, code.co_filename, frame.f_lineno, text))
