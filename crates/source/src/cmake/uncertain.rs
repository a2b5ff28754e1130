//! Decisions that build files leave open: conditions that depend on a machine, a compiler or a builder, and unsupported
//! ways to define something. A define that depends on one is tried both ways, and an answer that changes is
//! undetermined.

use super::commands::COMMANDS;
use super::{Cmake, Command, join, matching};

/// Packages without which there is no backend to evaluate.
pub(super) const OWN_SDK: &[&str] = &["CUDAToolkit", "MUSAToolkit", "hip", "hipblas", "rocblas", "Threads"];

/// Variables that a builder sets, in addition to those of a machine or a compiler.
const BUILDERS: &[&str] = &["CMAKE_HIP_ARCHITECTURES", "CMAKE_CUDA_ARCHITECTURES", "GPU_TARGETS", "AMDGPU_TARGETS"];

/// Whether a variable comes from outside the tree. An assumed value is not an answer, unless the tree or the user sets
/// it.
fn is_outside(name: &str) -> bool {
    let version = name.ends_with("_VERSION") || name.contains("_VERSION_");
    version || (name.starts_with("CMAKE_") && name.contains("_COMPILER")) || BUILDERS.contains(&name)
}

impl Cmake<'_> {
    /// Records whether a variable that is read is known.
    pub(super) fn asked(&self, name: &str) {
        if self.vague.contains(name) || (is_outside(name) && !self.known.contains(name)) {
            self.asked_vague.set(true);
            if !self.longer.contains(name) {
                self.asked_lost.set(true);
            }
        }
    }

    /// Handles commands that may or may not run: their defines are uncertain, and the variables that they set are
    /// unknown.
    pub(super) fn either_way(&mut self, commands: &[Command], depth: usize) {
        let mut at = 0;
        while let Some(command) = commands.get(at) {
            self.steps += 1;
            if self.is_too_much(depth) {
                return;
            }
            at += 1;
            match command.name.as_str() {
                "if" => {
                    let end = matching(commands, at - 1, "if", "endif");
                    let possible = self.parts(commands, at - 1, end).possible;
                    possible.into_iter().for_each(|body| self.either_way(body, depth + 1));
                    at = end + 1;
                    continue;
                }
                "foreach" => {
                    let end = matching(commands, at - 1, "foreach", "endforeach");
                    let (name, items) = self.items(command.args());
                    for item in items {
                        self.put(&name, item);
                        self.either_way(commands.get(at..end).unwrap_or_default(), depth + 1);
                    }
                    at = end + 1;
                    continue;
                }
                "function" | "macro" => {
                    at = self.learn(commands, at - 1) + 1;
                    continue;
                }
                "return" | "continue" | "break" => self.may_leave = true,
                _ => {}
            }
            if let Some(function) = self.functions.get(&command.name).cloned() {
                let args = self.expand(command.args());
                self.called(&function, args, |cmake, body| {
                    let outside = cmake.may_leave;
                    cmake.either_way(body, depth + 1);
                    cmake.may_leave = outside | (cmake.may_leave && function.is_macro);
                });
            }
            if !COMMANDS.contains(&command.name.as_str()) {
                continue;
            }
            let args = self.expand(command.args());
            match command.name.as_str() {
                "set" | "unset" | "option" | "cmake_dependent_option" => {
                    let values: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
                    self.flags(args.first().map_or("", String::as_str), &values);
                    self.unknown_names(args.first().cloned());
                }
                "add_library" | "add_executable" | "target_sources" => {
                    self.add_sources(&args, command.line, [false; 3]);
                }
                "add_compile_definitions" | "target_compile_definitions" => {
                    let new: Vec<&String> = args.iter().filter(|arg| !self.is_defined(arg)).collect();
                    new.into_iter().for_each(|arg| self.not_certain(arg));
                }
                "include" | "add_subdirectory" => {
                    let path = self.resolve(args.first().map_or("", String::as_str));
                    let file = if command.name == "include" { path } else { join(&path, "CMakeLists.txt") };
                    let text = self.commands_of(&file);
                    let outside = self.may_leave;
                    self.either_way(&text, depth + 1);
                    self.may_leave = outside;
                }
                _ => self.changes_unknown(&command.name, &args),
            }
        }
    }

    /// Whether the name is already defined, so that defining it again changes nothing.
    fn is_defined(&self, define: &str) -> bool {
        let define = define.strip_prefix("-D").unwrap_or(define);
        let name = define.split('=').next().unwrap_or_default();
        self.build.defines.iter().take(self.certain).any(|(known, _)| known == define)
            && !self.build.unsure.contains(name)
    }

    /// Handles an unsupported command: the variables that it names become unknown, and the defines that it names become
    /// uncertain.
    pub(super) fn changes_unknown(&mut self, name: &str, args: &[String]) {
        let properties = matches!(name, "set_property" | "set_target_properties" | "set_source_files_properties");
        if properties && args.iter().any(|arg| arg == "HEADER_FILE_ONLY") {
            self.header_only(args, "", false);
        }
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
            let names: Vec<String> = args.iter().filter(|arg| is_name(arg)).cloned().collect();
            self.unknown_names(names);
        }
    }

    /// Marks a define as possibly set, with an unknown value.
    pub(super) fn unknown_value(&mut self, define: &str) {
        self.not_certain(define);
        if let Some((name, _)) = define.split_once('=') {
            self.build.unsure_value.insert(name.strip_prefix("-D").unwrap_or(name).to_owned());
        }
    }

    /// Marks `NAME` or `NAME=VALUE` as uncertain, also within a generator expression.
    pub(super) fn not_certain(&mut self, define: &str) {
        for part in define.split(['$', '<', '>', ':', ',', ';']) {
            let name = part.strip_prefix("-D").unwrap_or(part).split('=').next().unwrap_or_default();
            if is_name(name) && !matches!(name, "PUBLIC" | "PRIVATE" | "INTERFACE") {
                self.build.unsure.insert(name.to_owned());
            }
        }
    }

    /// Compiler flags may contain defines.
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
