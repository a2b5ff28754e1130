//! Recorded registers and shared memory of real kernels.

use gpu::occupancy::Resources;
use source::graph::Code;

/// The resources of the flash attention kernels in Debian's ggml: `GPU SYMBOL VGPRS SGPRS LDS WAVEFRONT WGP`.
/// `crates/whichkernel/tests/compiled_code.rs` reads them from the library.
const REGISTERS: &str = include_str!("../golden/registers.txt");

pub fn code(gpu: &str) -> Code {
    let kernels = REGISTERS.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let &[of, symbol, ref numbers @ ..] = words.as_slice() else { panic!("{line}") };
        let numbers: Vec<u32> = numbers.iter().map(|number| number.parse().expect(line)).collect();
        let &[vgprs, sgprs, lds, wavefront, wgp] = numbers.as_slice() else { panic!("{line}") };
        (of == gpu).then_some((symbol, Resources { vgprs, sgprs, lds, wavefront, wgp_mode: wgp == 1 }))
    });
    Code::new("libggml-hip.so", kernels)
}
