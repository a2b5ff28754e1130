//! The alarm line: the fallback, its kernel, when it happened, and why it counts.

use crate::context::Context;
use watch::{Heard, Sign, Why};

pub fn line(sign: &Sign, heard: &Heard, context: &Context) -> String {
    let lang = &context.lang;
    let when = match heard.after {
        Some(after) => {
            lang.text_with("watch-alarm-after", &[("seconds", format!("{:.1}", after.as_secs_f64()).into())])
        }
        None => lang.text("watch-alarm"),
    };
    let mut args = vec![
        ("phase", lang.text(&format!("watch-phase-{}", sign.phase.key())).into()),
        ("kernel", sign.kernel.clone().into()),
        ("family", sign.family.key().into()),
        ("count", heard.count.to_string().into()),
    ];
    match &sign.why {
        Why::Unpacked { by } => args.push(("by", by.clone().into())),
        Why::Cut { products } => args.push(("products", products.to_string().into())),
        Why::BlasForOne => {}
    }
    format!("{when}{}", lang.text_with(&format!("watch-alarm-{}", sign.why.key()), &args))
}
