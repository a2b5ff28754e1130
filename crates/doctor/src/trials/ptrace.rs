//! Can a process of ours attach to one that is not its child?

use crate::trials::Trial;

pub fn seize_sibling() -> Trial {
    match sys::trial::seize_sibling() {
        Ok(()) => Trial::worked("PTRACE_SEIZE"),
        Err(refused) => Trial::refused(refused.call, &refused.error),
    }
}
