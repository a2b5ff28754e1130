//! The path that a launch belongs to, determined by the kernel that was reached, not by the position of a branch.

use cxx::Program;
use cxx::eval::{Decision, Handoff, Machine, Value};
pub use gguf::Path;

/// The result for a matrix product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub path: Path,
    /// The kernel's name, or the library's function.
    pub kernel: String,
    /// Columns per block of MMVQ, or the tile width of MMQ; 0 for paths that have none.
    pub variant: i64,
    pub need_check: bool,
}

/// The family of a kernel by its name; None for helpers (quantise, convert, copy, fix up).
fn family(name: &str) -> Option<Path> {
    if ["fixup", "combine", "mask_to", "norm_mul"].iter().any(|part| name.contains(part)) {
        return None;
    }
    let starts = |prefix: &str| name.starts_with(prefix);
    Some(match name {
        _ if starts("dequantize_mul_mat_vec") => Path::Dmmv,
        _ if starts("mul_mat_vec_q") => Path::Mmvq,
        _ if starts("mul_mat_vec_f") => Path::Mmvf,
        _ if starts("mul_mat_vec") || starts("mul_mat_p021") => Path::Mmv,
        _ if starts("mul_mat_q") => Path::Mmq,
        _ if starts("mul_mat_f") => Path::Mmf,
        _ if starts("flash_attn") && name.contains("vec") => Path::Vec,
        _ if starts("flash_attn_tile") => Path::Tile,
        _ if starts("flash_attn") && name.contains("mma") => Path::Mma,
        _ if starts("flash_attn_ext") => Path::Mma,
        _ if starts("rope") => Path::Rope,
        _ if starts("k_get_rows") || starts("get_rows") => Path::GetRows,
        _ => return None,
    })
}

/// The path of a launch: by the kernel's name, otherwise by the innermost calling function whose name implies a path.
pub fn of(program: &Program, launch: &Handoff) -> Option<Path> {
    if launch.library {
        return Some(Path::Blas);
    }
    let path = family(program.text(launch.name))?;
    // Two different kernels are named flash_attn_ext_f16; the defining file distinguishes them.
    if path == Path::Mma {
        let definitions = program.overloads(launch.name).iter().filter_map(|&index| program.function(index));
        let mut files =
            definitions.filter(|function| function.is_remote()).map(|function| program.files.path(function.span.file));
        let near = launch.stack.iter().any(|&name| program.text(name).contains("wmma"));
        if near || files.all(|path| path.contains("wmma")) {
            return Some(Path::Wmma);
        }
        let tile = |path: &str| path.contains("fattn-tile");
        if program
            .overloads(launch.name)
            .iter()
            .filter_map(|&index| program.function(index))
            .any(|f| tile(program.files.path(f.span.file)))
        {
            return Some(Path::Tile);
        }
    }
    Some(path)
}

/// The choice of a launch in the evaluator's terms: the index of the path, the tile and the bounds check.
pub fn decision(machine: &mut Machine<'_>, launch: &Handoff) -> Option<Decision> {
    let path = of(machine.program, launch)?;
    let class = Path::ALL.iter().position(|known| *known == path)?;
    let choice = Choice::new(machine, launch, path);
    Some(Decision { class, numbers: [choice.variant, i64::from(choice.need_check)] })
}

/// The family of a host function, by its name.
pub fn family_of_function(name: &str) -> Option<Path> {
    let name = name.strip_prefix("ggml_cuda_").unwrap_or(name);
    let name = name.strip_prefix("op_").unwrap_or(name);
    if name.starts_with("mul_mat") && name.contains("cublas") { Some(Path::Blas) } else { family(name) }
}

/// Whether a launch settles an operation: the copy before a product does not settle the product.
pub fn decider(op: &str) -> fn(&Program, &Handoff) -> bool {
    let of_product: fn(&Program, &Handoff) -> bool =
        |program, launch| of(program, launch).is_some_and(Path::is_product);
    match op {
        "GGML_OP_FLASH_ATTN_EXT" => |program, launch| of(program, launch).is_some_and(Path::is_attention),
        "GGML_OP_ROPE" => |program, launch| of(program, launch) == Some(Path::Rope),
        "GGML_OP_GET_ROWS" => |program, launch| of(program, launch) == Some(Path::GetRows),
        _ => of_product,
    }
}

/// Like [`of`], for a kernel with an unknown name: decides by the names of its callers.
pub fn by_callers(program: &Program, launch: &Handoff) -> Option<Path> {
    launch.stack.iter().rev().find_map(|&name| family_of_function(program.text(name)))
}

impl Choice {
    /// The choice of a launch. The numbers that it uses narrow the machine's range to where they stay the same.
    pub fn new(machine: &mut Machine<'_>, launch: &Handoff, path: Path) -> Choice {
        let program = machine.program;
        let kernel = program.text(launch.name).to_owned();
        let mut number = |wanted: &dyn Fn(&str) -> bool| {
            let args = launch.args.iter().filter_map(|(name, value)| Some(((*name)?, value)));
            let mut all = args.chain(launch.locals.iter().map(|(name, value)| (*name, value)));
            let found = all.find(|(name, value)| matches!(value, Value::Int(..)) && wanted(program.text(*name)));
            found.and_then(|(_, value)| machine.settle(value))
        };
        let (variant, need_check) = match path {
            // If the width is not among the kernel's parameters, the answer holds for this count only.
            Path::Mmvq => match number(&|name| name.starts_with("ncols")) {
                Some(width) => (width, 0),
                None => (machine.one_count(), 0),
            },
            Path::Vec | Path::Tile | Path::Mma | Path::Wmma => {
                (number(&|name| name.starts_with("ncols")).unwrap_or(0), 0)
            }
            Path::Mmq => {
                let tile = number(&|name| name == "mmq_x" || name == "J").unwrap_or(0);
                (tile, number(&|name| name == "need_check" || name == "fallback").unwrap_or(0))
            }
            _ => (0, 0),
        };
        Choice { path, kernel, variant, need_check: need_check != 0 }
    }

    /// Restores a choice that the evaluator kept for a window of column counts.
    pub fn from_decision(program: &Program, launch: &Handoff, decision: Decision) -> Option<Choice> {
        let [variant, need_check] = decision.numbers;
        let path = *Path::ALL.get(decision.class)?;
        Some(Choice { path, kernel: program.text(launch.name).to_owned(), variant, need_check: need_check != 0 })
    }

    /// Column tiles of one launch at this many columns.
    pub fn tiles(&self, columns: i64) -> i64 {
        match self.path {
            Path::Mmq if self.variant > 0 => columns.saturating_add(self.variant - 1) / self.variant,
            Path::Mmvq => 1,
            _ => 0,
        }
    }
}
