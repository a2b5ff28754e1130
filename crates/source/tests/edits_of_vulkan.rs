//! Edits of the Vulkan backend of a real tree: every answer follows the edit, or is undetermined.

use source::{Shape, Tree, VulkanProfile, VulkanRules};

const BACKEND: &str = "llama.cpp/ggml/src/ggml-vulkan/ggml-vulkan.cpp";
const CMAKE: &str = "llama.cpp/ggml/src/ggml-vulkan/CMakeLists.txt";

/// The expected answer after an edit.
enum Then {
    /// The answer names this pipeline.
    Kernel(&'static str),
    /// No pipeline of this backend: nothing may be named.
    Nothing,
}
use Then::{Kernel, Nothing};

struct Edit {
    what: &'static str,
    /// Pairs of texts in one file; each must occur.
    file: &'static str,
    replaced: &'static [(&'static str, &'static str)],
    /// Card, type, columns.
    asked: (&'static str, &'static str, i64),
    then: Then,
}

const Q4_VECTOR: &str = "mul_mat_vec_q4_k_q8_1_f32";
const Q4_FLOAT_VECTOR: &str = "mul_mat_vec_q4_k_f32_f32";
const Q4_TILE_2: &str = "matmul_quant_f16_f16acc_aligned_2";

/// On the unedited tree, gfx1201 takes Q4_VECTOR at 1 and Q4_TILE_2 at 512 columns; navi21 takes matmul_q4_k_q8_1_1 at
/// 512.
const EDITS: &[Edit] = &[
    Edit {
        what: "a threshold of the vector path",
        file: BACKEND,
        replaced: &[(
            "        if (k < 2048) {\n            return false;\n        }\n\n        switch (src0_type) {\n        case GGML_TYPE_Q8_0:\n            return device->architecture == vk_device_architecture::AMD_GCN;",
            "        if (k < 999999) {\n            return false;\n        }\n\n        switch (src0_type) {\n        case GGML_TYPE_Q8_0:\n            return device->architecture == vk_device_architecture::AMD_GCN;",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Kernel(Q4_FLOAT_VECTOR),
    },
    Edit {
        what: "the columns from which vectors are quantised",
        file: BACKEND,
        replaced: &[(
            "    // MMVQ is generally good for batches\n    if (n > 1) {\n        return true;",
            "    // MMVQ is generally good for batches\n    if (n > 1) {\n        return false;",
        )],
        asked: ("gfx1201", "Q4_K", 2),
        then: Kernel(Q4_FLOAT_VECTOR),
    },
    Edit {
        what: "a type in the vector rule",
        file: BACKEND,
        replaced: &[(
            "    if (src0_type == GGML_TYPE_Q6_K && !mmvq_q6) {",
            "    if (src0_type == GGML_TYPE_Q4_K && !mmvq_q6) {",
        )],
        asked: ("gfx1201", "Q4_K", 8),
        then: Kernel(Q4_FLOAT_VECTOR),
    },
    Edit {
        what: "the architecture that a rule names",
        file: BACKEND,
        replaced: &[(
            "            return device->architecture == vk_device_architecture::AMD_GCN;",
            "            return device->architecture == vk_device_architecture::AMD_RDNA4;",
        )],
        asked: ("gfx1201", "Q8_0", 1),
        then: Kernel("mul_mat_vec_q8_0_q8_1_f32"),
    },
    Edit {
        what: "the function that determines the architecture",
        file: BACKEND,
        replaced: &[(
            "                return vk_device_architecture::AMD_RDNA4;",
            "                return vk_device_architecture::AMD_GCN;",
        )],
        asked: ("gfx1201", "Q8_0", 1),
        then: Kernel("mul_mat_vec_q8_0_q8_1_f32"),
    },
    Edit {
        what: "the subgroup size of an architecture",
        file: BACKEND,
        replaced: &[
            (
                "subgroup_size_control_props.minSubgroupSize == 32) {",
                "subgroup_size_control_props.minSubgroupSize == 16) {",
            ),
            (
                "maxSubgroupSize == 64 && subgroup_size_control_props.minSubgroupSize == 64) {",
                "maxSubgroupSize == 64 && subgroup_size_control_props.minSubgroupSize == 32) {",
            ),
        ],
        asked: ("gfx1201", "Q8_0", 1),
        then: Kernel("mul_mat_vec_q8_0_q8_1_f32"),
    },
    Edit {
        what: "an extension that the architecture depends on",
        file: BACKEND,
        replaced: &[(
            "strcmp(\"VK_EXT_shader_float8\", properties.extensionName) == 0) {\n                shader_float8 = true;",
            "strcmp(\"VK_EXT_shader_none\", properties.extensionName) == 0) {\n                shader_float8 = true;",
        )],
        asked: ("gfx1201", "Q4_K", 512),
        then: Kernel("matmul_q4_k_q8_1_2"),
    },
    Edit {
        what: "integer dot products by extension",
        file: BACKEND,
        replaced: &[(
            "                device->integer_dot_product = true;",
            "                device->integer_dot_product = false;",
        )],
        asked: ("navi21", "Q4_K", 1),
        then: Kernel(Q4_FLOAT_VECTOR),
    },
    Edit {
        what: "integer dot products by property",
        file: BACKEND,
        replaced: &[(
            "device->integer_dot_product && shader_integer_dot_product_props.integerDotProduct4x8BitPackedSignedAccelerated;",
            "device->integer_dot_product && !shader_integer_dot_product_props.integerDotProduct4x8BitPackedSignedAccelerated;",
        )],
        asked: ("navi21", "Q4_K", 1),
        then: Kernel(Q4_FLOAT_VECTOR),
    },
    Edit {
        what: "an environment variable that is read inversely",
        file: BACKEND,
        replaced: &[(
            "        if (getenv(\"GGML_VK_DISABLE_MMVQ\")) {",
            "        if (!getenv(\"GGML_VK_DISABLE_MMVQ\")) {",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Kernel(Q4_FLOAT_VECTOR),
    },
    Edit {
        what: "the mode of the vector path",
        file: BACKEND,
        replaced: &[(
            "        device->mmvq_mode = 0;",
            "        device->mmvq_mode = 0; device->vendor_id = VK_VENDOR_ID_NVIDIA;",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Kernel(Q4_FLOAT_VECTOR),
    },
    Edit {
        what: "the largest tile of a vendor",
        file: BACKEND,
        replaced: &[(
            "                device->mul_mat_l[i]    = device->coopmat_support && device->driver_id != vk::DriverId::eAmdProprietary;",
            "                device->mul_mat_l[i]    = false;",
        )],
        asked: ("gfx1201", "Q4_K", 512),
        then: Kernel("matmul_quant_f16_f16acc_aligned_1"),
    },
    Edit {
        what: "the key of the pipeline map",
        file: BACKEND,
        replaced: &[(
            "    vk_matmul_pipeline_key key{src0_type, src1_type, mul_mat_id, f16acc};",
            "    vk_matmul_pipeline_key key{src0_type, src1_type, mul_mat_id, false};",
        )],
        asked: ("gfx1201", "Q4_K", 512),
        then: Kernel("matmul_quant_f16_aligned_2"),
    },
    Edit {
        what: "the pipeline map returns nothing for one type",
        file: BACKEND,
        replaced: &[(
            "    bool f16acc = ggml_vk_get_mul_mat_mat_f16acc(ctx, src0_type, src1_type, prec);\n",
            "    bool f16acc = ggml_vk_get_mul_mat_mat_f16acc(ctx, src0_type, src1_type, prec);\n    if (src1_type == GGML_TYPE_Q8_1) return nullptr;\n",
        )],
        asked: ("gfx1201", "Q8_0", 512),
        then: Kernel("matmul_quant_f16_f16acc_aligned_2"),
    },
    Edit {
        what: "the accumulator",
        file: BACKEND,
        replaced: &[(
            "        return ctx->device->fp16 && ctx->device->coopmat_acc_f16_support && prec_allows_f16;",
            "        return false;",
        )],
        asked: ("gfx1201", "Q4_K", 512),
        then: Kernel("matmul_quant_f16_aligned_2"),
    },
    Edit {
        what: "the tile selector",
        file: BACKEND,
        replaced: &[(
            "            if (m <= 64 || n <= 64) return 1;\n            return (uint32_t)configs.size() - 1;",
            "            if (m <= 64 || n <= 64) return 1;\n            return 0;",
        )],
        asked: ("gfx1201", "Q4_K", 512),
        then: Kernel("matmul_quant_f16_f16acc_aligned_0"),
    },
    Edit {
        what: "a threshold of the tile selector",
        file: BACKEND,
        replaced: &[(
            "            if (m <= 32 || n <= 32) return 0;",
            "            if (m <= 32 || n <= 1024) return 0;",
        )],
        asked: ("gfx1201", "Q4_K", 512),
        then: Kernel("matmul_quant_f16_f16acc_aligned_0"),
    },
    Edit {
        what: "the type of the activations",
        file: BACKEND,
        replaced: &[("    if (can_quantize_y && available(GGML_TYPE_Q8_1))             return GGML_TYPE_Q8_1;", "")],
        asked: ("gfx1201", "Q8_0", 512),
        then: Kernel("matmul_quant_f16_f16acc_aligned_2"),
    },
    Edit {
        what: "supports_op refuses a type",
        file: BACKEND,
        replaced: &[(
            "                if (ggml_prec_get_src(op, 1) == GGML_PREC_F32) {\n                    return false;",
            "                if (src0_type == GGML_TYPE_Q4_K) {\n                    return false;",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Nothing,
    },
    Edit {
        what: "supports_op refuses everything",
        file: BACKEND,
        replaced: &[(
            "static bool ggml_backend_vk_device_supports_op(ggml_backend_dev_t dev, const ggml_tensor * op) {",
            "static bool ggml_backend_vk_device_supports_op(ggml_backend_dev_t dev, const ggml_tensor * op) {\n    return false;",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Nothing,
    },
    Edit {
        what: "the switch over operations skips products",
        file: BACKEND,
        replaced: &[(
            "    case GGML_OP_MUL_MAT:\n        ggml_vk_mul_mat(ctx, compute_ctx, cgraph, node_idx);\n",
            "    case GGML_OP_MUL_MAT:\n",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Nothing,
    },
    Edit {
        what: "the loop over nodes skips all",
        file: BACKEND,
        replaced: &[(
            "    for (int i = 0; i < cgraph->n_nodes; i++) {\n        if (first_node_in_batch) {",
            "    for (int i = 1; i < cgraph->n_nodes; i++) {\n        if (first_node_in_batch) {",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Nothing,
    },
    Edit {
        what: "an early return of the graph",
        file: BACKEND,
        replaced: &[(
            "    int last_node = cgraph->n_nodes - 1;\n\n    // If the last op",
            "    if (cgraph->n_nodes == 1) { return GGML_STATUS_SUCCESS; }\n    int last_node = cgraph->n_nodes - 1;\n\n    // If the last op",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Nothing,
    },
    Edit {
        what: "an early return of the dispatcher",
        file: BACKEND,
        replaced: &[(
            "    // Handle huge A matrix by splitting the M dimensions.",
            "    if (src0->type == GGML_TYPE_Q4_K) { ggml_vk_mul_mat_q_f16(ctx, subctx, src0, src1, dst, false); return; }\n    // Handle huge A matrix by splitting the M dimensions.",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Kernel("matmul_quant_f16_f16acc_0"),
    },
    Edit {
        what: "a renamed dispatcher",
        file: BACKEND,
        replaced: &[
            (
                "void ggml_vk_mul_mat(ggml_backend_vk_context * ctx, vk_context& subctx, const struct ggml_cgraph * cgraph, int node_idx) {",
                "static void my_product(ggml_backend_vk_context * ctx, vk_context& subctx, const struct ggml_cgraph * cgraph, int node_idx) {",
            ),
            (
                "        ggml_vk_mul_mat(ctx, compute_ctx, cgraph, node_idx);",
                "        my_product(ctx, compute_ctx, cgraph, node_idx);",
            ),
        ],
        asked: ("gfx1201", "Q4_K", 1),
        then: Kernel(Q4_VECTOR),
    },
    Edit {
        what: "a renamed rule with other contents",
        file: BACKEND,
        replaced: &[
            (
                "static bool ggml_vk_should_use_mmvq(const vk_device& device, uint32_t m, uint32_t n, uint32_t k, ggml_type src0_type) {",
                "static bool my_rule(const vk_device& device, uint32_t m, uint32_t n, uint32_t k, ggml_type src0_type) {\n    return false;",
            ),
            ("ggml_vk_should_use_mmvq(ctx->device, ", "my_rule(ctx->device, "),
        ],
        asked: ("gfx1201", "Q4_K", 1),
        then: Kernel(Q4_FLOAT_VECTOR),
    },
    Edit {
        what: "a condition on a define that the build does not set",
        file: BACKEND,
        replaced: &[(
            "    if (device->mmvq_mode == 1) {\n        return true;",
            "#ifdef GGML_VK_NO_INTEGERS\n    return false;\n#endif\n    if (device->mmvq_mode == 1) {\n        return true;",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Kernel(Q4_VECTOR),
    },
    Edit {
        what: "a define that a build file sets",
        file: CMAKE,
        replaced: &[(
            "    if (GGML_VULKAN_DEBUG)\n",
            "    add_compile_definitions(GGML_VULKAN_RUN_TESTS)\n    if (GGML_VULKAN_DEBUG)\n",
        )],
        asked: ("gfx1201", "Q4_K", 512),
        then: Kernel(Q4_TILE_2),
    },
    Edit {
        what: "a build file that does not test for integer dot products",
        file: CMAKE,
        replaced: &[(
            "        \"GGML_VULKAN_INTEGER_DOT_GLSLC_SUPPORT\"",
            "        \"GGML_VULKAN_OTHER_GLSLC_SUPPORT\"",
        )],
        asked: ("navi21", "Q4_K", 1),
        then: Kernel(Q4_FLOAT_VECTOR),
    },
    Edit {
        what: "a build file that does not compile the backend",
        file: CMAKE,
        replaced: &[("                             ggml-vulkan.cpp\n", "")],
        asked: ("gfx1201", "Q4_K", 1),
        then: Nothing,
    },
    Edit {
        what: "cooperative matrices that a device does not get",
        file: BACKEND,
        replaced: &[(
            "            if (device->coopmat_m == 0 || !device->coopmat_acc_f32_support) {",
            "            if (device->coopmat_m != 0 || !device->coopmat_acc_f32_support) {",
        )],
        asked: ("gfx1201", "Q4_K", 512),
        then: Kernel("matmul_q4_k_q8_1_1"),
    },
    Edit {
        what: "a property of the device that another line overwrites",
        file: BACKEND,
        replaced: &[(
            "        device->subgroup_size = subgroup_props.subgroupSize;",
            "        device->subgroup_size = subgroup_props.subgroupSize; device->properties.limits.maxComputeSharedMemorySize = 16384;",
        )],
        asked: ("gfx1201", "Q4_K", 512),
        // 16 KiB hold (64 + 64) * (32 + 8) halves of the medium tile, but not (128 + 128) * (32 + 8) of the large one.
        then: Kernel("matmul_quant_f16_f16acc_aligned_1"),
    },
    Edit {
        what: "the name of a pipeline",
        file: BACKEND,
        replaced: &[("\"mul_mat_vec_q4_k_q8_1_f32\"", "\"mul_mat_vec_other\"")],
        asked: ("gfx1201", "Q4_K", 1),
        then: Kernel("mul_mat_vec_other"),
    },
    Edit {
        what: "halves that a device does not get",
        file: BACKEND,
        replaced: &[(
            "        device->fp16 = device->fp16 && vk12_features.shaderFloat16;",
            "        device->fp16 = false;",
        )],
        asked: ("navi10", "Q4_K", 512),
        then: Kernel("matmul_quant_f32_aligned_1"),
    },
    Edit {
        what: "another pipeline bound at the dispatch",
        file: "llama.cpp/ggml/src/ggml-vulkan/ggml-vulkan-common.h",
        replaced: &[(
            "buf.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline->pipeline);",
            "buf.bindPipeline(vk::PipelineBindPoint::eCompute, ctx->device->pipeline_matmul_split_k_reduce->pipeline);",
        )],
        asked: ("gfx1201", "Q4_K", 1),
        then: Nothing,
    },
];

#[test]
fn every_edit_is_followed_or_leaves_the_answer_open() {
    let Some(dir) = test_artifacts::need("llama-cpp-sys-4-0.11.0") else { return };
    let mut files = Vec::new();
    test_artifacts::files(&dir, &mut |path| {
        let name = path.strip_prefix(&dir).expect("inside").to_string_lossy().into_owned();
        let wanted =
            name.ends_with("CMakeLists.txt") || name.ends_with(".cmake") || name.starts_with("llama.cpp/ggml/");
        if wanted && !name.contains("vulkan-shaders/") && !name.contains("ggml-cuda/") {
            files.push((name, std::fs::read(path).expect("readable")));
        }
    });
    let (mut followed, mut open, mut wrong) = (0, Vec::new(), Vec::new());
    for edit in EDITS {
        let edited = files.iter().map(|(name, bytes)| {
            if name != edit.file {
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
        let mut rules = match VulkanRules::open(&tree) {
            Ok(rules) => rules,
            Err(error) => {
                open.push(format!("{}: {error}", edit.what));
                continue;
            }
        };
        let card = VulkanProfile::find(card).expect("kept");
        let choice = rules.choice(&card, &Shape::MulMat { rows: 8192, k: 2048 }, kind, columns).expect("a choice");
        let why = choice.undetermined.as_ref().map(|why| why.to_string()).unwrap_or_default();
        match (choice.kernel.as_deref(), &edit.then) {
            (Some(kernel), Kernel(wanted)) if kernel == *wanted => followed += 1,
            (None, Nothing) => followed += 1,
            (None, Kernel(_)) => open.push(format!("{}: {why}", edit.what)),
            (Some(kernel), Kernel(wanted)) => wrong.push(format!("{}: {kernel}, not {wanted}", edit.what)),
            (Some(kernel), Nothing) => wrong.push(format!("{}: {kernel}, not open", edit.what)),
        }
    }
    println!("{followed} of {} edits followed, {} open: {open:#?}", EDITS.len(), open.len());
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), EDITS.len());
    assert!(open.len() * 10 <= EDITS.len(), "{open:#?}");
}
