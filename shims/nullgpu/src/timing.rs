//! The call that asks for a time.

use crate::event::asks;

asks! {
    extern fn hipEventElapsedTime(ms, from, to);
}
