//! The same investigation with other texts: for a copy in which names are replaced.

use super::{Ask, Investigation, Question, Stated, Words};
use crate::{About, Claim, Expected, Scope, Value};

impl Investigation {
    /// Every text that comes from a person or a machine. Ids, topics and hashes stay.
    pub fn mapped(self, to: &dyn Fn(&str) -> String) -> Investigation {
        let map = Map(to);
        Investigation {
            title: map.words(self.title),
            subject: map.scope(self.subject),
            phases: self.phases.into_iter().map(|(id, words)| (id, map.words(words))).collect(),
            pages: self.pages.into_iter().map(|(id, words)| (id, map.words(words))).collect(),
            claims: self.claims.into_iter().map(|stated| map.stated(stated)).collect(),
            questions: self.questions.into_iter().map(|question| map.question(question)).collect(),
        }
    }
}

struct Map<'a>(&'a dyn Fn(&str) -> String);

impl Map<'_> {
    fn text(&self, text: &str) -> String {
        (self.0)(text)
    }

    /// A command with placeholders, which stay: `{runtime}`, `{source:rocBLAS}`.
    fn command(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, (name, after))) =
            rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            out.push_str(&format!("{}{{{name}}}", self.text(before)));
            rest = after;
        }
        out + &self.text(rest)
    }

    fn words(&self, words: Words) -> Words {
        Words { en: self.text(&words.en), ja: self.text(&words.ja) }
    }

    fn scope(&self, scope: Scope) -> Scope {
        let text = |part: &Option<String>| part.as_deref().map(|part| self.text(part));
        let (runtime, file, source) = (text(&scope.runtime), text(&scope.file), text(&scope.source));
        let (model, host) = (text(&scope.model), text(&scope.host));
        Scope { runtime, file, source, model, host, ..scope }
    }

    fn about(&self, about: &About) -> About {
        About::new(about.0.iter().map(|(key, value)| (key.clone(), self.text(value))))
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::Text(text) => Value::Text(self.text(&text)),
            Value::List(items) => Value::List(items.into_iter().map(|item| self.value(item)).collect()),
            other => other,
        }
    }

    fn expected(&self, expected: Expected) -> Expected {
        match expected {
            Expected::Equals(value) => Expected::Equals(self.value(value)),
            Expected::OneOf(all) => Expected::OneOf(all.into_iter().map(|value| self.value(value)).collect()),
            Expected::Contains(value) => Expected::Contains(self.value(value)),
            Expected::Lacks(value) => Expected::Lacks(self.value(value)),
            Expected::Matches(text) => Expected::Matches(self.text(&text)),
            other => other,
        }
    }

    fn stated(&self, stated: Stated) -> Stated {
        let Claim { about, expected, scope, .. } = &stated.claim;
        let (about, expected, scope) = (self.about(about), self.expected(expected.clone()), self.scope(scope.clone()));
        let claim = Claim { about, expected, scope, ..stated.claim };
        Stated {
            claim,
            words: self.words(stated.words),
            closes: self.command(&stated.closes),
            shows: stated.shows.map(|words| self.words(words)),
            cannot: stated.cannot.map(|words| self.words(words)),
            ..stated
        }
    }

    fn ask(&self, ask: Ask) -> Ask {
        let about = self.about(&ask.about);
        Ask { about, scope: self.scope(ask.scope), yes: ask.yes.map(|yes| self.expected(yes)), ..ask }
    }

    fn question(&self, question: Question) -> Question {
        Question {
            words: self.words(question.words),
            closes: self.command(&question.closes),
            ask: question.ask.map(|ask| self.ask(ask)),
            live: question.live.map(|ask| self.ask(ask)),
            elsewhere: question.elsewhere.map(|ask| self.ask(ask)),
            ..question
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::default_investigation;

    #[test]
    fn every_text_is_reached_and_nothing_else() {
        let notes = default_investigation().unwrap();
        assert_eq!(notes.clone().mapped(&str::to_owned), notes);
        let other = notes.clone().mapped(&|text| text.replace("ollama", "O"));
        let ids = |all: &crate::Investigation| -> Vec<String> {
            all.claims.iter().map(|stated| format!("{} {}", stated.claim.id, stated.claim.topic)).collect()
        };
        assert_eq!(ids(&other), ids(&notes));
        assert_eq!(
            other.subject.runtime.as_deref(),
            notes.subject.runtime.as_deref().map(|name| name.replace("ollama", "O")).as_deref()
        );
        for (stated, before) in other.claims.iter().zip(&notes.claims) {
            assert!(!stated.words.en.contains("ollama"), "{stated:?}");
            assert_eq!(stated.closes.matches('{').count(), before.closes.matches('{').count(), "{stated:?}");
        }
        let map = super::Map(&|text| text.to_uppercase());
        assert_eq!(map.command("source {tree@1} --a {runtime}/b"), "SOURCE {tree@1} --A {runtime}/B");
    }
}
