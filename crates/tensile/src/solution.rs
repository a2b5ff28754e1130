//! One solution: a kernel with the sizes that it was made for.

use codeobject::{
    Result,
    msgpack::{Reader, Token},
};

use crate::predicate::Predicate;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Solution {
    /// The index that the tables of the tree refer to.
    pub index: i64,
    pub name: String,
    /// The symbol in the code object: hipBLASLt states it; rocBLAS uses the solution's name.
    pub kernel: String,
    /// The processor that the solution is for; None means any processor.
    pub processor: Option<String>,
    /// Compiled from source (`.hsaco`), not assembled (`.co`).
    pub source_kernel: bool,
    pub macro_tile: Vec<i64>,
    pub work_group: Vec<i64>,
    pub depth_u: i64,
    pub global_split_u: i64,
    /// A, B, C, D.
    pub types: [String; 4],
}

impl Solution {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Solution> {
        let mut out = Solution::default();
        for _ in 0..reader.expect_map("solution")? {
            match reader.expect_str("solution key")? {
                "index" => out.index = int(reader, "solution index")?,
                "name" => out.name = reader.expect_str("solution name")?.to_owned(),
                "kernelName" => out.kernel = reader.expect_str("kernelName")?.to_owned(),
                "hardwarePredicate" => out.processor = Predicate::read(reader, 0)?.processor().map(str::to_owned),
                "sizeMapping" => out.size_mapping(reader)?,
                "problemType" => out.problem_type(reader)?,
                _ => reader.skip("solution field")?,
            }
        }
        if out.kernel.is_empty() {
            out.kernel.clone_from(&out.name);
        }
        Ok(out)
    }

    fn size_mapping(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        for _ in 0..reader.expect_map("sizeMapping")? {
            match reader.expect_str("sizeMapping key")? {
                "macroTile" => self.macro_tile = ints(reader, "macroTile")?,
                "workGroup" => self.work_group = ints(reader, "workGroup")?,
                "depthU" => self.depth_u = int(reader, "depthU")?,
                "globalSplitU" => self.global_split_u = int(reader, "globalSplitU")?,
                "sourceKernel" => self.source_kernel = matches!(scalar(reader, "sourceKernel")?, Token::Bool(true)),
                _ => reader.skip("sizeMapping field")?,
            }
        }
        Ok(())
    }

    fn problem_type(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        for _ in 0..reader.expect_map("problemType")? {
            let slot = match reader.expect_str("problemType key")? {
                "aType" => 0,
                "bType" => 1,
                "cType" => 2,
                "dType" => 3,
                _ => {
                    reader.skip("problemType field")?;
                    continue;
                }
            };
            if let Some(slot) = self.types.get_mut(slot)
                && let Token::Str(text) = scalar(reader, "data type")?
            {
                *slot = text.to_owned();
            }
        }
        Ok(())
    }
}

/// A plain value; a list or map in its place is skipped and reads as Nil.
pub(crate) fn scalar<'a>(reader: &mut Reader<'a>, field: &'static str) -> Result<Token<'a>> {
    let mut ahead = reader.clone();
    match ahead.token(field)? {
        Token::Array(_) | Token::Map(_) => {
            reader.skip(field)?;
            Ok(Token::Nil)
        }
        token => {
            *reader = ahead;
            Ok(token)
        }
    }
}

pub(crate) fn int(reader: &mut Reader<'_>, field: &'static str) -> Result<i64> {
    Ok(match scalar(reader, field)? {
        Token::Int(value) => value,
        _ => 0,
    })
}

/// A short list of numbers: tiles have three, table keys up to five.
pub(crate) fn ints(reader: &mut Reader<'_>, field: &'static str) -> Result<Vec<i64>> {
    const MOST: usize = 16;
    let mut out = Vec::new();
    for _ in 0..reader.expect_array(field)? {
        let value = int(reader, field)?;
        if out.len() < MOST {
            out.push(value);
        }
    }
    Ok(out)
}
