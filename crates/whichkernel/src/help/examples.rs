//! Examples at the end of every `--help`, keyed by the words of the command. The tests parse every line.

/// `watch` comes before `watch arm` and so on. A test fails if a command has no example here.
pub const EXAMPLES: &[(&str, &[&str])] = &[
    ("", &["whichkernel", "whichkernel doctor", "whichkernel explain 9070xt Q4_K_M 290", "whichkernel investigate"]),
    (
        "agent",
        &[
            "sudo whichkernel agent",
            "sudo whichkernel agent --otlp http://127.0.0.1:4318",
            "whichkernel agent --print systemd",
        ],
    ),
    ("atlas", &["whichkernel atlas llama.cpp --out atlas --since b10000 --gpu gfx1201 --type Q4_K"]),
    ("check", &["whichkernel check", "whichkernel check --only refuted", "whichkernel check --claim mmvq-to-8"]),
    (
        "completions",
        &[
            "whichkernel completions bash > ~/.local/share/bash-completion/completions/whichkernel",
            "whichkernel completions zsh > ~/.zfunc/_whichkernel",
        ],
    ),
    (
        "diff",
        &[
            "whichkernel diff llama.cpp@b6841 llama.cpp@b7148",
            "whichkernel diff rx-9070-xt rx-7900-xtx --type Q4_K",
            "whichkernel diff old/libggml-hip.so new/libggml-hip.so --target-a gfx1201 --target-b gfx1201",
        ],
    ),
    ("doctor", &["whichkernel doctor", "whichkernel doctor --strict --format json"]),
    (
        "dryrun",
        &["whichkernel dryrun --gpu gfx1100", "whichkernel dryrun --gpu rx-7900-xtx -- llama-bench -m model.gguf"],
    ),
    (
        "explain",
        &[
            "whichkernel explain 9070xt Q4_K_M 290",
            "whichkernel explain --gpu gfx1201 --type Q4_K --columns 8 --source b7000",
            "whichkernel explain MMVQ",
        ],
    ),
    (
        "explain gemm",
        &[
            "whichkernel explain gemm 4096 290 4096 --type f16 --gpu rx-9070-xt",
            "whichkernel explain gemm --from products.tsv --gpu rx-9070-xt --library rocblas --format csv",
            "whichkernel explain gemm --model model.gguf --gpu rx-9070-xt --tokens 1,16,512",
        ],
    ),
    (
        "explain vllm",
        &[
            "whichkernel explain vllm Llama-3.1-8B/config.json --gpu mi300x",
            "whichkernel explain vllm DeepSeek-V3 --gpu mi300x,rx-9070-xt --env VLLM_ROCM_USE_AITER=1 --with aiter",
            "whichkernel explain vllm Mixtral-8x7B --gpu mi300x --vllm vllm-0.32 --against vllm-0.33",
        ],
    ),
    ("fleet", &["whichkernel fleet alerts lake", "whichkernel fleet diff lake --before 2026-11-10 --after 2026-11-12"]),
    ("fleet alerts", &["whichkernel fleet alerts lake --since 2026-11-10"]),
    (
        "fleet diff",
        &[
            "whichkernel fleet diff lake --before 2026-11-10 --after 2026-11-12",
            "whichkernel fleet diff s3://bucket/lake --before 2026-11-10 --after 2026-11-12 --sql",
        ],
    ),
    ("history", &["whichkernel history llama.cpp --since b6841 --gpu gfx1201 --type Q4_K --columns 290"]),
    (
        "inspect",
        &[
            "whichkernel inspect libggml-hip.so",
            "whichkernel inspect libggml-hip.so --has-target gfx1201",
            "whichkernel inspect 4711",
        ],
    ),
    ("investigate", &["whichkernel investigate --offline", "whichkernel investigate --yes"]),
    ("investigate init", &["whichkernel investigate init my-machine.toml"]),
    (
        "isa",
        &[
            "whichkernel isa libggml-hip.so --target gfx1201 --has wmma",
            "whichkernel isa libggml-hip.so --kernel 'mul_mat_vec_q<Q4_K' --by kernel",
        ],
    ),
    ("ledger", &["whichkernel ledger list --last 20", "whichkernel ledger verify", "whichkernel ledger where"]),
    ("ledger export", &["whichkernel ledger export -o ledger.json"]),
    ("ledger import", &["whichkernel ledger import ledger.json"]),
    ("ledger key", &["whichkernel ledger key new my.key"]),
    ("ledger key new", &["whichkernel ledger key new my.key"]),
    ("ledger list", &["whichkernel ledger list --rung launched --last 20"]),
    ("ledger note", &["whichkernel ledger note --phase A 'the server was restarted'"]),
    ("ledger show", &["whichkernel ledger show 7"]),
    ("ledger sign", &["whichkernel ledger sign --key my.key"]),
    ("ledger verify", &["whichkernel ledger verify", "whichkernel ledger verify --parquet lake --format json"]),
    ("ledger where", &["whichkernel ledger where"]),
    ("man", &["whichkernel man ~/.local/share/man/man1"]),
    (
        "map",
        &[
            "whichkernel map --gpu gfx1201 --source llama.cpp --no-dryrun",
            "whichkernel map --gpu gfx1100 --source llama.cpp --check",
        ],
    ),
    ("mcp", &["whichkernel mcp"]),
    ("probe", &["whichkernel probe http://127.0.0.1:11434 --tokens 1,8,9,290", "whichkernel probe --replay recorded"]),
    (
        "report",
        &[
            "whichkernel report --out report",
            "whichkernel report --serve --open",
            "whichkernel report --export parquet --out lake --host alpha",
            "whichkernel report --export perfetto --launches trace.jsonl",
        ],
    ),
    ("report bundle", &["whichkernel report bundle --out bundle.tar"]),
    ("runtime", &["whichkernel runtime find", "whichkernel runtime fetch debian-sid --parts ggml"]),
    ("runtime add", &["whichkernel runtime add ollama-linux-amd64-rocm.tgz --name ollama"]),
    ("runtime build", &["whichkernel runtime build --source llama.cpp --gpu gfx1201"]),
    ("runtime fetch", &["whichkernel runtime fetch debian-sid --parts ggml,tools"]),
    ("runtime find", &["whichkernel runtime find"]),
    ("runtime list", &["whichkernel runtime list"]),
    ("runtime remove", &["whichkernel runtime remove debian-sid"]),
    ("schema", &["whichkernel schema", "whichkernel schema ledger-list"]),
    ("skeleton", &["whichkernel skeleton llama-3.1-8b --type Q4_K_M -o m.gguf", "whichkernel skeleton --list"]),
    (
        "source",
        &[
            "whichkernel source llama.cpp --gpu gfx1201 --type Q4_K --columns 1..512",
            "whichkernel source ollama --with llama.cpp --chain",
        ],
    ),
    (
        "watch",
        &["sudo whichkernel watch --name ollama --for 30s", "whichkernel watch --how preload -- llama-bench -m m.gguf"],
    ),
    ("watch arm", &["sudo whichkernel watch arm"]),
    ("watch disarm", &["sudo whichkernel watch disarm"]),
    (
        "why",
        &[
            "whichkernel why",
            "whichkernel why --model model.gguf --gpu rx-9070-xt",
            "whichkernel why --name ollama --fix 1 --measure",
        ],
    ),
];

pub fn of(path: &str) -> &'static [&'static str] {
    EXAMPLES.iter().find(|(known, _)| *known == path).map_or(&[], |(_, lines)| lines)
}

/// The verbs that exit with 1. The sentence that explains it has the key `exit-` plus this name.
pub const FAILS: &[&str] = &[
    "check",
    "diff",
    "doctor",
    "dryrun",
    "fleet-alerts",
    "fleet-diff",
    "inspect",
    "investigate",
    "isa",
    "ledger-verify",
    "map",
    "source",
    "watch",
];
