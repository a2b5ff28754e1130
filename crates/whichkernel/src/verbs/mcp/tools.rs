//! The verbs and arguments that are offered: the read-only ones. Other options are not available.

pub struct Offered {
    pub verb: &'static str,
    /// Arguments by their names in the definition. None of them writes, starts or connects to anything.
    pub arguments: &'static [&'static str],
    /// Arguments that must be given, although the verb itself does not require them.
    pub required: &'static [&'static str],
    /// Arguments that are always added, regardless of the client.
    pub always: &'static [&'static str],
    /// Added unless the client gives another value: name, word.
    pub unless: &'static [(&'static str, &'static str)],
    /// The names of the answers' schemas, as in `whichkernel schema`.
    pub answers: &'static [&'static str],
    pub remark: &'static str,
}

const PLAIN: Offered =
    Offered { verb: "", arguments: &[], required: &[], always: &[], unless: &[], answers: &[], remark: "" };

/// Arguments that restrict a question to the rules; `source`, `diff` and `history` share them.
macro_rules! rules {
    ($($name:literal),*) => {
        &[$($name,)* "gpu", "types", "columns", "op", "rows", "k", "experts", "experts_used", "head_size", "heads", "env"]
    };
}

pub const TOOLS: &[Offered] = &[
    Offered {
        verb: "explain",
        arguments: &["words", "gpu", "ty", "columns", "release"],
        answers: &["explain", "term", "term-list"],
        remark: "Uses built-in tables: no files, no network. Answers are declared, never observed. Without a GPU in the \
                 question, it uses this machine's GPU.",
        ..PLAIN
    },
    Offered {
        verb: "check",
        arguments: &["file", "claim", "only", "all", "here"],
        answers: &["check"],
        remark: "Reads this user's ledger. Has no answer if nothing was recorded.",
        ..PLAIN
    },
    Offered {
        verb: "source",
        arguments: rules!("tree", "thresholds", "against", "chain", "with", "route", "from", "to"),
        answers: &["source", "chain", "diff", "rocblas-source"],
        remark: "The source rule does not show what runs.",
        ..PLAIN
    },
    Offered {
        verb: "map",
        arguments: &["source", "gpu", "kind", "columns"],
        required: &["source"],
        always: &["--no-dryrun"],
        answers: &["map"],
        remark: "Uses only the source; runs nothing.",
        ..PLAIN
    },
    Offered {
        verb: "diff",
        arguments: rules!("a", "b", "kernel", "target_a", "target_b", "bundle_a", "bundle_b", "mnemonics"),
        answers: &["diff", "diff-kernel"],
        remark: "Here it compares two source trees or two files with GPU code; runtimes and cards would need a dry run.",
        ..PLAIN
    },
    Offered {
        verb: "history",
        arguments: rules!("tree", "since", "brief"),
        answers: &["history"],
        remark: "Slow for long ranges.",
        ..PLAIN
    },
    Offered {
        verb: "inspect",
        arguments: &[
            "targets",
            "kernels",
            "gpu_target",
            "kernel",
            "launch_map",
            "bundles",
            "modules",
            "has_target",
            "needed",
            "fingerprint",
            "lint",
            "hash",
            "against",
            "gpu",
            "model",
            "tp",
            "fits",
        ],
        answers: &[
            "inspect",
            "inspect-kernels",
            "inspect-bundles",
            "inspect-modules",
            "inspect-launch-map",
            "inspect-has-target",
            "inspect-needed",
            "inspect-fingerprint",
            "inspect-directory",
            "gemm-lint",
            "tuning-tables",
            "triton",
            "inspect-process",
            "many",
        ],
        remark: "Shows what a file ships, not what was launched.",
        ..PLAIN
    },
    Offered {
        verb: "isa",
        arguments: &["files", "target", "kernel", "by", "mnemonics", "list", "has"],
        answers: &["isa", "isa-has", "isa-list", "many"],
        remark: "Counts only decoded instructions; see the coverage in the answer.",
        ..PLAIN
    },
    Offered {
        verb: "doctor",
        arguments: &["root"],
        unless: &[("root", "--root=/")],
        answers: &["doctor"],
        remark: "Only reads files and tests nothing, so results that need a test are unknown.",
        ..PLAIN
    },
    Offered {
        verb: "probe",
        arguments: &["replay", "gpu"],
        required: &["replay"],
        answers: &["probe"],
        remark: "Here it only replays recorded answers; it contacts no server.",
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::TOOLS;
    use crate::Cli;
    use clap::CommandFactory as _;

    /// Arguments that write, start or connect. A new argument belongs here or in the lists above.
    const NOT_OFFERED: &[&str] = &[
        "choices",
        "no_shape",
        "out",
        "publish",
        "web",
        "record",
        "extract",
        "format",
        "lang",
        "ledger",
        "color",
        "help",
        "strict",
        "url",
        "key_env",
        "key_file",
        "model",
        "tokens",
        "sweep",
        "repeat",
        "cold",
        "parallel",
        "timeout",
        "log",
        "save",
        "svg",
        "runtime",
        "blas",
        "arch_of",
        "layers",
        "set",
        "vulkan_device",
        "code",
        "routing",
        "write_graph",
        "each",
        "command",
        "check",
        "no_dryrun",
        "terms",
        "smem",
        "watch",
        "lane",
        "serve",
        "ollama",
        // For `check`, this argument only shortens the text.
        "brief",
        "backend",
        "graph",
    ];

    #[test]
    fn every_argument_that_is_offered_is_there() {
        let whole = Cli::command();
        for offered in TOOLS {
            let verb = whole.find_subcommand(offered.verb).expect(offered.verb);
            for name in offered.arguments {
                assert!(verb.get_arguments().any(|arg| arg.get_id() == name), "{}: no {name}", offered.verb);
                assert!(*name == "gpu" || !["record", "extract", "save", "svg", "url", "log"].contains(name), "{name}");
            }
        }
    }

    #[test]
    fn every_tool_says_what_it_answers_with() {
        let known = crate::answers::all();
        for offered in TOOLS {
            assert!(!offered.answers.is_empty(), "{}", offered.verb);
            for name in offered.answers {
                assert!(known.iter().any(|kind| kind.is(name)), "{}: no schema {name}", offered.verb);
            }
        }
    }

    /// A new flag of a verb must be offered or excluded explicitly.
    #[test]
    fn every_argument_is_offered_or_left_out_by_name() {
        let whole = Cli::command();
        for offered in TOOLS {
            let verb = whole.find_subcommand(offered.verb).expect(offered.verb);
            for arg in verb.get_arguments().map(|arg| arg.get_id().as_str()) {
                let decided = offered.arguments.contains(&arg) || NOT_OFFERED.contains(&arg) || FURTHER.contains(&arg);
                assert!(decided, "{} --{arg}: offer it in TOOLS, or leave it out by name", offered.verb);
            }
        }
    }

    /// Shapes of rarely requested operations, which only the command line supports.
    const FURTHER: &[&str] = &[
        "head_size_v",
        "kv_heads",
        "kv",
        "no_mask",
        "mode",
        "define",
        "undefine",
        "cmake",
        // The kernels of BLAS libraries.
        "library",
        "gemm",
        "element",
        "trans",
        "k",
    ];
}
