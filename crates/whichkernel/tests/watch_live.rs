//! The live view in a real terminal (tmux), on Debian's real llama-server with the stand-in GPU.

mod served;

use served::{Server, ready, stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use test_artifacts::Tmux;
use unicode_width::UnicodeWidthStr;

/// A name that would clear the screen and set the title if the terminal interpreted it.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}";

/// Keeps the server busy until it is dropped.
struct Busy(Arc<AtomicBool>, Option<std::thread::JoinHandle<()>>);

impl Busy {
    fn new(port: u16) -> Busy {
        let go = Arc::new(AtomicBool::new(true));
        let on = go.clone();
        let body = r#"{"prompt":[300,301,302,303,304,305,306,307,308,309,310,311],"n_predict":64,"temperature":0,"ignore_eos":true,"cache_prompt":false}"#;
        let run = std::thread::spawn(move || {
            while on.load(Ordering::Relaxed) && served::ask(port, "POST", "/completion", body).is_ok() {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        });
        Busy(go, Some(run))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
        let _ = self.1.take().map(std::thread::JoinHandle::join);
    }
}

fn command(words: &str) -> String {
    format!("clear; {} watch {words}; echo ended $?", env!("CARGO_BIN_EXE_whichkernel"))
}

/// No line is wider than the terminal; lines 1 and 2 are there.
fn check(screen: &str, columns: usize, japanese: bool) {
    for line in screen.lines() {
        assert!(line.width() <= columns, "{} cells in {columns}: {line}", line.width());
    }
    let lost = if japanese { "欠落 " } else { "Lost " };
    let mut lines = screen.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with("whichkernel watch")), "{screen}");
    assert!(lines.next().is_some_and(|line| line.contains(lost)), "{screen}");
    assert!(!screen.contains("live-"), "{screen}");
}

fn kept(name: &str, tmux: &Tmux) {
    if let Some(dir) = std::env::var_os("WHICHKERNEL_SCREENS") {
        std::fs::write(std::path::Path::new(&dir).join(name), tmux.coloured()).expect("written");
    }
}

#[test]
fn a_server_is_watched_live_and_dies() {
    if !ready("the live view") {
        return;
    }
    let Some(tmux) = Tmux::start("live", 80, 24) else { return };
    let server = Server::with_model(HOSTILE, "Q4_K", &["-ngl", "99", "-fa", "on"]);
    let home = server.home.path().display().to_string();
    let busy = Busy::new(server.port);
    tmux.line(&format!("cd {home}; {}", command(&format!("--pid {}", server.pid))));
    let screen = tmux.until("tokens", |screen| {
        screen.contains("LIVE") && screen.contains("launches per token") && screen.contains("mul_mat_vec_q")
    });
    check(&screen, 80, false);
    kept("80x24.txt", &tmux);
    // On a stand-in nothing is launched, and graphs from before the attach are a gap.
    let sure = screen.lines().nth(1).unwrap_or_default();
    assert!(sure.ends_with("partly seen") || sure.ends_with("selected (no GPU)"), "{screen}");
    assert!(screen.contains("MMVQ"), "{screen}");
    let speed = |screen: &str| {
        let row = screen.lines().find(|line| line.starts_with("> "))?;
        row.split_whitespace().rev().nth(1)?.replace(',', "").parse::<f64>().ok()
    };
    tmux.until("a speed", |screen| speed(screen).is_some_and(|speed| speed > 0.0));
    // The model's name is shown as text and not interpreted.
    tmux.until("the server", |screen| screen.contains("claims: ") && screen.contains("llama-server  \\u001b"));
    assert_ne!(tmux.title(), "owned");

    tmux.key("?");
    let screen = tmux.until("help", |screen| screen.contains("+-- Keys"));
    check(&screen, 80, false);
    kept("help.txt", &tmux);
    tmux.key("Escape");
    tmux.until("no help", |screen| !screen.contains("+-- Keys"));
    tmux.text("/mul_mat_vec");
    tmux.until("a filter", |screen| screen.contains("kernels match"));
    tmux.key("Enter");
    tmux.key("Enter");
    let screen = tmux.until("the code of a kernel", |screen| screen.contains("VGPR"));
    assert!(screen.contains("bundle ") && screen.contains("libggml-hip.so") && screen.contains("gfx1100"), "{screen}");
    kept("kernel.txt", &tmux);
    tmux.key("Escape");
    tmux.until("the panes", |screen| screen.contains("Paths of"));
    tmux.key("c");
    let screen = tmux.until("claims", |screen| screen.contains("What the server says"));
    assert!(screen.contains("matches"), "{screen}");
    kept("claims.txt", &tmux);
    tmux.key("Escape");
    tmux.until("the panes", |screen| screen.contains("Paths of"));
    tmux.key("Escape");
    tmux.until("no filter", |screen| screen.contains("quantize_q8_1"));
    for (columns, rows) in [(120, 40), (200, 50), (60, 16)] {
        tmux.resize(columns, rows);
        let part = if columns == 200 { "Selected kernel" } else { "Kernel" };
        let screen = tmux.until("the new size", |screen| {
            screen.contains(part) && screen.lines().nth(2).is_some_and(|line| line.width() == usize::from(columns))
        });
        check(&screen, usize::from(columns), false);
        kept(&format!("{columns}x{rows}.txt"), &tmux);
    }
    tmux.resize(48, 8);
    tmux.until("the answer alone", |screen| screen.contains("48x8: needs 60x16") && screen.contains("Lost 0"));
    kept("48x8.txt", &tmux);
    tmux.resize(80, 24);
    tmux.key("Space");
    tmux.until("frozen", |screen| screen.contains("FROZEN"));
    tmux.key("w");
    let screen = tmux.until("saved", |screen| screen.contains("The screen was saved as watch-"));
    let file = screen.split("saved as ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a file");
    let text = std::fs::read_to_string(server.home.path().join(file)).expect("the screen");
    assert!(text.starts_with("whichkernel watch") && text.contains("Lost 0") && !text.contains('\u{1b}'), "{text}");
    tmux.key("Space");
    tmux.key("C-z");
    tmux.until("the shell", |screen| screen.contains("Stopped"));
    assert_eq!(tmux.modes(), "0 1");
    tmux.line("fg");
    tmux.until("the view again", |screen| screen.contains("LIVE"));

    stop(server.pid, rustix::process::Signal::KILL);
    let screen = tmux.until("its end", |screen| screen.contains("ENDED"));
    check(&screen, 80, false);
    kept("ended.txt", &tmux);
    tmux.key("q");
    // The shell printed its `ended` when the watch was stopped; the summary ends with the server's claims.
    tmux.until("the summary", |screen| screen.contains("graph splits") && screen.trim_end().ends_with('$'));
    assert_eq!(tmux.modes(), "0 1");
    drop(busy);
}

#[test]
fn the_view_ends_in_order_in_japanese_too() {
    if !ready("the live view") {
        return;
    }
    let Some(tmux) = Tmux::start("live-ja", 80, 24) else { return };
    let server = Server::start("Q4_K", &["-ngl", "99"]);
    let busy = Busy::new(server.port);
    tmux.line(&command(&format!("--lang ja --pid {}", server.pid)));
    let screen = tmux.until("tokens", |screen| screen.contains("トークンに") && screen.contains("llama-server"));
    check(&screen, 80, true);
    kept("ja-80x24.txt", &tmux);
    for (columns, rows) in [(120, 40), (200, 50)] {
        tmux.resize(columns, rows);
        let screen = tmux.until("the new size", |screen| {
            screen.lines().nth(2).is_some_and(|line| line.width() == usize::from(columns))
        });
        check(&screen, usize::from(columns), true);
        kept(&format!("ja-{columns}x{rows}.txt"), &tmux);
    }
    tmux.resize(80, 24);
    // TERM ends the watch with its summary.
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", tmux.shell())).expect("children");
    let pid = children.split_whitespace().next().and_then(|pid| pid.parse().ok()).expect("the watch");
    stop(pid, rustix::process::Signal::TERM);
    let screen = tmux.until("the end", |screen| screen.contains("ended 0"));
    assert!(screen.contains("バックエンド"), "the end of the summary: {screen}");
    assert_eq!(tmux.modes(), "0 1");
    drop(busy);
}

/// Output in a pipe, with another format or on a dumb terminal has no live view.
#[test]
fn other_outputs_stay_as_they_are() {
    if !ready("the live view") {
        return;
    }
    let Some(tmux) = Tmux::start("live-not", 100, 40) else { return };
    let server = Server::start("Q4_K", &["-ngl", "99"]);
    let busy = Busy::new(server.port);
    let watch = format!("--pid {} --for 2s", server.pid);
    for line in [
        command(&format!("{watch} | cat")),
        command(&format!("{watch} --format md")),
        format!("TERM=dumb; {}", command(&watch)),
    ] {
        tmux.line(&line);
        let screen = tmux.until("the end", |screen| {
            assert_eq!(tmux.modes(), "0 1", "{line}");
            screen.contains("ended 0")
        });
        assert!(!screen.contains("LIVE"), "{screen}");
    }
    drop(busy);
}
