//! The terminal is the same after every exit of the view, in a real terminal.

use live::Screen;
use std::time::Duration;
use test_artifacts::Tmux;

/// Not a separate test: the others run it in a terminal.
#[test]
#[ignore = "the other tests run it in a terminal"]
fn opens_a_screen() {
    let mut screen = Screen::open().expect("a terminal");
    screen.draw(|_, _| vec!["open".into()]).expect("drawn");
    let until = std::time::Instant::now() + Duration::from_secs(30);
    while std::time::Instant::now() < until && !sys::interrupt::asked() {
        match screen.key().expect("keys").flatten().map(|key| key.code) {
            Some(live::KeyCode::Char('p')) => panic!("as asked"),
            Some(live::KeyCode::Char('q')) => return,
            Some(live::KeyCode::Char('z')) => sys::terminal::suspend(),
            Some(live::KeyCode::Char('c')) => sys::interrupt::catch(),
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    if sys::interrupt::asked() {
        // Too slow to stop at the first signal.
        std::thread::sleep(Duration::from_secs(30));
    }
}

fn child() -> String {
    let program = std::env::current_exe().expect("a program");
    format!("{} --ignored --exact opens_a_screen --nocapture; echo ended $?", program.display())
}

fn settings(tmux: &Tmux, mark: &str) -> String {
    tmux.line(&format!("clear; stty -a; echo {mark}"));
    let screen = tmux.until(mark, |screen| screen.lines().any(|line| line == mark));
    let from = screen.find("speed").expect("stty's output");
    let to = screen.rfind(mark).expect("the mark");
    screen[from..to].to_owned()
}

#[test]
fn every_exit_restores_the_terminal() {
    let Some(tmux) = Tmux::start("exits", 100, 30) else { return };
    let before = settings(&tmux, "before");
    for (key, signal) in [("q", None), ("p", None), ("", Some("HUP")), ("c", Some("TERM"))] {
        tmux.line(&format!("clear; {}", child()));
        tmux.until("the screen", |screen| screen.starts_with("open"));
        assert_eq!(tmux.modes(), "1 0", "full screen, no cursor");
        if !key.is_empty() {
            tmux.key(key);
        }
        if let Some(name) = signal {
            std::thread::sleep(Duration::from_millis(200));
            let pid = pid_of(&tmux);
            // The second one ends a program that does not stop in time.
            for _ in 0..2 {
                let sent = std::process::Command::new("kill").args(["-s", name, &pid]).status().expect("kill");
                assert!(sent.success());
                std::thread::sleep(Duration::from_millis(200));
            }
        }
        tmux.until("the end", |screen| screen.contains("ended "));
        assert_eq!(tmux.modes(), "0 1", "after {key:?} {signal:?}");
        assert_eq!(settings(&tmux, "after"), before, "after {key:?} {signal:?}");
    }
}

#[test]
fn a_stopped_view_gives_the_terminal_back_and_takes_it_again() {
    let Some(tmux) = Tmux::start("stops", 100, 30) else { return };
    let before = settings(&tmux, "before");
    tmux.line(&format!("clear; {}", child()));
    tmux.until("the screen", |screen| screen.starts_with("open"));
    tmux.key("z");
    tmux.until("the shell", |screen| screen.contains("Stopped"));
    assert_eq!(tmux.modes(), "0 1");
    assert_eq!(settings(&tmux, "stopped"), before);
    tmux.line("fg");
    tmux.until("the screen again", |_| tmux.modes() == "1 0");
    tmux.key("q");
    tmux.until("the shell again", |_| tmux.modes() == "0 1");
    assert_eq!(settings(&tmux, "after"), before);
}

/// The child of the pane's shell.
fn pid_of(tmux: &Tmux) -> String {
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", tmux.shell())).expect("children");
    children.split_whitespace().next().expect("a child").to_owned()
}
