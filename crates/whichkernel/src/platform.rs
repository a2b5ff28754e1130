//! The system requirements of each command: they are checked before it begins, and the error names an alternative.

use crate::command_line::Verb;
use crate::verbs::watch::How;
use say::{Key, bail, key};
use sys::support::{Need, missing};

/// Returns an error if this system lacks a feature that the command needs.
pub fn check(verb: Option<&Verb>) -> say::Result<()> {
    let (need, verb, because, instead) = match verb {
        None => (Need::Linux, "whichkernel", key!("command-because-machine"), key!("command-instead-explain")),
        Some(Verb::Agent(args)) if args.print.is_none() => {
            (Need::Shims, "whichkernel agent", key!("command-because-probes"), key!("command-instead-read"))
        }
        Some(Verb::Doctor(_)) => {
            (Need::Linux, "whichkernel doctor", key!("command-because-machine"), key!("command-instead-inspect"))
        }
        Some(Verb::Dryrun(_)) => {
            (Need::Shims, "whichkernel dryrun", key!("command-because-stand-in"), key!("command-instead-explain"))
        }
        Some(Verb::Investigate(_)) => {
            (Need::Linux, "whichkernel investigate", key!("command-because-observers"), key!("command-instead-check"))
        }
        Some(Verb::Runtime(_)) => {
            (Need::Linux, "whichkernel runtime", key!("command-because-packages"), key!("command-instead-inspect"))
        }
        Some(Verb::Mcp(_)) => {
            (Need::Linux, "whichkernel mcp", key!("command-because-landlock"), key!("command-instead-json"))
        }
        Some(Verb::Watch(args)) if args.read.is_none() => {
            let need = if args.how == How::Logs { Need::Linux } else { Need::Shims };
            (need, "whichkernel watch", key!("command-because-probes"), key!("command-instead-read"))
        }
        Some(Verb::Why(args)) if !args.is_about_a_file() => {
            (Need::Linux, "whichkernel why", key!("command-because-server"), key!("command-instead-model"))
        }
        Some(Verb::Report(args)) if args.serve => {
            (Need::Linux, "whichkernel report --serve", key!("command-because-visitors"), key!("command-instead-pages"))
        }
        Some(Verb::Probe(args)) if args.watches() => {
            (Need::Shims, "whichkernel probe --watch", key!("command-because-probes"), key!("command-instead-probe"))
        }
        Some(Verb::Probe(args)) if args.looks_for_a_server() => {
            (Need::Linux, "whichkernel probe", key!("command-because-sockets"), key!("command-instead-url"))
        }
        Some(_) => return Ok(()),
    };
    needs(need, verb, because, instead)
}

/// Returns an error if this system lacks `need`.
fn needs(need: Need, verb: &str, because: Key, instead: Key) -> say::Result<()> {
    match missing(need) {
        None => Ok(()),
        Some(only) => bail!("command-not-here", verb, only, because, instead),
    }
}

/// Processes are read from /proc.
pub fn inspects_processes() -> say::Result<()> {
    needs(Need::Linux, "whichkernel inspect PID", key!("command-because-maps"), key!("command-instead-inspect"))
}
