//! The effects of CMake commands.

use super::parse::{Arg, Command};
use super::uncertain::{OWN_SDK, is_name};
use super::{Cmake, MAX_ITEMS, MAX_VALUE, join};
use say::say;

/// The commands that can affect defines.
pub(super) const COMMANDS: &[&str] = &[
    "option",
    "cmake_dependent_option",
    "set",
    "unset",
    "list",
    "string",
    "add_compile_definitions",
    "target_compile_definitions",
    "add_definitions",
    "set_source_files_properties",
    "set_property",
    "add_subdirectory",
    "include",
    "find_package",
    "find_library",
    "check_language",
    "enable_language",
    "add_compile_options",
    "target_compile_options",
    "remove_definitions",
    "set_target_properties",
    "math",
    "execute_process",
    "try_compile",
    "try_run",
    "find_program",
    "find_path",
    "find_file",
    "file",
    "get_filename_component",
    "get_property",
    "get_target_property",
    "separate_arguments",
    "cmake_path",
    "cmake_host_system_information",
    "pkg_check_modules",
    "cmake_language",
    "add_library",
    "add_executable",
    "target_sources",
];

impl Cmake<'_> {
    pub(super) fn command(&mut self, command: &Command) {
        // The capabilities of a compiler are unknown here.
        if command.name.starts_with("check_") && command.name != "check_language" {
            let args = self.expand(command.args());
            self.unknown_names(args.into_iter().filter(|arg| is_name(arg)));
            return;
        }
        // Most commands determine the files of a build, not its defines.
        if !COMMANDS.contains(&command.name.as_str()) && !self.functions.contains_key(&command.name) {
            return;
        }
        if let Some(function) = self.functions.get(&command.name).cloned() {
            return self.call(&function, command.args());
        }
        let (args, [vague, lost]) = self.expand_asking(command.args());
        let first = args.first().cloned().unwrap_or_default();
        self.weigh(&command.name, &args, vague);
        match command.name.as_str() {
            "option" => {
                let value = args.get(2).cloned().unwrap_or_else(|| "OFF".to_owned());
                self.option(first, value);
            }
            "cmake_dependent_option" => self.dependent_option(first, &args),
            "set" => self.set(&first, args.get(1..).unwrap_or_default()),
            "unset" => {
                self.remove(&first);
            }
            "list" => self.list(&args, vague),
            "add_library" | "add_executable" | "target_sources" => {
                self.add_sources(&args, command.line, [true, !vague, !lost]);
            }
            // Computed commands: any name in them may be set.
            "cmake_language" => {
                let words = args.iter().flat_map(|arg| arg.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
                let words: Vec<String> = words.map(str::to_owned).collect();
                self.changes_unknown("cmake_language", &words);
                words.iter().for_each(|word| self.not_certain(word));
            }
            "file" if self.glob(&args) => {}
            "get_filename_component" if !vague && self.part_of_name(&args) => {}
            "add_compile_options" | "target_compile_options" | "remove_definitions" | "set_target_properties" => {
                self.changes_unknown(&command.name, &args);
                self.sets_sources(&args, command.line);
            }
            "math"
            | "execute_process"
            | "try_compile"
            | "try_run"
            | "find_program"
            | "find_path"
            | "find_file"
            | "file"
            | "get_filename_component"
            | "get_property"
            | "get_target_property"
            | "separate_arguments"
            | "cmake_path"
            | "cmake_host_system_information"
            | "pkg_check_modules" => self.changes_unknown(&command.name, &args),
            "set_property" if first != "SOURCE" => {
                self.changes_unknown("set_property", &args);
                self.sets_sources(&args, command.line);
            }
            "string" => self.string(&args),
            "add_compile_definitions" => self.define(&args, command.line),
            "target_compile_definitions" => self.define_for(&first, args.get(1..).unwrap_or_default(), command.line),
            "add_definitions" => {
                let list: Vec<String> =
                    args.iter().filter_map(|arg| arg.strip_prefix("-D")).map(str::to_owned).collect();
                self.define(&list, command.line);
            }
            "set_source_files_properties" => self.properties_of_files(&args),
            "set_property" => self.property_of_source(&args),
            "add_subdirectory" => {
                let dir = self.resolve(&first);
                self.enter(&join(&dir, "CMakeLists.txt"), &dir);
            }
            "include" => self.include(&first),
            "find_package" | "find_library" | "check_language" | "enable_language" => self.find(&command.name, &args),
            _ => {}
        }
    }

    /// The variables that a command makes unknown, or known again, in addition to its other effects. `vague`: an
    /// argument is unknown.
    fn weigh(&mut self, name: &str, args: &[String], vague: bool) {
        let first = args.first().cloned().unwrap_or_default();
        match name {
            // The new value is derived from an unknown one.
            "set" | "option" | "cmake_dependent_option" if vague => {
                // `set(X ${X} more)` extends the variable.
                let longer = name == "set" && !self.asked_lost.get();
                self.unknown_names([first.clone()]);
                if longer {
                    self.longer.insert(first);
                }
            }
            "string" if vague => {
                self.unknown_names(args.iter().skip(1).filter(|arg| is_name(arg)).cloned().collect::<Vec<_>>())
            }
            "add_compile_definitions" | "target_compile_definitions" | "add_definitions" if vague => {
                args.iter().for_each(|define| self.unknown_value(define));
            }
            "set_source_files_properties" | "set_property" if vague => self.changes_unknown(name, args),
            "set" => {
                self.vague.remove(&first);
                self.known.insert(first);
            }
            _ => {}
        }
    }

    fn dependent_option(&mut self, name: String, args: &[String]) {
        let holds = args.get(3).is_none_or(|condition| {
            let parts = condition.split([';', ' ']).filter(|part| !part.is_empty());
            let parts: Vec<Arg> = parts.map(|text| Arg { text: text.to_owned(), quoted: false, raw: false }).collect();
            self.test(parts)
        });
        let value = args.get(if holds { 2 } else { 4 }).cloned().unwrap_or_default();
        self.option(name, value);
    }

    fn define_for(&mut self, target: &str, rest: &[String], line: usize) {
        self.define(rest, line);
        // Another part of ggml: whether the backend gets its defines depends on linking. Every part links ggml-base.
        let ours = ["hip", "cuda", "musa"].iter().any(|name| target.contains(name));
        let public = rest.first().is_some_and(|word| word == "PUBLIC" || word == "INTERFACE");
        if target.starts_with("ggml-") && !ours && !(public && target == "ggml-base") {
            rest.iter().for_each(|define| self.not_certain(define));
        }
    }

    /// Evaluates `set_source_files_properties(FILES PROPERTIES name value ...)`.
    fn properties_of_files(&mut self, args: &[String]) {
        let split = args.iter().position(|arg| arg == "PROPERTIES").unwrap_or(args.len());
        let (files, properties) = (args.get(..split).unwrap_or_default(), args.get(split + 1..).unwrap_or_default());
        for pair in properties.chunks(2) {
            let [name, value] = pair else { continue };
            if name == "HEADER_FILE_ONLY" {
                self.header_only(files, value, true);
            }
            self.of_files(files, name, std::slice::from_ref(value));
        }
    }

    /// Evaluates `set_property(SOURCE FILES [APPEND] PROPERTY name ...)`.
    fn property_of_source(&mut self, args: &[String]) {
        let split = args.iter().position(|arg| arg == "PROPERTY").unwrap_or(args.len());
        let files: Vec<String> = args.iter().take(split).skip(1).filter(|arg| *arg != "APPEND").cloned().collect();
        let rest = args.get(split + 1..).unwrap_or_default();
        if let Some((name, values)) = rest.split_first() {
            if name == "HEADER_FILE_ONLY" {
                self.header_only(&files, values.first().map_or("", String::as_str), true);
            }
            self.of_files(&files, name, values);
        }
    }

    fn include(&mut self, file: &str) {
        if file.ends_with(".cmake") {
            let file = self.resolve(file);
            let dir = self.dir.clone();
            self.enter(&file, &dir);
        } else if !file.is_empty() {
            // A CMake module that is part of the tree, in any directory.
            let end = format!("/{file}.cmake");
            let found: Vec<String> = self.tree.paths().filter(|path| path.ends_with(&end)).map(str::to_owned).collect();
            for path in found {
                let commands = self.commands_of(&path);
                self.either_way(&commands, 0);
            }
        }
    }

    fn find(&mut self, command: &str, args: &[String]) {
        let first = args.first().cloned().unwrap_or_default();
        let found = format!("{first}_FOUND");
        let needed = args.iter().any(|arg| arg == "REQUIRED") || OWN_SDK.contains(&first.as_str());
        self.found.insert(first);
        if command == "find_package" && !needed {
            self.vague.insert(found.clone());
        }
        self.put(&found, "TRUE".to_owned());
    }

    /// `COMPILE_DEFINITIONS`, or `-D` among a file's flags.
    fn of_files(&mut self, files: &[String], property: &str, values: &[String]) {
        let words = values.iter().flat_map(|value| value.split([';', ' '])).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.collect();
        // It is unknown which files a variable or pattern names, and removals are not tracked.
        let listed = files.is_empty() || files.iter().any(|file| file.contains(['$', '*', '<']));
        let properties = matches!(property, "COMPILE_DEFINITIONS" | "COMPILE_FLAGS" | "COMPILE_OPTIONS");
        for word in words.iter().filter(|_| properties) {
            let define = word.strip_prefix("-D").or_else(|| word.strip_prefix("-U"));
            if listed || word.starts_with("-U") || word.starts_with('$') {
                match (define, property) {
                    (Some(define), _) => self.not_certain(define),
                    (None, "COMPILE_DEFINITIONS") => self.not_certain(word),
                    _ => {}
                }
            }
        }
        let words = words.into_iter();
        let defines: Vec<&str> = match property {
            "COMPILE_DEFINITIONS" => words.map(|word| word.strip_prefix("-D").unwrap_or(word)).collect(),
            "COMPILE_FLAGS" | "COMPILE_OPTIONS" => words.filter_map(|word| word.strip_prefix("-D")).collect(),
            _ => return,
        };
        if files.len().saturating_mul(defines.len()) + self.build.of_file.len() > MAX_ITEMS {
            return self.unread(say!("source-cmake-files", file = self.file, most = MAX_ITEMS));
        }
        for file in files {
            let path = self.resolve(file);
            let path = if self.tree.has(&path) { path } else { file.rsplit('/').next().unwrap_or(file).to_owned() };
            for define in &defines {
                self.build.of_file.push((path.clone(), (*define).to_owned()));
            }
        }
    }

    fn option(&mut self, name: String, value: String) {
        let value = self.or_put(&name, value);
        self.build.options.insert(name, value);
    }

    fn set(&mut self, name: &str, values: &[String]) {
        if name.starts_with("ENV{") {
            return;
        }
        let cache = values.iter().position(|value| value == "CACHE");
        let keep = values.get(..cache.unwrap_or(values.len())).unwrap_or_default();
        let for_caller = keep.iter().any(|value| value == "PARENT_SCOPE");
        let keep: Vec<&str> = keep.iter().map(String::as_str).filter(|value| *value != "PARENT_SCOPE").collect();
        if for_caller && !self.scopes.is_empty() {
            self.for_caller.push((name.to_owned(), keep.join(";")));
            return;
        }
        self.flags(name, &keep);
        let force = values.last().is_some_and(|value| value == "FORCE");
        if cache.is_some() {
            if force {
                self.put(name, keep.join(";"));
            }
            let value = self.or_put(name, keep.join(";"));
            self.build.options.insert(name.to_owned(), value);
        } else if keep.is_empty() {
            self.remove(name);
        } else {
            self.put(name, keep.join(";"));
            if let Some(option) = self.build.options.get_mut(name) {
                *option = keep.join(";");
            }
        }
    }

    fn string(&mut self, args: &[String]) {
        if !matches!(args.first().map(String::as_str), Some("REPLACE" | "STRIP" | "TOUPPER" | "TOLOWER" | "APPEND")) {
            self.changes_unknown("string", args);
        }
        // `string(APPEND CMAKE_HIP_FLAGS " -DX")`.
        if let [what, name, values @ ..] = args
            && what == "APPEND"
        {
            let mut value = self.vars.get(name).cloned().unwrap_or_default();
            values.iter().for_each(|more| value.push_str(more));
            self.flags(name, &[value.as_str()]);
            self.put(name, value);
            return;
        }
        let [what, text, into, ..] = args else { return };
        if what == "REPLACE" {
            let input = args.get(4..).unwrap_or_default().concat();
            let places = input.matches(text.as_str()).count();
            if places.saturating_mul(into.len()) > MAX_VALUE {
                self.swollen.set(true);
            } else if let Some(output) = args.get(3) {
                self.put(output, input.replace(text.as_str(), into));
            }
            return;
        }
        let value = match what.as_str() {
            "STRIP" => text.trim().to_owned(),
            "TOUPPER" => text.to_ascii_uppercase(),
            "TOLOWER" => text.to_ascii_lowercase(),
            _ => return,
        };
        self.put(into, value);
    }

    fn define(&mut self, list: &[String], line: usize) {
        if self.build.defines.len() + list.len() > MAX_ITEMS {
            return self.unread(say!("source-cmake-defines", file = self.file, most = MAX_ITEMS));
        }
        for define in list {
            // Generator expressions depend on configurations and languages. Defines of directories below the backend do
            // not apply to its files.
            let below = ["/ggml-hip/", "/ggml-cuda/", "/ggml-musa/"].iter().any(|of| self.dir.contains(of));
            if define.contains("$<") || below {
                self.not_certain(define);
            }
            let word = matches!(define.as_str(), "PUBLIC" | "PRIVATE" | "INTERFACE");
            let define = define.strip_prefix("-D").unwrap_or(define);
            let plain = define.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
            if !word && plain && !self.build.defines.iter().any(|(known, _)| known == define) {
                self.build.defines.push((define.to_owned(), format!("{}:{line}", self.file)));
            }
        }
    }
}
