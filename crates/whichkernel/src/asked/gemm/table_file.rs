//! A file of products: tab- or comma-separated, with a header that names the columns.

use super::product::{Cells, Product};
use say::{Context as _, bail, error};
use std::path::Path;

/// The columns that a header may name.
const COLUMNS: [&str; 30] = [
    "id",
    "m",
    "n",
    "k",
    "batch",
    "trans_a",
    "trans_b",
    "type_a",
    "type_b",
    "type_c",
    "type_d",
    "compute",
    "scale",
    "epilogue",
    "bias_type",
    "lda",
    "ldb",
    "ldc",
    "ldd",
    "workspace",
    "requested",
    "beta",
    "batch_kind",
    "stride_a",
    "stride_b",
    "stride_c",
    "stride_d",
    "scale_ab",
    "scale_cd",
    "deterministic",
];

/// The maximum file size, far above real use.
const LARGEST: u64 = 256 << 20;

pub fn read(path: &Path) -> say::Result<Vec<Product>> {
    let text = sys::regular_file::text(path, LARGEST).about(path.display())?;
    parse(&text)
}

fn parse(text: &str) -> say::Result<Vec<Product>> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((_, header)) = lines.next() else { bail!("command-gemm-empty") };
    let separator = if header.contains('\t') { '\t' } else { ',' };
    let mut columns = Vec::new();
    for name in header.split(separator).map(str::trim) {
        let Some(known) = COLUMNS.iter().position(|column| column.eq_ignore_ascii_case(name)) else {
            bail!("command-gemm-column", name, known = COLUMNS);
        };
        if columns.contains(&known) {
            bail!("command-gemm-column-twice", name);
        }
        columns.push(known);
    }
    if let Some(missing) = (1..4).find(|size| !columns.contains(size)) {
        bail!("command-gemm-column-missing", name = COLUMNS[missing]);
    }
    let mut out = Vec::new();
    for (number, line) in lines {
        out.push(row(&columns, separator, line, number + 1)?);
    }
    if out.is_empty() {
        bail!("command-gemm-no-rows");
    }
    Ok(out)
}

fn row(columns: &[usize], separator: char, line: &str, number: usize) -> say::Result<Product> {
    let mut cells = Cells { id: (number - 1).to_string(), ..Cells::default() };
    let mut values = line.split(separator).map(str::trim);
    for column in columns {
        let Some(value) = values.next() else {
            bail!("command-gemm-short", line = number, name = COLUMNS[*column]);
        };
        let wrong = || error!("command-gemm-cell", line = number, name = COLUMNS[*column], value);
        let count = || value.parse::<u64>().map_err(|_| wrong());
        let text = value.to_owned();
        match column {
            // An empty cell means the default; the three sizes have no default.
            1..=3 => cells.sizes[column - 1] = count()?,
            _ if value.is_empty() => {}
            0 => cells.id = text,
            4 => cells.batch = Some(count()?),
            5 | 6 => cells.trans[column - 5] = text,
            7..=10 => cells.types[column - 7] = text,
            11 => cells.compute = text,
            12 => cells.scale = text,
            13 => cells.epilogue = text,
            14 => cells.bias_type = text,
            15..=18 => cells.ld[column - 15] = Some(count()?),
            19 => cells.workspace = Some(count()?),
            20 => cells.requested = Some(u32::try_from(count()?).map_err(|_| wrong())?),
            21 => cells.beta = Some(value.parse::<f64>().map_err(|_| wrong())?),
            22 => cells.batch_kind = text,
            23..=26 => cells.strides[column - 23] = Some(count()?),
            27 => cells.scale_ab = text,
            28 => cells.scale_cd = text,
            _ => cells.deterministic = text,
        }
    }
    if let Some(more) = values.next() {
        bail!("command-gemm-long", line = number, value = more);
    }
    Ok(cells.product())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensile::select::{Batches, Beta, Call, Compute, DataType, Scales};

    #[test]
    fn columns_go_by_their_names_and_empty_cells_take_the_defaults() {
        let products = parse("k,m,id,n,type_a,trans_a,lda\n3,1,x,2,bf16,T,\n7,5,,6,,,9\n").unwrap();
        let mut first = Call::plain(1, 2, 3, DataType::BFloat16);
        first.trans_a = true;
        first.ld = first.packed();
        assert_eq!((products[0].id.as_str(), &products[0].call), ("x", &first));
        assert_eq!((products[1].call.ld[0], products[1].call.compute), (9, Compute::F32));
        assert_eq!(products[1].id, "2");
    }

    #[test]
    fn integers_are_summed_in_integers() {
        let products = parse("m\tn\tk\ttype_a\n1\t2\t3\ti8\n").unwrap();
        assert_eq!(products[0].call.types, [DataType::Int8, DataType::Int8, DataType::Int32, DataType::Int32]);
        assert_eq!(products[0].call.compute, Compute::I32);
    }

    #[test]
    fn a_word_that_is_not_known_leaves_the_product_without_an_answer() {
        let products = parse("m,n,k,compute\n1,2,3,f128\n").unwrap();
        assert_eq!(products[0].unclear.as_ref().map(|unclear| unclear.value.as_str()), Some("f128"));
    }

    #[test]
    fn a_call_is_described_to_the_last_attribute() {
        let text = "m,n,k,batch,beta,batch_kind,stride_b,scale_ab,scale_cd,deterministic\n\
                    2,3,4,5,-1,pointers,99,vector,scalar,yes\n2,3,4,5,0.5,,,,,\n";
        let products = parse(text).unwrap();
        let call = &products[0].call;
        assert_eq!((call.beta, call.batches, call.scales), (Beta::MinusOne, Batches::Pointers, Scales::Vector));
        assert_eq!((call.strides, call.scales_output, call.deterministic), (Some([8, 99, 6, 6]), true, Some(true)));
        let plain = &products[1].call;
        assert_eq!((plain.beta, plain.strides, plain.deterministic), (Beta::Other, None, None));
        for wrong in ["batch_kind", "scale_ab", "scale_cd", "deterministic"] {
            let products = parse(&format!("m,n,k,{wrong}\n1,2,3,x\n")).unwrap();
            assert_eq!(products[0].unclear.as_ref().map(|unclear| unclear.option), Some(wrong));
        }
    }

    #[test]
    fn damaged_files_are_refused_with_the_line() {
        for (text, says) in [
            ("", "header"),
            ("m,n\n", "k"),
            ("m,n,k,gamma\n", "gamma"),
            ("m,n,k\n", "no products"),
            ("m,n,k,beta\n1,2,3,x\n", "beta"),
            ("m,n,k,m\n", "m"),
            ("m,n,k\n1,2\n", "2"),
            ("m,n,k\n1,2,3,4\n", "2"),
            ("m,n,k\n1,2,x\n", "2"),
            ("m,n,k\n1,2,-3\n", "-3"),
            ("m,n,k\n1,,3\n", "n"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(says), "{text:?}: {error}");
        }
    }
}
