//! Fixes for blocked observers and for cases, and drop-ins for systemd units.

use crate::servers::Unit;
use say::shell::CommandLine;
use say::{Key, Message, Say as _};

/// The fix: a command to run unchanged, or an instruction if no command does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// A command without a lasting effect, so that nothing needs to be undone.
    Run(CommandLine),
    /// A lasting change, with the command that undoes it.
    Change {
        run: CommandLine,
        undo: CommandLine,
    },
    Do(Message),
}

impl Fix {
    pub fn run(command: impl Into<CommandLine>) -> Option<Fix> {
        Some(Fix::Run(command.into()))
    }

    pub fn change(run: impl Into<CommandLine>, undo: impl Into<CommandLine>) -> Option<Fix> {
        Some(Fix::Change { run: run.into(), undo: undo.into() })
    }

    /// Changes a kernel setting. The undo command restores the original value.
    pub fn sysctl(name: &str, value: i64, found: i64) -> Option<Fix> {
        let set = |value: i64| CommandLine::new("sudo sysctl {}", [format!("{name}={value}")]);
        Fix::change(set(value), set(found))
    }

    pub fn say(key: Key) -> Option<Fix> {
        Some(Fix::Do(key.message()))
    }
}

/// Sets a variable for a systemd service, in a separate file that is easy to remove.
pub fn set_in_unit(unit: &Unit, variable: &str, value: &str) -> Fix {
    drop_in(unit, variable, &format!("Environment=\"{variable}={value}\""))
}

/// Removes one variable with a drop-in. An empty `Environment=` would remove all variables of the unit.
pub fn unset_in_unit(unit: &Unit, variable: &str) -> Fix {
    drop_in(unit, &format!("unset-{variable}"), &format!("UnsetEnvironment={variable}"))
}

fn drop_in(unit: &Unit, name: &str, line: &str) -> Fix {
    let service = unit.path.rsplit('/').next().unwrap_or_default();
    let dir = format!("/etc/systemd/system/{service}.d");
    let file = format!("{dir}/whichkernel-{name}.conf");
    let restart = CommandLine::new("sudo systemctl daemon-reload && sudo systemctl restart {}", [service]);
    let write = CommandLine::new(
        "sudo mkdir -p {} && printf '%s\\n' '[Service]' {} | sudo tee {} >/dev/null",
        [dir.as_str(), line, &file],
    );
    Fix::Change { run: write.and(&restart), undo: CommandLine::new("sudo rm {}", [file]).and(&restart) }
}
