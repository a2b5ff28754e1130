//! Field of view: what an observer would have seen if it had happened. It is stated before the observer runs.

use crate::fact::glob;
use crate::{About, Fact};
use say::{Kept, Key, Lang, Message, Say as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One topic in view (`kernel`, `library.*`), optionally restricted to some parameters.
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

    /// Whether this fact is in view.
    pub fn shows(&self, fact: &Fact) -> bool {
        glob(&fact.topic, &self.topic) && fact.about.speaks_for(&self.about)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldOfView {
    pub views: Vec<View>,
    /// The observed calls, processes or files, in words.
    #[serde(default)]
    pub reach: String,
    /// What it can never see: `kernels launched before the attach`, `static runtimes`.
    #[serde(default)]
    pub blind: Vec<String>,
    /// `reach` as a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach_said: Option<Message>,
    /// `blind` as messages, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blind_said: Vec<Message>,
}

impl FieldOfView {
    pub fn new(views: Vec<View>) -> Self {
        FieldOfView { views, ..FieldOfView::default() }
    }

    /// A view of one topic with any parameters.
    pub fn topic(topic: impl Into<String>) -> Self {
        FieldOfView::new(vec![View::new(topic)])
    }

    pub fn reach(self, reach: Message) -> Self {
        let Kept { english, said } = reach.into();
        FieldOfView { reach: english, reach_said: said, ..self }
    }

    pub fn blind(mut self, spot: Key) -> Self {
        self.blind.push(spot.message().to_string());
        self.blind_said.push(spot.message());
        self
    }

    /// The calls, processes or files in reach, in the reader's language.
    pub fn reach_in(&self, lang: &Lang) -> String {
        say::kept(lang, self.reach_said.as_ref(), &self.reach)
    }

    /// The observer's blind spots, in the reader's language.
    pub fn blind_in(&self, lang: &Lang) -> Vec<String> {
        let spot = |(at, english): (usize, &String)| say::kept(lang, self.blind_said.get(at), english);
        self.blind.iter().enumerate().map(spot).collect()
    }

    /// Whether the fact is in the observer's field of view. If the view is restricted to a parameter, `asked` must give
    /// a value inside the restriction.
    pub fn covers(&self, topic: &str, asked: &About) -> bool {
        self.views.iter().any(|view| glob(topic, &view.topic) && asked.speaks_for(&view.about))
    }
}
