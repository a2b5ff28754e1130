"""Installs vLLM from PyPI into a new virtual environment: fetch.py FOLDER [VERSION]. Prints vLLM's version.

PyPI's torch links CUDA libraries of several gigabytes, and no rule for an AMD GPU calls them. So they are not
downloaded: pip is told that they are installed, and empty libraries with the same names let torch load. Only the small
CUDA runtime, whose constructors run at load time, is real.
"""
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import venv

# Requirements of vLLM for NVIDIA cards, or for serving, that no rule imports.
NOT_NEEDED = re.compile(
    r"^(nvidia|cuda|torchaudio|torchcodec|torchvision|triton-kernels|flashinfer|PyNvVideo|tilelang|nvtx|fastsafetensors|"
    r"instanttensor|quack|tokenspeed|humming|opencv|apache-tvm)", re.I)
ABSENT = re.compile(r"^lib(cu|nv|nccl)")
SYMBOL = re.compile(r"^(cu|nccl|nv)[A-Za-z]")


def run(*command):
    subprocess.run(command, check=True, stdout=sys.stderr)


def requirements(folder, package):
    path = glob.glob(os.path.join(folder, f"{package}-*.dist-info", "METADATA"))[0]
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("Requires-Dist:") and "extra ==" not in line:
                yield line.split(":", 1)[1].strip()


def pretend(folder, requirement):
    """Writes the description of an installed package, so that pip does not fetch it."""
    name, extras, version = re.match(r"([A-Za-z0-9_.-]+)(?:\[([^\]]*)\])?[^=]*(?:==([^;, ]+))?", requirement).groups()
    info = os.path.join(folder, f"{name.replace('-', '_')}-{version or '999'}.dist-info")
    os.makedirs(info, exist_ok=True)
    with open(os.path.join(info, "METADATA"), "w") as file:
        file.write(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version or '999'}\n")
        for extra in (extras or "").split(","):
            if extra.strip():
                file.write(f"Provides-Extra: {extra.strip()}\n")
    for empty in ("RECORD", "INSTALLER"):
        open(os.path.join(info, empty), "w").close()


def dynamic(data):
    """The names of needed libraries and undefined symbols of a 64-bit ELF file."""
    shoff, = struct.unpack_from("<Q", data, 0x28)
    shentsize, shnum = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * shentsize) for i in range(shnum)]
    needed, undefined = set(), set()

    def text(table, offset):
        start = sections[table][4] + offset
        return data[start:data.index(b"\0", start)].decode()

    for _, kind, _, _, offset, size, link, _, _, entry in sections:
        if kind == 6:
            for i in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<QQ", data, i)
                if tag == 1:
                    needed.add(text(link, value))
        elif kind == 11:
            for i in range(offset, offset + size, entry):
                name, _, _, section = struct.unpack_from("<IBBH", data, i)
                if section == 0 and name:
                    undefined.add(text(link, name))
    return needed, undefined


def library(path, soname, symbols):
    """Writes a shared library whose functions return 0."""
    strings, offsets = b"\0", []
    for name in [*symbols, soname]:
        offsets.append(len(strings))
        strings += name.encode() + b"\0"
    count = len(symbols) + 1
    hash_at = 64 + 3 * 56
    symbols_at = hash_at + 4 * (2 + 1 + count)
    symbols_at += -symbols_at % 8
    strings_at = symbols_at + 24 * count
    code_at = strings_at + len(strings)
    code_at += -code_at % 16
    code = b"\x31\xc0\xc3"
    dynamic_at = code_at + len(code)
    dynamic_at += -dynamic_at % 4096
    tags = [(14, offsets[-1]), (4, hash_at), (5, strings_at), (6, symbols_at), (10, len(strings)), (11, 24), (0, 0)]
    out = bytearray(dynamic_at + 16 * len(tags))
    out[:64] = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1" + bytes(9), 3, 62, 1, 0, 64, 0, 0, 64, 56, 3, 64, 0, 0)
    for number, header in enumerate(((1, 5, 0, dynamic_at, 4096), (1, 6, dynamic_at, 16 * len(tags), 4096), (2, 6, dynamic_at, 16 * len(tags), 8))):
        kind, flags, at, size, align = header
        struct.pack_into("<IIQQQQQQ", out, 64 + 56 * number, kind, flags, at, at, at, size, size, align)
    # One bucket: every symbol is in one chain.
    chain = [0] + [i + 1 if i + 1 < count else 0 for i in range(1, count)]
    struct.pack_into(f"<{3 + count}I", out, hash_at, 1, count, 1 if symbols else 0, *chain)
    for number, offset in enumerate(offsets[:-1], 1):
        struct.pack_into("<IBBHQQ", out, symbols_at + 24 * number, offset, 0x12, 0, 1, code_at, len(code))
    out[strings_at:strings_at + len(strings)] = strings
    out[code_at:code_at + len(code)] = code
    for number, tag in enumerate(tags):
        struct.pack_into("<QQ", out, dynamic_at + 16 * number, *tag)
    with open(path, "wb") as file:
        file.write(out)


def absent(site, folder):
    os.makedirs(folder)
    libraries = glob.glob(os.path.join(site, "torch/lib/*.so*"))
    needed, undefined = set(), set()
    for path in libraries:
        with open(path, "rb") as file:
            data = file.read()
        one, other = dynamic(data)
        needed |= one
        undefined |= other
    own = {os.path.basename(path) for path in libraries}
    for name in sorted(needed - own):
        if ABSENT.match(name) and not name.startswith("libcudart"):
            library(os.path.join(folder, name), name, [])
    symbols = sorted(name for name in undefined if SYMBOL.match(name) and not re.match(r"cuda[A-Z]", name))
    # ld.so checks versions in the library of that name, so the symbols are in one with another name, loaded first.
    library(os.path.join(folder, "libabsent.so"), "libabsent.so", symbols)
    for path in glob.glob(os.path.join(site, "nvidia/**/libcudart.so.*"), recursive=True):
        shutil.copy(path, folder)


def main():
    folder, version = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    venv.create(folder, with_pip=True, symlinks=True)
    python = os.path.join(folder, "bin/python")
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:")
    site = glob.glob(os.path.join(folder, "lib/python3.*/site-packages"))[0]
    run(*pip, "--no-deps", f"vllm=={version}" if version else "vllm")
    wanted = list(requirements(site, "vllm"))
    torch = next(one for one in wanted if re.match(r"torch\b", one))
    run(*pip, "--no-deps", torch.split(";")[0])
    rest = []
    for one in requirements(site, "torch"):
        if re.match(r"(nvidia|cuda)", one):
            pretend(site, one)
        else:
            rest.append(one)
    toolkit = next((one for one in requirements(site, "torch") if re.match(r"(cuda-toolkit|nvidia-cuda-runtime)", one)), "")
    major = re.search(r"==(\d+)", toolkit)[1] if "==" in toolkit else "13"
    runtime = f"nvidia-cuda-runtime-cu{major}" if int(major) < 13 else f"nvidia-cuda-runtime=={major}.*"
    with tempfile.TemporaryDirectory() as apart:
        run(*pip, "--no-deps", "--target", apart, runtime)
        shutil.copytree(os.path.join(apart, "nvidia"), os.path.join(site, "nvidia"), dirs_exist_ok=True)
    rest += [one for one in wanted if not NOT_NEEDED.match(one) and not re.match(r"torch\b", one)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(rest) + "\n")
        file.flush()
        run(*pip, "-r", file.name)
    # Compiled for NVIDIA cards, and more than half of the size.
    for path in glob.glob(os.path.join(site, "vllm/**/*.so"), recursive=True) + glob.glob(os.path.join(site, "vllm/vllm-rs")):
        os.remove(path)
    absent(site, os.path.join(folder, "absent"))
    info = glob.glob(os.path.join(site, "vllm-*.dist-info"))[0]
    print(os.path.basename(info)[len("vllm-"):-len(".dist-info")])


if __name__ == "__main__":
    main()
