//! Small files like those that runs, models, servers and people produce. The databases of `profile_database` and the
//! archive of `ledger_archive` were created once, by SQLite and by `ledger export`, and are not recreated: their bytes
//! depend on a version and a random id.

use export::parquet::{Column, ParquetTable, Values, Writer};
use launch::record::{FIRST, MAGIC, kind};
use launch::table::{Builder, KernelInfo};

pub fn files() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("gguf", "one_tensor", model()),
        ("launch_trace", "one_launch", trace()),
        ("kernel_table", "one_kernel", table()),
        ("profile", "rocprofv3_csv", text(CSV)),
        ("profile", "rocprofv3_json", text(JSON)),
        ("record", "written_trace", text(WRITTEN_TRACE)),
        ("log", "runtime", text(LOG)),
        ("log", "server", text(SERVER_LOG)),
        ("server_answer", "generate", text(GENERATE)),
        ("server_answer", "stream", text(STREAM)),
        ("server_answer", "show", text(SHOW)),
        ("parquet", "two_rows", lake()),
        ("checkpoint", "signed", text(CHECKPOINT)),
        ("written_by_hand", "investigation", text(INVESTIGATION)),
        ("written_by_hand", "card", text(CARD)),
    ]
}

fn lake() -> Vec<u8> {
    let column = |name: &str, values| Column { name: name.to_owned(), values };
    let columns = vec![
        column("ledger", Values::Text(vec![Some("ab".to_owned()), None])),
        column("row", Values::Number(vec![Some(1), Some(2)])),
        column("body", Values::Bytes(vec![Some(b"{}".to_vec()), Some(Vec::new())])),
        column("complete", Values::Bool(vec![Some(true), None])),
    ];
    let about = vec![("ledger".to_owned(), "ab".to_owned())];
    let mut writer = Writer::new(Vec::new()).expect("written");
    writer.group(&ParquetTable { columns, about: Vec::new() }).expect("written");
    writer.finish(&about).expect("written")
}

fn model() -> Vec<u8> {
    let string = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let number = |value: u64| value.to_le_bytes().to_vec();
    [
        b"GGUF".to_vec(),
        3_u32.to_le_bytes().to_vec(),
        number(1),
        number(2),
        string("general.architecture"),
        8_u32.to_le_bytes().to_vec(),
        string("llama"),
        string("llama.block_count"),
        4_u32.to_le_bytes().to_vec(),
        2_u32.to_le_bytes().to_vec(),
        string("blk.0.ffn_down.weight"),
        2_u32.to_le_bytes().to_vec(),
        number(256),
        number(8),
        12_u32.to_le_bytes().to_vec(),
        number(0),
    ]
    .concat()
}

/// A kernel, one launch of it, one under capture, its graph replayed twice, and the data that the host read back.
fn trace() -> Vec<u8> {
    let record = |kind: u32, body: Vec<u8>| {
        let mut body = body;
        body.resize(body.len().next_multiple_of(8), 0);
        [(8 + body.len() as u32).to_le_bytes().to_vec(), kind.to_le_bytes().to_vec(), body].concat()
    };
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let name = b"_ZL9mul_mat_qIL9ggml_type12ELi112ELb0EEvPKcPKiPf";
    let kernel = [words(&[1, 0, 0, name.len() as u32]), name.to_vec()].concat();
    let launch = |graph: u32| [vec![0; 16], words(&[graph, 1, 7, 0, 1, 0, 4, 1, 1, 32, 8, 1, 0, 0])].concat();
    let graph = |what: u32| [vec![0; 16], words(&[what, 5, 9, 0])].concat();
    let records = [
        record(kind::KERNEL, kernel),
        record(kind::LAUNCH, launch(0)),
        record(kind::LAUNCH, launch(9)),
        record(kind::GRAPH, graph(launch::record::graph::INSTANTIATE)),
        record(kind::GRAPH, graph(launch::record::graph::LAUNCH)),
        record(kind::GRAPH, graph(launch::record::graph::LAUNCH)),
        record(kind::READBACK, vec![1; 24]),
    ]
    .concat();
    let mut bytes = vec![0; FIRST as usize];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes.extend(records);
    let used = bytes.len() as u64;
    bytes[8..16].copy_from_slice(&used.to_le_bytes());
    bytes
}

fn table() -> Vec<u8> {
    let mut builder = Builder::default();
    builder.file("/lib/libggml-hip.so");
    builder.bundle(0x1000, 0, true);
    builder.kernel(&KernelInfo {
        name: "_Z5firstPf".to_owned(),
        vgprs: 32,
        sgprs: 16,
        lds: 0,
        kernarg: 8,
        private: 0,
        max_block: 1024,
        wavefront: 32,
        wgp_mode: true,
        stub: false,
        foreign: false,
        args: vec![(0, 8)],
    });
    builder.finish()
}

const CSV: &str = "\"Kind\",\"Agent_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n\"KERNEL_DISPATCH\",\"Agent 1\",\"copy(int, float*)\",1000,2000,0,64,1,1,640,1,1\n";

const JSON: &str = r#"{"rocprofiler-sdk-tool":[{"metadata":{"pid":1},"agents":[{"id":{"handle":1},"type":2,"name":"gfx1201"}],"kernel_symbols":[{"kernel_id":7,"formatted_kernel_name":"k","kernel_name":"_Z1kv.kd"}],"buffer_records":{"kernel_dispatch":[{"start_timestamp":10,"end_timestamp":20,"dispatch_info":{"agent_id":{"handle":1},"kernel_id":7,"workgroup_size":{"x":64,"y":1,"z":1},"grid_size":{"x":640,"y":1,"z":1}}}]}}]}"#;

/// The output of `watch --trace`: a launch, a captured one, a replay, and half a line.
const WRITTEN_TRACE: &str = r#"{"seq":1,"kernel":"mul_mat_q<(ggml_type)12, 112, false>","grid":[32,3,1],"block":[32,8,1],"shmem":40960,"ne11":290,"graph":0}
{"seq":2,"kernel":"quantize_mmq_q8_1","grid":[4,1,1],"block":[128,1,1],"graph":5}
{"seq":3,"exec":5}
{"seq":4,"kernel":"mul_m"#;

const LOG: &str = ":3:rocdevice.cpp :1815: 1 us: [pid:1 tid: 0x1]  Gfx Major/Minor/Stepping: 12/0/1\n:3:hip_module.cpp :744 : 1 us: [pid:1 tid: 0x1]  hipLaunchKernel ( 0x10, {4,1,1}, {64,1,1}, 0x1, 0, stream:<null> ) \n:3:hip_module.cpp :744 : 1 us: [pid:1 tid: 0x1] ShaderName : _Z5firstv\n:3:hip_module.cpp :744 : 1 us: [pid:1 tid: 0x1] hipLaunchKernel: Returned hipSuccess : \nrocblas_gemm_ex,N,T,128,16,64,1,f16_r,f16_r,0,f16_r\n";

const SERVER_LOG: &str = "load_tensors: offloaded 29/29 layers to GPU\nllama_context: n_ubatch = 512\nllama_context: flash_attn = enabled\nllama_kv_cache: size = 56.00 MiB, K (q8_0): 28.00 MiB, V (q8_0): 28.00 MiB\nggml_cuda_init: found 1 ROCm devices:\n  Device 0: AMD Radeon RX 9070 XT, gfx1201 (0x1201)\n";

const GENERATE: &str = r#"{"model":"m","response":"a","done":true,"prompt_eval_count":26,"prompt_eval_duration":130079000,"eval_count":2,"eval_duration":42000000,"load_duration":5025959,"total_duration":4648158584}"#;

const STREAM: &str = "data: {\"content\":\"a\",\"stop\":false}\n\ndata: {\"content\":\"\",\"stop\":true,\"timings\":{\"prompt_n\":9,\"prompt_ms\":12.5,\"predicted_n\":2,\"predicted_ms\":8.0,\"cache_n\":4},\"tokens_evaluated\":13,\"truncated\":false}\n\ndata: [DONE]\n";

const SHOW: &str = r#"{"details":{"quantization_level":"Q4_K_M"},"model_info":{"general.architecture":"llama","llama.block_count":2,"tokenizer.ggml.model":"gpt2"},"tensors":[{"name":"blk.0.ffn_down.weight","type":"Q6_K","shape":[256,8]}]}"#;

const CHECKPOINT: &str = "t+f9066c80+AWpCs+OKHWyHLLiQpogA9elaimXMCYIrJh1ZUuRzoVAN\nwhichkernel-ledger/a9b4efa5cf1a8c64627a5afe2b9c41fe\n1\nCzI/s5sQpN8KIbTK6xZHPRXhaD486e+KYhbmH3XGFVo=\n\n\u{2014} t +QZsgDoXA2MrXz0Y/zmHAL5x+gzk+zeJ1bviapReWrAIKNTDmzfz/5pzkR55zTQW7x+Xmc87ZGpLaOL5IgbTxquAIg8=\n";

const INVESTIGATION: &str = "schema = \"whichkernel.investigation/1\"\n[title]\nen = \"a\"\nja = \"b\"\n[subject]\ntarget = \"gfx1201\"\n[[phases]]\nid = \"A\"\nen = \"a\"\nja = \"b\"\n[[pages]]\nid = \"p\"\nen = \"a\"\nja = \"b\"\n[[claims]]\nid = \"c\"\nphase = \"A\"\npage = \"p\"\nen = \"a\"\nja = \"b\"\nrung = \"declared\"\ntopic = \"matmul.path\"\nabout = { type = \"Q4_K\", columns = \"1..8\" }\nexpected = { equals = \"MMVQ\" }\nscope = { target = \"gfx1201\" }\nexpect = \"any\"\ncloses = \"whichkernel inspect x\"\n";

const CARD: &str = include_str!("../../../../crates/gpu/profiles/rx-9070-xt.toml");
