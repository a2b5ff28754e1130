//! File trees that simulate machines. Their files have the same format as those of a real kernel.

use doctor::{Facts, Host};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

pub struct Machine {
    dir: TempDir,
    environment: BTreeMap<String, String>,
}

impl Machine {
    /// An ordinary desktop: user 1000 without capabilities, Yama's scope 1, no GPU.
    pub fn new() -> Machine {
        let machine = Machine { dir: tempfile::tempdir().unwrap(), environment: BTreeMap::new() };
        machine
            .file("/proc/sys/kernel/osrelease", "6.14.0-24-generic\n")
            .file("/proc/sys/kernel/yama/ptrace_scope", "1\n")
            .file("/proc/sys/kernel/perf_event_paranoid", "4\n")
            .file(
                "/proc/self/status",
                "Name:\twhichkernel\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t0\n",
            )
            .file("/proc/self/mounts", "proc /proc proc rw 0 0\ntracefs /sys/kernel/tracing tracefs rw 0 0\n")
            .file("/sys/kernel/tracing/uprobe_events", "")
            .file("/etc/group", "root:x:0:\nrender:x:992:ollama\nvideo:x:44:ollama\n")
            .env("PATH", "/usr/local/bin:/usr/bin")
    }

    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Machine {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, content).unwrap();
        self
    }

    pub fn without(self, path: &str) -> Machine {
        fs::remove_file(self.path(path)).unwrap();
        self
    }

    pub fn link(self, path: &str, target: &str) -> Machine {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        symlink(target, full).unwrap();
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Machine {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join(path.trim_start_matches('/'))
    }

    /// Adds a node of the compute topology. `gfx` is the number that the kernel writes: 120001 is gfx1201.
    pub fn gpu(self, node: u32, gfx: u32, device: u32, vram: u64, cpu_cores: u32) -> Machine {
        let base = format!("/sys/class/kfd/kfd/topology/nodes/{node}");
        let properties = format!(
            "cpu_cores_count {cpu_cores}\nsimd_count 128\nwave_front_size 32\nsimd_per_cu 2\ngfx_target_version {gfx}\n\
             vendor_id 4098\ndevice_id {device}\ndrm_render_minor 128\n"
        );
        let bank = format!("heap_type 1\nsize_in_bytes {vram}\nflags 0\nwidth 256\nmem_clk_max 1258\n");
        self.file(&format!("{base}/properties"), properties).file(&format!("{base}/mem_banks/0/properties"), bank)
    }

    /// The RX 9070 XT of the field notes, with a CPU node before it, as on every machine.
    pub fn rx_9070_xt(self) -> Machine {
        self.file(
            "/sys/class/kfd/kfd/topology/nodes/0/properties",
            "cpu_cores_count 16\nsimd_count 0\ngfx_target_version 0\n",
        )
        .gpu(1, 120_001, 0x7550, 17_095_983_104, 0)
        .file("/dev/kfd", "")
    }

    /// Adds Ollama's own ROCm directory of one release, with a rocBLAS catalog for these targets.
    pub fn ollama(mut self, release: &str, targets: &[&str]) -> Machine {
        let dir = "/usr/local/lib/ollama/rocm";
        for (name, content) in [
            (format!("librocblas.so.4.3.{release}"), "..ROCBLAS_LAYER..TENSILE_DB.."),
            (format!("libamdhip64.so.6.3.{release}"), "..AMD_LOG_LEVEL.."),
            (format!("libhipblaslt.so.0.10.{release}"), "..HIPBLASLT_LOG_MASK.."),
        ] {
            self = self.file(&format!("{dir}/{name}"), content);
        }
        for target in targets {
            let library = format!("{dir}/rocblas/library");
            self = self.file(&format!("{library}/TensileLibrary_lazy_{target}.dat"), "");
            self = self.file(&format!("{library}/Kernels.so-000-{target}.hsaco"), "");
        }
        self.file("/usr/local/bin/ollama", "\x7fELF")
    }

    pub fn unit(self, environment: &str) -> Machine {
        let text = format!("[Service]\nExecStart=/usr/local/bin/ollama serve\nUser=ollama\n{environment}\n");
        self.file("/etc/systemd/system/ollama.service", text)
    }

    /// Adds a process with its command line, environment and mapped files.
    pub fn process(self, pid: u32, command: &str, environment: &[&str], mapped: &[&str]) -> Machine {
        let base = format!("/proc/{pid}");
        let maps: String = mapped
            .iter()
            .enumerate()
            .map(|(i, path)| format!("7f{i:04x}000000-7f{i:04x}001000 r-xp 00000000 fe:00 1234 {path}\n"))
            .collect();
        self.file(&format!("{base}/cmdline"), command.replace(' ', "\0"))
            .file(&format!("{base}/status"), "Name:\tollama\nPPid:\t1\nUid:\t998\t998\t998\t998\n")
            .file(&format!("{base}/environ"), environment.join("\0"))
            .file(&format!("{base}/maps"), maps)
    }

    pub fn facts(&self) -> Facts {
        Facts::read(&self.host())
    }

    pub fn host(&self) -> Host {
        Host::at(self.dir.path(), self.environment.clone())
    }

    #[allow(dead_code, reason = "not every test file needs it")]
    pub fn root(&self) -> &Path {
        self.dir.path()
    }
}
