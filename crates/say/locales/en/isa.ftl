# isa
isa-target = target
isa-bundle = bundle
isa-kernel = kernel
isa-kernels = kernels
isa-stubs = stubs
isa-stub = stub
isa-vgpr = VGPR
isa-sgpr = SGPR
isa-lds = LDS bytes
isa-wavefront = wave
isa-instructions = instructions
isa-undecoded = undecoded
isa-mnemonic = mnemonic
isa-family = family
isa-count = count
isa-one = { $target }: { COUNT($kernels, "kernel", "kernels") } ({ $stubs } of them stubs), { COUNT($functions, "other function", "other functions") }, { COUNT($instructions, "instruction", "instructions") }
isa-account = { COUNT($objects, "code object", "code objects") }: { COUNT($instructions, "instruction", "instructions") } in { COUNT($bytes, "byte", "bytes") } ({ COUNT($outside, "instruction", "instructions") } outside any function), { COUNT($padding, "byte", "bytes") } of padding
isa-undecoded-words = { $count } words are not valid instructions for their processor:
isa-cut = { $count } instructions are truncated at the end of the code:
isa-unread = Not counted: { $what }: { $why }
isa-more = ... and { $count } more (all in --format json)
isa-complete = Every word was decoded, so instructions that are not counted here are not in the file.
isa-incomplete = Some words were not decoded: the counts are lower bounds, and a count of 0 does not prove absence.
isa-has = { $what }: yes, { $count } times
isa-has-not = { $what }: no; every word of every code section was decoded
isa-has-unknown = { $what }: none found, but not everything could be decoded
isa-no-code = { $file } has no AMD GPU code
isa-spirv = { $file } has no AMD GPU code. It has { COUNT($modules, "SPIR-V module", "SPIR-V modules") }, which a Vulkan driver compiles for its GPU. `whichkernel inspect { WORD($file) } --modules` counts their instructions; `whichkernel dryrun --backend vulkan` shows the compiled code
isa-not-read = { $file } could not be read, so its code is unknown: { $why }
isa-taken-target = { $file } has no code specifically for { $target }; a GPU of this target uses { $taken }: specify --target { $taken }
isa-nvidia = { $file } has code for { $there }, but NVIDIA machine code (SASS) is not decoded. `whichkernel inspect` lists its kernels
isa-has-beside = { "  " }but it has: { $list } (--has matrix matches all of them)
isa-no-such-target = { $file } has no code for { $target }; it has: { $there }
isa-progress = bundle { $index }, at byte { $offset } ...
isa-recorded = { $count } { $count ->
    [one] observation
   *[other] observations
} written to the ledger
isa-list-stub = stub ({ $kind }): it computes nothing
isa-file-unread = { $path } could not be read, so its code is unknown
isa-has-nothing = { $what } is neither the beginning of an instruction's name nor a family ({ $families })
isa-spirv-others = { $file } has no AMD GPU code. It has { COUNT($modules, "SPIR-V module", "SPIR-V modules") }, but not all of them are for Vulkan: OpenCL or Level Zero drivers compile the others. `whichkernel inspect { WORD($file) } --modules` shows what they are for, and counts their instructions
