//! The corpus equals the output of `made-files` (`BLESS=1` writes it), every file of it can be parsed, and no parser
//! panics on a series of mutations.

mod records;

use codeobject::{CodeObject, Stub};
use fuzz::{TARGETS, corpus, run};
use made_files as make;
use std::io::Write;
use std::{env, fs};

fn packed() -> Vec<(String, String, Vec<u8>)> {
    let entry = |number: u32, target: &str| (format!("lib/libx.so#{number}"), target.to_owned(), make::two_kernels());
    vec![entry(0, "gfx1201"), entry(1, "gfx1201"), entry(1, "gfx90a:xnack-")]
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(data).unwrap();
    packed.finish().unwrap()
}

fn tarred(data: &[u8]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(data.len() as u64);
    header.set_cksum();
    archive.append_data(&mut header, "lib/x.hsaco", data).unwrap();
    archive.into_inner().unwrap()
}

fn files() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let plain = make::usual_bundle();
    let mut twice = plain.clone();
    twice.resize(twice.len().next_multiple_of(256) + 512, 0);
    let second = twice.len() as u64;
    twice.extend_from_slice(&make::bundle(
        &[
            ("host-x86_64-unknown-linux--", b""),
            ("hip-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", &make::two_kernels()),
            ("hipv4-spirv64-amd-amdhsa--amdgcnspirv", &[3, 2, 0x23, 7, 0, 0, 1, 0]),
            ("openmp-amdgcn-amd-amdhsa--gfx12-generic", b"BC\xc0\xde"),
        ],
        8,
    ));
    let mut list = vec![
        ("bundle", "one", plain.clone()),
        ("bundle", "two_with_a_gap", twice.clone()),
        ("bundle", "empty", make::bundle(&[], 8)),
        ("vulkaninfo", "gfx1201", include_bytes!("../../../crates/source/tests/data/vulkaninfo/gfx1201.json").to_vec()),
        ("build_files", "loops", b"cmake_minimum_required(VERSION 3.18)\noption(GGML_HIP \"x\" OFF)\nfunction(f name)\n  foreach(d IN ITEMS A B)\n    add_compile_definitions(${name}_${d}=1)\n  endforeach()\nendfunction()\nif (GGML_HIP AND NOT hip_VERSION VERSION_LESS 6.1)\n  f(EDITED)\nelse()\n  return()\nendif()\nset(x \"${x};${x}$ENV{HOME}\")\nstring(REPLACE a \"${x}\" y \"${x}\")\n".to_vec()),
        ("mcp", "calls", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}\n".to_vec()),
        ("package_index", "two", b"Package: libggml\nDepends: libc6 (>= 2.38), a | b [amd64]\nDescription: x\n more\n\nPackage: y\n".to_vec()),
        ("web_request", "page", b"GET /0123456789abcdef/index.html?x HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n".to_vec()),
        ("vulkaninfo", "cut", b"{\"capabilities\":{\"device\":{\"extensions\":{}".to_vec()),
        ("code_object", "two_kernels", make::two_kernels()),
        ("code_object", "no_target", make::code_object(make::GFX900, None, &[make::Kernel::live("Cijk_Ailk")])),
        ("code_object", "old", make::old_code_object("_Z3oldPf")),
        ("kpack", "plain", make::kpack(&packed(), false)),
        ("kpack", "zstd", make::kpack(&packed(), true)),
        ("kpack", "reference", make::kpack_reference("lib/libx.so", &["../.kpack/x_@GFXARCH@.kpack"])),
        ("host", "packed", make::packed_host(2, &make::kpack_reference("lib/libx.so", &["x.kpack"]))),
        ("pe", "library", make::windows(&plain)),
        ("ar", "two", make::ar(&[("a.o", &plain), ("b.o", b"x")])),
        ("inspect", "host_with_zstd", [make::host(&twice, &[0, second]), zstd::bulk::compress(&plain, 3).unwrap()].concat()),
        ("inspect", "gzip_of_tar", gzip(&tarred(&plain))),
        ("inspect", "library_twice", [make::host(&plain, &[0]), make::host(&plain, &[0])].concat()),
        ("descriptor", "zero", vec![0; 64]),
        ("descriptor", "ones", vec![0xff; 64]),
        ("host", "library", make::host(&twice, &[0, second])),
        ("isa", "gfx950", instructions(10, &[0xd3ac_0000, 0x0002_3318, 0xd3ad_0800, 0x0452_1904, 0xbf81_0000])),
        (
            "isa",
            "gfx1030",
            instructions(17, &[0xd411_027e, 0x0002_02ff, 0x3b2a_aab9, 0xf198_9f07, 0x0003_0432, 0xbf81_0000]),
        ),
        (
            "isa",
            "gfx1201",
            instructions(36, &[0xca22_0080, 0x080a_0083, 0xd657_0003, 0x0406_00ff, 0x0000_03e0, 0xbfb0_0000]),
        ),
        (
            "graph",
            "product",
            b"w = Q4_K 4096,1024 weights\nx = F32 4096,512\ny = MUL_MAT F32 1024,512 from w,x\n".to_vec(),
        ),
        (
            "graph",
            "view",
            b"# a look\nx = F32 64,8\nv = VIEW F32 32,8 strides 4,256,2048,2048 of x+128 from x\n\
              s = SOFT_MAX F32 32,8 from v,- with 1f,0,GGML_PREC_F32\n"
                .to_vec(),
        ),
        (
            "graph",
            "computed",
            b"@ graph of 7 on ROCm0 from 10\nx#1 = F32 64,8 at 0x1000 used 1 elsewhere in ROCm0\n\
              y#2 = UNARY F32 64,8 from x#1 with 10 at 0x2000 used 0 flags 16\n@ end 20\n@ more: only the first\n"
                .to_vec(),
        ),
        (
            "graph",
            "read_back",
            b"@ graph of 7 on ROCm0 from 10\nx#1 = F32 64,8 at 0x1000\ny#2 = RELU F32 64,8 from x#1 at 0x2000\n\
              @ read 0x1000 24 3,-1*2,0*3\n@ read 0x1000 9 -\n@ end 20\n"
                .to_vec(),
        ),
        ("kernel_name", "ggml", b"_ZL9mul_mat_qIL9ggml_type12ELi112ELb0EEvPKcPKiPf".to_vec()),
        (
            "kernel_name",
            "function_argument",
            b"void cpy_f32_q<&(cpy_blck_f32_q4_0(char const*, char*)), 32>(char const*)".to_vec(),
        ),
        (
            "kernel_name",
            "tensile",
            b"Cijk_Alik_Bljk_B8F8HS_BH_Bias_SHB_HA_S_SAV_MT16x16x32_MI16x16x1_SN_WG16_2_1_WGMn1".to_vec(),
        ),
        ("kernel_name", "helper", b"Cijk_S_GB_PostGSU12_mod16_VW2".to_vec()),
        (
            "kernel_name",
            "cutlass",
            b"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x3_tn_align4>(x)".to_vec(),
        ),
        ("launch_map", "library", make::registering_library(["_Z5firstPf", "_Z6secondPf"])),
        ("nvidia", "container", nvidia()),
        ("note", "one", make::note(Some("amdgcn-amd-amdhsa--gfx1201"), &[make::Kernel::live("k")])),
        ("note", "three", make::note(None, &["a", "b", "c"].map(make::Kernel::stub))),
        ("target_id", "hipv4", b"hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-".to_vec()),
        ("target_id", "mangled", b"_ZL9mul_mat_qIL9ggml_type12ELi112ELb0EEvPKcPKiPf".to_vec()),
    ];
    list.extend(runtime_files());
    list.extend(records::files());
    for (name, version, method) in [
        ("v1_zlib", 1, 0),
        ("v1_zstd", 1, 1),
        ("v2_zlib", 2, 0),
        ("v2_zstd", 2, 1),
        ("v3_zlib", 3, 0),
        ("v3_zstd", 3, 1),
    ] {
        list.push(("ccob", name, make::ccob(version, method, &plain)));
    }
    list
}

/// Catalogs, a package and a loader cache.
fn runtime_files() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    use make::Value;
    let node = |kind: &str, rest: Vec<(&str, Value)>| Value::map([vec![("type", kind.into())], rest].concat());
    let leaf = |name: &str| node("Placeholder", vec![("value", name.into())]);
    let processor = node("AMDGPU", vec![("value", node("Processor", vec![("value", "gfx1201".into())]))]);
    let row = Value::map([("predicate", processor), ("library", leaf("TensileLibrary_a_gfx1201"))]);
    let root = node("Hardware", vec![("rows", Value::Array(vec![row]))]);
    let lazy = Value::map([("solutions", Value::Array(vec![])), ("library", root)]);
    let entry = |index: u64| {
        let key = Value::Array(vec![1.into(), 2.into(), 300.into()]);
        Value::map([("key", key), ("index", index.into())])
    };
    let matching = node(
        "Matching",
        vec![
            ("properties", Value::Array(vec![node("FreeSizeA", vec![("index", 0.into())])])),
            ("table", Value::Array(vec![entry(0), entry(7)])),
            ("distance", "Euclidean".into()),
        ],
    );
    let tile = Value::Array(vec![64.into(), 32.into(), 1.into()]);
    let solution = Value::map([
        ("name", "Cijk_Ailk_Bljk_SB_MT64x32x8".into()),
        ("index", 7.into()),
        ("hardwarePredicate", node("TruePred", vec![])),
        ("problemType", Value::map([("aType", "Half".into()), ("dType", "Float".into())])),
        ("sizeMapping", Value::map([("macroTile", tile), ("depthU", 8.into())])),
    ]);
    let leaf = Value::map([("solutions", Value::Array(vec![solution])), ("library", matching)]);
    let op = Value::map([("func_name", "AMax".into()), ("co_path", "extop_gfx1201.co".into())]);
    let ops = Value::map([("AMax", Value::map([("S", Value::Array(vec![op]))]))]);
    let member = |name: &str, content: &[u8]| {
        let head = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, content.len());
        let pad = if content.len() % 2 == 1 { &b"\n"[..] } else { b"" };
        [head.as_bytes(), content, pad].concat()
    };
    let package = [b"!<arch>\n".to_vec(), member("debian-binary", b"2.0\n"), member("data.tar", &[0; 1024])].concat();
    let mut cache = b"glibc-ld.so.cache1.1".to_vec();
    cache.extend_from_slice(&1_u32.to_le_bytes());
    cache.resize(48, 0);
    for number in [0x0303_u32, 72, 82, 0, 0, 0] {
        cache.extend_from_slice(&number.to_le_bytes());
    }
    cache.extend_from_slice(b"libx.so.1\0/lib/libx.so.1\0");
    vec![
        ("catalog", "lazy_root", make::encode(&lazy)),
        ("catalog", "leaf", make::encode(&leaf)),
        ("catalog", "ext_op", make::encode(&Value::map([("gfx1201", ops)]))),
        ("deb", "plain", package),
        ("ld_cache", "one", cache),
    ]
}

/// A processor's number, the start of a function, and code: a scaled MFMA pair, a literal, a dual instruction.
fn instructions(processor: u8, words: &[u32]) -> Vec<u8> {
    [processor, 4].into_iter().chain(words.iter().flat_map(|word| word.to_le_bytes())).collect()
}

/// PTX uncompressed, with LZ4 and with zstd, and an invalid cubin.
fn nvidia() -> Vec<u8> {
    let text = b"//\n.version 8.7\n.target sm_90\n.address_size 64\n.visible .entry _Z1aPf(\n)\n{\nret;\n}\n";
    let (lz4, zstd) = (lz4_flex::block::compress(text), zstd::bulk::compress(text, 3).unwrap());
    let size = text.len() as u64;
    make::nvidia_container(&[
        (1, 90, 0x11, text, 0),
        (1, 90, 0x2011, &lz4, size),
        (1, 120, 0x8011, &zstd, size),
        (2, 90, 0x11, &make::two_kernels(), 0),
    ])
}

#[test]
fn what_is_made_for_nvidia_and_constructors_reads_well() {
    let data = nvidia();
    let found = codeobject::nvidia::walk(&data);
    assert_eq!((found.containers.len(), found.errors.len(), found.containers[0].entries.len()), (1, 0, 4));
    for entry in &found.containers[0].entries[..3] {
        let image = entry.image(&data, 1 << 20).unwrap();
        assert_eq!(codeobject::nvidia::ptx(&image).kernels, ["_Z1aPf"]);
    }
    let library = make::registering_library(["_Z5firstPf", "_Z6secondPf"]);
    let image = codeobject::launch_map::Image::read(&library).unwrap();
    let map = codeobject::launch_map::launch_map(&image);
    let names: Vec<&str> = map.kernels().map(|k| k.name.as_str()).collect();
    assert_eq!(names, ["_Z5firstPf", "_Z6secondPf"]);
    assert!(map.completeness.is_complete() && map.wrappers[0].image == 0x40, "{map:?}");
}

#[test]
fn the_corpus_is_what_is_made() {
    for (target, name, bytes) in files() {
        let path = corpus::directory(target).join(name);
        if env::var_os("BLESS").is_some() {
            fs::create_dir_all(corpus::directory(target)).unwrap();
            fs::write(&path, &bytes).unwrap();
        }
        // The output of compressors may change between versions; everything else is identical.
        if target != "ccob" && target != "nvidia" && name != "zstd" {
            assert_eq!(fs::read(&path).unwrap_or_default(), bytes, "{}", path.display());
        }
    }
}

#[test]
fn what_is_made_reads_well() {
    let bytes = make::two_kernels();
    let object = CodeObject::parse(&bytes).unwrap();
    assert_eq!(object.problems, []);
    assert_eq!(object.target.as_ref().unwrap().to_string(), "gfx1201");
    let kernels: Vec<_> = object.kernels().map(Result::unwrap).collect();
    assert_eq!(kernels.iter().map(|k| k.stub).collect::<Vec<_>>(), [Stub::No, Stub::NoReturn]);
    assert_eq!(kernels[0].name(), "live(float*)");
    assert_eq!(kernels[0].differences("gfx1201"), []);
}

#[test]
fn a_while_of_mutations_makes_nothing_panic() {
    for target in TARGETS {
        let files = corpus::load(target.name).unwrap();
        assert!(!files.is_empty(), "corpus/{} is empty", target.name);
        if let Err(failure) = run(target, &files, 1, |round| round < 4000) {
            panic!(
                "{} panics in round {} of seed {}: {}",
                failure.target, failure.round, failure.seed, failure.message
            );
        }
    }
}
