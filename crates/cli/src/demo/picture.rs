//! The sum of all frames of the demonstration as a picture in the terminal.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use anstream::ColorChoice;
use anstyle::{Ansi256Color, Color, Style};
use anyhow::Result;
use hyperslab::File;
use hyperslab_exact::{to_u64, to_usize};

use super::storage::{self, StreamRegion};
use crate::output::Screen;

/// The width of the demonstration's picture in characters. The height in lines is half of this
/// number, so that the cells are square.
const SIDE_CELLS: usize = 64;
/// The colours of the demonstration's picture, from few to many photons.
const RAMP: [u8; 10] = [233, 17, 54, 90, 126, 162, 203, 209, 221, 230];
/// The characters of the demonstration's picture without colours, from few to many photons.
const ASCII: &[u8; 10] = b" .:-=+*#%@";

/// The picture of the demonstration: the number of photons in each cell of a square grid.
#[derive(Debug)]
pub(super) struct Picture {
    side: usize,
    cells: Vec<u64>,
    /// The cells from few to many photons.
    sorted: Vec<u64>,
}

/// The characters and colours with which the demonstration draws its picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Half blocks in the colours of the palette.
    Colours,
    /// Half blocks for cells with more photons than the average.
    Blocks,
    /// Characters of ASCII.
    Ascii,
}

impl Look {
    /// Returns the characters and colours that standard output and the locale support.
    pub(super) fn of_output() -> Self {
        if !is_utf8(|name| std::env::var(name).ok()) {
            return Self::Ascii;
        }
        let has_colours = anstream::AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        if has_colours && io::stdout().is_terminal() { Self::Colours } else { Self::Blocks }
    }
}

/// Returns true if the locale has the encoding UTF-8. The function `variable` returns the value of
/// an environment variable.
fn is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    if cfg!(windows) {
        return true;
    }
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| variable(name).filter(|text| !text.is_empty()));
    set.is_some_and(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

impl Picture {
    /// Reads the sparse file of the demonstration and sums its frames to a picture.
    pub(super) fn read(path: &Path, size: u32, whole: StreamRegion) -> Result<Self> {
        let file = File::open(path)?;
        let size = u64::from(size);
        let side = SIDE_CELLS.min(to_usize(size)?);
        let mut picture = Self { side, cells: vec![0; side * side], sorted: Vec::new() };
        storage::each_photon(&file, size, whole, |_, pixel, count| {
            let cell = |at: u64| at * to_u64(side) / size;
            picture.add(cell(pixel / size), cell(pixel % size), count);
        })?;
        picture.sorted.clone_from(&picture.cells);
        picture.sorted.sort_unstable();
        Ok(picture)
    }

    fn add(&mut self, row: u64, column: u64, count: u16) {
        let at = to_usize(row * to_u64(self.side) + column);
        if let Some(cell) = at.ok().and_then(|at| self.cells.get_mut(at)) {
            *cell += u64::from(count);
        }
    }

    fn cell(&self, row: usize, column: usize) -> u64 {
        self.cells.get(row * self.side + column).copied().unwrap_or(0)
    }

    /// Returns the shade of a picture cell, from 0 to 9. The shade grows with the share of cells
    /// that have fewer photons. Because of this ranking, faint rings are visible beside bright
    /// spots.
    fn shade(&self, photons: u64) -> usize {
        let fewer = self.sorted.partition_point(|other| *other < photons);
        fewer * 10 / self.sorted.len().max(1)
    }

    /// Draws the demonstration's picture of the summed frames.
    pub(super) fn draw(&self, look: Look, out: &mut impl Screen) -> io::Result<()> {
        let total: u64 = self.cells.iter().sum();
        let is_bright = |photons: u64| photons * to_u64(self.cells.len()) > total;
        for row in (0..self.side).step_by(2) {
            for column in 0..self.side {
                let (above, below) = (self.cell(row, column), self.cell(row + 1, column));
                match look {
                    Look::Colours => {
                        let style = Style::new()
                            .fg_color(Some(self.colour(above)))
                            .bg_color(Some(self.colour(below)));
                        out.styled(style, "▀")?;
                    }
                    Look::Blocks => {
                        let block = match (is_bright(above), is_bright(below)) {
                            (true, true) => "█",
                            (true, false) => "▀",
                            (false, true) => "▄",
                            (false, false) => " ",
                        };
                        write!(out, "{block}")?;
                    }
                    Look::Ascii => {
                        let shade = self.shade(above.midpoint(below));
                        write!(out, "{}", ASCII.get(shade).copied().map_or(' ', char::from))?;
                    }
                }
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn colour(&self, photons: u64) -> Color {
        Color::Ansi256(Ansi256Color(RAMP.get(self.shade(photons)).copied().unwrap_or(230)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safe::{Escapes, Safe};

    fn drawn(look: Look) -> String {
        let cells = vec![9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 9];
        let mut sorted = cells.clone();
        sorted.sort_unstable();
        let picture = Picture { side: 4, cells, sorted };
        let mut out = Safe::new(Vec::new(), Escapes::Json);
        picture.draw(look, &mut out).unwrap();
        String::from_utf8(out.get_ref().clone()).unwrap()
    }

    #[test]
    fn looks() {
        assert_eq!(drawn(Look::Blocks), "▀   \n   █\n");
        assert_eq!(drawn(Look::Ascii), "%   \n   %\n");
        assert!(drawn(Look::Colours).contains('\x1b'));
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let locale = |all: &str, lang: &str| {
            let (all, lang) = (all.to_owned(), lang.to_owned());
            is_utf8(move |name| match name {
                "LC_ALL" => Some(all.clone()),
                "LANG" => Some(lang.clone()),
                _ => None,
            })
        };
        assert!(locale("", "de_DE.UTF-8") && locale("C.utf8", "C"));
        assert!(!locale("C", "de_DE.UTF-8") || cfg!(windows));
        assert!(!is_utf8(|_| None) || cfg!(windows));
    }
}
