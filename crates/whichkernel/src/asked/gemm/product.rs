//! One product as a user describes it: on the command line, or as a row of a file.

use say::{bail, ensure};
use tensile::select::{Batches, Beta, Call, Compute, DataType, Epilogue, Scales};

/// A product with its name. If a word was not understood, it is kept, and the product gets no answer.
#[derive(Debug, Clone)]
pub struct Product {
    pub id: String,
    pub call: Call,
    pub unclear: Option<Unclear>,
}

/// A cell with a word that the option does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclear {
    pub option: &'static str,
    pub value: String,
}

#[derive(Debug, Default, clap::Args)]
pub struct Ask {
    /// Element type of A and B: f16, bf16, f32, f64, i8, f8e4m3, f8e5m2, f8e4m3fnuz, f8e5m2fnuz [default: f16]
    #[arg(long = "type", value_name = "TYPE")]
    pub ty: Option<String>,

    /// Element type of C and D [default: that of A; i32 for i8]
    #[arg(long, value_name = "TYPE")]
    pub output_type: Option<String>,

    /// Which of A and B are transposed, as in BLAS: NN, NT, TN or TT [default: NN]
    #[arg(long, value_name = "OPS")]
    pub trans: Option<String>,

    /// Matrices in a strided batch [default: 1]
    #[arg(long, value_name = "N")]
    pub batch: Option<u64>,

    /// Compute type: f16, f32, xf32, f32_fast_f16, f32_fast_bf16, f64, i32 [default: f32; f64 for f64, i32 for i8]
    #[arg(long, value_name = "TYPE")]
    pub compute: Option<String>,

    /// hipBLASLt's epilogue: bias, relu, relu_bias, gelu, gelu_bias, gelu_aux, ... [default: none]
    #[arg(long, value_name = "NAME")]
    pub epilogue: Option<String>,

    /// Workspace in bytes that the caller allows hipBLASLt [default: 33554432]
    #[arg(long, value_name = "BYTES")]
    pub workspace: Option<u64>,

    /// beta, for rocBLAS [default: 0]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub beta: Option<f64>,

    /// Scales of A and B in a hipBLASLt call: none, scalar, vector [default: none]
    #[arg(long, value_name = "KIND")]
    pub scale_ab: Option<String>,

    /// Number of algorithms that the caller requests from hipBLASLt; this can change the first answer [default: 1]
    #[arg(long, value_name = "N")]
    pub requested: Option<u32>,
}

impl Ask {
    /// The product of these options; fails for an unknown word.
    pub fn product(&self, [m, n, k]: [u64; 3]) -> say::Result<Product> {
        let trans = self.trans.as_deref().unwrap_or("NN").to_ascii_uppercase();
        ensure!(matches!(trans.as_str(), "NN" | "NT" | "TN" | "TT"), "command-gemm-trans", value = trans);
        let cell = |value: &Option<String>| value.clone().unwrap_or_default();
        let cells = Cells {
            id: format!("{m}x{n}x{k}"),
            sizes: [m, n, k],
            batch: self.batch,
            trans: [&trans[..1], &trans[1..]].map(str::to_owned),
            types: [cell(&self.ty), cell(&self.ty), cell(&self.output_type), cell(&self.output_type)],
            compute: cell(&self.compute),
            epilogue: cell(&self.epilogue),
            workspace: self.workspace,
            requested: self.requested,
            beta: self.beta,
            scale_ab: cell(&self.scale_ab),
            ..Cells::default()
        };
        let product = cells.product();
        if let Some(Unclear { option, value }) = product.unclear {
            bail!("command-gemm-word", option, value, known = known(option));
        }
        Ok(product)
    }
}

/// The words that an option accepts.
pub fn known(option: &str) -> String {
    let list = |names: &mut dyn Iterator<Item = &'static str>| names.collect::<Vec<_>>().join(", ");
    match option {
        "compute" => list(&mut Compute::names()),
        "epilogue" => list(&mut Epilogue::names()),
        "trans" => "N, T".to_owned(),
        "batch_kind" => "strided, pointers, grouped".to_owned(),
        "scale_ab" => "none, scalar, vector".to_owned(),
        "scale_cd" => "none, scalar".to_owned(),
        "deterministic" => "yes, no".to_owned(),
        _ => list(&mut DataType::names()),
    }
}

/// The cells of a row; empty text and None mean the default.
#[derive(Debug, Clone, Default)]
pub struct Cells {
    pub id: String,
    pub sizes: [u64; 3],
    pub batch: Option<u64>,
    /// The transpositions of A and B.
    pub trans: [String; 2],
    /// The types of A, B, C and D.
    pub types: [String; 4],
    pub compute: String,
    pub scale: String,
    pub epilogue: String,
    pub bias_type: String,
    pub ld: [Option<u64>; 4],
    pub workspace: Option<u64>,
    pub requested: Option<u32>,
    pub beta: Option<f64>,
    pub batch_kind: String,
    /// The strides of A, B, C and D.
    pub strides: [Option<u64>; 4],
    pub scale_ab: String,
    pub scale_cd: String,
    pub deterministic: String,
}

impl Cells {
    pub fn product(self) -> Product {
        let mut unclear = None;
        let mut word = |option: &'static str, value: &str| {
            unclear.get_or_insert(Unclear { option, value: value.to_owned() });
        };
        let mut kind = |option: &'static str, value: &str| match DataType::from_user(&value.to_ascii_lowercase()) {
            _ if value.is_empty() => None,
            None => {
                word(option, value);
                None
            }
            found => found,
        };
        let a = kind("type", &self.types[0]).unwrap_or(DataType::Half);
        let b = kind("type", &self.types[1]).unwrap_or(a);
        let c = kind("type", &self.types[2]);
        let d = kind("type", &self.types[3]);
        let scale = kind("scale", &self.scale);
        let bias_type = kind("bias_type", &self.bias_type);
        let [m, n, k] = self.sizes;
        let mut call = Call::plain(m, n, k, a);
        call.batch = self.batch.unwrap_or(1);
        let output = c.or(d).unwrap_or(call.types[3]);
        call.types = [a, b, c.unwrap_or(output), d.unwrap_or(output)];
        call.bias_type = bias_type;
        for (flag, value) in [&mut call.trans_a, &mut call.trans_b].into_iter().zip(&self.trans) {
            match value.to_ascii_uppercase().as_str() {
                "" | "N" => *flag = false,
                "T" => *flag = true,
                _ => word("trans", value),
            }
        }
        match compute(&self.compute) {
            _ if self.compute.is_empty() => {}
            Some(found) => call.compute = found,
            None => word("compute", &self.compute),
        }
        call.scale = scale.unwrap_or(call.compute.usual_scale());
        match Epilogue::from_user(&self.epilogue.to_ascii_lowercase()) {
            _ if self.epilogue.is_empty() => {}
            Some(found) => call.epilogue = found,
            None => word("epilogue", &self.epilogue),
        }
        let packed = call.packed();
        for ((ld, given), packed) in call.ld.iter_mut().zip(self.ld).zip(packed) {
            *ld = given.unwrap_or(packed);
        }
        call.workspace = self.workspace;
        call.requested = self.requested.unwrap_or(1);
        call.beta = self.beta.map_or(Beta::Zero, Beta::of);
        if self.strides.iter().any(Option::is_some) {
            let apart = call.packed_strides();
            call.strides = Some(std::array::from_fn(|matrix| self.strides[matrix].unwrap_or(apart[matrix])));
        }
        let wrong = self.attributes(&mut call);
        Product { id: self.id, call, unclear: unclear.or(wrong) }
    }

    /// The words that belong to one library only; the first that is not understood is returned.
    fn attributes(&self, call: &mut Call) -> Option<Unclear> {
        let unclear = |option: &'static str, value: &str| Some(Unclear { option, value: value.to_owned() });
        match (Batches::from_user(&self.batch_kind.to_ascii_lowercase()), self.batch_kind.is_empty()) {
            (Some(kind), _) => call.batches = kind,
            (None, true) => {}
            (None, false) => return unclear("batch_kind", &self.batch_kind),
        }
        match (Scales::from_user(&self.scale_ab.to_ascii_lowercase()), self.scale_ab.is_empty()) {
            (Some(scales), _) => call.scales = scales,
            (None, true) => {}
            (None, false) => return unclear("scale_ab", &self.scale_ab),
        }
        match self.scale_cd.to_ascii_lowercase().as_str() {
            "" | "none" => {}
            "scalar" => call.scales_output = true,
            _ => return unclear("scale_cd", &self.scale_cd),
        }
        match self.deterministic.to_ascii_lowercase().as_str() {
            "" => {}
            "yes" => call.deterministic = Some(true),
            "no" => call.deterministic = Some(false),
            _ => return unclear("deterministic", &self.deterministic),
        }
        None
    }
}

/// Also accepts the names that hipBLASLt's bench and headers use.
fn compute(name: &str) -> Option<Compute> {
    match name.to_ascii_lowercase().as_str() {
        "tf32" | "f32_fast_xf32" | "f32_fast_tf32" | "xf32_r" => Some(Compute::Xf32),
        "f32_f16" | "f32_f16_r" => Some(Compute::F32FastF16),
        "f32_bf16" | "f32_bf16_r" => Some(Compute::F32FastBf16),
        plain => Compute::from_user(plain.strip_suffix("_r").unwrap_or(plain)),
    }
}
