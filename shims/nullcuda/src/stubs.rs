//! All other public functions: they return "not supported" in the numbers of their library, and record their name.

use crate::error::{NOT_SUPPORTED, Status, keep};
use crate::record::{Text, kind};
use crate::{trace, world};

pub fn unsupported(name: &[u8]) -> Status {
    note(name);
    keep(NOT_SUPPORTED)
}

/// Records a call whose effect is not, or not fully, reproduced.
pub fn note(name: &[u8]) {
    world::world();
    world::record(kind::UNSUPPORTED, &[trace::bytes(&Text { len: name.len() as u32, reserved: 0 }), name]);
}

macro_rules! stubs {
    ($($status:literal { $($name:ident)* })*) => {$($(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Status {
            note(stringify!($name).as_bytes());
            $status
        }
    )*)*};
}

include!(env!("WHICHKERNEL_STUBS"));
