//! The fonts of plots: the built-in font, and a system font for text that the built-in font cannot
//! show.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Result, anyhow};
use fontdb::{Database, ID};
use plotters::style::{FontStyle, register_font};
use ttf_parser::Face;

/// The family name of the built-in font of plots. Viewers of SVG files use their own font of this
/// family.
pub(super) const FAMILY: &str = "sans-serif";

/// The size in bytes of the largest system font file that a plot loads.
const MAX_FONT_BYTES: usize = 64 << 20;

/// Registers the built-in font of plots, so that plots need no system font.
pub(super) fn register() -> Result<()> {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    let known =
        KNOWN.get_or_init(|| register_font(FAMILY, FontStyle::Normal, dejavu::sans::regular()).is_ok());
    if *known { Ok(()) } else { Err(anyhow!("the font cannot be loaded")) }
}

/// Returns the family of a font that has all characters of a text. If no font has them, returns the
/// built-in font, which shows a box for each missing character.
pub(super) fn family_for(text: &str) -> &'static str {
    if text.is_ascii() || covers(dejavu::sans::regular(), 0, text) {
        return FAMILY;
    }
    static FOUND: OnceLock<Mutex<HashMap<ID, Option<&'static str>>>> = OnceLock::new();
    let database = system();
    let fitting = database
        .faces()
        .find(|face| database.with_face_data(face.id, |data, index| covers(data, index, text)) == Some(true));
    let Some(face) = fitting else { return FAMILY };
    let found = FOUND.get_or_init(Mutex::default);
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
    found.entry(face.id).or_insert_with(|| loaded(database, face.id)).unwrap_or(FAMILY)
}

/// Returns the list of system fonts for plots.
fn system() -> &'static Database {
    static FONTS: OnceLock<Database> = OnceLock::new();
    FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        fonts
    })
}

/// Returns true if a font has a glyph for each character of a text, except for spaces.
fn covers(font: &[u8], index: u32, text: &str) -> bool {
    let Ok(face) = Face::parse(font, index) else { return false };
    text.chars().all(|character| character.is_whitespace() || face.glyph_index(character).is_some())
}

/// Registers a system font for plots. Returns its family. Returns `None` if the font cannot be
/// used, because the drawing library reads only the first font of a file.
fn loaded(database: &Database, id: ID) -> Option<&'static str> {
    let copy = |data: &[u8], index: u32| {
        (index == 0 && data.len() <= MAX_FONT_BYTES).then(|| data.to_vec().leak() as &'static [u8])
    };
    let data = database.with_face_data(id, copy)??;
    let family: &'static str = format!("system font {id}").leak();
    register_font(family, FontStyle::Normal, data).ok().map(|()| family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_font_shows_european_scripts() {
        for text in ["energy", "Größe µ", "Ενέργεια", "энергия"] {
            assert!(covers(dejavu::sans::regular(), 0, text), "{text}");
            assert_eq!(family_for(text), FAMILY);
        }
        assert!(!covers(dejavu::sans::regular(), 0, "漢字"));
    }
}
