//! Every target of `dev/fuzz` in one program, so that the instrumented crates are linked once: `WHICHKERNEL_FUZZ=gguf`
//! selects one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

fuzz_target!(|data: &[u8]| {
    static TARGET: OnceLock<&'static fuzz::Target> = OnceLock::new();
    let target = TARGET.get_or_init(|| {
        let wanted = std::env::var("WHICHKERNEL_FUZZ").unwrap_or_default();
        let names: Vec<&str> = fuzz::TARGETS.iter().map(|target| target.name).collect();
        let found = fuzz::TARGETS.iter().find(|target| target.name == wanted);
        found.unwrap_or_else(|| panic!("WHICHKERNEL_FUZZ is {wanted:?}; it takes one of {}", names.join(", ")))
    });
    (target.try_on)(data);
});
