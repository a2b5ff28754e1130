codeobject-truncated = { $field } at offset { $offset } needs { COUNT($needed, "byte", "bytes") }, but { $left } are left
codeobject-trailing = { $field } at offset { $offset } is followed by { $left } more bytes
codeobject-unexpected = { $field } at offset { $offset } is { $found }, not { $expected }
codeobject-not-a = { $field } at offset { $offset } is not { $kind }
codeobject-missing = { $field } is missing at offset { $offset }
codeobject-over-limit = { $field } at offset { $offset } is { $claimed }, above the limit of { $limit }
codeobject-too-deep = { $field } at offset { $offset } is nested deeper than { $limit } levels
codeobject-overlap = { $field } at offset { $offset } overlaps the previous one, which ends at { $end }
codeobject-overflow = { $field } at offset { $offset }, together with the fields before it, does not fit in 64 bits
codeobject-unmapped = { $field } is at address { $offset }, which is not in any segment
codeobject-not-text = { $field } at offset { $offset } is not UTF-8 text
codeobject-corrupt = { $field } at offset { $offset } cannot be decompressed: { $why }
codeobject-hash = { $field } at offset { $offset } is { $stated }, but the hash of the unpacked bytes is { $computed }
codeobject-unreadable = { $field } at offset { $offset } could not be read: { $why }
codeobject-unknown = { $field } at offset { $offset } has an unknown value: { $what }
codeobject-incomplete = { $field } at offset { $offset } is incomplete: { $why }
codeobject-other = { $field } at offset { $offset }: { $why }

# Kinds of values
codeobject-map = a map
codeobject-array = an array
codeobject-text = text
codeobject-number = a number

# Which value a field must have
codeobject-expected-zstd = 28 b5 2f fd
codeobject-expected-block = a block of kind 0, 1 or 2
codeobject-expected-pe = 50 45 00 00
codeobject-expected-padding = zero padding
codeobject-expected-amdgpu = 224 (AMDGPU)
codeobject-expected-ccob = 43 43 4f 42
codeobject-expected-ccob-version = 1, 2 or 3
codeobject-expected-ccob-method = 0 (zlib) or 1 (zstd)
codeobject-expected-more-than-header = more than the header
codeobject-expected-kpack = 4b 50 41 4b
codeobject-expected-kpack-version = 1
codeobject-expected-elf = 7f 45 4c 46
codeobject-expected-64-bit = 2 (64-bit)
codeobject-expected-little-endian = 1 (little-endian)
codeobject-expected-record-size = the size of a 64-bit record
codeobject-expected-msgpack = a MessagePack value
codeobject-expected-bundle = "__CLANG_OFFLOAD_BUNDLE__"
codeobject-expected-any-bundle = the start of a bundle ("__CLANG_OFFLOAD_BUNDLE__" or "CCOB")

# Unknown values
codeobject-processor = processor { $number } of code object V{ $version }
codeobject-header-of = the header of { $name }
codeobject-ordinal = { $ordinal } of { $entry }

# Packed bytes
codeobject-too-large = the content is too large for this machine
codeobject-unpacked-size = the content unpacks to { COUNT($got, "byte", "bytes") }, but the header says { $stated }
codeobject-stream-stalls = the stream makes no progress
codeobject-stream-end = the stream does not end at the position given in the header
codeobject-no-ar = this is either a thin archive, whose members are separate files, or not an archive
codeobject-no-end-mark = the end mark is missing

# Launch maps
codeobject-image-machine = e_machine in the host ELF header is { $machine }: only x86-64 constructors are decoded
codeobject-call = call at { $site }: { $why }
codeobject-call-unreached = no constructor that was followed reaches this call
codeobject-call-module = the module of this call does not come from any fat binary registration that was followed
codeobject-call-handle = the address of the handle is unknown
codeobject-call-name = the name of the kernel is not a string in this file
codeobject-call-name-text = the name of the kernel is not UTF-8

# NVIDIA
codeobject-fatbin-bounds = fatbin at offset { $offset }, { $field }: { $value } does not fit in the { $left } bytes that are left
codeobject-fatbin-header = fatbin at offset { $offset }, header size: { $value } is below the { $minimum } bytes of the fixed part
codeobject-fatbin-limit = fatbin entry at offset { $offset }: unpacks to { COUNT($claimed, "byte", "bytes") }, more than the limit of { $limit }
codeobject-fatbin-unpack = fatbin entry at offset { $offset }, { $method } payload: { $why }
codeobject-fatbin-not-a-cubin = fatbin entry at offset { $offset }: it is marked as a cubin, but it is not an ELF file for the CUDA machine
codeobject-fatbin-unreadable = fatbin container at offset { $offset }: { $error }
codeobject-fatbin-flags = flags { $flags } do not name a known compression method
codeobject-fatbin-claims = { $packed } packed bytes cannot unpack to the { $size } bytes that the header claims
codeobject-fatbin-container-header = container header
codeobject-fatbin-container-size = container size
codeobject-fatbin-entry-header = entry header
codeobject-fatbin-payload = payload
codeobject-fatbin-payload-size = payload size
codeobject-fatbin-compressed-size = compressed size
