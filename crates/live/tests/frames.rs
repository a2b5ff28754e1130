//! Every state of the view at every size and in both languages: nothing is wider than the terminal, lines 1 and 2 are
//! always there, and nothing is left out without a note.

use launch::Phase;
use launch::grammar::{Family, Path};
use live::{
    Act, Claim, Detail, Fallback, Fate, Kernel, KeyCode, KeyEvent, KeyModifiers, Paint, PathShare, Process, Snapshot,
    Speed, State, Sure, View, frame,
};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use report::Lang;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;
use watch::{Name, Row};

const SIZES: [(u16, u16); 8] = [(80, 24), (120, 40), (200, 50), (59, 15), (60, 16), (48, 8), (300, 90), (1, 1)];

fn kernel(name: &str, phase: Phase, path: Option<Path>, launches: u64, per_second: f64) -> Kernel {
    let row = Row {
        phase,
        kernel: name.to_owned(),
        name: Name::Kernel(format!("_Z{name}")),
        family: Family::Other,
        path,
        weights: path.map(|_| "Q4_K".to_owned()),
        ne11: Some(if phase == Phase::Decode { 1 } else { 512 }),
        call: None,
        file: "/usr/lib/libggml-hip.so".into(),
        bundle: Some(41),
        grids: vec![[4096, 1, 1]],
        block: [32, 1, 1],
        shared: 512,
        launches,
        share: launches as f64 / 1000.0,
        device: None,
        took: None,
    };
    Kernel { row, per_second: Some(per_second), per_token: (phase == Phase::Decode).then_some(launches as f64 / 100.0) }
}

/// Two servers, one of them idle; a fallback in the prompt; a gap.
fn snapshot() -> Snapshot {
    let path = |phase, path, share, fallback: Option<&str>| PathShare {
        phase,
        path,
        share,
        types: vec!["Q4_K".into()],
        fallback: fallback.map(str::to_owned),
    };
    let busy = Process {
        pid: 4711,
        name: "ollama runner".into(),
        model: Some("Llama-3.1-8B Q4_K_M".into()),
        decode: Speed::Of(118.0),
        limit: Some(204.6),
        inputs: Some("Decode limit 205: 960 GB/s".into()),
        context: Some(8192),
        history: vec![0.0, 118.0, 121.0, 60.0],
        per_token: Some(803.0),
        paths: vec![
            path(Phase::Decode, Path::Mmvq, 1.0, None),
            path(Phase::Prefill, Path::Mmq, 0.85, None),
            path(Phase::Prefill, Path::Blas, 0.14, Some("weights are unpacked first")),
            path(Phase::Prefill, Path::Mmvq, 0.001, None),
        ],
        kernels: vec![
            kernel("mul_mat_vec_q<Q4_K,1>", Phase::Decode, Some(Path::Mmvq), 239, 22656.0),
            kernel("quantize_q8_1", Phase::Decode, None, 280, 26550.0),
            kernel("mul_mat_q<Q4_K,128>", Phase::Prefill, Some(Path::Mmq), 20, 0.0),
            kernel("rope_norm<f16>", Phase::Decode, None, 80, 7552.0),
        ],
        ..Process::default()
    };
    let idle = Process { pid: 5120, name: "llama-server".into(), ..Process::default() };
    let claim = |what: &str, fate| Claim {
        what: what.into(),
        said: "33/33 layers".into(),
        seen: "225 products per token".into(),
        fate,
    };
    Snapshot {
        card: Some("RX 7900 XTX".into()),
        vram: Some((12_777_527_500, 25_753_026_560)),
        elapsed: Duration::from_secs(134),
        seen: 5_812_440,
        gaps: Some(vec!["11,204 launches without their columns".into()]),
        canary: ("in target".into(), true),
        sure: Sure::Launched,
        processes: vec![busy, idle],
        fallbacks: vec![Fallback {
            phase: Phase::Prefill,
            kernel: "hipblasGemmEx".into(),
            launches: 1344,
            why: "weights are unpacked first".into(),
        }],
        claims: vec![claim("layers", Fate::Matches), claim("flash attention", Fate::Undecided)],
        ..Snapshot::default()
    }
}

/// The cells of the frame, as ratatui lays them out.
fn screen(now: &Snapshot, view: &View, lang: &str, size: (u16, u16)) -> Vec<String> {
    let detail = Detail { lines: vec![("Registers".into(), "64 VGPR".into())] };
    let lang = Lang::new(lang);
    let lines = frame(now, view, Some(&detail), (&lang, Paint { colour: true }), size);
    for line in &lines {
        assert!(line.width() <= usize::from(size.0), "{size:?} {line}");
    }
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).expect("a terminal");
    let drawn = terminal.draw(|frame| {
        for (row, line) in (0..size.1).zip(&lines) {
            frame.buffer_mut().set_line(0, row, line, size.0);
        }
    });
    let buffer = drawn.expect("drawn").buffer.clone();
    (0..size.1)
        .map(|y| {
            let mut row = String::new();
            let mut skip = 0;
            for x in 0..size.0 {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                let symbol = buffer[(x, y)].symbol();
                skip = symbol.width().saturating_sub(1);
                row.push_str(symbol);
            }
            row.trim_end().to_owned()
        })
        .collect()
}

fn press(view: &mut View, now: &Snapshot, keys: &[KeyCode]) {
    for key in keys {
        assert_eq!(view.key(KeyEvent::new(*key, KeyModifiers::NONE), now), Act::Draw, "{key:?}");
    }
}

fn view(now: &Snapshot, keys: &[KeyCode]) -> View {
    let mut view = View::default();
    view.refresh(now);
    press(&mut view, now, keys);
    view
}

fn states() -> Vec<(&'static str, Snapshot)> {
    let whole = snapshot();
    let lost = Snapshot { lost: 1204, lost_more: true, sure: Sure::Partly, ..whole.clone() };
    let ended = Snapshot { state: State::Ended("The program was killed".into()), ..whole.clone() };
    let none = Snapshot { state: State::NoLaunches(vec!["no rights".into()]), ..whole.clone() };
    let mut hostile = whole.clone();
    let name = "\u{1b}[2J\u{1b}]0;owned\u{7}カーネル\u{202e}\n\t\u{0}x".repeat(20);
    for process in &mut hostile.processes {
        (process.name, process.model) = (name.clone(), Some(name.clone()));
        process.kernels.iter_mut().for_each(|kernel| kernel.row.kernel = name.clone());
    }
    hostile.claims.iter_mut().for_each(|claim| claim.said = name.clone());
    hostile.gaps = Some(vec![name.clone(); 9]);
    let mut many = whole.clone();
    many.processes = (0..40).map(|pid| Process { pid, ..whole.processes[0].clone() }).collect();
    let unknown = Snapshot { gaps: None, vram: None, card: None, sure: Sure::NotChecked, ..whole.clone() };
    vec![
        ("whole", whole),
        ("empty", Snapshot::default()),
        ("lost", lost),
        ("ended", ended),
        ("none", none),
        ("hostile", hostile),
        ("many", many),
        ("unknown", unknown),
    ]
}

#[test]
fn every_state_fits_every_size_in_both_languages() {
    use KeyCode::{Char, Enter, Tab};
    let overs: [&[KeyCode]; 7] =
        [&[], &[Char('?')], &[Enter], &[Char('c')], &[Char(' ')], &[Char('/'), Char('z')], &[Tab, Char('j')]];
    for (name, now) in states() {
        for keys in overs.iter().filter(|keys| name != "ended" || !keys.contains(&Enter)) {
            for (lang, size) in ["en", "ja"].into_iter().flat_map(|lang| SIZES.map(|size| (lang, size))) {
                let rows = screen(&now, &view(&now, keys), lang, size);
                let all = rows.join("\n");
                assert_eq!(rows.len(), usize::from(size.1), "{name} {lang} {size:?}");
                assert!(rows.iter().all(|row| row.width() <= usize::from(size.0)), "{name} {lang} {size:?}\n{all}");
                assert!(!all.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{name}: a name reached the terminal");
                assert!(!all.contains("live-"), "{name} {lang}: an untranslated key\n{all}");
                // The head of the process table, and every row below it, ends inside the terminal.
                if name == "whole" && size.0 >= 60 && size.1 >= 16 && keys.is_empty() {
                    assert!(!rows[4].ends_with('~') && !rows[5].ends_with('~'), "{lang} {size:?}\n{all}");
                }
                if size.0 >= 60 && size.1 >= 16 {
                    assert!(rows[0].starts_with("whichkernel watch"), "{name} {keys:?} {size:?}\n{all}");
                    let lost = if lang == "en" { "Lost " } else { "欠落 " };
                    assert!(rows[1].contains(lost), "{name} {keys:?} {size:?}\n{all}");
                }
            }
        }
    }
}

#[test]
fn the_usual_screen_shows_speed_paths_fallback_claims_and_gap() {
    let now = snapshot();
    let rows = screen(&now, &view(&now, &[]), "en", (80, 24));
    let all = rows.join("\n");
    for part in [
        "RX 7900 XTX  VRAM 11.9 of 24.0 GiB",
        "LIVE  00:02:14",
        "Seen 5,812,440  Lost 0  Gaps 1",
        "> 4711   ollama runner Llama-3.1-8B",
        "118   205  58 % [###..]",
        "100 %  803 launches per token",
        "14 %  ! weights are unpacked first",
        "2 claims: 1 match the observations, 1 undecided",
        "26,550  28.0 %",
        "Gap 1  11,204 launches without their columns",
    ] {
        assert!(all.contains(part), "{part}\n{all}");
    }
    assert!(rows[1].ends_with("launched") && rows[23].starts_with("q quit"), "{all}");
    // The fastest kernel is first; the selected row is marked.
    let first = rows.iter().position(|row| row.contains("quantize_q8_1")).expect("a row");
    assert!(rows[first].starts_with("> ") && rows[first + 1].contains("mul_mat_vec_q"), "{all}");
}

#[test]
fn what_was_lost_stays_visible_in_every_pane_frozen_or_not() {
    use KeyCode::{Char, Enter};
    let before = snapshot();
    for keys in [&[][..], &[Char(' ')], &[Enter], &[Char('c')], &[Char('?')]] {
        let view = view(&before, keys);
        let now = Snapshot { lost: 1, lost_more: true, sure: Sure::Partly, seen: 6_000_000, ..before.clone() };
        for size in [(80, 24), (120, 40), (200, 50)] {
            let rows = screen(&now, &view, "en", size);
            assert!(rows[1].starts_with("Seen 6,000,000  Lost 1+"), "{keys:?} {}", rows[1]);
            assert!(rows[1].ends_with("partly seen"), "{keys:?} {}", rows[1]);
        }
    }
}

#[test]
fn a_frozen_screen_stands_still_and_says_so() {
    let before = snapshot();
    let view = view(&before, &[KeyCode::Char(' ')]);
    let mut now = before.clone();
    now.elapsed = Duration::from_secs(151);
    now.processes[0].decode = Speed::Of(7.0);
    let rows = screen(&now, &view, "en", (80, 24));
    assert!(rows[0].ends_with("FROZEN 00:02:14, now  00:02:31"), "{}", rows[0]);
    assert!(rows.iter().any(|row| row.contains("118   205")), "the speed of before");
}

#[test]
fn a_filter_hides_rows_only_and_says_how_many() {
    use KeyCode::{Backspace, Char, Enter, Esc};
    let now = snapshot();
    let mut view = view(&now, &[Char('/'), Char('Q'), Char('8')]);
    let rows = screen(&now, &view, "en", (80, 24));
    assert!(rows[22].starts_with("/ Q8") && rows[22].ends_with("1 of 4 kernels match"), "{}", rows[22]);
    press(&mut view, &now, &[Backspace, Backspace, Char('~'), Enter]);
    let rows = screen(&now, &view, "en", (80, 24));
    assert!(rows.iter().any(|row| row.contains("0 of 4 kernels match")), "{rows:#?}");
    assert!(rows[1].contains("Seen 5,812,440"), "everything still counts");
    press(&mut view, &now, &[Esc]);
    assert!(screen(&now, &view, "en", (80, 24)).iter().any(|row| row.contains("quantize_q8_1")));
}

#[test]
fn sorting_and_moving_choose_rows() {
    use KeyCode::{Char, Down, Enter, Esc};
    let now = snapshot();
    let mut view = view(&now, &[Char('s'), Char('s'), Char('s'), Char('s'), Char('s')]);
    let names = |view: &View| {
        let rows = screen(&now, view, "en", (80, 24));
        let from = rows.iter().position(|row| row.contains("Columns")).expect("a heading");
        rows[from + 1..from + 5]
            .iter()
            .map(|row| row[2..].split(' ').next().unwrap_or("").to_owned())
            .collect::<Vec<_>>()
    };
    let sorted = names(&view);
    assert_eq!(sorted, ["mul_mat_q<Q4_K,128>", "mul_mat_vec_q<Q4_K,1>", "quantize_q8_1", "rope_norm<f16>"]);
    press(&mut view, &now, &[Char('r')]);
    assert_eq!(names(&view), sorted.into_iter().rev().collect::<Vec<_>>());
    press(&mut view, &now, &[Down, Enter]);
    let rows = screen(&now, &view, "en", (80, 24)).join("\n");
    assert!(rows.contains("quantize_q8_1") && rows.contains("bundle 41") && rows.contains("64 VGPR"), "{rows}");
    press(&mut view, &now, &[Esc]);
    assert_eq!(view.key(KeyEvent::new(Char('c'), KeyModifiers::CONTROL), &now), Act::Quit);
}

/// Rows keep their place for three seconds, so that the eye can follow them.
#[test]
fn rows_keep_their_place_for_a_while() {
    let mut now = snapshot();
    let mut view = view(&now, &[]);
    now.processes[0].kernels[3].per_second = Some(1e6);
    let first = |now: &Snapshot, view: &View| {
        let rows = screen(now, view, "en", (80, 24));
        rows.iter().find(|row| row.starts_with("> ") && !row.contains("4711")).cloned().unwrap_or_default()
    };
    now.elapsed += Duration::from_secs(1);
    view.refresh(&now);
    assert!(first(&now, &view).contains("quantize_q8_1"));
    now.elapsed += Duration::from_secs(3);
    view.refresh(&now);
    let rows = screen(&now, &view, "en", (80, 24)).join("\n");
    let (fast, slow) = (rows.find("rope_norm").expect("a row"), rows.find("quantize_q8_1").expect("a row"));
    assert!(fast < slow, "{rows}");
}
