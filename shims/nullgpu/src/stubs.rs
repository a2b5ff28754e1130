//! All other calls of the real library: they return "not supported" and record their name.

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
    crate::world::record(kind::UNSUPPORTED, &[trace::bytes(&Text { len: name.len() as u32, reserved: 0 }), name]);
}

macro_rules! stubs {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Status {
            unsupported(stringify!($name).as_bytes())
        }
    )*};
}

include!(env!("WHICHKERNEL_STUBS"));
