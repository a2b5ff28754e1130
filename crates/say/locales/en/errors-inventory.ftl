inventory-not-a-file = { $path } is { $what }, which cannot be read at arbitrary offsets. Copy it to a regular file first
inventory-too-long = { $path } claims to have { $bytes } { $bytes ->
    [one] byte
   *[other] bytes
}, but at most { $most } can be read
inventory-shrunk = the file shrank from { COUNT($was, "byte", "bytes") } to { $now } while it was read: only { $left } of { $len } bytes are left here
inventory-changed = the file was changed while it was read
inventory-any-form = an ELF or Windows file, a code object, an offload bundle, a CCOB, a kpack archive or a SPIR-V module
inventory-entry-magic = neither ELF, SPIR-V nor LLVM bitcode
inventory-host-entry = the entry is for the host, but it contains device code
inventory-descriptors = { $described } of { $all } kernel descriptors are in the metadata
inventory-noted-kernels = { $kernels } of the { $all } kernels in the version 2 metadata were found
inventory-no-archive = the device code is in a separate archive, which was not found at { $paths }
inventory-which-archive = the wrappers refer to kpack archives, but the file does not name one
inventory-no-sections = the file has no section headers, so its device code cannot be located
inventory-wrapper = the wrapper points to { $address }, where no bundle starts
inventory-noise = bytes that look compressed or encrypted, in no known format
inventory-opaque = { $what }, which cannot be unpacked
inventory-spirv-cut = a SPIR-V header is not followed by a complete module
inventory-spirv-too-many = too many false headers; the rest was not searched for SPIR-V
