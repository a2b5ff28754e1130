//! `--key-env` and `--key-file`: the API key of the server that the same command line names.

use server::Key;
use std::path::PathBuf;

#[derive(Debug, Clone, clap::Args)]
pub struct KeyArgs {
    /// The environment variable that holds the server's API key. The key is sent only to that server
    #[arg(long, value_name = "NAME", conflicts_with = "key_file")]
    key_env: Option<String>,

    /// A file that holds the server's API key and that no other user can read
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

impl KeyArgs {
    /// `named`: the command line says which server the key is for. The key is never sent to a discovered server.
    pub fn read(&self, named: bool) -> say::Result<Option<Key>> {
        let key = match (&self.key_env, &self.key_file) {
            (Some(name), _) => Key::from_env(name)?,
            (None, Some(path)) => Key::from_file(path)?,
            (None, None) => return Ok(None),
        };
        say::ensure!(named, "command-key-server");
        Ok(Some(key))
    }
}
