//! The folder for a machine with an NVIDIA GPU but without Rust or network: everything except the command itself.

use anyhow::Context;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const FILES: &[(&str, &str)] = &[
    ("siege.sh", include_str!("gpu/siege.sh")),
    ("compare.py", include_str!("gpu/compare.py")),
    ("job.py", include_str!("gpu/job.py")),
    ("kernels.cuh", include_str!("gpu/kernels.cuh")),
    ("zoo.cu", include_str!("gpu/zoo.cu")),
    ("cdp.cu", include_str!("gpu/cdp.cu")),
    ("driver.c", include_str!("gpu/driver.c")),
    ("cupti.c", include_str!("../../../../benches/nvidia/cupti.c")),
];

pub fn write(dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    for (name, text) in FILES {
        std::fs::write(dir.join(name), text)?;
    }
    std::fs::set_permissions(dir.join("siege.sh"), std::fs::Permissions::from_mode(0o755))?;
    println!("{0}: put a stripped release build of whichkernel beside it, and run {0}/siege.sh as root", dir.display());
    Ok(())
}
