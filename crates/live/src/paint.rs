//! Colours: only foregrounds of the terminal's own sixteen, and reverse video. Without colour every fact is still there.

use ratatui_core::style::{Color, Modifier, Style};

#[derive(Debug, Clone, Copy)]
pub struct Paint {
    pub colour: bool,
}

impl Paint {
    fn of(self, colour: Color, otherwise: Style) -> Style {
        if self.colour { Style::new().fg(colour) } else { otherwise }
    }

    pub fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A state that the reader must not miss: frozen, no launches.
    pub fn attention(self) -> Style {
        self.of(Color::Yellow, self.selected())
    }

    pub fn ended(self) -> Style {
        self.of(Color::Red, self.selected())
    }

    /// Lost launches, a missing canary, a claim that differs.
    pub fn wrong(self) -> Style {
        self.of(Color::Red, Style::new()).add_modifier(Modifier::BOLD)
    }

    pub fn warning(self) -> Style {
        self.of(Color::Yellow, Style::new())
    }

    pub fn faint(self) -> Style {
        self.of(Color::DarkGray, Style::new())
    }
}
