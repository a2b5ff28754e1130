//! A module's declarations: its requirements, its entry points, its specialization constants, and its instructions.

use crate::words::{Instructions, word};
use spirv::{AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, MemoryModel, Op};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Major and minor.
    pub version: (u8, u8),
    /// Capabilities by the names of the specification; a number if there is no name.
    pub capabilities: Vec<String>,
    pub extensions: Vec<String>,
    /// The API that can load the module.
    pub environment: Environment,
    pub entry_points: Vec<EntryPoint>,
    /// The constants that a pipeline may set, by id.
    pub constants: BTreeMap<u32, Constant>,
    /// How often each operation occurs; an operation that the specification lacks is counted by its number.
    pub operations: BTreeMap<String, u64>,
}

/// The client API that a module is written for, by its memory model (SPIR-V specification, OpMemoryModel). The Vulkan
/// environment allows Logical and PhysicalStorageBuffer64 addressing with the GLSL450 or Vulkan memory model, the OpenCL environment
/// Physical32 and Physical64 with OpenCL's: no module is for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Environment {
    Vulkan,
    /// OpenCL and Level Zero, which accept the same modules; SYCL ships these.
    OpenCl,
    /// The module states no API.
    Unknown,
}

impl Environment {
    fn of(addressing: u32, memory: u32) -> Self {
        let logical = [AddressingModel::Logical as u32, AddressingModel::PhysicalStorageBuffer64 as u32];
        let physical = [AddressingModel::Physical32 as u32, AddressingModel::Physical64 as u32];
        let graphics = [MemoryModel::GLSL450 as u32, MemoryModel::Vulkan as u32].contains(&memory);
        match () {
            () if graphics && logical.contains(&addressing) => Environment::Vulkan,
            () if memory == MemoryModel::OpenCL as u32 && physical.contains(&addressing) => Environment::OpenCl,
            () => Environment::Unknown,
        }
    }

    /// The common name; not translated.
    pub fn name(self) -> &'static str {
        match self {
            Environment::Vulkan => "Vulkan",
            Environment::OpenCl => "OpenCL, Level Zero",
            Environment::Unknown => "?",
        }
    }

    /// The name in data.
    pub fn key(self) -> &'static str {
        match self {
            Environment::Vulkan => "vulkan",
            Environment::OpenCl => "opencl",
            Environment::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoint {
    pub name: String,
    /// `GLCompute` for a Vulkan kernel, `Kernel` for an OpenCL kernel.
    pub model: String,
    /// The work-group size, if the module fixes it.
    pub local_size: Option<[u32; 3]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// The raw first word of the value, regardless of its type.
    pub default: u32,
}

impl Module {
    /// Reads a complete module, starting at its header. Unreadable parts are skipped; nothing panics.
    pub fn read(bytes: &[u8]) -> Module {
        let version = word(bytes, 4).unwrap_or(0);
        let part = |shift: u32| u8::try_from((version >> shift) & 0xff).unwrap_or(0);
        let mut module = Module {
            version: (part(16), part(8)),
            capabilities: Vec::new(),
            extensions: Vec::new(),
            environment: Environment::Unknown,
            entry_points: Vec::new(),
            constants: BTreeMap::new(),
            operations: BTreeMap::new(),
        };
        let mut entries: Vec<(u32, usize)> = Vec::new();
        let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
        for instruction in Instructions::of(bytes) {
            let operation = Op::from_u32(u32::from(instruction.operation));
            let name = operation.map_or_else(|| format!("Op{}", instruction.operation), |op| format!("Op{op:?}"));
            *module.operations.entry(name).or_default() += 1;
            let operand = |place| instruction.operand(place);
            match operation {
                Some(Op::Capability) => {
                    let named =
                        |code| Capability::from_u32(code).map_or(code.to_string(), |known| format!("{known:?}"));
                    module.capabilities.extend(operand(0).map(named));
                }
                Some(Op::Extension) => {
                    module.extensions.extend(instruction.text(0).map(|(text, _)| text.to_owned()));
                }
                Some(Op::MemoryModel) => {
                    let model = operand(0).zip(operand(1));
                    module.environment = model.map_or(Environment::Unknown, |(of, by)| Environment::of(of, by));
                }
                Some(Op::EntryPoint) => {
                    let (Some(model), Some(id), Some((name, _))) = (operand(0), operand(1), instruction.text(2)) else {
                        continue;
                    };
                    let model = ExecutionModel::from_u32(model).map_or(model.to_string(), |known| format!("{known:?}"));
                    entries.push((id, module.entry_points.len()));
                    module.entry_points.push(EntryPoint { name: name.to_owned(), model, local_size: None });
                }
                Some(Op::ExecutionMode) if operand(1) == Some(ExecutionMode::LocalSize as u32) => {
                    let size = [operand(2), operand(3), operand(4)].map(Option::unwrap_or_default);
                    for (_, place) in entries.iter().filter(|(id, _)| Some(*id) == operand(0)) {
                        module.entry_points[*place].local_size = Some(size);
                    }
                }
                Some(Op::Decorate) if operand(1) == Some(Decoration::SpecId as u32) => {
                    numbers.extend(operand(0).zip(operand(2)));
                }
                // Decorations come before the constants in the logical layout.
                Some(Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse) => {
                    let Some(number) = operand(1).and_then(|id| numbers.get(&id)) else { continue };
                    let default = operand(2).unwrap_or(u32::from(operation == Some(Op::SpecConstantTrue)));
                    module.constants.insert(*number, Constant { default });
                }
                _ => {}
            }
        }
        module
    }

    pub fn instructions(&self) -> u64 {
        self.operations.values().sum()
    }

    /// The numbers of cooperative matrix multiplications and of integer dot products.
    pub fn matrix_and_dot(&self) -> (u64, u64) {
        let sum = |of: &dyn Fn(&str) -> bool| {
            self.operations.iter().filter(|(name, _)| of(name)).map(|(_, count)| count).sum()
        };
        let matrix = |name: &str| name.starts_with("OpCooperativeMatrixMulAdd");
        let dot = |name: &str| ["OpSDot", "OpUDot", "OpSUDot"].iter().any(|start| name.starts_with(start));
        (sum(&matrix), sum(&dot))
    }

    /// The GPU features that it requires, by their common names: `matrix` (cooperative matrices), `dot` (integer dot
    /// products), `f16`, `bf16`, `int8`, `subgroup`.
    pub fn features(&self) -> Vec<&'static str> {
        let has = |wanted: &[&str]| self.capabilities.iter().any(|name| wanted.contains(&name.as_str()));
        let families: [(&str, &[&str]); 6] = [
            ("matrix", &["CooperativeMatrixKHR", "CooperativeMatrixNV"]),
            ("dot", &["DotProduct", "DotProductInputAll", "DotProductInput4x8Bit", "DotProductInput4x8BitPacked"]),
            ("f16", &["Float16"]),
            // SPV_KHR_bfloat16: BFloat16TypeKHR, BFloat16DotProductKHR, BFloat16CooperativeMatrixKHR.
            ("bf16", &["BFloat16TypeKHR", "5116", "5117", "5118"]),
            ("int8", &["Int8"]),
            ("subgroup", &["GroupNonUniformArithmetic", "GroupNonUniformClustered", "GroupNonUniformShuffle"]),
        ];
        families.into_iter().filter(|(_, wanted)| has(wanted)).map(|(family, _)| family).collect()
    }
}
