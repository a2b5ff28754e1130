//! Options that require another one. Clap checks this, but not if the required option conflicts with a given one:
//! `source TREE --code FILE --type Q4_K` would silently ignore `--code`.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error};

/// The verb, its option, and the required option, as in `requires` of each option.
const NEEDS: &[(&str, &str, &str)] = &[
    ("diff", "gemm", "library"),
    ("diff", "tokens", "library"),
    ("dryrun", "each", "command"),
    ("dryrun", "trace", "command"),
    ("dryrun", "write_graph", "command"),
    ("explain gemm", "tokens", "model"),
    ("explain", "runtime", "backend"),
    ("explain", "vulkan_device", "backend"),
    ("inspect", "against", "fingerprint"),
    ("inspect", "strict", "gpu"),
    ("inspect", "tp", "model"),
    ("ledger verify", "checkpoint", "key"),
    ("ledger verify", "key", "checkpoint"),
    ("map", "check", "source"),
    ("map", "element", "library"),
    ("map", "k", "library"),
    ("map", "trans", "library"),
    ("map", "no_dryrun", "source"),
    ("probe", "lane", "serve"),
    ("probe", "serve", "lane"),
    ("report", "host", "export"),
    ("report", "launches", "export"),
    ("report", "note", "publish"),
    ("report", "port", "serve"),
    ("report", "title", "publish"),
    ("report", "url", "publish"),
    ("source", "code", "graph"),
    ("source", "from", "chain"),
    ("source", "from", "to"),
    ("source", "route", "chain"),
    ("source", "routing", "graph"),
    ("source", "to", "from"),
    ("watch", "with", "certify"),
    ("why", "measure", "fix"),
    ("why", "repeat", "fix"),
];

pub fn check(mut found: &ArgMatches, mut command: &mut Command) -> Result<(), Error> {
    let mut path = String::new();
    while let Some((name, below)) = found.subcommand() {
        let Some(next) = command.find_subcommand_mut(name) else { return Ok(()) };
        path = if path.is_empty() { name.to_owned() } else { format!("{path} {name}") };
        (found, command) = (below, next);
    }
    let given = |id: &str| found.value_source(id) == Some(ValueSource::CommandLine);
    let alone = NEEDS.iter().find(|(verb, option, needs)| *verb == path && given(option) && !given(needs));
    let Some((_, _, needs)) = alone else { return Ok(()) };
    let missing = command.get_arguments().find(|arg| arg.get_id() == *needs).map(ToString::to_string);
    let usage = command.render_usage();
    let mut error = Error::new(ErrorKind::MissingRequiredArgument).with_cmd(command);
    error.insert(ContextKind::InvalidArg, ContextValue::Strings(missing.into_iter().collect()));
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::{NEEDS, check};
    use report::Lang;
    use std::path::Path;

    fn refused(line: &str) -> Option<String> {
        let mut command = super::super::command(&Lang::new("en"));
        match command.try_get_matches_from_mut(line.split(' ')) {
            Ok(found) => check(&found, &mut command).err().map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }

    #[test]
    fn an_option_without_what_it_needs_is_not_passed_over() {
        for (line, missing) in [
            ("whichkernel source t --code f --type Q4_K", "--graph"),
            ("whichkernel source t --routing even --type Q4_K", "--graph"),
            ("whichkernel source t --graph m --route /x", "--chain"),
            ("whichkernel watch --read f --with w", "--certify"),
            ("whichkernel inspect f --kernels --against p", "--fingerprint"),
            ("whichkernel report --single-file --port 80", "--serve"),
            ("whichkernel explain --vulkan-device f mmq", "--backend"),
        ] {
            let said = refused(line).unwrap_or_else(|| panic!("{line}: taken"));
            assert!(said.contains(missing), "{line}: {said}");
        }
        for line in ["whichkernel source t --graph m --code f", "whichkernel source t --chain --route /x"] {
            assert_eq!(refused(line), None, "{line}");
        }
    }

    #[test]
    fn every_need_is_of_an_option_that_there_is() {
        let command = super::super::command(&Lang::new("en"));
        for (verb, option, needs) in NEEDS {
            let found = verb.split(' ').try_fold(&command, |command, name| command.find_subcommand(name));
            let found = found.unwrap_or_else(|| panic!("{verb}"));
            for id in [option, needs] {
                assert!(found.get_arguments().any(|arg| arg.get_id() == *id), "{verb}: {id}");
            }
        }
    }

    fn required(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries
            .map(|path| {
                if path.is_dir() {
                    return required(&path);
                }
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let attributes = text.lines().filter(|line| line.trim_start().starts_with("#[arg("));
                attributes
                    .map(|line| line.matches("requires = ").count() + 2 * line.matches("requires_all").count())
                    .sum()
            })
            .sum()
    }

    #[test]
    fn every_need_that_is_declared_stands_here() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        assert_eq!(required(&sources), NEEDS.len(), "add what `requires` says to NEEDS");
    }
}
