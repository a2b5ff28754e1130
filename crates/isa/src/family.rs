//! Families: the purpose of an instruction, independent of how a generation spells its name.
//!
//! `ds_read_b128` and `ds_load_b128`, `global_load_dwordx4` and `global_load_b128`, `s_waitcnt` and `s_wait_loadcnt`
//! belong to the same family. A dual instruction counts as both of its halves.

use crate::mnemonic::Mnemonic;
use std::fmt;
use std::sync::OnceLock;

macro_rules! families {
    ($($name:ident $key:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Family {
            $($name,)*
        }

        impl Family {
            pub const ALL: &[Family] = &[$(Family::$name,)*];

            /// The name in CSV, JSON and on the command line.
            pub fn key(self) -> &'static str {
                match self {
                    $(Family::$name => $key,)*
                }
            }
        }
    };
}

families! {
    Fma "fma",
    Dot "dot",
    Mfma "mfma",
    Smfmac "smfmac",
    Wmma "wmma",
    Swmmac "swmmac",
    IntegerMad "integer-mad",
    Convert "convert",
    Compare "compare",
    Transcendental "transcendental",
    Lane "lane",
    Accumulator "accumulator",
    Vector "vector",
    Scalar "scalar",
    GlobalLoad "global-load",
    GlobalStore "global-store",
    GlobalAtomic "global-atomic",
    FlatLoad "flat-load",
    FlatStore "flat-store",
    FlatAtomic "flat-atomic",
    BufferLoad "buffer-load",
    BufferStore "buffer-store",
    BufferAtomic "buffer-atomic",
    ScratchLoad "scratch-load",
    ScratchStore "scratch-store",
    Image "image",
    LdsLoad "lds-load",
    LdsStore "lds-store",
    LdsAtomic "lds-atomic",
    LdsPermute "lds-permute",
    ScalarLoad "scalar-load",
    ScalarStore "scalar-store",
    Cache "cache",
    Branch "branch",
    Call "call",
    Wait "wait",
    Barrier "barrier",
    Hint "hint",
    Message "message",
    End "end",
    Graphics "graphics",
}

/// All matrix multiplications, dense and sparse, of both product lines, for queries that are independent of the card.
pub const MATRIX: &[Family] = &[Family::Mfma, Family::Smfmac, Family::Wmma, Family::Swmmac];

impl Family {
    pub fn parse(key: &str) -> Option<Self> {
        Family::ALL.iter().copied().find(|family| family.key() == key)
    }

    pub fn of(mnemonic: Mnemonic) -> Self {
        static TABLE: OnceLock<Vec<Family>> = OnceLock::new();
        let table = TABLE.get_or_init(|| Mnemonic::all().map(|mnemonic| classify(mnemonic.name())).collect());
        table.get(mnemonic.index()).copied().unwrap_or(Family::Vector)
    }

    /// Whether the instruction changes memory that is visible outside the kernel. Scratch and LDS are lost when the
    /// kernel ends.
    pub fn has_effect(self) -> bool {
        use Family::*;
        matches!(
            self,
            GlobalStore
                | GlobalAtomic
                | FlatStore
                | FlatAtomic
                | BufferStore
                | BufferAtomic
                | ScalarStore
                | Image
                | Graphics
        )
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

fn classify(name: &str) -> Family {
    match name.split_once('_') {
        Some(("v", rest)) => vector(rest.strip_prefix("dual_").unwrap_or(rest)),
        Some(("s", rest)) => scalar(rest),
        Some(("ds", rest)) => lds(rest),
        Some(("global" | "cluster" | "tensor", rest)) => {
            memory(rest, [Family::GlobalLoad, Family::GlobalStore, Family::GlobalAtomic])
        }
        Some(("flat", rest)) => memory(rest, [Family::FlatLoad, Family::FlatStore, Family::FlatAtomic]),
        Some(("buffer" | "tbuffer", rest)) => {
            memory(rest, [Family::BufferLoad, Family::BufferStore, Family::BufferAtomic])
        }
        // Scratch has no atomics.
        Some(("scratch", rest)) => memory(rest, [Family::ScratchLoad, Family::ScratchStore, Family::ScratchStore]),
        Some(("image", _)) => Family::Image,
        _ => Family::Graphics,
    }
}

fn memory(rest: &str, [load, store, atomic]: [Family; 3]) -> Family {
    if rest.starts_with("load") {
        load
    } else if rest.starts_with("store") || rest.starts_with("save") {
        store
    } else if rest.starts_with("atomic") {
        atomic
    } else {
        // buffer_wbl2, global_inv, flat_prefetch_b8, ...
        Family::Cache
    }
}

fn vector(rest: &str) -> Family {
    let rest = rest.strip_prefix("pk_").unwrap_or(rest);
    let head = rest.split('_').next().unwrap_or(rest);
    // Integer multiply-adds have an integer type in their name; other mad and mac instructions are floating point.
    let integer = || ["_u", "_i"].iter().any(|kind| rest.contains(kind));
    match head {
        "fma" | "fmac" | "fmaak" | "fmamk" => Family::Fma,
        "mad" | "mac" | "madak" | "madmk" if integer() => Family::IntegerMad,
        "mad" | "mac" | "madak" | "madmk" => Family::Fma,
        "mfma" => Family::Mfma,
        "smfmac" => Family::Smfmac,
        "wmma" => Family::Wmma,
        "swmmac" => Family::Swmmac,
        "cvt" => Family::Convert,
        "cmp" | "cmpx" => Family::Compare,
        "exp" | "log" | "rcp" | "rsq" | "sqrt" | "sin" | "cos" | "tanh" => Family::Transcendental,
        "s" => Family::Transcendental,
        "readlane" | "readfirstlane" | "writelane" => Family::Lane,
        "accvgpr" => Family::Accumulator,
        "interp" => Family::Graphics,
        _ if head.starts_with("dot") => Family::Dot,
        _ if head.starts_with("permlane") => Family::Lane,
        _ => Family::Vector,
    }
}

fn scalar(rest: &str) -> Family {
    let head = rest.split('_').next().unwrap_or(rest);
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| rest.starts_with(prefix));
    if starts(&["load_", "buffer_load_", "scratch_load_"]) {
        return Family::ScalarLoad;
    }
    if starts(&["store_", "buffer_store_", "scratch_store_", "atomic_", "buffer_atomic_"]) {
        return Family::ScalarStore;
    }
    if starts(&["setpc_", "set_pc_", "swappc_", "swap_pc_", "call_", "rfe_", "add_pc_"]) {
        return Family::Call;
    }
    if starts(&["get_barrier", "wakeup_barrier"]) {
        return Family::Barrier;
    }
    match head {
        "fmac" | "fmaak" | "fmamk" => Family::Fma,
        "cvt" => Family::Convert,
        "cmp" | "cmpk" | "bitcmp0" | "bitcmp1" => Family::Compare,
        "branch" | "cbranch" | "subvector" => Family::Branch,
        "waitcnt" | "wait" => Family::Wait,
        "barrier" => Family::Barrier,
        "endpgm" => Family::End,
        "sendmsg" | "sendmsghalt" | "trap" => Family::Message,
        "dcache" | "icache" | "gl1" | "prefetch" | "atc" | "buffer" => Family::Cache,
        "nop" | "clause" | "delay" | "sleep" | "code" | "inst" | "setprio" | "sethalt" | "setkill" | "wakeup"
        | "incperflevel" | "decperflevel" | "ttracedata" | "monitor" | "version" => Family::Hint,
        "set" if starts(&["set_inst_prefetch", "set_vgpr_msb"]) => Family::Hint,
        _ => Family::Scalar,
    }
}

fn lds(rest: &str) -> Family {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| rest.starts_with(prefix));
    if starts(&["read", "load", "consume"]) {
        Family::LdsLoad
    } else if starts(&["write", "store", "append"]) && !rest.starts_with("storexchg") {
        Family::LdsStore
    } else if starts(&["bpermute", "permute", "swizzle"]) {
        Family::LdsPermute
    } else if starts(&["gws"]) {
        Family::Barrier
    } else if rest == "nop" {
        Family::Hint
    } else {
        Family::LdsAtomic
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(names: &[&str], family: Family) {
        for name in names {
            assert_eq!(Mnemonic::find(name).map(Family::of), Some(family), "{name}");
        }
    }

    #[test]
    fn every_generation_spells_it_differently() {
        same(&["ds_read_b128", "ds_load_b128", "ds_read2_b64"], Family::LdsLoad);
        same(&["global_load_dwordx4", "global_load_b128"], Family::GlobalLoad);
        same(&["s_load_dword", "s_load_b32", "s_buffer_load_dwordx4"], Family::ScalarLoad);
        same(&["s_waitcnt", "s_wait_loadcnt", "s_waitcnt_vscnt"], Family::Wait);
        same(
            &["v_fma_f32", "v_fmac_f32", "v_dual_fmac_f32", "v_pk_fma_f16", "v_mad_f32", "v_fma_mix_f32"],
            Family::Fma,
        );
        same(&["v_mad_u64_u32", "v_mad_u32_u24", "v_mad_i64_i32"], Family::IntegerMad);
        same(&["v_dot4_i32_iu8", "v_dot4_i32_i8", "v_dual_dot2acc_f32_f16", "v_dot2c_f32_f16"], Family::Dot);
        same(&["v_mfma_f32_32x32x8f16", "v_mfma_scale_f32_16x16x128_f8f6f4"], Family::Mfma);
        same(&["v_wmma_f32_16x16x16_f16"], Family::Wmma);
        same(&["v_swmmac_f32_16x16x32_f16"], Family::Swmmac);
        same(&["s_barrier", "s_barrier_wait", "s_barrier_signal"], Family::Barrier);
        same(&["buffer_load_dwordx4", "tbuffer_load_format_x", "buffer_load_b128"], Family::BufferLoad);
        same(&["ds_add_u32", "ds_wrxchg_rtn_b32", "ds_storexchg_rtn_b32"], Family::LdsAtomic);
        same(&["s_endpgm"], Family::End);
        same(&["s_swappc_b64", "s_setpc_b64", "s_swap_pc_i64"], Family::Call);
    }

    #[test]
    fn keys_are_unique_and_read_back() {
        for family in Family::ALL {
            assert_eq!(Family::parse(family.key()), Some(*family));
        }
    }
}
