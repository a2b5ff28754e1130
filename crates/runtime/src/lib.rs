//! Runtimes on this machine or in the cache: finding, fetching, fingerprinting, running.
