dryrun-no-runtime = there is no runtime `{ $name }` in the cache. Fetch it with `whichkernel runtime fetch { WORD($name) }`, or specify a directory with --runtime DIR
dryrun-too-many-devices = { $count } devices are too many for a dry run; specify at most 16 cards
dryrun-not-a-directory = { $path } is not a directory
dryrun-no-device-code = no library with AMD device code was found in { $path }. A dry run needs the HIP backend (libggml-hip.so or the like); `whichkernel inspect { WORD($path) }` lists the libraries there
dryrun-soname = { $library } needs { $soname }, but the stand-in only replaces libamdhip64.so.5, .so.6 and .so.7. Use a runtime of ROCm 5, 6 or 7
dryrun-no-blas = { $place } has no { $library }, which this --blas mode needs. `whichkernel runtime fetch debian-sid --help` explains how to fetch it; --blas recorded only records the calls and needs no BLAS library
dryrun-no-program = { $program } was not found on PATH
dryrun-static = { $program } is statically linked, so its built-in HIP runtime cannot be replaced. Use a build that loads libamdhip64.so dynamically
dryrun-loader = { $program } needs the loader { $loader }, which does not exist: the program was built for another C library. Specify the tree that it belongs to with --runtime DIR, or use a build for this one
dryrun-foreign = { $program } is for another processor or format; a dry run needs a 64-bit x86 Linux program
dryrun-start = { $program } could not be started: { $source }. If it was built for another C library, specify its own tree with --runtime DIR
dryrun-no-vulkan-card = { $given } is not a card that Mesa's stand-in supports. It supports: { $known }
dryrun-no-vulkan-tree = { $place } is not an unpacked system with RADV and Mesa's stand-in for the kernel driver (mesa-vulkan-drivers, mesa-drm-shim). Fetch them with `whichkernel runtime fetch debian-sid --parts tools,vulkan`
dryrun-host-no-runtime = no HIP runtime can be loaded here (libamdhip64.so.6 or .so.7): { $why }. Install ROCm's HIP runtime, or pick a card with --gpu
dryrun-host-no-function = the HIP runtime lacks { $why }
dryrun-host-no-device = the HIP runtime sees no GPU (error { $value }); `whichkernel doctor` shows the reason
dryrun-host-profile = device { $device }: { $source }
dryrun-sandbox-not-a-tree = { $path } is not a complete system tree (it has no usr/lib), so no program can be run inside it; run the program directly
dryrun-sandbox-pipe = no pipe: { $error }
dryrun-sandbox-refused = { $step } was refused ({ $source }): { $advice }
dryrun-sandbox-program = { $program } is not in the tree { $root } (or its loader is missing): { $source }
dryrun-no-program-inside = { $program } was not found in the runtime; programs are looked up in its /usr/bin
dryrun-no-device-library = { $runtime } has no library with device code
dryrun-sandbox-sysctl = { $name } is { $forbids } here; `sudo sysctl { WORD($name) }={ WORD($allows) }` allows it
dryrun-sandbox-policy = no sysctl forbids it, so a container or security policy does (Docker: --security-opt seccomp=unconfined, or --cap-add SYS_ADMIN)
dryrun-sandbox-root = running as root also works
dryrun-system = a dry run is { $only }
