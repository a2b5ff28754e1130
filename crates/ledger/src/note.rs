//! Signed notes: a text, a blank line, and lines of signatures (C2SP `signed-note`, the format of Go's checksum
//! database and of transparency logs). Keys use the same encoding, so that other tools can verify our signatures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_compact::{KeyPair, PublicKey, Seed, Signature};
use sha2::{Digest, Sha256};

/// The signature type of Ed25519 in a key's encoding.
const ED25519: u8 = 1;
/// The limits of Go's reader, so that both readers accept the same notes.
const LONGEST: usize = 1 << 20;
const SIGNATURES: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteError {
    Key(say::Key),
    Note(say::Key),
    NotSigned { name: String, id: u32 },
    Forged { name: String },
    Random(String),
}

say::worded! { NoteError {
    Key(why) => "ledger-note-key",
    Note(why) => "ledger-note-note",
    NotSigned { name, id } => "ledger-note-not-signed" (name, id = format!("{id:08x}")),
    Forged { name } => "ledger-note-forged",
    Random(why) => "ledger-note-random",
}}

/// A signing key. Its encoding is a secret.
pub struct Signer {
    name: String,
    key: KeyPair,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer({})", self.name)
    }
}

/// A public key that verifies signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verifier {
    name: String,
    key: PublicKey,
}

/// A name may not contain spaces or `+`, because they separate the fields.
fn check_name(name: &str) -> Result<(), NoteError> {
    let bad = name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+');
    if bad { Err(NoteError::Key(say::key!("ledger-key-name"))) } else { Ok(()) }
}

fn key_id(name: &str, key: &PublicKey) -> u32 {
    let mut sha = Sha256::new();
    sha.update(name.as_bytes());
    sha.update([b'\n', ED25519]);
    sha.update(key.as_ref());
    let digest: [u8; 32] = sha.finalize().into();
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

/// Parses `NAME+ID+BASE64`, where BASE64 encodes the type and 32 bytes of key.
fn parse_key(text: &str) -> Result<(String, u32, [u8; 32]), NoteError> {
    let mut fields = text.trim().splitn(3, '+');
    let (Some(name), Some(id), Some(data)) = (fields.next(), fields.next(), fields.next()) else {
        return Err(NoteError::Key(say::key!("ledger-key-form")));
    };
    check_name(name)?;
    let id = Some(id).filter(|id| id.len() == 8).and_then(|id| u32::from_str_radix(id, 16).ok());
    let id = id.ok_or(NoteError::Key(say::key!("ledger-key-id")))?;
    let data = STANDARD.decode(data).map_err(|_| NoteError::Key(say::key!("ledger-key-base64")))?;
    match data.split_first() {
        Some((&ED25519, key)) => {
            let key = key.try_into().map_err(|_| NoteError::Key(say::key!("ledger-key-length")))?;
            Ok((name.to_owned(), id, key))
        }
        _ => Err(NoteError::Key(say::key!("ledger-key-kind"))),
    }
}

fn encode_key(name: &str, id: u32, key: &[u8]) -> String {
    let mut data = vec![ED25519];
    data.extend_from_slice(key);
    format!("{name}+{id:08x}+{}", STANDARD.encode(data))
}

const PRIVATE: &str = "PRIVATE+KEY+";

impl Signer {
    /// A new key, from the system's random numbers.
    pub fn generate(name: &str) -> Result<Signer, NoteError> {
        check_name(name)?;
        let seed = sys::random::secret::<32>().map_err(|error| NoteError::Random(error.to_string()))?;
        Ok(Signer { name: name.to_owned(), key: KeyPair::from_seed(Seed::new(seed)) })
    }

    pub fn parse(text: &str) -> Result<Signer, NoteError> {
        let rest = text.trim().strip_prefix(PRIVATE).ok_or(NoteError::Key(say::key!("ledger-key-private")))?;
        let (name, id, seed) = parse_key(rest)?;
        let signer = Signer { name, key: KeyPair::from_seed(Seed::new(seed)) };
        if key_id(&signer.name, &signer.key.pk) != id {
            return Err(NoteError::Key(say::key!("ledger-key-fit")));
        }
        Ok(signer)
    }

    pub fn encode(&self) -> String {
        let id = key_id(&self.name, &self.key.pk);
        format!("{PRIVATE}{}", encode_key(&self.name, id, self.key.sk.seed().as_ref()))
    }

    pub fn verifier(&self) -> Verifier {
        Verifier { name: self.name.clone(), key: self.key.pk }
    }

    /// Signs a text, which must end with a newline but not with a blank line.
    pub fn sign(&self, text: &str) -> String {
        let mut data = key_id(&self.name, &self.key.pk).to_be_bytes().to_vec();
        data.extend_from_slice(self.key.sk.sign(text.as_bytes(), None).as_ref());
        format!("{text}\n\u{2014} {} {}\n", self.name, STANDARD.encode(data))
    }
}

impl Verifier {
    pub fn parse(text: &str) -> Result<Verifier, NoteError> {
        let (name, id, key) = parse_key(text)?;
        let verifier = Verifier { name, key: PublicKey::new(key) };
        if key_id(&verifier.name, &verifier.key) != id {
            return Err(NoteError::Key(say::key!("ledger-key-fit")));
        }
        Ok(verifier)
    }

    pub fn encode(&self) -> String {
        encode_key(&self.name, key_id(&self.name, &self.key), self.key.as_ref())
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the note's text if this key's signature is valid. Signatures by other keys are ignored.
    pub fn open<'a>(&self, note: &'a str) -> Result<&'a str, NoteError> {
        if note.len() > LONGEST || note.contains(|c: char| c < ' ' && c != '\n') {
            return Err(NoteError::Note(say::key!("ledger-note-long")));
        }
        let split = note.rfind("\n\n").ok_or(NoteError::Note(say::key!("ledger-note-blank")))?;
        let (text, signatures) = (&note[..split + 1], &note[split + 2..]);
        if !signatures.ends_with('\n') || signatures.lines().count() > SIGNATURES {
            return Err(NoteError::Note(say::key!("ledger-note-end")));
        }
        let id = key_id(&self.name, &self.key);
        let mut found = false;
        for line in signatures.lines() {
            let malformed = NoteError::Note(say::key!("ledger-note-line"));
            let (name, data) =
                line.strip_prefix("\u{2014} ").and_then(|rest| rest.split_once(' ')).ok_or(malformed.clone())?;
            let data = STANDARD.decode(data).map_err(|_| malformed.clone())?;
            let (theirs, signature) = data.split_at_checked(4).ok_or(malformed)?;
            if name != self.name || theirs != id.to_be_bytes() || found {
                continue;
            }
            let forged = || NoteError::Forged { name: self.name.clone() };
            let signature = Signature::from_slice(signature).map_err(|_| forged())?;
            self.key.verify(text.as_bytes(), &signature).map_err(|_| forged())?;
            found = true;
        }
        if found { Ok(text) } else { Err(NoteError::NotSigned { name: self.name.clone(), id }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys and a note signed by both, from note_test.go of golang.org/x/mod/sumdb/note.
    const PETER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const ENOCH: &str = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop";
    const TEXT: &str =
        "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
    const BY_PETER: &str = "\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
    const BY_ENOCH: &str = "\u{2014} EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n";

    #[test]
    fn notes_that_others_signed_are_read() {
        let note = format!("{TEXT}\n{BY_PETER}{BY_ENOCH}");
        for key in [PETER, ENOCH] {
            let verifier = Verifier::parse(key).unwrap();
            assert_eq!(verifier.encode(), key);
            assert_eq!(verifier.open(&note), Ok(TEXT));
        }
        let peter = Verifier::parse(PETER).unwrap();
        let altered = note.replacen("cryptography", "steganography", 1);
        assert!(matches!(peter.open(&altered), Err(NoteError::Forged { .. })));
        let other = format!("{TEXT}\n{BY_ENOCH}");
        assert!(matches!(peter.open(&other), Err(NoteError::NotSigned { .. })));
        for bad in ["", TEXT, &format!("{TEXT}\nno signature\n"), &note[..note.len() - 1], &note.replace(' ', "\r ")] {
            assert!(matches!(peter.open(bad), Err(NoteError::Note(_))), "{bad}");
        }
    }

    #[test]
    fn what_is_signed_here_is_read_here_and_keys_survive_their_encoding() {
        let signer = Signer::generate("example.com/whichkernel").unwrap();
        let again = Signer::parse(&signer.encode()).unwrap();
        let note = again.sign("one\n2\n");
        let verifier = Verifier::parse(&format!("{}\n", signer.verifier().encode())).unwrap();
        assert_eq!(verifier.open(&note), Ok("one\n2\n"));
        assert!(Signer::generate("with space").is_err() && Signer::generate("a+b").is_err());
        assert!(Verifier::parse(&PETER.replace("c74f20a3", "c74f20a4")).is_err());
        assert!(!format!("{signer:?}").contains("PRIVATE"));
    }
}
