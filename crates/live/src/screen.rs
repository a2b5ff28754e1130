//! The terminal: frames go out, keys come in.

use ratatui_core::backend::Backend as _;
use ratatui_core::terminal::Terminal;
use ratatui_core::text::Line;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use std::io::{self, Stdout};
use std::time::Duration;

/// An open full-screen view. It is closed by every exit: drop, panic, signals ([`sys::terminal`]).
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}

impl Screen {
    pub fn open() -> io::Result<Screen> {
        sys::interrupt::catch_hangup();
        sys::terminal::open_screen()?;
        let opened = Terminal::new(CrosstermBackend::new(io::stdout()));
        if opened.is_err() {
            sys::terminal::close_screen();
        }
        Ok(Screen { terminal: opened? })
    }

    /// The key that was typed, if any; `Some(None)` if the frame has to be drawn again.
    pub fn key(&mut self) -> io::Result<Option<Option<KeyEvent>>> {
        if sys::terminal::continued() {
            sys::terminal::open_screen()?;
            self.terminal.clear()?;
            return Ok(Some(None));
        }
        while event::poll(Duration::ZERO)? {
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => return Ok(Some(Some(key))),
                Event::Resize(..) => return Ok(Some(None)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Draws the lines that `of` makes for the terminal's size.
    pub fn draw(&mut self, of: impl FnOnce(u16, u16) -> Vec<Line<'static>>) -> io::Result<()> {
        self.terminal.draw(|frame| {
            let area = frame.area();
            let lines = of(area.width, area.height);
            for (row, line) in (area.y..area.bottom()).zip(&lines) {
                frame.buffer_mut().set_line(area.x, row, line, area.width);
            }
        })?;
        Ok(())
    }

    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.backend().size()?;
        Ok((size.width, size.height))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        sys::terminal::close_screen();
    }
}
