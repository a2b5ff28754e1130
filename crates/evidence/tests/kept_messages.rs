//! Tests the sentences of an observation: they are stored in English, together with the message for readers of other
//! languages.

use evidence::{Coverage, FieldOfView, Gap};
use say::{Lang, Message, key, say};

fn read_again<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).expect("JSON")).expect("the same type")
}

#[test]
fn a_row_of_before_has_its_english_alone_and_keeps_its_bytes() {
    let old = r#"{"what":"the file","why":"it was cut"}"#;
    let gap: Gap = serde_json::from_str(old).expect("a gap");
    assert_eq!(serde_json::to_string(&gap).expect("JSON"), old);
    assert_eq!(gap.whole().in_words(&Lang::ENGLISH), "the file (it was cut)");
    assert!(gap.whole().in_words(&Lang::new("ja")).contains("it was cut"));
    let old = r#"{"views":[],"reach":"every byte","blind":["stripped symbols"]}"#;
    let view: FieldOfView = serde_json::from_str(old).expect("a field of view");
    assert_eq!(serde_json::to_string(&view).expect("JSON"), old);
    assert_eq!((view.reach_in(&Lang::new("ja")), view.blind_in(&Lang::new("ja"))), (view.reach, view.blind));
}

#[test]
fn what_is_recorded_now_is_read_in_both_languages() {
    let (en, ja) = (Lang::ENGLISH, Lang::new("ja"));
    let coverage = Coverage::complete("files", 1).missing(say!("missed-file"), say!("missed-cut-off"));
    let gap = read_again(&coverage.missing[0]);
    assert_eq!(gap.whole().in_words(&en), "the file (truncated by the end of the code)");
    assert_eq!(gap.whole().in_words(&ja), "ファイル（コードの終わりで途切れている）");
    let view = FieldOfView::topic("kernel").reach(say!("view-maps")).blind(key!("view-certify-blind"));
    let view = read_again(&view);
    assert_eq!(
        (view.reach.as_str(), &view.blind[..]),
        (say!("view-maps").to_string().as_str(), &["all other runs".to_owned()][..])
    );
    assert_eq!(view.blind_in(&ja), ["それ以外の実行"]);
    assert!(view.reach_in(&ja).contains("プロセス"));
}

#[test]
fn a_message_of_another_version_is_shown_in_english() {
    let later = Message { key: "missed-by-a-later-version".into(), args: Default::default() };
    let gap = Gap { what: "names".into(), why: "later".into(), what_said: None, why_said: Some(later) };
    assert_eq!(gap.whole().in_words(&Lang::new("ja")), "names (later)");
}

/// A name is not a sentence, so it is stored once.
#[test]
fn names_are_stored_once() {
    let coverage = Coverage::complete("files", 1).missing("a.so", Message::verbatim("foreign words"));
    let text = serde_json::to_string(&coverage.missing[0]).expect("JSON");
    assert_eq!(text, r#"{"what":"a.so","why":"foreign words"}"#);
}
