//! Answers that are too large for a message: kept under an address for a while; the oldest are dropped first.

use std::collections::VecDeque;

/// A document with an address.
#[derive(Debug, Clone)]
pub struct Document {
    pub uri: String,
    pub name: String,
    pub description: String,
    pub text: String,
}

/// The maximum number of documents, and of their bytes in total.
const MOST: usize = 16;
const BYTES: usize = 256 << 20;

#[derive(Debug, Default)]
pub struct Kept {
    documents: VecDeque<Document>,
    made: u64,
}

impl Kept {
    /// Stores a document and returns the address under which it can be read.
    pub fn keep(&mut self, tool: &str, description: String, text: String) -> String {
        self.made += 1;
        let uri = format!("whichkernel://answer/{}", self.made);
        let name = format!("{tool}-{}.json", self.made);
        self.documents.push_back(Document { uri: uri.clone(), name, description, text });
        let bytes = |documents: &VecDeque<Document>| documents.iter().map(|one| one.text.len()).sum::<usize>();
        while self.documents.len() > MOST || (self.documents.len() > 1 && bytes(&self.documents) > BYTES) {
            self.documents.pop_front();
        }
        uri
    }

    pub fn all(&self) -> impl Iterator<Item = &Document> {
        self.documents.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first() {
        let mut kept = Kept::default();
        let first = kept.keep("isa", String::new(), "1".into());
        for _ in 0..MOST {
            kept.keep("isa", String::new(), "2".into());
        }
        assert_eq!(kept.all().count(), MOST);
        assert!(kept.all().all(|document| document.uri != first));
    }
}
