//! The whole map as a table for download.

use crate::csv;
use crate::input::Study;

/// Only for the displayed target: all targets in every release would be most of the report.
pub fn csv(study: &Study<'_>, wanted: &str) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for build in &study.dispatch.builds {
        for (target, types) in build.plans.iter().filter(|(target, _)| target.as_str() == wanted) {
            for (ty, stretches) in types {
                for stretch in stretches.iter().filter(|stretch| !stretch.path.is_empty()) {
                    let tile = stretch.tile.map(|tile| tile.to_string()).unwrap_or_default();
                    let columns = [stretch.from.to_string(), stretch.to.to_string()];
                    let [from, to] = columns;
                    rows.push(vec![
                        "declared".to_owned(),
                        build.source.clone(),
                        build.name.clone(),
                        build.date.clone(),
                        target.clone(),
                        String::new(),
                        ty.clone(),
                        from,
                        to,
                        stretch.path.clone(),
                        tile,
                    ]);
                }
            }
        }
    }
    for run in &study.dispatch.runs {
        for (ty, points) in &run.paths {
            for (count, path) in points {
                let tile = run.tiles.get(&(ty.clone(), *count)).map(|tile| tile.to_string()).unwrap_or_default();
                let text = |part: &Option<String>| part.clone().unwrap_or_default();
                rows.push(vec![
                    run.rung.to_string(),
                    text(&run.subject.runtime),
                    run.observer.clone(),
                    String::new(),
                    text(&run.subject.target),
                    text(&run.subject.gpu),
                    ty.clone(),
                    count.to_string(),
                    count.to_string(),
                    path.clone(),
                    tile,
                ]);
            }
        }
    }
    csv::file(
        &["rung", "source", "build", "date", "target", "card", "type", "columns_from", "columns_to", "path", "tile"],
        rows,
    )
}
