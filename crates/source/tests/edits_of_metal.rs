//! Edits of the Metal backend of a real tree: every answer follows the edit, or is undetermined.

use source::{MetalRules, Shape, Tree};

const OPS: &str = "ggml-metal-ops.cpp";
const PIPELINES: &str = "ggml-metal-device.cpp";
const DEVICE: &str = "ggml-metal-device.m";
const CONTEXT: &str = "ggml-metal-context.m";
const SIZES: &str = "ggml-metal-impl.h";
const CMAKE: &str = "CMakeLists.txt";

/// What must be answered after an edit.
enum Then {
    /// This kernel.
    Kernel(&'static str),
    /// This kernel, with these threadgroups and threads per threadgroup.
    Launch(&'static str, [i64; 3], [i64; 3]),
    /// No kernel of this backend: nothing may be named.
    Nothing,
}
use Then::{Kernel, Launch, Nothing};

struct Edit {
    what: &'static str,
    file: &'static str,
    /// Pairs of texts; each must occur.
    replaced: &'static [(&'static str, &'static str)],
    /// Card, type, columns; a type that begins with `kv ` asks for attention.
    asked: (&'static str, &'static str, i64),
    then: Then,
}

const MV: &str = "kernel_mul_mv_q4_K_f32";
const EXT: &str = "kernel_mul_mv_ext_q4_K_f32_r1_4";
const MM: &str = "kernel_mul_mm_q4_K_f32";
const M3: &str = "apple-m3-max";

const fn edit(
    what: &'static str,
    file: &'static str,
    replaced: &'static [(&'static str, &'static str)],
    asked: (&'static str, &'static str, i64),
    then: Then,
) -> Edit {
    Edit { what, file, replaced, asked, then }
}

/// On the tree as it is: Q4_K takes MV at 1, EXT at 4 to 8, MM from 9 columns on.
const EDITS: &[Edit] = &[
    edit("nothing, at one column", OPS, &[], (M3, "Q4_K", 1), Launch(MV, [1024, 1, 1], [32, 2, 1])),
    edit("nothing, at four columns", OPS, &[], (M3, "Q4_K", 4), Launch(EXT, [512, 1, 1], [32, 2, 1])),
    edit("nothing, at 512 columns", OPS, &[], (M3, "Q4_K", 512), Launch(MM, [16, 64, 1], [128, 1, 1])),
    edit(
        "the threshold of the matrix path",
        OPS,
        &[("const int ne11_mm_min = 8;", "const int ne11_mm_min = 600;")],
        (M3, "Q4_K", 512),
        Kernel(MV),
    ),
    edit(
        "the threshold as a renamed variable from a macro",
        OPS,
        &[
            ("const int ne11_mm_min = 8;", "#define WIDE(x) ((x) * 4 + 1)\n    const int least = WIDE(20);"),
            ("ne11 > ne11_mm_min", "ne11 > least"),
        ],
        (M3, "Q4_K", 64),
        Kernel(MV),
    ),
    edit(
        "the columns of the small batches",
        OPS,
        &[("false) && (ne11 >= 4 && ne11 <= 8)", "false) && (ne11 >= 1 && ne11 <= 8)")],
        (M3, "Q4_K", 1),
        // The tree has no case for one column.
        Nothing,
    ),
    edit(
        "the last column of the small batches",
        OPS,
        &[("false) && (ne11 >= 4 && ne11 <= 8)", "false) && (ne11 >= 4 && ne11 <= 5)")],
        (M3, "Q4_K", 8),
        Kernel(MV),
    ),
    edit(
        "a type of the small batches",
        OPS,
        &[("           op->src[0]->type == GGML_TYPE_Q4_K ||\n", "")],
        (M3, "Q4_K", 4),
        Kernel(MV),
    ),
    edit(
        "swapped conditions",
        OPS,
        &[(
            "        props_dev->has_simdgroup_mm && ne00 >= 64 && ne11 > ne11_mm_min) {",
            "        !(ne11 <= ne11_mm_min) && 64 <= ne00 && props_dev->has_simdgroup_mm) {",
        )],
        (M3, "Q4_K", 512),
        Kernel(MM),
    ),
    edit(
        "a condition that is negated",
        OPS,
        &[("        props_dev->has_simdgroup_mm && ne00 >= 64", "        !props_dev->has_simdgroup_mm && ne00 >= 64")],
        (M3, "Q4_K", 512),
        Kernel(MV),
    ),
    edit(
        "rows per threadgroup of the small batches",
        OPS,
        &[(
            "            case 7:\n            case 8:\n                r1ptg = 4; break;",
            "            case 7:\n            case 8:\n                r1ptg = 2; break;",
        )],
        (M3, "Q4_K", 8),
        Launch("kernel_mul_mv_ext_q4_K_f32_r1_2", [512, 4, 1], [32, 2, 1]),
    ),
    edit(
        "an early return in the dispatcher",
        OPS,
        &[(
            "    if (ggml_is_empty(node)) {\n        return 1;\n    }\n\n    switch",
            "    if (node->src[0] && node->src[0]->type == GGML_TYPE_Q4_K) {\n        return 1;\n    }\n\n    switch",
        )],
        (M3, "Q4_K", 1),
        Nothing,
    ),
    edit(
        "another operation in the dispatcher",
        OPS,
        &[(
            "                n_fuse = ggml_metal_op_mul_mat(ctx, idx);",
            "                n_fuse = ggml_metal_op_scale(ctx, idx);",
        )],
        (M3, "Q4_K", 1),
        Nothing,
    ),
    edit(
        "a new environment variable in the dispatcher",
        OPS,
        &[("const int ne11_mm_min = 8;", "const int ne11_mm_min = getenv(\"GGML_METAL_MM_MIN\") ? 8 : 1000;")],
        (M3, "Q4_K", 512),
        Kernel(MV),
    ),
    edit(
        "a constant of another file",
        SIZES,
        &[("#define N_R0_Q4_K 2", "#define N_R0_Q4_K 4")],
        (M3, "Q4_K", 1),
        Launch(MV, [512, 1, 1], [32, 2, 1]),
    ),
    edit(
        "a constant of another file that the build defines",
        CMAKE,
        &[("if (GGML_METAL_NDEBUG)", "add_compile_definitions(N_SG_Q4_K=1)\nif (GGML_METAL_NDEBUG)")],
        (M3, "Q4_K", 1),
        // The header defines the name again, which the compiler refuses or the header wins.
        Launch(MV, [1024, 1, 1], [32, 2, 1]),
    ),
    edit(
        "the name of a kernel",
        PIPELINES,
        &[(
            "\"kernel_mul_mm_%s_%s\", ggml_type_name(tsrc0)",
            "\"kernel_mul_mm_%s_%s\", ggml_type_name(tsrc0 == GGML_TYPE_Q4_K ? GGML_TYPE_Q5_K : tsrc0)",
        )],
        (M3, "Q4_K", 512),
        Kernel("kernel_mul_mm_q5_K_f32"),
    ),
    edit(
        "a kernel that the shaders do not have",
        PIPELINES,
        &[("\"kernel_mul_mm_%s_%s\", ggml_type_name(tsrc0)", "\"kernel_mul_mm_none_%s_%s\", ggml_type_name(tsrc0)")],
        (M3, "Q4_K", 512),
        Nothing,
    ),
    edit(
        "the family of a property",
        DEVICE,
        &[(
            "dev->props.has_simdgroup_mm = [dev->mtl_device supportsFamily:MTLGPUFamilyApple7];",
            "dev->props.has_simdgroup_mm = [dev->mtl_device supportsFamily:MTLGPUFamilyApple9];",
        )],
        ("apple-m2", "Q4_K", 512),
        Kernel(MV),
    ),
    edit(
        "a property by the name of the chip",
        DEVICE,
        &[(
            "dev->props.has_simdgroup_mm = [dev->mtl_device supportsFamily:MTLGPUFamilyApple7];",
            "dev->props.has_simdgroup_mm = ![[dev->mtl_device name] containsString:@\"Max\"];",
        )],
        (M3, "Q4_K", 512),
        Kernel(MV),
    ),
    edit(
        "a query that the profile does not have",
        DEVICE,
        &[(
            "dev->props.has_simdgroup_mm = [dev->mtl_device supportsFamily:MTLGPUFamilyApple7];",
            "dev->props.has_simdgroup_mm = [dev->mtl_device supportsRaytracing];",
        )],
        (M3, "Q4_K", 512),
        Nothing,
    ),
    edit(
        "an environment variable that is read inversely",
        DEVICE,
        &[(
            "            if (getenv(\"GGML_METAL_BF16_DISABLE\") != NULL) {",
            "            if (getenv(\"GGML_METAL_BF16_DISABLE\") == NULL) {",
        )],
        (M3, "BF16", 1),
        Nothing,
    ),
    edit(
        "supports_op refuses a type",
        DEVICE,
        &[(
            "        case GGML_OP_MUL_MAT:\n        case GGML_OP_MUL_MAT_ID:\n            return has_simdgroup_reduction;",
            "        case GGML_OP_MUL_MAT:\n        case GGML_OP_MUL_MAT_ID:\n            return has_simdgroup_reduction && op->src[0]->type != GGML_TYPE_Q4_K;",
        )],
        (M3, "Q4_K", 1),
        Nothing,
    ),
    edit(
        "the encoder drops launches",
        DEVICE,
        &[(
            "    [encoder->obj dispatchThreadgroups:MTLSizeMake(tg0, tg1, tg2)",
            "    if (tg1 > 1) return;\n    [encoder->obj dispatchThreadgroups:MTLSizeMake(tg0, tg1, tg2)",
        )],
        (M3, "Q4_K", 512),
        Nothing,
    ),
    edit(
        "the encoder changes the threads",
        DEVICE,
        &[(
            "threadsPerThreadgroup:MTLSizeMake(tptg0, tptg1, tptg2)",
            "threadsPerThreadgroup:MTLSizeMake(tptg0, 2*tptg1, tptg2)",
        )],
        (M3, "Q4_K", 1),
        Launch(MV, [1024, 1, 1], [32, 4, 1]),
    ),
    edit(
        "the context computes no nodes",
        CONTEXT,
        &[("        int idx_end   = n_nodes_0;", "        int idx_end   = 0;")],
        (M3, "Q4_K", 1),
        Nothing,
    ),
    edit(
        "the context refuses a graph",
        CONTEXT,
        &[(
            "    // number of nodes encoded by the main thread (empirically determined)",
            "    if (gf->n_nodes == 1) { return GGML_STATUS_FAILED; }\n    // number of nodes",
        )],
        (M3, "Q4_K", 1),
        Nothing,
    ),
    edit(
        "a construct of Objective-C that is not modelled",
        CONTEXT,
        &[(
            "    // number of nodes encoded by the main thread (empirically determined)",
            "    @try { [NSException raise:@\"x\" format:@\"y\"]; } @catch (NSException * e) { return GGML_STATUS_FAILED; }\n    // number of nodes",
        )],
        (M3, "Q4_K", 1),
        Nothing,
    ),
    edit(
        "the batch size of the vector kernel of attention",
        OPS,
        &[("return (ne01 < 20) && (ne00 % 32 == 0);", "return (ne01 < 4) && (ne00 % 32 == 0);")],
        (M3, "kv F16", 8),
        Kernel("kernel_flash_attn_ext_f16_dk128_dv128"),
    ),
    edit(
        "the tree does not compile the dispatcher",
        CMAKE,
        &[("                         ggml-metal-ops.cpp\n", "")],
        (M3, "Q4_K", 1),
        Nothing,
    ),
];

#[test]
fn every_edit_is_followed_or_leaves_the_answer_open() {
    let Some(dir) = test_artifacts::need("llama-cpp-sys-2-0.1.130") else { return };
    let mut files = Vec::new();
    test_artifacts::files(&dir, &mut |path| {
        let name = path.strip_prefix(&dir).expect("inside").to_string_lossy().into_owned();
        let wanted =
            name.ends_with("CMakeLists.txt") || name.ends_with(".cmake") || name.starts_with("llama.cpp/ggml/");
        if wanted && !["vulkan-shaders/", "ggml-cuda/", "ggml-sycl/", "ggml-cpu/"].iter().any(|dir| name.contains(dir))
        {
            files.push((name, std::fs::read(path).expect("readable")));
        }
    });
    let (mut followed, mut open, mut wrong) = (0, Vec::new(), Vec::new());
    for edit in EDITS {
        let edited = files.iter().map(|(name, bytes)| {
            if *name != format!("llama.cpp/ggml/src/ggml-metal/{}", edit.file) {
                return (name.clone(), bytes.clone());
            }
            let mut text = String::from_utf8(bytes.clone()).expect("text");
            for (from, to) in edit.replaced {
                assert!(text.contains(from), "{}: {from}", edit.what);
                text = text.replace(from, to);
            }
            (name.clone(), text.into_bytes())
        });
        let tree = Tree::from_memory("edited", edited);
        let (card, kind, columns) = edit.asked;
        let (kind, shape) = match kind.strip_prefix("kv ") {
            Some(kind) => {
                (kind, Shape::FlashAttn { head: 128, head_v: 128, heads: 32, heads_kv: 8, kv: 4096, mask: false })
            }
            None => (kind, Shape::MulMat { rows: 4096, k: 4096 }),
        };
        let mut rules = match MetalRules::open(&tree) {
            Ok(rules) => rules,
            Err(error) => {
                open.push(format!("{}: {error}", edit.what));
                continue;
            }
        };
        let card = gpu::apple_gpu(card).expect("a card");
        let choice = rules.choices(card, &[], &shape, &[(kind.to_owned(), columns)]).expect("a choice").remove(0);
        let why = choice.undetermined.as_ref().map(|why| why.to_string()).unwrap_or_default();
        let launch = choice.launches.iter().find(|launch| Some(&launch.kernel) == choice.kernel.as_ref());
        let shape = launch.map(|launch| (launch.threadgroups, launch.threads_per_threadgroup));
        match (choice.kernel.as_deref(), &edit.then) {
            (Some(kernel), Kernel(wanted)) if kernel == *wanted => followed += 1,
            (Some(kernel), Launch(wanted, groups, threads))
                if kernel == *wanted && shape == Some((groups.map(Some), threads.map(Some))) =>
            {
                followed += 1;
            }
            (None, Nothing) => {
                println!("{}: {why}", edit.what);
                followed += 1;
            }
            (None, _) => open.push(format!("{}: {why}", edit.what)),
            (Some(kernel), _) => wrong.push(format!("{}: {kernel} {shape:?}", edit.what)),
        }
    }
    println!("{followed} of {} edits followed, {} open: {open:#?}", EDITS.len(), open.len());
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), EDITS.len());
    assert!(open.len() * 10 <= EDITS.len(), "{open:#?}");
}
