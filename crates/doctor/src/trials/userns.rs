//! May an unprivileged process have its own user and mount namespace, map itself to root there and chroot?
//!
//! The dry run enters an unpacked distribution that way.

use crate::trials::Trial;

pub fn enter() -> Trial {
    match sys::trial::own_namespaces() {
        Ok(()) => Trial::worked("unshare, uid_map, chroot"),
        Err(refused) => Trial::refused(refused.call, &refused.error),
    }
}
