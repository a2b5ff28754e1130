//! vLLM's tables: everything is in the file's name, `E=128,N=768,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8.json`.

use std::path::Path;

/// The shape in a file's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub experts: Option<u64>,
    pub n: u64,
    pub k: Option<u64>,
    pub dtype: Option<String>,
    pub block: Option<String>,
}

impl Named {
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.experts.map(|experts| format!("E={experts}")));
        parts.push(format!("N={}", self.n));
        parts.extend(self.k.map(|k| format!("K={k}")));
        parts.extend(self.dtype.as_ref().map(|dtype| format!("dtype={dtype}")));
        parts.extend(self.block.as_ref().map(|block| format!("block_shape={block}")));
        parts.join(",")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub device: String,
    named: Named,
}

impl Table {
    pub fn shape(&self) -> &Named {
        &self.named
    }
}

/// Reads a file's name; None if it is not a table.
pub fn table(name: &str) -> Option<Table> {
    let mut rest = name.strip_suffix(".json")?;
    let block = match rest.split_once(",block_shape=") {
        Some((before, block)) => {
            rest = before;
            Some(block.to_owned())
        }
        None => None,
    };
    let mut named = Named { experts: None, n: 0, k: None, dtype: None, block };
    let (mut device, mut has_n) = (None, false);
    for part in rest.split(',') {
        let (key, value) = part.split_once('=')?;
        match key {
            "E" => named.experts = Some(value.parse().ok()?),
            "N" => (named.n, has_n) = (value.parse().ok()?, true),
            "K" => named.k = Some(value.parse().ok()?),
            "device_name" => device = Some(value.to_owned()),
            "dtype" => named.dtype = Some(value.to_owned()),
            _ => return None,
        }
    }
    let known = has_n && (named.experts.is_some() || named.k.is_some());
    known.then_some(Table { device: device?, named })
}

/// vLLM's name for a PCI device, from the list in its own source: `"0x74a1": "AMD_Instinct_MI300X",`.
pub fn device_name(source: &Path, device: i64) -> Option<String> {
    let text = sys::regular_file::text(source, 8 << 20).ok()?;
    let wanted = format!("\"{device:#06x}\":");
    let line = text.lines().find_map(|line| line.trim().strip_prefix(&wanted))?;
    let name = line.trim().strip_prefix('"')?.split('"').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_vllm_writes_them() {
        let one = table("E=256,N=256,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128,128].json");
        let one = one.expect("a table");
        assert_eq!(one.device, "AMD_Instinct_MI300X");
        assert_eq!(one.shape().text(), "E=256,N=256,dtype=fp8_w8a8,block_shape=[128,128]");
        assert_eq!(table("E=8,N=14336,device_name=AMD_Instinct_MI300X.json").expect("a table").shape().dtype, None);
        assert!(table("N=1024,K=2048,device_name=X,dtype=fp8_w8a8,block_shape=[128,128].json").is_some());
        for other in ["config.json", "E=8.json", "E=x,N=1,device_name=X.json", "N=1,device_name=X.json", "=,.json", ""]
        {
            assert_eq!(table(other), None, "{other}");
        }
    }
}
