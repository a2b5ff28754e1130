//! The parts of a solution that the choice depends on. A solution is read when a table first leads to it.

use super::{
    data_type::DataType,
    strict::{Required, ints, unsigned},
    test::Test,
    value::Value,
};
use crate::kernel_name;
use codeobject::{Error, Problem, Result, msgpack::Reader};

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
        let start = reader.offset();
        let mut required =
            Required::new(&["index", "name", "hardwarePredicate", "problemPredicate", "sizeMapping", "problemType"]);
        for _ in 0..reader.expect_map("solution")? {
            let key = reader.expect_str("solution key")?;
            required.note(key);
            match key {
                "index" => out.index = reader.expect_int("solution index")?,
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
        required.check(start)?;
        tests.retain(|test| *test != Test::Always);
        out.test = Test::All(tests);
        if out.kernel.is_empty() {
            out.kernel.clone_from(&out.name);
        }
        // The name repeats the tile.
        let [m, n] = out.sizes.macro_tile;
        if kernel_name::tile_of(&out.name) != Some([m, n, out.sizes.depth_u]) {
            return Err(Error::new(start, "tile in the solution's name", Problem::Missing));
        }
        Ok(out)
    }
}

impl SizeMapping {
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let start = reader.offset();
        let mut required = Required::new(&[
            "macroTile",
            "depthU",
            "globalSplitU",
            "workspaceSizePerElemC",
            "packBatchDims",
            "streamK",
        ]);
        for _ in 0..reader.expect_map("sizeMapping")? {
            let key = reader.expect_str("sizeMapping key")?;
            required.note(key);
            match key {
                "macroTile" => {
                    let sizes = ints(reader, "macroTile")?;
                    let side = |at: usize| sizes.get(at).and_then(|size| u64::try_from(*size).ok()).unwrap_or(0);
                    self.macro_tile = [side(0), side(1)];
                }
                "depthU" => self.depth_u = unsigned(reader, "depthU")?,
                "globalSplitU" => self.global_split_u = reader.expect_int("globalSplitU")?,
                "workspaceSizePerElemC" => self.workspace_per_c = unsigned(reader, "workspaceSizePerElemC")?,
                "workspaceSizePerElemBias" => self.workspace_per_bias = unsigned(reader, "workspaceSizePerElemBias")?,
                "packBatchDims" => self.pack_batch_dims = reader.expect_int("packBatchDims")?,
                "streamK" => self.stream_k = reader.expect_int("streamK")?,
                "matrixInstruction" => self.matrix_instruction = ints(reader, "matrixInstruction")?,
                "workGroup" => self.work_group = ints(reader, "workGroup")?,
                _ => reader.skip("sizeMapping field")?,
            }
        }
        required.check(start)
    }
}

impl ProblemType {
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let start = reader.offset();
        let mut required = Required::new(&["aType", "bType", "cType", "dType"]);
        for _ in 0..reader.expect_map("problemType")? {
            let key = reader.expect_str("problemType key")?;
            required.note(key);
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
        required.check(start)
    }
}
