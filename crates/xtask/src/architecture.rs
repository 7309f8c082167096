//! `docs/guide/pictures/architecture.svg`: the crates, their dependencies, and their submodules
//! (the module folders directly below `src`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use hyperslab_testkit::workspace;

use crate::submodules::order::ENGINE;
use crate::tidy::manifest::{Package, packages};

const PICTURE: &str = "docs/guide/pictures/architecture.svg";
/// The difference in thousands of lines that a picture may have to the code.
const TOLERATED_THOUSANDS: usize = 2;
/// Crates for tests and measurements, which the picture omits.
const OMITTED: [&str; 4] = ["bench", "book", "testkit", "xtask"];

const WIDTH_PIXELS: usize = 1080;
const MARGIN_PIXELS: usize = 24;
const ROOM_HEIGHT_PIXELS: usize = 24;
const HEAD_HEIGHT_PIXELS: usize = 52;
const ROW_GAP_PIXELS: usize = 46;
/// Pixels of a letter of the small text.
const LETTER_PIXELS: usize = 7;

/// The contents of a crate's box in the picture.
struct CrateBox {
    folder: String,
    name: String,
    description: String,
    lines: usize,
    /// Rows of submodules, each submodule with its number of lines.
    submodules: Vec<Vec<(String, usize)>>,
    below: Vec<String>,
}

/// Draws the picture and compares it with the committed one. With `update`, writes the picture
/// first.
pub(crate) fn check(update: bool) -> Result<Vec<String>> {
    let root = workspace::root();
    let drawn = draw(&crate_boxes(&root)?);
    let path = root.join(PICTURE);
    if update {
        fs::create_dir_all(path.parent().context(PICTURE)?)?;
        fs::write(&path, &drawn)?;
    }
    let is_same = fs::read_to_string(&path).is_ok_and(|current| resembles(&current, &drawn));
    Ok(if is_same { Vec::new() } else { vec![format!("{PICTURE} differs from the crates of the workspace")] })
}

/// Returns whether two pictures have the same contents, and each number of lines differs by at most
/// two thousand. A small change of the code then needs no new picture.
fn resembles(one: &str, other: &str) -> bool {
    let (one, other) = (without_counts(one), without_counts(other));
    let close = |(one, other): (&usize, &usize)| one.abs_diff(*other) <= TOLERATED_THOUSANDS;
    one.0 == other.0 && one.1.iter().zip(&other.1).all(close)
}

/// Separates a picture into its text without the numbers of lines, and these numbers in thousands.
fn without_counts(picture: &str) -> (String, Vec<usize>) {
    let picture = picture.replace("‹ 1 k", "0 k");
    let mut counts = Vec::new();
    let mut text = String::new();
    let mut parts = picture.split(" k").peekable();
    while let Some(part) = parts.next() {
        let words = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let digits = part.get(words.len()..).and_then(|digits| digits.parse().ok());
        match digits.filter(|_| parts.peek().is_some()) {
            Some(count) => {
                counts.push(count);
                text.push_str(words);
            }
            None => text.push_str(part),
        }
        text.push_str(" k");
    }
    (text, counts)
}

fn crate_boxes(root: &Path) -> Result<Vec<CrateBox>> {
    let all: Vec<Package> =
        packages()?.into_iter().filter(|package| !OMITTED.contains(&package.folder.as_str())).collect();
    let folder_of =
        |name: &str| all.iter().find(|package| package.name == name).map(|package| package.folder.clone());
    let mut boxes = Vec::new();
    for package in &all {
        let source = root.join("crates").join(&package.folder).join("src");
        let mut submodules = BTreeMap::new();
        for entry in fs::read_dir(&source)? {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_dir()) {
                submodules.insert(name.to_string_lossy().into_owned(), lines(&path)?);
            }
        }
        boxes.push(CrateBox {
            folder: package.folder.clone(),
            name: package.name.clone(),
            description: package.description.clone(),
            lines: lines(&source)?,
            submodules: in_rows(submodules),
            below: package.dependencies.iter().filter_map(|name| folder_of(name)).collect(),
        });
    }
    Ok(boxes)
}

/// Returns the number of lines of Rust in a folder and its subfolders.
fn lines(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            count += lines(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            count += fs::read_to_string(&path)?.lines().count();
        }
    }
    Ok(count)
}

fn in_rows(mut submodules: BTreeMap<String, usize>) -> Vec<Vec<(String, usize)>> {
    if submodules.keys().all(|submodule| ENGINE.level(submodule).is_some()) {
        let row = |names: &&[&str]| names.iter().filter_map(|name| submodules.remove_entry(*name)).collect();
        let rows = ENGINE.levels.iter().rev().map(row);
        return rows.filter(|row: &Vec<_>| !row.is_empty()).collect();
    }
    vec![submodules.into_iter().collect()]
}

/// Returns rows of boxes, each above the boxes of its dependencies.
fn levels(boxes: &[CrateBox]) -> Vec<Vec<&CrateBox>> {
    let mut level: BTreeMap<&str, usize> =
        boxes.iter().map(|crate_box| (crate_box.folder.as_str(), 0)).collect();
    for _ in boxes {
        for crate_box in boxes {
            let above = level.get(crate_box.folder.as_str()).copied().unwrap_or_default();
            for below in &crate_box.below {
                if let Some(at) = level.get_mut(below.as_str()) {
                    *at = (*at).max(above + 1).min(boxes.len());
                }
            }
        }
    }
    let count = level.values().max().map_or(0, |last| last + 1);
    let on = |number: usize| {
        boxes.iter().filter(|crate_box| level.get(crate_box.folder.as_str()) == Some(&number)).collect()
    };
    (0..count).map(on).collect()
}

/// Returns true if `above` depends on `below`, and on no other crate that depends on `below`.
fn is_direct(above: &CrateBox, below: &str, boxes: &[CrateBox]) -> bool {
    let reaches = |from: &str| reaches(from, below, boxes);
    above.below.iter().any(|name| name == below)
        && !above.below.iter().any(|name| name != below && reaches(name))
}

fn reaches(from: &str, to: &str, boxes: &[CrateBox]) -> bool {
    let crate_box = boxes.iter().find(|crate_box| crate_box.folder == from);
    crate_box
        .is_some_and(|crate_box| crate_box.below.iter().any(|below| below == to || reaches(below, to, boxes)))
}

/// The position and size of a box.
#[derive(Clone, Copy)]
struct Position {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

fn draw(boxes: &[CrateBox]) -> String {
    let mut positions: BTreeMap<&str, Position> = BTreeMap::new();
    let mut svg_boxes = String::new();
    let mut y = MARGIN_PIXELS;
    for level in levels(boxes) {
        let available = WIDTH_PIXELS - 2 * MARGIN_PIXELS - (level.len() - 1) * MARGIN_PIXELS;
        let weight =
            |crate_box: &CrateBox| 3 + crate_box.submodules.iter().map(Vec::len).max().unwrap_or(0).min(6);
        let whole: usize = level.iter().map(|crate_box| weight(crate_box)).sum();
        let mut x = MARGIN_PIXELS;
        let mut tallest = 0;
        for crate_box in level {
            let width = available * weight(crate_box) / whole;
            let height = draw_box(&mut svg_boxes, crate_box, x, y, width);
            positions.insert(&crate_box.folder, Position { x, y, width, height });
            tallest = tallest.max(height);
            x += width + MARGIN_PIXELS;
        }
        y += tallest + ROW_GAP_PIXELS;
    }
    let mut arrows = String::new();
    for crate_box in boxes {
        for below in crate_box.below.iter().filter(|below| is_direct(crate_box, below, boxes)) {
            if let (Some(from), Some(to)) =
                (positions.get(crate_box.folder.as_str()), positions.get(below.as_str()))
            {
                arrow(&mut arrows, *from, *to);
            }
        }
    }
    let height = y - ROW_GAP_PIXELS + MARGIN_PIXELS;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH_PIXELS} {height}\" font-family=\"sans-serif\">\n\
         <rect width=\"{WIDTH_PIXELS}\" height=\"{height}\" fill=\"#ffffff\"/>\n{arrows}{svg_boxes}</svg>\n"
    )
}

fn arrow(out: &mut String, from: Position, to: Position) {
    let (x1, y1) = (from.x + from.width / 2, from.y + from.height);
    let (x2, y2) = (to.x + to.width / 2, to.y);
    let bend = y1 + (y2 - y1) / 2;
    let _ = writeln!(
        out,
        "<path d=\"M{x1} {y1}C{x1} {bend} {x2} {bend} {x2} {}\" fill=\"none\" stroke=\"#868e96\" stroke-width=\"1.5\"/>\
         <path d=\"M{} {}L{x2} {y2}L{} {}Z\" fill=\"#868e96\"/>",
        y2 - 7,
        x2 - 5,
        y2 - 8,
        x2 + 5,
        y2 - 8,
    );
}

/// Draws a box and returns its height.
fn draw_box(out: &mut String, crate_box: &CrateBox, x: usize, y: usize, width: usize) -> usize {
    let mut submodules = String::new();
    let mut at = y + HEAD_HEIGHT_PIXELS;
    for row in &crate_box.submodules {
        let mut left = x + 8;
        // Submodules of the engine share the width of their row; other submodules are as wide as
        // their names.
        let fills = crate_box.submodules.len() > 1;
        for (name, lines) in row {
            let text = format!("{name} {}", thousands(*lines));
            let wide =
                if fills { (width - 8) / row.len() - 8 } else { text.chars().count() * LETTER_PIXELS + 14 };
            if left + wide > x + width - 8 && left > x + 8 {
                left = x + 8;
                at += ROOM_HEIGHT_PIXELS + 4;
            }
            let _ = writeln!(
                submodules,
                "<rect x=\"{left}\" y=\"{at}\" width=\"{wide}\" height=\"{ROOM_HEIGHT_PIXELS}\" rx=\"4\" fill=\"#ffffff\" stroke=\"#adb5bd\"/>\
                 <text x=\"{}\" y=\"{}\" font-size=\"12\" fill=\"#343a40\" text-anchor=\"middle\">{text}</text>",
                left + wide / 2,
                at + 16,
            );
            left += wide + 8;
        }
        if !row.is_empty() {
            at += ROOM_HEIGHT_PIXELS + 4;
        }
    }
    let height = at + 6 - y;
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#e7f0f9\" stroke=\"#4c78a8\"/>\n\
         <text x=\"{}\" y=\"{}\" font-size=\"15\" font-weight=\"bold\" fill=\"#1b2a3a\">{} <tspan font-weight=\"normal\" \
         font-size=\"12\" fill=\"#495057\">{} lines</tspan></text>\n\
         <text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#495057\">{}</text>\n{submodules}",
        x + 10,
        y + 21,
        crate_box.name,
        thousands(crate_box.lines),
        x + 10,
        y + 40,
        cut(&crate_box.description, (width - 16) / 6),
    );
    height
}

/// Rounds a number of lines to thousands, so that few changes of the code change the picture.
fn thousands(lines: usize) -> String {
    if lines < 1000 { "‹ 1 k".to_owned() } else { format!("{} k", (lines + 500) / 1000) }
}

/// Returns `text` without its text in brackets, shortened to `letters` characters.
fn cut(text: &str, letters: usize) -> String {
    let text = text.split(" (").next().unwrap_or(text);
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let short: String = text.chars().take(letters.saturating_sub(1)).collect();
    format!("{}…", short.trim_end_matches([' ', ',', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(folder: &str, below: &[&str]) -> CrateBox {
        let below = below.iter().map(|name| (*name).to_owned()).collect();
        CrateBox {
            folder: folder.into(),
            name: folder.into(),
            description: String::new(),
            lines: 1,
            submodules: Vec::new(),
            below,
        }
    }

    #[test]
    fn a_crate_stands_above_all_that_it_uses() {
        let boxes = [boxed("a", &[]), boxed("b", &["a"]), boxed("c", &["b", "a"]), boxed("d", &["a"])];
        let levels: Vec<Vec<&str>> = levels(&boxes)
            .iter()
            .map(|level| level.iter().map(|crate_box| crate_box.folder.as_str()).collect())
            .collect();
        assert_eq!(levels, [vec!["c", "d"], vec!["b"], vec!["a"]]);
        assert!(is_direct(&boxes[2], "b", &boxes));
        assert!(!is_direct(&boxes[2], "a", &boxes));
    }

    #[test]
    fn pictures_resemble_each_other_if_only_the_lines_differ_a_little() {
        let picture = |name: &str, count: &str| format!("<text>{name} {count} k</text> lines, 3 crates");
        assert!(resembles(&picture("engine", "55"), &picture("engine", "57")));
        assert!(resembles(&picture("exact", "‹ 1"), &picture("exact", "1")));
        assert!(!resembles(&picture("engine", "55"), &picture("engine", "58")));
        assert!(!resembles(&picture("engine", "55"), &picture("motor", "55")));
        assert!(!resembles("<text>3 crates</text>", "<text>4 crates</text>"));
    }
}
