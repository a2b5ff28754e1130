//! Parses the output of `llvm-readelf --file-header --notes`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Command;

/// One kernel in the printed notes: keys and values as text, arguments likewise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Noted {
    pub fields: BTreeMap<String, String>,
    pub arguments: Vec<BTreeMap<String, String>>,
}

/// The output for one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// `Flags:` of the ELF header, the number.
    pub flags: u32,
    pub kernels: Vec<Noted>,
    /// `amdhsa.target` of the first note that has one.
    pub target: Option<String>,
}

/// Runs the tool over files at once and returns one report for each, in order.
pub fn read(readelf: &Path, files: &[&Path]) -> io::Result<Vec<Report>> {
    let output = Command::new(readelf).args(["--file-header", "--notes"]).args(files).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut reports: Vec<Report> = text.split("ELF Header:\n").skip(1).map(report).collect();
    if reports.len() != files.len() {
        return Err(io::Error::other(format!("{} files, {} reports", files.len(), reports.len())));
    }
    reports.shrink_to_fit();
    Ok(reports)
}

/// The notes are YAML by LLVM's own printer: kernels are list items at indent 2, their arguments at indent 6.
fn report(text: &str) -> Report {
    let mut report = Report::default();
    let mut section = "";
    for line in text.lines() {
        if let Some(flags) = line.trim_start().strip_prefix("Flags:") {
            let number = flags.trim().split(',').next().unwrap_or("").trim().trim_start_matches("0x");
            report.flags = u32::from_str_radix(number, 16).unwrap_or(0);
        }
        if let Some((key, value)) = line.split_once(':')
            && key.starts_with("amdhsa.")
        {
            section = key;
            if key == "amdhsa.target" && report.target.is_none() {
                report.target = Some(unquote(value));
            }
            continue;
        }
        if section == "amdhsa.kernels" {
            kernel_line(line, &mut report.kernels);
        }
    }
    report
}

fn kernel_line(line: &str, kernels: &mut Vec<Noted>) {
    let indent = line.len() - line.trim_start().len();
    let (item, rest) = match line.trim_start().strip_prefix("- ") {
        Some(rest) => (true, rest),
        None => (false, line.trim_start()),
    };
    let Some((key, value)) = rest.split_once(':').filter(|(key, _)| key.starts_with('.')) else { return };
    let (key, value) = (key.to_owned(), unquote(value));
    match (indent, item) {
        (2, true) => kernels.push(Noted { fields: BTreeMap::from([(key, value)]), ..Noted::default() }),
        (4, false) => {
            if let Some(kernel) = kernels.last_mut() {
                kernel.fields.insert(key, value);
            }
        }
        (6, true) => {
            if let Some(kernel) = kernels.last_mut() {
                kernel.arguments.push(BTreeMap::from([(key, value)]));
            }
        }
        (8, false) => {
            if let Some(argument) = kernels.last_mut().and_then(|kernel| kernel.arguments.last_mut()) {
                argument.insert(key, value);
            }
        }
        _ => {}
    }
}

fn unquote(value: &str) -> String {
    let value = value.trim();
    let inner = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
    inner.map_or_else(|| value.trim_matches('"').to_owned(), |inner| inner.replace("''", "'"))
}
