//! The observers. The only room with privileged system calls.
