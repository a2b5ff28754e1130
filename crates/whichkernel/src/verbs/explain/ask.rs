//! The question: a term, or words that the crate `source` understands.

use super::Args;
use doctor::{Facts, Host};
use report::{Lang, Term};
use source::Device;
use source::explain::Question;
use source::words::{Surroundings, Words, joined, types};

pub enum Asked {
    Term(Term),
    Kernel(Question),
}

pub fn asked(args: &Args, lang: &Lang) -> say::Result<Asked> {
    // A name of several words without quotes: `rx 9070 xt`.
    let words = joined(&args.words);
    let plain = args.gpu.is_none() && args.ty.is_none() && args.columns.is_none() && args.version.is_none();
    if let ([word], true) = (words.as_slice(), plain)
        && let Some(term) = report::term(lang, word)
        && Device::find(word).is_err()
    {
        return Ok(Asked::Term(term));
    }
    let words = Words {
        words,
        gpu: args.gpu.clone(),
        kind: args.ty.clone(),
        columns: args.columns,
        version: args.version.clone(),
    };
    words.question(&ThisMachine).map(Asked::Kernel)
}

struct ThisMachine;

impl Surroundings for ThisMachine {
    fn model_file(&self, word: &str) -> Option<String> {
        let path = std::path::Path::new(word);
        if !word.ends_with(".gguf") || !path.is_file() {
            return None;
        }
        let header = server::claims::model_header(sys::regular_file::open(path).ok()?)?;
        let model = why::Model::read(&header, word);
        model.file_type.filter(|kind| types(kind).is_some()).or(model.main_type)
    }

    fn gpu(&self) -> Option<String> {
        Facts::read(&Host::this()).only_gpu().and_then(|gpu| gpu.card.clone().or_else(|| gpu.target.clone()))
    }

    fn terms(&self) -> Vec<&'static str> {
        report::terms().collect()
    }
}
