# the web page
web-no-file = no file was chosen
web-not-read = the browser could not read the file; it may have been changed or removed since it was chosen
web-tokens = enter a number from 1 to { $most }
web-one-type = weight type
web-mix = mostly { $main }, also { $others }
web-decode = writing an answer
web-prompt = reading a prompt
web-no-table = No table covers { $target }. The command line tool can evaluate a source tree for it: whichkernel source DIR --gpu { WORD($target) }
web-between = { $what } has no table of its own. The nearest releases with one, { $below } and { $above }, agree.
web-between-differ = { $what } has no table of its own. The nearest releases with one, { $below } and { $above }, differ.
web-beyond = { $what } has no table of its own. The nearest release with one is { $below }.
web-unknown-format = Unknown. This file format is not supported.
web-unknown-format-why = No known format begins with these bytes.
web-advice-formats = It reads libraries and programs (ELF, Windows), code objects, offload bundles, kpack archives, SPIR-V modules and GGUF models. The command line tool also reads packages (.whl, .deb, .zip, .tar) and directories.
web-no-gpu-code = No. There is no GPU code in this file.
web-no-gpu-code-why = All { $size } bytes were read. There is no AMD or NVIDIA code and no SPIR-V module.
web-advice-other-file = The GPU code is often in another file. For llama.cpp and Ollama on AMD cards it is libggml-hip.so or ggml-hip.dll.
web-overview = { $count ->
    [one] This file has GPU code for 1 target.
   *[other] This file has GPU code for { $count } targets.
}
web-overview-why = Choose your card to see whether it is among them.
web-yes = Yes. This file has code for your { $card }.
web-yes-why = It has { $live } kernels with code for { $taken }, and { $stubs } stubs. Whether a program loads and runs them is another question.
web-yes-generic = It has no kernels built only for { $target }, but { $live } kernels for { $taken }, which the card can use. Whether a program loads and runs them is another question.
web-yes-compiled = It has no machine code for { $target }, but { $taken }, which the driver compiles at load time.
web-yes-modules = It has { $taken }, which the driver compiles for any card that it supports.
web-no = No. This file has no code for your { $card }.
web-no-why = All { $size } bytes were read and understood. There is no code for { $names }. A program finds no kernels for this card in this file.
web-no-stubs = All { $size } bytes were read and understood. Its { $stubs } kernels for { $taken } are all stubs without code.
web-not-known = It is unknown whether this file has code for your { $card }.
web-not-known-why = No kernel with code for { $target } was found, but there may be one: { $gaps }.
web-advice-build = Install a build that lists { $target }, then drop its library here to check.
web-advice-vulkan = Use the Vulkan backend, which needs no code per card.
web-advice-again = Download or copy the file again and compare its size: it may be damaged or incomplete.
web-model = A { $named } model. Choose your card to see which kernels the source picks.
web-model-on = A { $named } model: these are the paths that the source picks on your { $card }.
web-model-why = Only the header was read ({ $header } bytes). The paths are the rules in the source for dense 4096 × 4096 weights, not a measurement.
web-model-cut = This model file is not complete.
web-model-cut-why = It ends { $missing } bytes before the end of its last tensor. Download it again.
