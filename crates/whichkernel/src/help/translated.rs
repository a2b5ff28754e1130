//! The command definition in another language: every text is looked up by its English in `locales/ja/help.tsv`.
//!
//! clap writes the headings and its own flags in English; they are set here. It wraps only at spaces, which Japanese
//! does not have, so texts are put on separate lines and wrapped before clap sees them.

use clap::builder::{PossibleValue, StyledStr};
use clap::{Arg, ArgAction, Command};
use report::{Lang, help_text};

/// clap's indentation of a text on its own line.
const INDENT: usize = 10;

pub fn translated(command: Command, lang: &Lang, width: usize) -> Command {
    // clap's own additions (help, version) exist only after it has built the command.
    let mut command = command;
    command.build();
    below(command, lang, width)
}

fn below(command: Command, lang: &Lang, width: usize) -> Command {
    // clap's own `help` has clap's text.
    let about = match command.get_name() {
        "help" => Some(lang.text("help-flag-help")),
        _ => command.get_about().map(|text| say(text, lang)),
    };
    let long = command.get_long_about().map(|text| say(text, lang));
    let mut command = command
        .next_line_help(true)
        .subcommand_help_heading(lang.text("help-heading-commands"))
        .subcommand_value_name(lang.text("help-value-command"))
        .help_template(format!(
            "{{about-with-newline}}\n{} {{usage}}\n\n{{all-args}}{{after-help}}",
            lang.text("help-heading-usage")
        ));
    if let Some(about) = about {
        command = command.about(wrapped(&about, width));
    }
    if let Some(long) = long {
        command = command.long_about(wrapped(&long, width));
    }
    let command = command.mut_args(|arg| argument(arg, lang, width));
    command.mut_subcommands(|one| below(one, lang, width))
}

fn argument(arg: Arg, lang: &Lang, width: usize) -> Arg {
    let heading = if arg.is_positional() { "help-heading-arguments" } else { "help-heading-options" };
    let help = whole(&arg, arg.get_help(), lang, width);
    let long = arg.get_long_help().map(|text| whole(&arg, Some(text), lang, width));
    // An explicit heading in the definition is kept.
    let mut arg = if arg.get_help_heading().is_none() { arg.help_heading(lang.text(heading)) } else { arg };
    arg = arg.hide_default_value(true).hide_possible_values(true).help(help);
    if let Some(long) = long {
        arg = arg.long_help(long);
    }
    arg
}

/// The text, plus clap's usual additions: possible values and the default.
fn whole(arg: &Arg, text: Option<&StyledStr>, lang: &Lang, width: usize) -> String {
    let mut out = match arg.get_action() {
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong => lang.text("help-flag-help"),
        ArgAction::Version => lang.text("help-flag-version"),
        _ => text.map(|text| say(text, lang)).unwrap_or_default(),
    };
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let values: Vec<PossibleValue> = if takes { arg.get_possible_values() } else { Vec::new() };
    let values: Vec<&str> = values.iter().filter(|value| !value.is_hide_set()).map(PossibleValue::get_name).collect();
    let mut add = |key: &str, value: String| {
        out.push_str(if out.is_empty() { "" } else { " " });
        out.push_str(&lang.text_with(key, &[("value", value.into())]));
    };
    if !values.is_empty() {
        add("help-values", values.join(", "));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes && !defaults.is_empty() {
        add("help-default", defaults.join(","));
    }
    wrapped(&out, width.saturating_sub(INDENT))
}

fn say(text: &StyledStr, lang: &Lang) -> String {
    help_text(lang, &text.to_string()).into_owned()
}

fn wrapped(text: &str, width: usize) -> String {
    text.lines().map(|line| report::wrap(line, width).join("\n")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use crate::Cli;
    use clap::{Arg, Command, CommandFactory as _};
    use report::Lang;
    use std::collections::BTreeSet;

    fn texts(command: &Command, found: &mut BTreeSet<String>) {
        let of = |arg: &Arg| [arg.get_help().map(ToString::to_string), arg.get_long_help().map(ToString::to_string)];
        let own = [command.get_about().map(ToString::to_string), command.get_long_about().map(ToString::to_string)];
        found.extend(own.into_iter().flatten());
        found.extend(command.get_arguments().flat_map(of).flatten());
        for below in command.get_subcommands() {
            texts(below, found);
        }
    }

    #[test]
    fn every_verb_flag_and_schema_has_its_japanese_and_nothing_else_has() {
        let mut there = BTreeSet::new();
        texts(&Cli::command(), &mut there);
        there.extend(crate::answers::all().iter().map(answer::Kind::about));
        assert!(there.len() > 150, "{}", there.len());
        let known: BTreeSet<String> = report::help_texts().map(str::to_owned).collect();
        let missing: Vec<_> = there.difference(&known).map(|text| text.replace('\n', "\\n")).collect();
        let stale: Vec<_> = known.difference(&there).collect();
        assert!(missing.is_empty(), "not in crates/say/locales/ja/help.tsv:\n{}", missing.join("\n"));
        assert!(stale.is_empty(), "in help.tsv, and no help says it:\n{stale:#?}");
    }

    #[test]
    fn a_flag_that_has_no_text_at_all_is_none() {
        fn look(command: &Command) {
            for arg in command.get_arguments() {
                assert!(arg.get_help().is_some(), "{} --{} has no text", command.get_name(), arg.get_id());
            }
            command.get_subcommands().for_each(look);
        }
        look(&Cli::command());
    }

    #[test]
    fn headings_and_defaults_are_japanese() {
        let line = ["whichkernel", "explain", "--help"];
        let help = super::super::command(&Lang::new("ja")).try_get_matches_from(line).expect_err("help").to_string();
        for english in ["Usage", "Options", "Arguments", "default", "possible", "Print", "Commands"] {
            assert!(!help.contains(english), "{english}: {help}");
        }
    }
}
