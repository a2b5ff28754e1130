# doctor: which observers work here, which do not, why, and what fixes it

doctor-title = Linux { $kernel }, { $user }, { $capabilities } of 41 capabilities, { $container }
doctor-user-root = root
doctor-user-uid = user { $uid }
doctor-user-unknown = unknown user
doctor-no-container = no container
doctor-in-container = in a container ({ $kind })
doctor-maybe-container = no container for certain (but: { $signs })

doctor-head-gpus = GPUs
doctor-head-observers = Observers
doctor-head-servers = Servers
doctor-head-releases = ROCm releases
doctor-head-variables = Variables
doctor-head-cases = What needs attention
doctor-cases-none = nothing found in the devices that the kernel shows, and in the variables and libraries of the servers that doctor can see
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
doctor-gpu-none = none: the kernel's compute driver knows no AMD GPU (/sys/class/kfd), there is no NVIDIA driver (/proc/driver/nvidia), and the PCI bus has no card of either
doctor-gpu-none-alone = none found: the kernel's compute driver knows no AMD GPU (/sys/class/kfd), and there is no NVIDIA driver (/proc/driver/nvidia). The PCI bus is not shown here, so a card without a driver would not be seen
doctor-gpu-nvidia = NVIDIA driver { $driver }: { $cards }
doctor-gpu-nvidia-unopened = /dev/nvidiactl does not open for us
doctor-servers-none = neither Ollama nor llama-server was found, and none runs among the processes that are visible here
doctor-server-unit = { $path }, user { $user }
doctor-server-running = { $role }, pid { $pid }: { $libraries }{ $ports }
doctor-server-libraries = { $count } libraries mapped
doctor-server-libraries-unseen = its libraries cannot be seen without permission
doctor-server-ports = , port { $ports }
doctor-server-answer = { $url }: { $server } { $version }; loaded: { $models }
doctor-server-no-model = no model
doctor-environment-unseen = pid { $pid }: its environment cannot be read without permission
doctor-release = { $version }  { $directory } ({ $shown })
doctor-release-unknown = no release number
doctor-recorded = { $count } observations recorded in { $place }
doctor-strict-unseen = there was no /sys to look in, so nothing was checked: exit status 1 (--strict)
doctor-discovery = { $log }: { $devices }

# Why, for each observer
doctor-not-tried = Nothing can be tried on a tree of files.
doctor-used-by = Used by `whichkernel { $verb }`.
doctor-not-yet = No verb of whichkernel uses it yet (`{ $verb }` is planned).
doctor-never-used = whichkernel itself never uses it, because it disturbs its target.
doctor-refused = { $call } was refused: { $error }.
doctor-capabilities = { $call } was refused: { $error }. Missing: { $missing }.
doctor-capabilities-uprobe = { $call } was refused: { $error }. Missing: { $missing }. These two suffice for processes of your own; for those of others run as root.
doctor-lockdown = { $call } was refused: { $error }. The kernel is locked down ({ $mode }).
doctor-lockdown-fix = turn Secure Boot off in the firmware, or boot without lockdown=; it cannot be lifted while running
doctor-uprobe-works = A uprobe on a function of our own counted every call ({ $saw }).
doctor-uprobe-absent = This kernel has no uprobe PMU ({ $what } is missing).
doctor-uprobe-absent-fix = boot a kernel built with CONFIG_UPROBE_EVENTS=y and CONFIG_PERF_EVENTS=y
doctor-container-caps-fix = run it on the host, or start the container with --cap-add SYS_ADMIN --cap-add PERFMON --cap-add BPF --pid host
doctor-container-ptrace-fix = start the container with --cap-add SYS_PTRACE
doctor-container-userns-fix = start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined
doctor-bpf-works = A small program was loaded.
doctor-btf = BTF is there.
doctor-no-btf = There is no BTF (/sys/kernel/btf/vmlinux); plain uprobe programs need none.
doctor-tracefs-works = { $place } is mounted, and uprobe_events opens for writing: probes made once here can be used without root.
doctor-tracefs-unmounted = tracefs is not mounted.
doctor-tracefs-readonly = { $place } is mounted, and uprobe_events opens for reading only.
doctor-tracefs-denied = { $place } is mounted, but uprobe_events does not open for us.
doctor-preload-works = A child mapped a library that it does not use by itself ({ $saw }).
doctor-preload-setuid = But { $path } is set-user-ID: the loader ignores LD_PRELOAD there.
doctor-preload-static = But { $path } is statically linked: no loader runs there.
doctor-preload-missing = { $what } was not found; this is no glibc system.
doctor-preload-missing-fix = use uprobe instead: it needs no loader
doctor-preload-refused = LD_PRELOAD had no effect: { $error }.
doctor-ptrace-works = A process of ours could seize another that is not its child (ptrace_scope { $scope }).
doctor-ptrace-works-no-yama = A process of ours could seize another that is not its child; this kernel has no Yama.
doctor-ptrace-scope = { $call } on a process that is not our child was refused: { $error }. kernel.yama.ptrace_scope is { $scope }.
doctor-ptrace-reboot-fix = ptrace_scope 3 cannot be lowered before the next boot; set kernel.yama.ptrace_scope in /etc/sysctl.d
doctor-ptrace-server = Process { $pid } does not let us attach (its /proc/{ $pid }/mem does not open).
doctor-maps-works = { $count } libraries seen in process { $pid }.
doctor-maps-denied = /proc/{ $pid }/maps belongs to another user.
doctor-no-server = No Ollama or llama-server was found among the processes that are visible here.
doctor-install-server-fix = install Ollama or llama.cpp, then run doctor again
doctor-rocprofv3-absent = rocprofv3 is neither in PATH nor under /opt/rocm*.
doctor-rocprofv3-broken = { $path } does not start: { $error }.
doctor-rocprofv3-no-gpu = { $path } starts, but no AMD GPU is here.
doctor-rocprofv3-mixed = { $path } belongs to ROCm { $own }, but { $others } is here as well: two releases in one process abort, and a server that is wrapped so falls back to the CPU.
doctor-rocprofv3-mixed-fix = use the rocprofv3 of the server's own release
doctor-rocprofv3-untested = { $path } starts. Whether it leaves the server's GPU discovery intact was not tried.
doctor-attach-ptrace = --attach would fail: ptrace is refused.
doctor-attach-variable = --attach on process { $pid } would report success and record nothing: it was started without ROCP_TOOL_ATTACH=1.
doctor-attach-ready = Process { $pid } was started with ROCP_TOOL_ATTACH=1.
doctor-attach-unseen = Whether process { $pid } was started with ROCP_TOOL_ATTACH=1 cannot be seen without permission.
doctor-log-absent = No library here reads { $variable }.
doctor-log-absent-fix = add its directory to LD_LIBRARY_PATH or to the linker's cache, then run doctor again
doctor-log-unknown = { $library } does not know { $variable }.
doctor-log-untested = { $library } knows { $variable }; no server was started with it for this test.
doctor-log-set = Process { $pid } has { $variable }={ $value }.
doctor-proxy-works = { $server } { $version } answers at { $url }.
doctor-proxy-silent = { $url } does not answer as a server: { $error }.
doctor-dryrun-works = A child of ours got a user and mount namespace of its own, and could chroot in it.
doctor-dryrun-root = User namespaces are refused, but we may chroot without one.
doctor-dryrun-refused = { $call } was refused: { $error }. Without a user namespace only root can enter an unpacked runtime.

# Variables
doctor-env-override = makes every AMD GPU pass for { $target }
doctor-env-rocr-visible = the ROCm runtime shows only these GPUs (indexes or UUIDs), before HIP counts
doctor-env-hip-visible = HIP shows only these of the GPUs that ROCm showed
doctor-env-cuda-visible = CUDA shows only these GPUs; HIP obeys it too
doctor-env-rocblas-layer = rocBLAS logs: { $layers }; with trace on, every rocBLAS call prints a line
doctor-env-hipblaslt-mask = hipBLASLt logs: { $layers }
doctor-env-amd-log = HIP logs every API call, and each launch with its kernel's name: slow
doctor-env-amd-log-low = HIP logs errors and warnings only; launches appear from level 3
doctor-env-tensile-db = Tensile debug bits; 0x8000 prints the kernel that it chose
doctor-env-libpath = the kernel catalog is read from this directory instead of the library's own
doctor-env-kpack-disable = device code that lies in kpack archives is not loaded at all
doctor-env-kpack-path = device code is looked for in these kpack archives alone
doctor-env-kpack-prefix = device code is looked for in these kpack archives first
doctor-env-use-hipblaslt = rocBLAS may (1) or must not (0) hand GEMMs to hipBLASLt
doctor-env-ollama-debug = Ollama's log level; at 2 the discovery child's own output is kept
doctor-env-llm-library = Ollama tries this library directory only
doctor-env-ollama-host = where Ollama listens
doctor-env-num-parallel = so many requests may be decoded at once: their columns add up
doctor-env-flash = flash attention on or off
doctor-env-vulkan = Ollama also tries Vulkan
doctor-env-new-engine = Ollama's own engine instead of llama.cpp's
doctor-env-no-graphs = launches are not captured into graphs
doctor-env-no-fusion = ggml does not fuse operations
doctor-env-tool-attach = rocprofv3 --attach can enter this process
doctor-env-tool-libraries = a profiler's library enters this process
doctor-env-preload = these libraries enter every program
doctor-env-library-path = libraries are looked for here first

# Cases
doctor-case-card-no-kfd = An AMD card ({ $device } at { $slot }, driver { $driver }) is on the bus, but the compute driver does not know it: no runtime can find it.
doctor-case-card-no-nvidia = An NVIDIA card ({ $device } at { $slot }, driver { $driver }) is on the bus, but NVIDIA's driver is not loaded.
doctor-case-kfd-missing = The GPU is known to the kernel, but /dev/kfd is not here: every ROCm program sees no GPU and falls back to the CPU.
doctor-case-kfd-container-fix = start the container with --device /dev/kfd --device /dev/dri --group-add render
doctor-case-kfd-denied = /dev/kfd does not open for this user ({ $error }): ROCm programs of this user see no GPU.
doctor-case-service-group = The service runs as { $user }, who is not in the group render: it cannot open the GPU and computes on the CPU.
doctor-case-integrated = An integrated GPU ({ $small }) stands beside the card ({ $large }); a runtime may count it as a device of its own.
doctor-case-leftovers = Probes of ours are still in tracefs ({ $count }), the first: { $first }
doctor-case-override = { $place } has { $name }={ $value }: the { $real } here passes for { $target }, so kernels of { $target } are chosen and loaded. On a card with its own kernels this is slower, or wrong.
doctor-case-override-idle = { $place } has { $name }={ $value }, which is what the card ({ $target }) is anyway.
doctor-case-override-unreadable = { $place } has { $name }={ $value }, which is no version like 12.0.1.
doctor-case-hidden = { $place } has { $name }="{ $value }", which hides all { $count } GPUs.
doctor-case-shell-only = { $name }={ $value } is set in this shell, but { $server } (pid { $pid }) does not have it: what a shell exports does not reach a service.
doctor-case-shell-only-fix = start the server from this shell, or set the variable where it is started
doctor-case-forced = { $place } has OLLAMA_LLM_LIBRARY={ $value }: nothing else is tried.
doctor-case-forced-missing = { $place } has OLLAMA_LLM_LIBRARY={ $value }, and Ollama has no such library directory: it finds no GPU.
doctor-case-chatty = Process { $pid } runs with { $name }={ $value }: it writes a line for every call, and is slower for it.
doctor-case-unseen = { $server } (pid { $pid }) belongs to another user: its environment, libraries and GPU context cannot be seen, so nothing is said about them.
doctor-case-catalog-missing = { $library } has no kernels for { $target } in { $directory } (it has: { $others }): the first GEMM fails or falls back.
doctor-case-catalog-no-index = { $library } has kernels for { $target } in { $directory }, but not their index TensileLibrary_lazy_{ $target }.dat: they are never found.
doctor-case-catalog-fix = install the release's own package for this target, or another runtime that has it; `whichkernel inspect DIR` lists what one has
doctor-case-generic-code = { $library } has no code of { $target }'s own; that for { $taken } is taken.
doctor-case-no-code = { $library } has no device code for { $target } (it has: { $others }): a launch fails with "no kernel image is available".
doctor-case-no-code-fix = use a build with code for this target; `whichkernel inspect LIBRARY` lists what one has
doctor-case-kpack-missing = The device code of { $library } was taken out of it (kpack), and no archive for { $target } is at { $paths } (there is code for: { $others }): its kernels are not found.
doctor-case-kpack-none = The device code of { $library } was taken out of it (kpack), and no archive is at { $paths }: it has no kernels for any GPU.
doctor-case-kpack-fix = install the package with the archive for this target (.kpack), of the same release; `whichkernel inspect LIBRARY` names the paths that are looked at
doctor-case-kpack-disabled = ROCM_KPACK_DISABLE is set ({ $place }): the device code of { $library }, which lies in archives, is not loaded.
doctor-case-mixed-process = { $server } (pid { $pid }) has libraries of ROCm { $releases } in one process: this ends in an abort, or in a GPU that is not found.
doctor-case-mixed-process-fix = clear LD_LIBRARY_PATH and LD_PRELOAD for the server, so that only its own libraries are found
doctor-case-mixed-host = Several ROCm releases are here ({ $places }). Each is fine by itself; a profiler of one around a server of another aborts it.
doctor-case-mixed-host-fix = use a profiler of the server's own release; keep LD_LIBRARY_PATH free of the other
doctor-case-on-cpu = { $server } (pid { $pid }) has no GPU library mapped and no GPU context: it computes on the CPU. "100% GPU" in `ollama ps` is what was planned, not what runs.
doctor-case-discovery-timeout = { $log }: discovery gave up ({ $error }). Each library directory gets 30 seconds; a slow start or a crash in that time drops the GPU, and models run on the CPU.
doctor-case-discovery-failure = { $log }: discovery failed ({ $error }); the GPU was dropped, and models run on the CPU.
doctor-case-discovery-cpu = { $log }: Ollama found no GPU, although one is here.
doctor-case-discovery-dropped = { $log }: device { $device } was found, then dropped, because it did not start completely in the second pass.
doctor-case-offloaded = { $log }: { $offloaded }; the rest of the layers runs on the CPU.
doctor-case-offloaded-fix = a smaller model, a shorter context (num_ctx) or fewer parallel requests leave room for all layers

doctor-undo = undo
doctor-no-processes = A tree of files has no processes: nothing is said about any.
doctor-servers-none-tree = no Ollama or llama-server is installed in this tree; whether one runs on its machine cannot be seen from files
doctor-title-tree = A tree of files, Linux { $kernel }: what was tried and what runs on its machine cannot be seen from it
doctor-unset-process-fix = end process { $pid } and start it again from where { $name } is not set; a process keeps what it was started with
doctor-log-restart-fix = end the server and start it again as {"`"}{ $variable }={ $value } { $server }{"`"}; a second one beside it would not be the one that serves
doctor-debug-fix = end the server and start it again as {"`"}OLLAMA_DEBUG=2 ollama serve{"`"}: its log then has the output of the discovery child
doctor-start-llama-fix = start { $path } with a model (-m)
doctor-rocprofv3-unregistered = { $path } is here, but { $library } was built without rocprofiler-register: it tells no profiler of its processes, and a trace stays empty without an error.
doctor-rocprofv3-unregistered-fix = use a ROCr with rocprofiler-register (AMD's own packages), or whichkernel watch
doctor-case-wsl = This is a Linux inside Windows (WSL): the GPU is reached through /dev/dxg. There is no /dev/kfd and no topology, so its target cannot be read here.
doctor-case-wsl-fix = ask Windows for the card; ROCm needs its build for WSL here
doctor-case-amdgpu-loaded-fix = amdgpu is loaded already: {"`"}sudo dmesg | grep -iE "amdgpu|kfd"{"`"} says why compute is missing (a kernel too old for the card, or built without HSA_AMD)
doctor-case-nvidia-loaded-fix = the module is loaded already: {"`"}sudo dmesg | grep -i nvidia{"`"} says why the driver does not answer
doctor-case-container-no-gpu = This container ({ $kind }) has ROCm libraries, but no GPU was handed in (no /dev/kfd, no topology): everything in it computes on the CPU.
doctor-case-override-nowhere = { $place } has { $name }={ $value }, but the node of that number is no GPU (GPUs are nodes { $nodes }): it has no effect.
doctor-strict = { $count } problems: exit status 1 (--strict)
doctor-gpu-unseen = not known: there is no /sys here to look in
doctor-env-vk-visible = the only Vulkan devices that ggml uses: { $value }
doctor-env-vk-drivers = the only Vulkan drivers that the loader opens: { $value }
doctor-env-vk-layers = Vulkan layers that every program gets: { $value }
doctor-case-vulkan-llvmpipe = { $server } (pid { $pid }) has no other Vulkan driver loaded than lavapipe (llvmpipe), which computes on the processor.
doctor-case-vulkan-no-loader = Vulkan is to be used here and there is no loader (libvulkan.so.1): programs compute on the CPU and do not say so.
doctor-case-vulkan-no-driver = Vulkan is to be used here and no driver is registered (no manifest in /usr/share/vulkan/icd.d or /etc/vulkan/icd.d).
doctor-case-vulkan-only-llvmpipe = The only Vulkan driver that is registered here is lavapipe (llvmpipe), which computes on the processor: ggml leaves it out and computes on the CPU, or uses it where GGML_VK_VISIBLE_DEVICES says so.
doctor-case-vulkan-old = { $manifest } is a RADV of Vulkan { $api }. That of Mesa 26.2.6 speaks 1.4 and has the matrix units of { $target }; whether this older one drives the card and has them is not known here.
doctor-case-vulkan-denied = { $node } does not open ({ $error }), and no other render node does: a Vulkan driver finds no card, and programs compute on the CPU and do not say so.
doctor-case-vulkan-no-matrices = GGML_VK_DISABLE_COOPMAT={ $value } ({ $place }): ggml's Vulkan backend leaves the matrix units alone.
doctor-case-vulkan-missing = { $manifest } names a Vulkan driver that is not here: { $library }
doctor-case-vulkan-hidden = GGML_VK_VISIBLE_DEVICES={ $value } ({ $place }): ggml sees these Vulkan devices and no others.
doctor-case-vulkan-hidden-all = GGML_VK_VISIBLE_DEVICES is set and empty ({ $place }): ggml sees no Vulkan device at all.
doctor-case-vulkan-off = OLLAMA_VULKAN={ $value } ({ $place }): Ollama does not try Vulkan.
doctor-case-vulkan-driver-fix = Install your distribution's current Vulkan driver (Debian, Ubuntu: mesa-vulkan-drivers) and look again.
doctor-case-vulkan-loader-fix = Install the Vulkan loader (Debian, Ubuntu: libvulkan1) and restart the server.
