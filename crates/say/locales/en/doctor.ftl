# doctor: which observers work here, which do not, why, and what fixes it

doctor-title = Linux { $kernel }, { $user }, { $capabilities } of 41 capabilities, { $container }
doctor-user-root = root
doctor-user-uid = user { $uid }
doctor-user-unknown = unknown user
doctor-no-container = no container
doctor-in-container = in a container ({ $kind })
doctor-maybe-container = possibly a container ({ $signs })

doctor-head-gpus = GPUs
doctor-head-observers = Observers
doctor-head-servers = Servers
doctor-head-releases = ROCm releases
doctor-head-variables = Variables
doctor-head-cases = Needs attention
doctor-cases-none = no problems found in the GPU devices, or in the environment variables and libraries of the visible servers
doctor-fix = fix
doctor-status-works = works
doctor-status-blocked = blocked
doctor-status-absent = absent
doctor-status-untested = untested
doctor-weight-problem = problem
doctor-weight-warning = warning
doctor-weight-note = note

doctor-gpu-amd = { $target }  device { $device }, { $vram } GiB, { $units } compute units, wavefront { $wavefront }
doctor-gpu-integrated = (integrated)
doctor-gpu-none = none: no AMD GPU in the compute driver (/sys/class/kfd), no NVIDIA driver (/proc/driver/nvidia), and no AMD or NVIDIA card on the PCI bus
doctor-gpu-none-alone = none found: no AMD GPU in the compute driver (/sys/class/kfd) and no NVIDIA driver (/proc/driver/nvidia). The PCI bus is not visible here, so a card without a driver would be missed
doctor-gpu-nvidia = NVIDIA driver { $driver }: { $cards }
doctor-gpu-nvidia-unopened = cannot open /dev/nvidiactl
doctor-servers-none = no Ollama or llama-server is installed, and none is running among the visible processes
doctor-server-unit = { $path }, user { $user }
doctor-server-running = { $role }, pid { $pid }: { $libraries }{ $ports }
doctor-server-libraries = { $count } { $count ->
    [one] library
   *[other] libraries
} mapped
doctor-server-libraries-unseen = no permission to list its libraries
doctor-server-ports = , port { $ports }
doctor-server-answer = { $url }: { $server } { $version }; loaded: { $models }
doctor-server-no-model = no model
doctor-environment-unseen = pid { $pid }: no permission to read its environment variables
doctor-release = { $version }  { $directory } ({ $shown })
doctor-release-unknown = no release number
doctor-recorded = { $count } { $count ->
    [one] observation
   *[other] observations
} recorded in { $place }
doctor-strict-unseen = /sys is not available, so nothing was checked: exit code 1 (--strict)
doctor-discovery = { $log }: { $devices }

# Why, for each observer
doctor-not-tried = Not testable: this is a directory tree, not a running machine.
doctor-used-by = Used by `whichkernel { $verb }`.
doctor-not-yet = No whichkernel command uses this observer yet (`{ $verb }` is planned).
doctor-never-used = whichkernel never uses this observer, because it disturbs the observed program.
doctor-refused = { $call } was refused: { $error }.
doctor-capabilities = { $call } was refused: { $error }. Missing: { $missing }.
doctor-capabilities-uprobe = { $call } was refused: { $error }. Missing: { $missing }. These two are enough for your own processes; run as root to observe other users' processes.
doctor-lockdown = { $call } was refused: { $error }. The Linux kernel is in lockdown mode ({ $mode }).
doctor-lockdown-fix = turn off Secure Boot in the firmware, or boot without lockdown=; lockdown cannot be lifted while the system is running
doctor-uprobe-works = A uprobe on a test function counted every call ({ $saw }).
doctor-uprobe-absent = The Linux kernel has no uprobe PMU ({ $what } is missing).
doctor-uprobe-absent-fix = boot a Linux kernel that was built with CONFIG_UPROBE_EVENTS=y and CONFIG_PERF_EVENTS=y
doctor-container-caps-fix = run doctor on the host, or start the container with --cap-add SYS_ADMIN --cap-add PERFMON --cap-add BPF --pid host
doctor-container-ptrace-fix = start the container with --cap-add SYS_PTRACE
doctor-container-userns-fix = start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined
doctor-bpf-works = A small test program was loaded.
doctor-btf = BTF is available.
doctor-no-btf = BTF is not available (/sys/kernel/btf/vmlinux); uprobe programs do not need it.
doctor-tracefs-works = { $place } is mounted and uprobe_events is writable: probes that root creates here can then be used without root.
doctor-tracefs-unmounted = tracefs is not mounted.
doctor-tracefs-readonly = { $place } is mounted, but uprobe_events is read-only.
doctor-tracefs-denied = { $place } is mounted, but this user cannot open uprobe_events.
doctor-preload-works = A test program loaded a library through LD_PRELOAD ({ $saw }).
doctor-preload-setuid = { $path } is set-user-ID, so the loader ignores LD_PRELOAD for it.
doctor-preload-static = { $path } is statically linked, so LD_PRELOAD has no effect on it.
doctor-preload-missing = { $what } was not found: this is not a glibc system.
doctor-preload-missing-fix = use uprobe instead: it needs no loader
doctor-preload-refused = LD_PRELOAD had no effect: { $error }.
doctor-ptrace-works = A test process could attach to a process that is not its child (ptrace_scope { $scope }).
doctor-ptrace-works-no-yama = A test process could attach to a process that is not its child; this Linux kernel has no Yama.
doctor-ptrace-scope = { $call } on a process that is not a child was refused: { $error }. kernel.yama.ptrace_scope is { $scope }.
doctor-ptrace-reboot-fix = set kernel.yama.ptrace_scope in /etc/sysctl.d and reboot; a value of 3 cannot be lowered while running
doctor-ptrace-server = Cannot attach to process { $pid }: /proc/{ $pid }/mem cannot be opened.
doctor-maps-works = { $count } { $count ->
    [one] library is
   *[other] libraries are
} visible in process { $pid }.
doctor-maps-denied = /proc/{ $pid }/maps belongs to another user.
doctor-no-server = No Ollama or llama-server is running among the visible processes.
doctor-install-server-fix = install Ollama or llama.cpp, then run doctor again
doctor-rocprofv3-absent = rocprofv3 is neither in PATH nor under /opt/rocm*.
doctor-rocprofv3-broken = { $path } does not start: { $error }.
doctor-rocprofv3-no-gpu = { $path } starts, but this machine has no AMD GPU.
doctor-rocprofv3-mixed = { $path } belongs to ROCm { $own }, but ROCm { $others } is installed too. A process that loads two releases aborts, and a server started under this profiler falls back to the CPU.
doctor-rocprofv3-mixed-fix = use the rocprofv3 of the server's own release
doctor-rocprofv3-untested = { $path } starts. Whether it breaks the server's GPU discovery was not tested.
doctor-attach-ptrace = --attach would fail because ptrace is refused.
doctor-attach-variable = --attach on process { $pid } would report success but record nothing, because the process was started without ROCP_TOOL_ATTACH=1.
doctor-attach-ready = Process { $pid } was started with ROCP_TOOL_ATTACH=1.
doctor-attach-unseen = No permission to see whether process { $pid } was started with ROCP_TOOL_ATTACH=1.
doctor-log-absent = No library that reads { $variable } was found.
doctor-log-absent-fix = add the library's directory to LD_LIBRARY_PATH or to the linker cache, then run doctor again
doctor-log-unknown = { $library } does not support { $variable }.
doctor-log-untested = { $library } supports { $variable }; doctor did not start a server to test it.
doctor-log-set = Process { $pid } has { $variable }={ $value }.
doctor-proxy-works = { $server } { $version } responds at { $url }.
doctor-proxy-silent = { $url } does not respond like a server: { $error }.
doctor-dryrun-works = A test process created its own user and mount namespaces and could chroot there.
doctor-dryrun-root = User namespaces are refused, but this user can chroot without one.
doctor-dryrun-refused = { $call } was refused: { $error }. Without user namespaces, only root can enter an unpacked runtime.

# Variables
doctor-env-override = makes every AMD GPU appear as { $target }
doctor-env-rocr-visible = limits the GPUs that ROCm shows (indexes or UUIDs); applies before HIP numbers them
doctor-env-hip-visible = limits the GPUs that HIP shows, among those that ROCm shows
doctor-env-cuda-visible = limits the GPUs that CUDA shows; HIP honours it too
doctor-env-rocblas-layer = rocBLAS logging: { $layers }; trace prints one line per rocBLAS call
doctor-env-hipblaslt-mask = hipBLASLt logging: { $layers }
doctor-env-amd-log = HIP logs every API call and every launch with its kernel name (slow)
doctor-env-amd-log-low = HIP logs errors and warnings only; launches need level 3 or higher
doctor-env-tensile-db = Tensile debug bits; 0x8000 prints the selected kernel
doctor-env-libpath = the library reads its kernel catalog from this directory instead of its own
doctor-env-kpack-disable = device code in kpack archives is not loaded
doctor-env-kpack-path = device code is searched for only in these kpack archives
doctor-env-kpack-prefix = device code is searched for in these kpack archives first
doctor-env-use-hipblaslt = whether rocBLAS may pass GEMMs to hipBLASLt (1: yes, 0: no)
doctor-env-ollama-debug = Ollama's log level; 2 also logs the output of the discovery process
doctor-env-llm-library = Ollama tries this library directory only
doctor-env-ollama-host = address that Ollama listens on
doctor-env-num-parallel = number of requests that are decoded at once; their columns add up
doctor-env-flash = turns flash attention on or off
doctor-env-vulkan = Ollama also tries Vulkan
doctor-env-new-engine = Ollama uses its own engine instead of llama.cpp
doctor-env-no-graphs = launches are not captured into graphs
doctor-env-no-fusion = ggml does not fuse operations
doctor-env-tool-attach = rocprofv3 --attach can attach to this process
doctor-env-tool-libraries = a profiler library is loaded into this process
doctor-env-preload = these libraries are loaded into every program
doctor-env-library-path = the loader searches these directories first

# Cases
doctor-case-card-no-kfd = An AMD card ({ $device } at { $slot }, driver { $driver }) is on the PCI bus, but the compute driver (KFD) does not list it. No ROCm runtime can use it.
doctor-case-card-no-nvidia = An NVIDIA card ({ $device } at { $slot }, driver { $driver }) is on the PCI bus, but NVIDIA's driver is not loaded.
doctor-case-kfd-missing = The Linux kernel has detected the GPU, but /dev/kfd does not exist. ROCm programs find no GPU and fall back to the CPU.
doctor-case-kfd-container-fix = start the container with --device /dev/kfd --device /dev/dri --group-add render
doctor-case-kfd-denied = This user cannot open /dev/kfd ({ $error }), so this user's ROCm programs find no GPU.
doctor-case-service-group = The service runs as { $user }, which is not in the group render. It cannot open the GPU and runs on the CPU.
doctor-case-integrated = This machine has an integrated GPU ({ $small }) besides the card ({ $large }). A runtime may use the integrated GPU as a separate device.
doctor-case-leftovers = Leftover probes in tracefs: { $count }. The first: { $first }
doctor-case-override = { $place } sets { $name }={ $value }: the { $real } appears as { $target }, so { $target } kernels are selected and loaded. On a card with kernels of its own, this is slower or produces wrong results.
doctor-case-override-idle = { $place } sets { $name }={ $value }, which has no effect: the card is { $target } already.
doctor-case-override-unreadable = { $place } sets { $name }={ $value }, which is not a version such as 12.0.1.
doctor-case-hidden = { $place } sets { $name }="{ $value }", which hides all { $count } GPUs.
doctor-case-shell-only = { $name }={ $value } is set in this shell but not in { $server } (pid { $pid }). A service does not inherit variables from your shell.
doctor-case-shell-only-fix = start the server from this shell, or set the variable in the server's own configuration
doctor-case-forced = { $place } sets OLLAMA_LLM_LIBRARY={ $value }: Ollama tries no other library.
doctor-case-forced-missing = { $place } sets OLLAMA_LLM_LIBRARY={ $value }, but Ollama has no library directory of that name and finds no GPU.
doctor-case-chatty = Process { $pid } runs with { $name }={ $value }, which logs every call and slows the process down.
doctor-case-unseen = { $server } (pid { $pid }) belongs to another user. Its environment variables, libraries and GPU context were not checked.
doctor-case-catalog-missing = { $library } has no kernels for { $target } in { $directory } (it has: { $others }). The first GEMM fails or uses a fallback.
doctor-case-catalog-no-index = { $library } has kernels for { $target } in { $directory }, but their index TensileLibrary_lazy_{ $target }.dat is missing, so the library cannot find them.
doctor-case-catalog-fix = install this release's package for the target, or a runtime that supports it; `whichkernel inspect DIR` lists the targets in a directory
doctor-case-generic-code = { $library } has no code specifically for { $target }; the card uses the library's code for { $taken }.
doctor-case-no-code = { $library } has no device code for { $target } (it has: { $others }). Launches fail with "no kernel image is available".
doctor-case-no-code-fix = use a build with code for this target; `whichkernel inspect LIBRARY` lists the targets in a library
doctor-case-kpack-missing = The device code of { $library } is in separate kpack archives, and { $paths } has none for { $target } (available: { $others }). Its kernels cannot be loaded.
doctor-case-kpack-none = The device code of { $library } is in separate kpack archives, and { $paths } has none. No kernel can be loaded on any GPU.
doctor-case-kpack-fix = install the package of the same release with the .kpack archive for this target; `whichkernel inspect LIBRARY` lists the search paths
doctor-case-kpack-disabled = ROCM_KPACK_DISABLE is set ({ $place }), so the device code of { $library }, which is in kpack archives, is not loaded.
doctor-case-mixed-process = { $server } (pid { $pid }) has loaded libraries of several ROCm releases ({ $releases }) into one process. It may abort or find no GPU.
doctor-case-mixed-process-fix = unset LD_LIBRARY_PATH and LD_PRELOAD for the server, so that it finds only its own libraries
doctor-case-mixed-host = Several ROCm releases are installed ({ $places }). Each works alone, but a server aborts under a profiler of another release.
doctor-case-mixed-host-fix = use the profiler of the server's own release, and keep the other releases out of LD_LIBRARY_PATH
doctor-case-on-cpu = { $server } (pid { $pid }) has no GPU library and no GPU context: it runs on the CPU. "100% GPU" in `ollama ps` is the plan, not a measurement.
doctor-case-discovery-timeout = { $log }: GPU discovery timed out ({ $error }). Ollama allows 30 seconds for each library directory. After a slow start or a crash, Ollama drops the GPU and runs models on the CPU.
doctor-case-discovery-failure = { $log }: GPU discovery failed ({ $error }). Ollama drops the GPU and runs models on the CPU.
doctor-case-discovery-cpu = { $log }: Ollama found no GPU, although this machine has one.
doctor-case-discovery-dropped = { $log }: Ollama found device { $device } and then dropped it, because the device did not initialize fully in the second pass.
doctor-case-offloaded = { $log }: { $offloaded }; the remaining layers run on the CPU.
doctor-case-offloaded-fix = use a smaller model, a shorter context (num_ctx) or fewer parallel requests, so that all layers fit

doctor-undo = undo
doctor-no-processes = Not checked: a directory tree has no processes.
doctor-servers-none-tree = no Ollama or llama-server is installed in this tree; files do not show whether one is running on its machine
doctor-title-tree = Directory tree, Linux { $kernel }: only files were read; nothing was tested, and running programs are not visible
doctor-unset-process-fix = stop process { $pid } and start it again without { $name }; a process keeps the variables it was started with
doctor-log-restart-fix = stop the server and start it again with {"`"}{ $variable }={ $value } { $server }{"`"}; a second server beside it would not handle your requests
doctor-debug-fix = stop the server and start it again with {"`"}OLLAMA_DEBUG=2 ollama serve{"`"}; its log then includes the output of GPU discovery
doctor-start-llama-fix = start { $path } with a model (-m)
doctor-rocprofv3-unregistered = { $path } is installed, but { $library } was built without rocprofiler-register. Processes that use it are invisible to profilers, and traces stay empty without an error.
doctor-rocprofv3-unregistered-fix = use a ROCr with rocprofiler-register (AMD's own packages), or use whichkernel watch
doctor-case-wsl = This is WSL: programs use the GPU through /dev/dxg. Without /dev/kfd and its topology, doctor cannot read the GPU's target.
doctor-case-wsl-fix = look up the card in Windows; ROCm needs its WSL build here
doctor-case-amdgpu-loaded-fix = amdgpu is loaded; {"`"}sudo dmesg | grep -iE "amdgpu|kfd"{"`"} shows why compute is missing (the Linux kernel is too old for the card, or was built without HSA_AMD)
doctor-case-nvidia-loaded-fix = the module is loaded; {"`"}sudo dmesg | grep -i nvidia{"`"} shows why the driver does not respond
doctor-case-container-no-gpu = This container ({ $kind }) has ROCm libraries but no GPU (no /dev/kfd, no topology). Programs in it run on the CPU.
doctor-case-override-nowhere = { $place } sets { $name }={ $value }, which has no effect: the node with that number is not a GPU (GPUs are nodes { $nodes }).
doctor-strict = { $count } { $count ->
    [one] problem
   *[other] problems
}: exit code 1 (--strict)
doctor-gpu-unseen = unknown: /sys is not available
doctor-env-vk-visible = limits ggml to these Vulkan devices: { $value }
doctor-env-vk-drivers = limits the Vulkan loader to these drivers: { $value }
doctor-env-vk-layers = Vulkan layers loaded into every program: { $value }
doctor-case-vulkan-llvmpipe = { $server } (pid { $pid }) has loaded only one Vulkan driver, lavapipe (llvmpipe), which runs on the CPU.
doctor-case-vulkan-no-loader = Vulkan is enabled here, but its loader (libvulkan.so.1) is missing. Programs silently run on the CPU.
doctor-case-vulkan-no-driver = Vulkan is enabled here, but no driver is registered (no manifest in /usr/share/vulkan/icd.d or /etc/vulkan/icd.d).
doctor-case-vulkan-only-llvmpipe = The only registered Vulkan driver is lavapipe (llvmpipe), which runs on the CPU. ggml ignores it and uses its CPU backend, unless GGML_VK_VISIBLE_DEVICES selects it.
doctor-case-vulkan-old = { $manifest } is RADV with Vulkan { $api }. RADV in Mesa 26.2.6 has Vulkan 1.4 and supports the matrix units of { $target }; whether this older version supports the card and its matrix units is unknown.
doctor-case-vulkan-denied = Neither { $node } ({ $error }) nor any other render node can be opened. Vulkan drivers find no card, and programs silently run on the CPU.
doctor-case-vulkan-no-matrices = GGML_VK_DISABLE_COOPMAT={ $value } ({ $place }): ggml's Vulkan backend does not use the matrix units.
doctor-case-vulkan-missing = { $manifest } names a Vulkan driver that does not exist: { $library }
doctor-case-vulkan-hidden = GGML_VK_VISIBLE_DEVICES={ $value } ({ $place }): ggml sees only these Vulkan devices.
doctor-case-vulkan-hidden-all = GGML_VK_VISIBLE_DEVICES is set but empty ({ $place }): ggml sees no Vulkan device.
doctor-case-vulkan-off = OLLAMA_VULKAN={ $value } ({ $place }): Ollama does not try Vulkan.
doctor-case-vulkan-driver-fix = install your distribution's current Vulkan driver (Debian, Ubuntu: mesa-vulkan-drivers), then run doctor again
doctor-case-vulkan-loader-fix = install the Vulkan loader (Debian, Ubuntu: libvulkan1) and restart the server
doctor-answer-key = the server asks for an API key
doctor-answer-unknown = the server answers HTTP requests, but its kind is unknown
doctor-trial-counted = only { $seen } of { $calls } calls were counted
doctor-trial-exit = the program failed ({ $status })
doctor-trial-no-answer = no answer within { $seconds } s
doctor-trial-no-mapping = the test function is not in any mapping
doctor-trial-preload-always = the child process loads { $name } even without LD_PRELOAD
doctor-trial-preload-unmapped = the child process did not load { $name }
