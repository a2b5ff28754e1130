//! What build files leave open: conditions that a machine, a compiler or a builder decides, and ways to define something that are not
//! followed. A define that hangs on one is tried both ways, and an answer that changes is undetermined.

use super::commands::COMMANDS;
use super::{Cmake, Command, MAX_DEPTH, MAX_STEPS, matching};

/// Without these there is no backend to ask about.
pub(super) const OWN_SDK: &[&str] = &["CUDAToolkit", "MUSAToolkit", "hip", "hipblas", "rocblas", "Threads"];

/// Variables that a machine, a compiler or a builder gives: what they are taken to be is no answer.
pub(super) const VAGUE: &[&str] = &[
    "hip_VERSION",
    "CUDAToolkit_VERSION",
    "CMAKE_CUDA_COMPILER_VERSION",
    "CMAKE_HIP_COMPILER_VERSION",
    "CMAKE_VERSION",
    "CMAKE_CXX_COMPILER_ID",
    "CMAKE_C_COMPILER_ID",
    "CMAKE_CXX_COMPILER_VERSION",
    "CMAKE_C_COMPILER_VERSION",
    "CMAKE_HIP_ARCHITECTURES",
    "CMAKE_CUDA_ARCHITECTURES",
    "GPU_TARGETS",
    "AMDGPU_TARGETS",
];

impl Cmake<'_> {
    /// A conditional of which nobody knows how it turns out, or that stands in one: every part that may be run.
    pub(super) fn either_branch(&mut self, commands: &[Command], start: usize, end: usize, nested: usize) {
        let (mut depth, mut from) = (0, start);
        for at in start + 1..=end {
            let Some(command) = commands.get(at) else { break };
            match command.name.as_str() {
                "if" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "elseif" | "else" | "endif" if depth == 0 => {
                    self.asked_vague.set(false);
                    let head = commands.get(from);
                    let holds = head.is_some_and(|head| head.name == "else" || self.test(head.args()));
                    let vague = self.asked_vague.get();
                    if holds || vague {
                        self.either_way(commands.get(from + 1..at).unwrap_or_default(), nested + 1);
                    }
                    if holds && !vague {
                        return;
                    }
                    from = at;
                }
                _ => {}
            }
        }
    }

    /// Commands that may or may not be run: what they define is not certain, and what they set is not known.
    pub(super) fn either_way(&mut self, commands: &[Command], depth: usize) {
        let mut at = 0;
        while let Some(command) = commands.get(at) {
            self.steps += 1;
            if self.steps > MAX_STEPS || depth > MAX_DEPTH {
                return;
            }
            at += 1;
            if command.name == "if" {
                let end = matching(commands, at - 1, "if", "endif");
                self.either_branch(commands, at - 1, end, depth);
                at = end + 1;
                continue;
            }
            if let Some(function) = self.functions.get(&command.name).cloned() {
                self.either_way(&function.body, depth + 1);
            }
            if !COMMANDS.contains(&command.name.as_str()) {
                continue;
            }
            let args = self.expand(command.args());
            match command.name.as_str() {
                "set" | "unset" | "option" | "cmake_dependent_option" => {
                    let values: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
                    self.flags(args.first().map_or("", String::as_str), &values);
                    self.vague.extend(args.first().cloned());
                }
                "add_compile_definitions" | "target_compile_definitions" => {
                    args.iter().for_each(|arg| self.not_certain(arg))
                }
                "include" => {}
                _ => self.changes_unknown(&command.name, &args),
            }
        }
    }

    /// A command that is not followed: the variables that it names are not known, and the defines that it names not certain.
    pub(super) fn changes_unknown(&mut self, name: &str, args: &[String]) {
        let properties = matches!(name, "set_property" | "set_target_properties" | "set_source_files_properties");
        let definitions = args.iter().any(|arg| arg.ends_with("COMPILE_DEFINITIONS"));
        for arg in args {
            for word in arg.split([';', ' ', '"']) {
                if let Some(define) = word.strip_prefix("-D").or_else(|| word.strip_prefix("-U")) {
                    self.not_certain(define);
                } else if properties && definitions {
                    self.not_certain(word);
                }
            }
        }
        if !properties
            && !matches!(
                name,
                "add_compile_options" | "target_compile_options" | "add_definitions" | "remove_definitions"
            )
        {
            self.vague.extend(args.iter().filter(|arg| is_name(arg)).cloned());
        }
    }

    /// Defined, perhaps, as something that is not known.
    pub(super) fn unknown_value(&mut self, define: &str) {
        self.not_certain(define);
        if let Some((name, _)) = define.split_once('=') {
            self.build.unsure_value.insert(name.strip_prefix("-D").unwrap_or(name).to_owned());
        }
    }

    /// `NAME`, `NAME=VALUE`, or such within a generator expression.
    pub(super) fn not_certain(&mut self, define: &str) {
        for part in define.split(['$', '<', '>', ':', ',', ';']) {
            let name = part.strip_prefix("-D").unwrap_or(part).split('=').next().unwrap_or_default();
            if is_name(name) && !matches!(name, "PUBLIC" | "PRIVATE" | "INTERFACE") {
                self.build.unsure.insert(name.to_owned());
            }
        }
    }

    /// Flags of compilers may define something.
    pub(super) fn flags(&mut self, name: &str, values: &[&str]) {
        if name.starts_with("CMAKE_") && name.contains("FLAGS") {
            let words = values.iter().flat_map(|value| value.split([' ', ';']));
            let defines: Vec<String> = words.filter_map(|word| word.strip_prefix("-D")).map(str::to_owned).collect();
            defines.iter().for_each(|define| self.not_certain(define));
        }
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
