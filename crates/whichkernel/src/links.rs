//! Terminal hyperlinks (OSC 8): a file and line links to its place in the source. Used only on terminals that are known
//! to support them and if colours are wanted, never in a pipe: other terminals may print the address.
//! <https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda>

/// Programs that identify themselves in TERM_PROGRAM.
const PROGRAMS: &[&str] = &["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "zed"];
/// Terminals by the value of TERM.
const TERMS: &[&str] = &["xterm-kitty", "alacritty", "foot", "foot-extra", "wezterm", "xterm-ghostty", "contour"];
/// Variables set by terminals that support links.
const MARKS: &[&str] = &["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM", "WEZTERM_PANE"];

/// Whether the terminal supports links, judging by its variables. A multiplexer (screen, tmux) hides the outer
/// terminal.
pub fn supported(variable: impl Fn(&str) -> Option<String>) -> bool {
    let term = variable("TERM").unwrap_or_default();
    if term.starts_with("screen") || term.starts_with("tmux") || variable("TMUX").is_some() {
        return false;
    }
    let vte = variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok()).is_some_and(|vte| vte >= 5000);
    let program = variable("TERM_PROGRAM").is_some_and(|name| PROGRAMS.contains(&name.as_str()));
    vte || program || TERMS.contains(&term.as_str()) || MARKS.iter().any(|mark| variable(mark).is_some())
}

/// Texts and their link targets. Applied to the finished text, so that links do not change widths.
pub type Link = (String, String);

/// Links the first occurrence of each text; a text that was wrapped over two lines is not linked.
pub fn laid_over(text: &str, links: &[Link]) -> String {
    let mut out = text.to_owned();
    for (shown, url) in links.iter().filter(|(shown, url)| !shown.is_empty() && url.chars().all(plain)) {
        out = out.replacen(shown.as_str(), &format!("\x1b]8;;{url}\x1b\\{shown}\x1b]8;;\x1b\\"), 1);
    }
    out
}

/// Our own addresses contain only these characters; a control character would end the sequence.
fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || ":/._#@+-~%".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::lines::in_repository;

    #[test]
    fn only_a_terminal_that_says_so_has_links() {
        let with = |set: &[(&str, &str)]| {
            let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            supported(move |name| set.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
        };
        assert!(with(&[("TERM", "xterm-256color"), ("VTE_VERSION", "6800")]));
        assert!(with(&[("TERM", "xterm-kitty")]) && with(&[("TERM_PROGRAM", "WezTerm")]));
        assert!(!with(&[("TERM", "xterm-256color")]) && !with(&[("TERM", "linux")]) && !with(&[]));
        assert!(!with(&[("TERM", "xterm"), ("VTE_VERSION", "4601")]));
        assert!(!with(&[("TERM", "tmux-256color"), ("VTE_VERSION", "6800"), ("TMUX", "/tmp/x")]));
    }

    #[test]
    fn a_link_is_laid_over_and_no_address_can_break_out() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let url = in_repository("llama.cpp", commit, "ggml/src/ggml-cuda/mmq.cu", 472).expect("an address");
        let said = laid_over("Why  mmq.cu:472  x\n", &[("mmq.cu:472".to_owned(), url.clone())]);
        assert_eq!(said, format!("Why  \x1b]8;;{url}\x1b\\mmq.cu:472\x1b]8;;\x1b\\  x\n"));
        let hostile = ("mmq.cu:472".to_owned(), "https://x/\x1b\\y".to_owned());
        assert_eq!(laid_over("mmq.cu:472", &[hostile]), "mmq.cu:472");
        assert_eq!(in_repository("llama.cpp", "llama-cpp-sys-4-0.11.0", "mmq.cu", 1), None);
    }
}
