//! One request and its response, with the launches that the server made meanwhile.

use crate::launches::Launch;
use std::ops::{Deref, DerefMut};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exchange {
    pub said: server::Exchange,
    /// None if launches were not observed. Never read from a file.
    pub launches: Option<Vec<Launch>>,
}

impl From<server::Exchange> for Exchange {
    fn from(said: server::Exchange) -> Exchange {
        Exchange { said, launches: None }
    }
}

impl Deref for Exchange {
    type Target = server::Exchange;

    fn deref(&self) -> &server::Exchange {
        &self.said
    }
}

impl DerefMut for Exchange {
    fn deref_mut(&mut self) -> &mut server::Exchange {
        &mut self.said
    }
}
