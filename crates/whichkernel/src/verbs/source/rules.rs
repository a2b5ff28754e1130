//! `source TREE`: which path, tile and kernel the tree's dispatch code chooses, and why.

use crate::asked::gemm::in_source;
use crate::asked::record_declared;
use crate::asked::tree::{notes, tell_skipped};
use crate::context::{Context, Format};
use crate::emit::Plain;
use report::{Column, Table};
use say::bail;
use source::ranges::{brief, choice_of, stretches};
use source::{Answer, Device, Reason, SHAPE_PARTS, ShapeAt, Survey, Tree, dims_text};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

/// For up to this many rows, unspecified versions are varied.
const FEW_CELLS: usize = 64;

/// About twice the memory that a question to a tree needs.
const HEAP: usize = 64 << 20;

pub fn run(tree: &Tree, args: &super::Args, context: &Context) -> say::Result<ExitCode> {
    sys::heap::in_large_pages(HEAP);
    let mut question = args.ask.question(&args.gpu)?;
    // Rows are for single counts, so counts between them are not shown.
    question.points = args.format == Format::Csv && !args.thresholds && !args.record;
    let mut overrides = args.ask.overrides()?;
    if let Some(library) = &args.code {
        let [device] = question.devices.as_slice() else { bail!("source-code-one-gpu") };
        overrides.code = Some(super::code::code(library, device, context)?);
    }
    let cells = question.devices.len() * question.types.len() * question.columns.len();
    overrides.vary_versions = cells <= FEW_CELLS;
    let survey = Survey::run(tree, question, &overrides)?;
    if args.format != Format::Json {
        notes(&survey, context).iter().for_each(|line| crate::context::tell(format_args!("{line}")));
        tell_skipped(&tree.skipped, context);
    }
    if args.record {
        record_declared::rules(tree, &survey, context)?;
    }
    let plain = |plain| match (plain, args.thresholds) {
        (Plain::Csv, false) => csv(&survey),
        (Plain::Csv, true) => thresholds(&survey, context).csv(),
        (Plain::Md, true) => thresholds(&survey, context).markdown(),
        (Plain::Text, true) => thresholds(&survey, context).text(context.width),
        (Plain::Md, false) => table(&survey, context).markdown(),
        (Plain::Text, false) => text(&survey, &args.gpu, context),
    };
    context.emit_as(args.format, || survey.declared(tree), |format| Ok(plain(format)))?;
    // The process ends here: freeing the memory piece by piece would take a fifteenth of its time.
    let survey = ManuallyDrop::new(survey);
    if context.only_looks() {
        drop(ManuallyDrop::into_inner(survey));
    }
    Ok(ExitCode::SUCCESS)
}

/// One row per GPU, type and count, in the requested order. Text that is the same along a row or a range is formatted
/// once.
pub fn csv(survey: &Survey<'_>) -> String {
    let question = &survey.question;
    let rows = question.devices.len() * question.types.len() * question.columns.len();
    let mut out = String::with_capacity(64 + rows * 40);
    out.push_str("target,cc,type,columns,path,tile,ntiles,need_check");
    out.push_str(if question.launch_shapes { ",grid,block,warps,shared,shape_undetermined\n" } else { "\n" });
    for (index, device) in question.devices.iter().enumerate() {
        let cc = survey.cc.get(index).copied().flatten().map_or(String::new(), |cc| format!("{cc:#x}"));
        for (ty, name) in question.types.iter().enumerate() {
            let head = format!("{},{cc},{name},", device.target);
            let mut last: Option<(i64, i64)> = None;
            let (mut choice, mut middle, mut tail) = (None, String::new(), "");
            let (mut shape, mut shape_holds) = (String::new(), 0);
            for &columns in &question.columns {
                if !last.is_some_and(|(from, to)| (from..=to).contains(&columns)) {
                    let answer = survey.answer(index, ty, columns);
                    last = answer.map(|answer| (answer.from, answer.to));
                    choice = answer.and_then(choice_of);
                    let path = choice.map_or("UNDETERMINED", |choice| choice.path.name());
                    middle = format!(",{path},{},", choice.map_or(0, |choice| choice.variant));
                    tail = if choice.is_some_and(|choice| choice.need_check) { ",1" } else { ",0" };
                    shape_holds = 0;
                }
                if question.launch_shapes && columns > shape_holds {
                    let answer = survey.answer(index, ty, columns).filter(|_| choice.is_some());
                    shape = csv_shape(answer.and_then(|answer| answer.shape_at(columns, device.warp())));
                    shape_holds = answer.map_or(0, |answer| answer.shape_holds_until(columns));
                }
                out.push_str(&head);
                push_number(&mut out, columns);
                out.push_str(&middle);
                push_number(&mut out, choice.map_or(0, |choice| choice.tiles(columns)));
                out.push_str(tail);
                out.push_str(&shape);
                out.push('\n');
            }
        }
    }
    out
}

/// The five cells of a launch; empty for libraries and for rows without an answer.
fn csv_shape(shape: Option<ShapeAt>) -> String {
    let Some(shape) = shape else { return ",,,,,".to_owned() };
    let open = || "UNDETERMINED".to_owned();
    let number = |number: Option<i64>| number.map_or_else(open, |number| number.to_string());
    let dims = |dims: Option<[i64; 3]>| dims.map_or_else(open, dims_text);
    let why = match shape.undetermined.as_slice() {
        [] => String::new(),
        all => {
            format!("\"{}\"", all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ").replace('"', "\"\""))
        }
    };
    let [grid, block] = [shape.grid, shape.block].map(dims);
    format!(",{grid},{block},{},{},{why}", number(shape.warps), number(shape.shared))
}

/// Writes a decimal number without the formatting machinery: a table has hundreds of thousands.
fn push_number(out: &mut String, number: i64) {
    let mut digits = [0u8; 20];
    let mut rest = number.unsigned_abs();
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push('-');
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

fn thresholds(survey: &Survey<'_>, context: &Context) -> Table {
    let mut columns = vec![Column::left("target", context.lang.text("source-column-gpu"))];
    let keys =
        survey.question.types.iter().map(|ty| Column { key: "type", title: ty.clone(), align: report::Align::Left });
    columns.extend(keys);
    let mut table = Table::new(columns);
    for (device, answers) in survey.question.devices.iter().zip(&survey.answers) {
        let mut row = vec![device.target.clone()];
        row.extend(answers.iter().map(|answers| brief(&stretches(answers))));
        table.row(row);
    }
    table
}

fn table(survey: &Survey<'_>, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut columns = vec![
        Column::left("target", title("source-column-gpu")),
        Column::left("type", title("source-column-type")),
        Column::left("columns", title("source-column-columns")),
        Column::left("path", title("source-column-path")),
        Column::right("tile", title("source-column-variant")),
        Column::left("kernel", title("source-column-kernel")),
    ];
    let shapes = survey.question.launch_shapes;
    if shapes {
        columns.push(Column::left("grid", title("source-column-grid")));
        columns.push(Column::left("block", title("source-column-block")));
        columns.push(Column::right("warps", title("source-column-warps")));
        columns.push(Column::right("shared", title("source-column-shared")));
    }
    let mut table = Table::new(columns);
    for (index, device) in survey.question.devices.iter().enumerate() {
        for (ty, name) in survey.question.types.iter().enumerate() {
            for answer in survey.answers.get(index).and_then(|types| types.get(ty)).into_iter().flatten() {
                let range = if answer.from == answer.to {
                    answer.from.to_string()
                } else {
                    format!("{}-{}", answer.from, answer.to)
                };
                let choice = choice_of(answer);
                let path = choice.map_or("UNDETERMINED".to_owned(), |choice| choice.path.to_string());
                let variant =
                    choice.filter(|choice| choice.variant > 0).map_or(String::new(), |c| c.variant.to_string());
                let why = || answer.outcome.why().map_or(String::new(), |why| context.lang.say(&why));
                let kernel = choice.map_or_else(why, |choice| choice.kernel.clone());
                let row = [device.target.clone(), name.clone(), range, path, variant, kernel];
                table.row(row.into_iter().chain(shape_cells(answer, device).into_iter().filter(|_| shapes)));
            }
        }
    }
    table
}

/// Grid, block, warps and shared memory of a range: `32x1..4x1` where they depend on the columns, `?` where a part is
/// unknown.
fn shape_cells(answer: &Answer, device: &Device) -> [String; 4] {
    let shape = answer.launch.as_ref().filter(|_| choice_of(answer).is_some()).and_then(|launch| launch.shape.as_ref());
    let Some(shape) = shape else { return Default::default() };
    let part = |part| shape.over(part, answer.from, answer.to).unwrap_or_else(|| "?".to_owned());
    let warps = [answer.from, answer.to].map(|count| shape.at(count, device.warp()).warps);
    let warps = match warps {
        [Some(a), Some(b)] if a == b => a.to_string(),
        [Some(a), Some(b)] => format!("{}..{}", a.min(b), a.max(b)),
        _ => "?".to_owned(),
    };
    [part(0), part(1), warps, part(2)]
}

/// Why parts of launches are unknown, each reason once with the number of rows.
fn open_shapes(survey: &Survey<'_>, context: &Context) -> String {
    let mut reasons: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let settled = survey.answers.iter().flatten().flatten().filter(|answer| choice_of(answer).is_some());
    for shape in settled.filter_map(|answer| answer.launch.as_ref()?.shape.as_ref()) {
        for (part, name) in SHAPE_PARTS.iter().enumerate() {
            if let Some(why) = shape.why(part) {
                *reasons.entry((name, context.lang.say(why))).or_default() += 1;
            }
        }
    }
    let one = |((part, why), rows): (&(&str, String), &usize)| {
        let says = [("part", (*part).into()), ("why", why.clone().into()), ("rows", (*rows).into())];
        format!("{}\n", context.lang.text_with("source-shape-open", &says))
    };
    reasons.iter().map(one).collect()
}

/// For few questions the reasons are shown, for many a table.
fn text(survey: &Survey<'_>, gpus: &[String], context: &Context) -> String {
    let mut out = table(survey, context).text(context.width);
    if let [gpu] = gpus {
        out += &in_source(survey, gpu, context);
    }
    let open = open_shapes(survey, context);
    if !open.is_empty() {
        let _ = write!(out, "\n{open}");
    }
    let cells: usize = survey.answers.iter().flatten().map(Vec::len).sum();
    if cells <= 6 {
        for device in 0..survey.question.devices.len() {
            for ty in 0..survey.question.types.len() {
                let ranges = survey.answers.get(device).and_then(|types| types.get(ty)).cloned().unwrap_or_default();
                for answer in ranges {
                    let title = format!(
                        "{} {} {}",
                        survey.question.devices.get(device).map_or("", |device| &device.target),
                        survey.question.types.get(ty).map_or("", String::as_str),
                        answer.from,
                    );
                    let head = context.lang.text_with("source-why", &[("what", title.into())]);
                    let _ = write!(out, "\n{head}\n");
                    for reason in survey.reasons(device, ty, answer.from) {
                        let _ = writeln!(out, "  {}", line(&reason));
                    }
                    if let Some(launch) = &answer.launch {
                        let args: Vec<String> =
                            launch.args.iter().map(|(name, value)| format!("{name}={value}")).collect();
                        let _ =
                            writeln!(out, "  {}:{}: {}<{}>", launch.file, launch.line, launch.kernel, args.join(", "));
                    }
                }
            }
        }
    } else {
        let _ = write!(out, "\n{}\n", context.lang.text("source-narrow"));
    }
    for way in survey.fused_paths() {
        let lines: Vec<String> = way.lines.iter().map(usize::to_string).collect();
        let says = [
            ("function", way.function.into()),
            ("calls", way.calls.into()),
            ("at", format!("{}:{}", way.file, lines.join(",")).into()),
            ("path", way.path.name().into()),
        ];
        let _ = write!(out, "\n{}", context.lang.text_with("source-bypass", &says));
        if let Some(name) = way.switch {
            let _ = write!(out, " {}", context.lang.text_with("source-bypass-switch", &[("name", name.into())]));
        }
    }
    let _ = write!(out, "\n{}\n", context.lang.text("source-cannot-show"));
    out
}

/// Formats a reason: `mmq.cu:321: if (amd_mfma_available(cc)): false (cc = 0x1001201)`.
pub fn line(reason: &Reason) -> String {
    reason.told()
}
