//! The calls that ask for a time.

use crate::event::asks;

asks! {
    extern fn cudaEventElapsedTime(ms, from, to);
    extern fn cudaEventElapsedTime_v2(ms, from, to);
    extern fn cuEventElapsedTime(ms, from, to);
    extern fn cuEventElapsedTime_v2(ms, from, to);
}
