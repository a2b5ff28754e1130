//! Decodes many observations from the ledger's bytes. Common parts (observer, subject, view, coverage, ...) are read
//! once and shared; for unwanted observations only a [`Glance`] is built.
//!
//! Rows of one run usually differ only in their finding. If the bytes before and after a row's finding are the same as
//! in the previous row, only the finding is parsed. For other rows, the fields are cut out unparsed. A field whose
//! bytes were seen before reuses its parsed value.

use crate::glance::{Found, Glance, Saw, Who};
use crate::observation::{Finding, Observation, Plain, Recorded};
use crate::{About, Bound, Canary, Contamination, Coverage, Evidence, Fact, FieldOfView, ObserverId, Rung, Subject};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// `Plain` with its fields cut out but not parsed yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cut<'a> {
    #[serde(borrow)]
    observer: &'a RawValue,
    rung: Rung,
    #[serde(borrow)]
    subject: &'a RawValue,
    #[serde(borrow)]
    finding: &'a RawValue,
    #[serde(borrow, default)]
    view: Option<&'a RawValue>,
    #[serde(borrow)]
    coverage: &'a RawValue,
    #[serde(borrow)]
    contamination: &'a RawValue,
    #[serde(borrow)]
    canary: &'a RawValue,
    #[serde(borrow)]
    time: &'a RawValue,
    #[serde(borrow, default)]
    evidence: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CutFinding<'a> {
    #[serde(borrow)]
    Saw(CutFact<'a>),
    Swept,
    Blocked {
        why: String,
        fix: String,
        #[serde(default)]
        said: Option<say::Message>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CutFact<'a> {
    #[serde(borrow)]
    topic: Cow<'a, str>,
    #[serde(borrow, default)]
    about: Option<&'a RawValue>,
    #[serde(borrow)]
    value: &'a RawValue,
    #[serde(default)]
    bound: Bound,
}

/// The bytes before and after a row's finding, and the values parsed from them.
#[derive(Debug)]
struct Frame {
    before: String,
    behind: String,
    observer: Arc<ObserverId>,
    rung: Rung,
    subject: Arc<Subject>,
    view: Arc<FieldOfView>,
    coverage: Arc<Coverage>,
    contamination: Arc<Contamination>,
    canary: Arc<Canary>,
    time: Arc<str>,
    evidence: Arc<Vec<Evidence>>,
}

impl Frame {
    /// The finding of `text`, if the bytes around it are the same.
    fn holds<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.strip_prefix(self.before.as_str())?.strip_suffix(self.behind.as_str())
    }
}

/// The number of different values of a field that are cached. The cache is emptied when it is full, so that a ledger in
/// which all values differ needs no more memory than its rows.
const MOST: usize = 1 << 14;

/// The values of one field, keyed by the bytes that they were parsed from.
#[derive(Debug)]
struct Shelf<T> {
    known: HashMap<Box<str>, T>,
    /// Checked first, because most rows repeat the value of the previous row.
    last: Option<(String, T)>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Shelf { known: HashMap::new(), last: None }
    }
}

impl<T: Clone + DeserializeOwned> Shelf<T> {
    fn read(&mut self, raw: &RawValue) -> Result<T, serde_json::Error> {
        let text = raw.get();
        if let Some((_, value)) = self.last.as_ref().filter(|(known, _)| known == text) {
            return Ok(value.clone());
        }
        let value = match self.known.get(text) {
            Some(value) => value.clone(),
            None => {
                let value: T = serde_json::from_str(text)?;
                if self.known.len() >= MOST {
                    self.known.clear();
                }
                self.known.insert(text.into(), value.clone());
                value
            }
        };
        let (last, of) = self.last.get_or_insert_with(|| (String::new(), value.clone()));
        last.clear();
        last.push_str(text);
        *of = value.clone();
        Ok(value)
    }
}

/// The contents of a glance, as the addresses of its shared parts. Sweeps and blocked observers have no topic.
type Sight = (usize, Rung, Option<(usize, usize)>, usize);

/// Keeps the parts alive, so that no other part is allocated at the same address.
type Parts = (Arc<ObserverId>, Arc<str>, About, Arc<FieldOfView>);

/// Reads one observation after the other.
#[derive(Debug, Default)]
pub struct Decoder {
    observers: Shelf<Arc<ObserverId>>,
    subjects: Shelf<Arc<Subject>>,
    topics: HashMap<Box<str>, Arc<str>>,
    abouts: Shelf<About>,
    views: Shelf<Arc<FieldOfView>>,
    coverages: Shelf<Arc<Coverage>>,
    contaminations: Shelf<Arc<Contamination>>,
    canaries: Shelf<Arc<Canary>>,
    times: Shelf<Arc<str>>,
    evidence: Shelf<Arc<Vec<Evidence>>>,
    decided: FxHashMap<Sight, (bool, Parts)>,
    /// The frame of the previous row.
    frame: Option<Frame>,
}

impl Decoder {
    /// The observation in these bytes, as [`Recorded::from_canonical`] reads it; None if `wanted` rejects it. `wanted`
    /// is called once for all observations with equal glances and must depend on nothing else.
    pub fn read(
        &mut self,
        canonical: &[u8],
        wanted: impl Fn(&Glance<'_>) -> bool,
    ) -> Result<Option<Recorded>, serde_json::Error> {
        let read = self.unnamed(canonical, wanted)?;
        Ok(read.map(|observation| Recorded::named(canonical, observation)))
    }

    fn unnamed(
        &mut self,
        canonical: &[u8],
        wanted: impl Fn(&Glance<'_>) -> bool,
    ) -> Result<Option<Observation>, serde_json::Error> {
        match self.quickly(canonical, &wanted) {
            Some(read) => Ok(read),
            // If the fast path cannot read a row for any reason, the slow path decides and reports the error.
            None => match wanted(&Glance::at(canonical)?) {
                true => Observation::from_canonical(canonical).map(Some),
                false => Ok(None),
            },
        }
    }

    /// The fast path. None if the row is not in the form that this version writes.
    fn quickly(&mut self, canonical: &[u8], wanted: &impl Fn(&Glance<'_>) -> bool) -> Option<Option<Observation>> {
        let text = std::str::from_utf8(canonical).ok()?;
        let known = self.frame.take().and_then(|frame| Some((serde_json::from_str(frame.holds(text)?).ok()?, frame)));
        let (finding, frame) = match known {
            Some(known) => known,
            None => {
                let cut: Cut<'_> = serde_json::from_str(text).ok()?;
                (serde_json::from_str(cut.finding.get()).ok()?, self.frame_of(text, &cut)?)
            }
        };
        let read = self.framed(&frame, finding, wanted);
        self.frame = Some(frame);
        read
    }

    fn frame_of(&mut self, text: &str, cut: &Cut<'_>) -> Option<Frame> {
        // The finding is a slice of the text, so its range is inside the text.
        let at = cut.finding.get().as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        Some(Frame {
            before: text.get(..at)?.to_owned(),
            behind: text.get(at + cut.finding.get().len()..)?.to_owned(),
            observer: self.observers.read(cut.observer).ok()?,
            rung: cut.rung,
            subject: self.subjects.read(cut.subject).ok()?,
            view: self.views.read(cut.view?).ok()?,
            coverage: self.coverages.read(cut.coverage).ok()?,
            contamination: self.contaminations.read(cut.contamination).ok()?,
            canary: self.canaries.read(cut.canary).ok()?,
            time: self.times.read(cut.time).ok()?,
            evidence: self.evidence.read(cut.evidence?).ok()?,
        })
    }

    fn framed(
        &mut self,
        frame: &Frame,
        finding: CutFinding<'_>,
        wanted: &impl Fn(&Glance<'_>) -> bool,
    ) -> Option<Option<Observation>> {
        let about = match &finding {
            CutFinding::Saw(fact) => self.abouts.read(fact.about?).ok()?,
            _ => About::default(),
        };
        if !self.takes(frame, &finding, &about, wanted) {
            return Some(None);
        }
        let finding = match finding {
            CutFinding::Saw(CutFact { topic, value, bound, .. }) => {
                let value = serde_json::from_str(value.get()).ok()?;
                Finding::Saw(Fact { topic: topic.into_owned(), about, value, bound })
            }
            CutFinding::Swept => Finding::Swept,
            CutFinding::Blocked { why, fix, said } => Finding::Blocked { why, fix, said },
        };
        let plain = Plain {
            observer: frame.observer.clone(),
            rung: frame.rung,
            subject: frame.subject.clone(),
            finding,
            view: frame.view.clone(),
            coverage: frame.coverage.clone(),
            contamination: frame.contamination.clone(),
            canary: frame.canary.clone(),
            time: frame.time.clone(),
            evidence: frame.evidence.clone(),
        };
        Some(Some(Observation::try_from(plain).ok()?))
    }

    fn takes(
        &mut self,
        frame: &Frame,
        finding: &CutFinding<'_>,
        about: &About,
        wanted: &impl Fn(&Glance<'_>) -> bool,
    ) -> bool {
        let topic = match finding {
            CutFinding::Saw(fact) => self.topic(&fact.topic),
            CutFinding::Swept | CutFinding::Blocked { .. } => self.topic(""),
        };
        let place = |shared: *const u8| shared as usize;
        let saw = matches!(finding, CutFinding::Saw(_));
        let sight = (
            place(Arc::as_ptr(&frame.observer).cast()),
            frame.rung,
            saw.then(|| (place(topic.as_ptr()), place(Arc::as_ptr(&about.0).cast()))),
            place(Arc::as_ptr(&frame.view).cast()),
        );
        if let Some((takes, _)) = self.decided.get(&sight) {
            return *takes;
        }
        let seen = match finding {
            CutFinding::Saw(_) => Found::Saw(Saw { topic: Cow::Borrowed(&topic), about: about.clone() }),
            CutFinding::Swept => Found::Swept,
            CutFinding::Blocked { .. } => Found::Blocked(serde::de::IgnoredAny),
        };
        let takes = wanted(&Glance {
            observer: Who { name: Cow::Borrowed(&frame.observer.name) },
            rung: frame.rung,
            finding: seen,
            view: frame.view.clone(),
        });
        if self.decided.len() >= MOST {
            self.decided.clear();
        }
        let parts = (frame.observer.clone(), topic, about.clone(), frame.view.clone());
        self.decided.insert(sight, (takes, parts));
        takes
    }

    fn topic(&mut self, name: &str) -> Arc<str> {
        if let Some(topic) = self.topics.get(name) {
            return topic.clone();
        }
        if self.topics.len() >= MOST {
            self.topics.clear();
        }
        let topic: Arc<str> = name.into();
        self.topics.insert(name.into(), topic.clone());
        topic
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shipped;

    fn body(name: &str, value: i64) -> String {
        let fact = Fact::new("kernel", About::new([("name", name)]), value);
        let (id, subject) = (ObserverId::new("inspect", "1"), Subject::file("libggml-hip.so", "5".repeat(64)));
        let coverage = Coverage::complete("bytes", 9);
        let made = Observation::on::<Shipped>(id, subject, Finding::Saw(fact), coverage, "2026-01-01T00:00:00.000Z");
        String::from_utf8(made.unwrap().canonical()).unwrap()
    }

    #[test]
    fn rows_of_a_run_share_what_they_have_in_common() {
        let mut decoder = Decoder::default();
        let mut read = |name, value| decoder.read(body(name, value).as_bytes(), |_| true).unwrap().unwrap();
        let (one, other, third) = (read("a", 1), read("a", 2), read("b", 3));
        assert!(std::ptr::eq(one.subject(), other.subject()) && std::ptr::eq(one.subject(), third.subject()));
        let place = |recorded: &Recorded| recorded.fact().unwrap().about.place();
        assert_eq!(place(&one), place(&other));
        assert_ne!(place(&one), place(&third));
    }

    #[test]
    fn whether_it_is_wanted_is_asked_once_for_all_that_look_alike() {
        let mut decoder = Decoder::default();
        let asked = std::cell::Cell::new(0);
        let wanted = |glance: &Glance<'_>| {
            asked.set(asked.get() + 1);
            glance.saw().is_some_and(|saw| saw.about.get("name") == Some("a"))
        };
        let taken = [("a", 1), ("b", 2), ("a", 3), ("b", 4)]
            .map(|(name, value)| decoder.read(body(name, value).as_bytes(), wanted).unwrap().is_some());
        assert_eq!((taken, asked.get()), ([true, false, true, false], 2));
    }

    #[test]
    fn what_is_refused_one_way_is_refused_both_ways_with_the_same_words() {
        let good = body("a", 1);
        let spoilt = [
            good.replace("\"shipped\"", "\"launched\""),
            good.replace("\"topic\":\"kernel\"", "\"topic\":\"\""),
            good.replace("\"unit\":\"bytes\"", "\"unit\":9"),
            good.replace("\"evidence\":[]", "\"evidence\":null"),
            good.replace("\"rung\"", "\"rang\""),
            good.replace("{\"observer\"", "{\"more\":1,\"observer\""),
            good.replace("\"value\":1", "\"value\":{}"),
            good[..good.len() - 1].to_owned(),
        ];
        for bad in spoilt {
            assert_ne!(bad, good);
            let plain = Recorded::from_canonical(bad.as_bytes()).unwrap_err().to_string();
            let shared = Decoder::default().read(bad.as_bytes(), |_| true).unwrap_err().to_string();
            assert!(shared == plain || Glance::at(bad.as_bytes()).is_err(), "{bad}: {shared}, {plain}");
        }
        // The result does not depend on earlier rows either.
        let twice = good.replace("\"exact\"}}", "\"exact\"}},\"view\":{\"views\":[],\"reach\":\"\",\"blind\":[]}");
        for bad in [good.replace("\"value\":1", "\"value\":1}"), twice] {
            assert_ne!(bad, good);
            let mut decoder = Decoder::default();
            assert!(decoder.read(good.as_bytes(), |_| true).is_ok_and(|read| read.is_some()));
            assert!(decoder.read(bad.as_bytes(), |_| true).is_err(), "{bad}");
        }
        // Another field order is accepted, and so are missing optional fields.
        let short = good.replace(",\"evidence\":[]", "");
        let read = Decoder::default().read(short.as_bytes(), |_| true).unwrap();
        assert_eq!(read, Some(Recorded::from_canonical(short.as_bytes()).unwrap()));
    }
}
