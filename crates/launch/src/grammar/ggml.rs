//! Names of the kernels of ggml's CUDA/HIP backend, from a table of every form in any release (`ggml.txt`).

use std::{collections::HashMap, sync::LazyLock};

use super::{
    cxx::{self, Function},
    facts::{Facts, Family, Library, Tile},
    scalar::{ggml_type, quantised_words, scalar, words},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Type,
    Integer,
    Bool,
    Cxx,
    CxxPack,
    Function,
    Enum,
}

type Signature = Vec<(&'static str, Kind)>;

struct Entry {
    family: Family,
    signatures: Vec<Signature>,
}

static KERNELS: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    include_str!("ggml.txt").lines().filter(|line| !line.starts_with('#')).filter_map(entry).collect()
});

fn entry(line: &'static str) -> Option<(&'static str, Entry)> {
    let mut columns = line.split('|').map(str::trim);
    let (name, family, forms) = (columns.next()?, columns.next()?, columns.next()?);
    let signatures = forms.split(';').map(|form| form.split_whitespace().filter_map(parameter).collect()).collect();
    Some((name, Entry { family: Family::from_key(family)?, signatures }))
}

fn parameter(word: &'static str) -> Option<(&'static str, Kind)> {
    let (name, kind) = word.split_once(':')?;
    Some((
        name,
        match kind {
            "t" => Kind::Type,
            "i" => Kind::Integer,
            "b" => Kind::Bool,
            "y" => Kind::Cxx,
            "y*" => Kind::CxxPack,
            "f" => Kind::Function,
            "e" => Kind::Enum,
            _ => return None,
        },
    ))
}

/// The number of kernels in the table.
pub fn known_kernels() -> usize {
    KERNELS.len()
}

/// Reads the name of a ggml kernel. None if the kernel is not in the table.
pub(super) fn read(function: &Function<'_>) -> Option<Facts> {
    let plain = function.path.strip_prefix("(anonymous namespace)::").unwrap_or(function.path);
    if plain.contains("::") {
        return None;
    }
    let entry = KERNELS.get(function.name)?;
    let mut facts = Facts::new(Library::Ggml, entry.family, function.name);
    // A profiler may print the name without arguments.
    if !function.arguments.is_empty() {
        let names = names_of(entry, &function.arguments);
        let mut shown = Vec::new();
        for (argument, name) in function.arguments.iter().zip(names) {
            match name {
                Some((name, kind)) => shown.extend(one(&mut facts, argument, &name, kind)),
                None => facts.unread.push((*argument).to_owned()),
            }
        }
        facts.readable = format!("{}<{}>", function.name, shown.join(","));
    }
    from_name(&mut facts, function.name);
    tile(&mut facts);
    Some(facts)
}

/// The parameter names for these arguments, from the forms with the longest matching prefix. If releases used different
/// names for one position, all of them are given.
fn names_of(entry: &Entry, arguments: &[&str]) -> Vec<Option<(String, Kind)>> {
    let fit = |signature: &Signature| -> usize {
        let mut places = signature.iter();
        let mut last = None;
        let mut count = 0;
        for argument in arguments {
            let place = match last {
                Some((_, Kind::CxxPack)) => last,
                _ => places.next().copied(),
            };
            match place {
                Some((_, kind)) if is(argument, kind) => count += 1,
                _ => break,
            }
            last = place;
        }
        count
    };
    let exact = |s: &&Signature| s.len() == arguments.len() || s.last().is_some_and(|(_, k)| *k == Kind::CxxPack);
    let best = entry.signatures.iter().map(fit).max().unwrap_or(0);
    let mut fitting: Vec<&Signature> = entry.signatures.iter().filter(|s| fit(s) == best).collect();
    if fitting.iter().any(exact) {
        fitting.retain(exact);
    }
    (0..arguments.len())
        .map(|i| {
            let place = |s: &Signature| s.get(i).or_else(|| s.last().filter(|(_, k)| *k == Kind::CxxPack)).copied();
            let mut names: Vec<&str> = Vec::new();
            let mut kind = None;
            for (name, k) in fitting.iter().filter_map(|s| place(s)) {
                kind = kind.or(Some(k));
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            kind.filter(|_| i < best).map(|kind| (names.join("/"), kind))
        })
        .collect()
}

fn is(argument: &str, kind: Kind) -> bool {
    match kind {
        Kind::Type => number_of(argument, "ggml_type").is_some(),
        Kind::Integer => integer(argument).is_some(),
        Kind::Bool => matches!(argument, "true" | "false"),
        Kind::Function => argument.contains('(') || argument.starts_with('&'),
        Kind::Enum => argument.starts_with('(') && number(argument).is_some(),
        Kind::Cxx | Kind::CxxPack => {
            !matches!(argument, "true" | "false") && integer(argument).is_none() && !argument.starts_with('(')
        }
    }
}

/// The number in `(ggml_type)12`, or in `GGML_TYPE_Q4_K` as newer demanglers may print it.
fn number_of(argument: &str, name: &str) -> Option<u32> {
    let rest = argument.strip_prefix('(')?.strip_prefix(name)?.strip_prefix(')')?;
    rest.parse().ok()
}

fn number(argument: &str) -> Option<u32> {
    argument.rsplit_once(')').and_then(|(_, digits)| digits.parse().ok())
}

/// Parses an integer argument: `128`, `(long)128`, `128ul`.
fn integer(argument: &str) -> Option<i64> {
    let digits = match argument.strip_prefix('(') {
        Some(rest) => {
            let (cast, digits) = rest.split_once(')')?;
            if !matches!(cast, "long" | "unsigned long" | "unsigned int" | "int" | "long long" | "unsigned long long") {
                return None;
            }
            digits
        }
        None => argument,
    };
    digits.trim_end_matches(['u', 'l']).parse().ok()
}

/// Records one template argument and returns its display form.
fn one(facts: &mut Facts, argument: &str, name: &str, kind: Kind) -> Option<String> {
    match kind {
        Kind::Type => {
            let number = number_of(argument, "ggml_type")?;
            let shown = ggml_type(number).map_or_else(|| format!("type{number}"), str::to_owned);
            facts.types.push((type_role(name), shown.clone()));
            Some(shown)
        }
        Kind::Integer => {
            let value = integer(argument)?;
            if matches!(name, "ncols_y" | "ncols_dst" | "ncols_y/ncols_dst" | "ncols_dst/ncols_y" | "ncols") {
                facts.columns = u32::try_from(value).ok();
            }
            facts.put(name, value.to_string());
            Some(value.to_string())
        }
        Kind::Bool => {
            facts.put(name, argument);
            Some(argument.to_owned())
        }
        Kind::Cxx => {
            if let Some(short) = scalar(argument) {
                facts.types.push((type_role(name), short));
            } else {
                facts.put(name, argument);
            }
            Some(argument.to_owned())
        }
        Kind::CxxPack => None,
        Kind::Function => {
            let inner = cxx::function(argument.trim_start_matches('&').trim_start_matches('(').trim_start_matches('&'));
            // A conversion between two types is itself a template: `cpy_1_scalar<float, __half>`.
            let converts: Vec<String> = inner.arguments.iter().filter_map(|a| scalar(a)).collect();
            if let [from, to] = converts.as_slice() {
                facts.types.push(("source", from.clone()));
                facts.types.push(("destination", to.clone()));
            }
            let nested =
                inner.arguments.iter().flat_map(|a| quantised_words(cxx::function(a.trim_start_matches('&')).name));
            let named: Vec<&str> = quantised_words(inner.name).into_iter().chain(nested).collect();
            if let Some(word) = named.first() {
                facts.types.push(("weights", (*word).to_owned()));
            }
            facts.put(name, inner.name);
            Some(match named.first() {
                Some(word) if inner.name.starts_with("cpy_blck") => word.to_ascii_lowercase().replace("_k", "_K"),
                _ if converts.len() == 2 => converts.join("->"),
                _ => inner.name.to_owned(),
            })
        }
        Kind::Enum => {
            let value = number(argument)?;
            let shown = enumerator(argument, value);
            facts.put(name, shown.clone());
            Some(if name == "ds_layout" { format!("layout{value}") } else { shown })
        }
    }
}

/// Enumerators of ggml.h and mmq.cuh that occur in kernel names.
fn enumerator(argument: &str, value: u32) -> String {
    let kind = argument.trim_start_matches('(').split(')').next().unwrap_or("");
    let name = match (kind, value) {
        ("mmq_q8_1_ds_layout", 0) => "D4",
        ("mmq_q8_1_ds_layout", 1) => "DS4",
        ("mmq_q8_1_ds_layout", 2) => "D2S6",
        ("ggml_sort_order", 0) => "asc",
        ("ggml_sort_order", 1) => "desc",
        ("ggml_prec", 0) => "default",
        ("ggml_prec", 10) => "F32",
        ("ggml_prec", 15) => "BF16",
        ("ggml_prec", 20) => "F16",
        ("ggml_prec", 30) => "Q8",
        ("ggml_prec", 40) => "Q4",
        _ => return value.to_string(),
    };
    name.to_owned()
}

fn type_role(parameter: &str) -> &'static str {
    match parameter {
        "type" => "weights",
        "type_K" | "TYPE_K" => "K",
        "type_V" => "V",
        "dst_t" | "D" | "T_dst" | "To" => "destination",
        "src_t" | "src0_t" | "Ti" | "T_src" => "source",
        "src1_t" => "second",
        "idx_t" => "index",
        "type_acc" | "KQ_acc_t" => "accumulator",
        "block_type" | "block_q_t" => "weights",
        _ => "data",
    }
}

/// Adds the types in the kernel's own name.
fn from_name(facts: &mut Facts, name: &str) {
    let role = match facts.family {
        Family::Quantize | Family::Repack => "destination",
        Family::Dequantize | Family::Mmq | Family::Dmmv => "weights",
        _ => return,
    };
    if facts.type_of(role).is_none()
        && let Some(word) = words(name).first()
    {
        facts.types.push((role, (*word).to_owned()));
    }
}

/// Adds the output tile, if the parameters state it.
fn tile(facts: &mut Facts) {
    let find = |names: &[&str]| -> Option<u32> {
        facts
            .parameters
            .iter()
            .find(|(name, _)| names.iter().any(|n| name.split('/').any(|part| part == *n)))?
            .1
            .parse()
            .ok()
    };
    let (rows, columns) = match facts.family {
        Family::Mmq | Family::MmqFixup => (None, find(&["mmq_x", "J"])),
        Family::Mmf => (find(&["rows_per_block"]), find(&["cols_per_block"])),
        Family::FlashAttention | Family::FlashAttentionFixup => {
            (None, find(&["ncols"]).or_else(|| Some(find(&["ncols1"])?.saturating_mul(find(&["ncols2"])?))))
        }
        _ => (None, None),
    };
    if rows.is_some() || columns.is_some() {
        facts.tile = Some(Tile { rows: rows.unwrap_or(0), columns: columns.unwrap_or(0), depth: 0 });
    }
    // In attention, `ncols` is the number of queries of a tile, not the number of columns of a product.
    if facts.tile.is_some() && facts.family != Family::Mmvq {
        facts.columns = None;
    }
}
