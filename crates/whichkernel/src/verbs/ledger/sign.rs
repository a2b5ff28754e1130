//! A key of the user, and its signature over the end of the ledger. If the signature is kept elsewhere, it later shows
//! whether rows were removed from the end.

use crate::context::Context;
use ledger::{Checkpoint, Hash, Reader, Signer, open_regular};
use say::{Context as _, bail, say};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::files::{self, Access};

#[derive(Debug, clap::Args)]
pub struct SignArgs {
    /// The private key from `ledger key new`
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Write the checkpoint to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
pub enum KeyArgs {
    /// Write a new private key to FILE, and the public one to FILE.pub
    New {
        /// The file to write; an existing file is not overwritten
        file: PathBuf,
        /// Owner of the key; included in every signature
        #[arg(long, value_name = "NAME", default_value = "whichkernel")]
        name: String,
    },
}

/// Reads a key or a checkpoint, which has a few lines.
pub fn small(path: &Path) -> say::Result<String> {
    let mut text = String::new();
    let read = open_regular(path).and_then(|file| file.take(1 << 20).read_to_string(&mut text));
    read.with_context(|| say!("command-cannot-read", path))?;
    Ok(text)
}

pub fn run(args: &SignArgs, context: &Context) -> say::Result<ExitCode> {
    let signer = Signer::parse(&small(&args.key)?).about(args.key.display())?;
    let reader = Reader::open(&context.ledger)?;
    let Some(ledger) = reader.id()? else {
        bail!("ledger-empty", dir = context.ledger);
    };
    // An incomplete ledger must not be signed.
    let proof = reader.verify(&mut |_| {})?;
    if let Some(problem) = proof.problems.first() {
        bail!("command-not-signed", problem);
    }
    let hash = proof.head.unwrap_or_else(|| Hash::genesis(&ledger));
    let note = Checkpoint { ledger, rows: proof.rows, hash }.sign(&signer);
    match &args.output {
        Some(path) => files::replace(path, Access::Public, note).with_context(|| say!("command-cannot-write", path))?,
        None => context.print(&note)?,
    }
    Ok(ExitCode::SUCCESS)
}

pub fn key(args: &KeyArgs, context: &Context) -> say::Result<ExitCode> {
    let KeyArgs::New { file, name } = args;
    let signer = Signer::generate(name)?;
    let mut public = file.clone().into_os_string();
    public.push(".pub");
    let public = PathBuf::from(public);
    let create = |path: &Path, access: Access, text: String| {
        let made = files::create_new(path, access);
        made.and_then(|mut made| writeln!(made, "{text}")).with_context(|| say!("command-cannot-write", path))
    };
    create(file, Access::Private, signer.encode())?;
    create(&public, Access::Public, signer.verifier().encode())?;
    let args = [("key", file.to_string_lossy().into()), ("public", public.to_string_lossy().into())];
    context.print(&format!("{}\n", context.lang.text_with("ledger-key-made", &args)))?;
    Ok(ExitCode::SUCCESS)
}
