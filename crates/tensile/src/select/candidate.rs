//! The parts of a solution that the choice depends on. A solution is read when a table first leads to it.

use super::{data_type::DataType, test::Test, value::Value};
use crate::solution::{int, ints};
use codeobject::{Result, msgpack::Reader};

/// The sizes of a kernel that its workspace depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SizeMapping {
    pub macro_tile: [u64; 2],
    pub depth_u: u64,
    /// The number of work groups over which K is split; -1 if the library decides by the shape.
    pub global_split_u: i64,
    pub workspace_per_c: u64,
    pub workspace_per_bias: u64,
    pub pack_batch_dims: i64,
    pub stream_k: i64,
    pub matrix_instruction: Vec<i64>,
    pub work_group: Vec<i64>,
}

/// The type of product that a kernel was made for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProblemType {
    pub trans_a: bool,
    pub trans_b: bool,
    pub types: [Option<DataType>; 4],
    pub compute: Option<DataType>,
    pub grouped: bool,
    pub gradient: bool,
    pub bias: bool,
    pub amax: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub index: i64,
    pub name: String,
    /// The symbol in the code object.
    pub kernel: String,
    pub sizes: SizeMapping,
    pub kind: ProblemType,
    /// Hardware, problem and task predicates together: all must hold.
    pub test: Test,
}

impl Candidate {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Candidate> {
        let mut out = Candidate {
            index: 0,
            name: String::new(),
            kernel: String::new(),
            sizes: SizeMapping::default(),
            kind: ProblemType::default(),
            test: Test::Always,
        };
        let mut tests = Vec::new();
        for _ in 0..reader.expect_map("solution")? {
            match reader.expect_str("solution key")? {
                "index" => out.index = int(reader, "solution index")?,
                "name" => out.name = reader.expect_str("solution name")?.to_owned(),
                "kernelName" => out.kernel = reader.expect_str("kernelName")?.to_owned(),
                "hardwarePredicate" | "problemPredicate" | "taskPredicate" => {
                    match Test::compile(&Value::read(reader, 0)?) {
                        Test::All(inner) => tests.extend(inner),
                        test => tests.push(test),
                    }
                }
                "sizeMapping" => out.sizes.read(reader)?,
                "problemType" => out.kind.read(reader)?,
                _ => reader.skip("solution field")?,
            }
        }
        tests.retain(|test| *test != Test::Always);
        out.test = Test::All(tests);
        if out.kernel.is_empty() {
            out.kernel.clone_from(&out.name);
        }
        Ok(out)
    }
}

impl SizeMapping {
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let unsigned = |value: i64| u64::try_from(value).unwrap_or(0);
        for _ in 0..reader.expect_map("sizeMapping")? {
            match reader.expect_str("sizeMapping key")? {
                "macroTile" => {
                    if let [m, n, ..] = ints(reader, "macroTile")?.as_slice() {
                        self.macro_tile = [unsigned(*m), unsigned(*n)];
                    }
                }
                "depthU" => self.depth_u = unsigned(int(reader, "depthU")?),
                "globalSplitU" => self.global_split_u = int(reader, "globalSplitU")?,
                "workspaceSizePerElemC" => self.workspace_per_c = unsigned(int(reader, "workspaceSizePerElemC")?),
                "workspaceSizePerElemBias" => {
                    self.workspace_per_bias = unsigned(int(reader, "workspaceSizePerElemBias")?);
                }
                "packBatchDims" => self.pack_batch_dims = int(reader, "packBatchDims")?,
                "streamK" => self.stream_k = int(reader, "streamK")?,
                "matrixInstruction" => self.matrix_instruction = ints(reader, "matrixInstruction")?,
                "workGroup" => self.work_group = ints(reader, "workGroup")?,
                _ => reader.skip("sizeMapping field")?,
            }
        }
        Ok(())
    }
}

impl ProblemType {
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        for _ in 0..reader.expect_map("problemType")? {
            let key = reader.expect_str("problemType key")?;
            let value = Value::read(reader, 0)?;
            let flag = value.flag().unwrap_or(false);
            let kind = value.text().and_then(DataType::in_catalog);
            match key {
                "transA" => self.trans_a = flag,
                "transB" => self.trans_b = flag,
                "aType" => self.types[0] = kind,
                "bType" => self.types[1] = kind,
                "cType" => self.types[2] = kind,
                "dType" => self.types[3] = kind,
                "computeType" => self.compute = kind,
                "groupedGemm" => self.grouped = flag,
                "useGradient" => self.gradient = flag,
                "useBias" => self.bias = flag,
                "outputAmaxD" => self.amax = flag,
                _ => {}
            }
        }
        Ok(())
    }
}
