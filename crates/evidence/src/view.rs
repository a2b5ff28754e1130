//! Field of view: what an observer would have seen if it had happened, stated before it runs.

use crate::fact::glob;
use crate::{About, Fact};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing in view: a topic (`kernel`, `library.*`), restricted to some parameters or to none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct View {
    pub topic: String,
    #[serde(default)]
    pub about: About,
}

impl View {
    pub fn new(topic: impl Into<String>) -> Self {
        View { topic: topic.into(), about: About::default() }
    }

    pub fn only<K: Into<String>, V: Into<String>>(self, pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        View { about: About::new(pairs), ..self }
    }

    /// Is this fact one of those in view?
    pub fn shows(&self, fact: &Fact) -> bool {
        glob(&fact.topic, &self.topic) && fact.about.speaks_for(&self.about)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldOfView {
    pub views: Vec<View>,
    /// Which calls, processes, files, in words.
    #[serde(default)]
    pub reach: String,
    /// What it cannot see by its nature: `kernels launched before the attach`, `static runtimes`.
    #[serde(default)]
    pub blind: Vec<String>,
}

impl FieldOfView {
    pub fn new(views: Vec<View>) -> Self {
        FieldOfView { views, ..FieldOfView::default() }
    }

    /// One topic, whatever it is about.
    pub fn topic(topic: impl Into<String>) -> Self {
        FieldOfView::new(vec![View::new(topic)])
    }

    pub fn reach(self, reach: impl Into<String>) -> Self {
        FieldOfView { reach: reach.into(), ..self }
    }

    pub fn blind(mut self, spot: impl Into<String>) -> Self {
        self.blind.push(spot.into());
        self
    }

    /// Would it have been seen? Where the view is restricted to a parameter, what is asked must name one inside.
    pub fn covers(&self, topic: &str, asked: &About) -> bool {
        self.views.iter().any(|view| glob(topic, &view.topic) && asked.speaks_for(&view.about))
    }
}
