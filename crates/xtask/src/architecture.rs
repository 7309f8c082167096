//! `docs/guide/pictures/architecture.svg`: the crates, the arrows between them, and their rooms, as the code has them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use hyperslab_testkit::workspace;

use crate::rooms::order::ENGINE;
use crate::tidy::manifest::{Package, packages};

const PICTURE: &str = "docs/guide/pictures/architecture.svg";
/// Crates that serve the others' tests and measurements.
const APART: [&str; 4] = ["bench", "book", "testkit", "xtask"];

const WIDTH: usize = 1080;
const MARGIN: usize = 24;
const ROOM: usize = 24;
const HEAD: usize = 52;
const BETWEEN: usize = 46;
/// Pixels of a letter of the small text.
const LETTER: usize = 7;

/// A crate as it is drawn.
struct House {
    folder: String,
    name: String,
    what: String,
    lines: usize,
    /// Rows of rooms, each with its lines.
    rooms: Vec<Vec<(String, usize)>>,
    below: Vec<String>,
}

/// Draws the picture and compares it with the one that is there, or puts it there.
pub(crate) fn check(update: bool) -> Result<Vec<String>> {
    let root = workspace::root();
    let drawn = draw(&houses(&root)?);
    let path = root.join(PICTURE);
    if update {
        fs::create_dir_all(path.parent().context(PICTURE)?)?;
        fs::write(&path, &drawn)?;
    }
    let is_same = fs::read_to_string(&path).is_ok_and(|there| there == drawn);
    Ok(if is_same { Vec::new() } else { vec![format!("{PICTURE}: the code is built differently now")] })
}

fn houses(root: &Path) -> Result<Vec<House>> {
    let all: Vec<Package> =
        packages()?.into_iter().filter(|package| !APART.contains(&package.folder.as_str())).collect();
    let folder_of =
        |name: &str| all.iter().find(|package| package.name == name).map(|package| package.folder.clone());
    let mut houses = Vec::new();
    for package in &all {
        let source = root.join("crates").join(&package.folder).join("src");
        let mut rooms = BTreeMap::new();
        for entry in fs::read_dir(&source)? {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_dir()) {
                rooms.insert(name.to_string_lossy().into_owned(), lines(&path)?);
            }
        }
        houses.push(House {
            folder: package.folder.clone(),
            name: package.name.clone(),
            what: package.description.clone(),
            lines: lines(&source)?,
            rooms: in_rows(rooms),
            below: package.dependencies.iter().filter_map(|name| folder_of(name)).collect(),
        });
    }
    Ok(houses)
}

/// Lines of Rust in a folder and those below.
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

fn in_rows(mut rooms: BTreeMap<String, usize>) -> Vec<Vec<(String, usize)>> {
    if rooms.keys().all(|room| ENGINE.level(room).is_some()) {
        let row = |names: &&[&str]| names.iter().filter_map(|name| rooms.remove_entry(*name)).collect();
        let rows = ENGINE.levels.iter().rev().map(row);
        return rows.filter(|row: &Vec<_>| !row.is_empty()).collect();
    }
    vec![rooms.into_iter().collect()]
}

/// Rows of houses, each above those that it stands on.
fn floors(houses: &[House]) -> Vec<Vec<&House>> {
    let mut floor: BTreeMap<&str, usize> = houses.iter().map(|house| (house.folder.as_str(), 0)).collect();
    for _ in houses {
        for house in houses {
            let above = floor.get(house.folder.as_str()).copied().unwrap_or_default();
            for below in &house.below {
                if let Some(at) = floor.get_mut(below.as_str()) {
                    *at = (*at).max(above + 1).min(houses.len());
                }
            }
        }
    }
    let count = floor.values().max().map_or(0, |last| last + 1);
    let on = |number: usize| {
        houses.iter().filter(|house| floor.get(house.folder.as_str()) == Some(&number)).collect()
    };
    (0..count).map(on).collect()
}

/// Whether one stands on the other directly, with nothing in between.
fn is_direct(above: &House, below: &str, houses: &[House]) -> bool {
    let reaches = |from: &str| reaches(from, below, houses);
    above.below.iter().any(|name| name == below)
        && !above.below.iter().any(|name| name != below && reaches(name))
}

fn reaches(from: &str, to: &str, houses: &[House]) -> bool {
    let house = houses.iter().find(|house| house.folder == from);
    house.is_some_and(|house| house.below.iter().any(|below| below == to || reaches(below, to, houses)))
}

/// Where a house is drawn.
#[derive(Clone, Copy)]
struct Place {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

fn draw(houses: &[House]) -> String {
    let mut places: BTreeMap<&str, Place> = BTreeMap::new();
    let mut boxes = String::new();
    let mut y = MARGIN;
    for floor in floors(houses) {
        let room = WIDTH - 2 * MARGIN - (floor.len() - 1) * MARGIN;
        let weight = |house: &House| 3 + house.rooms.iter().map(Vec::len).max().unwrap_or(0).min(6);
        let whole: usize = floor.iter().map(|house| weight(house)).sum();
        let mut x = MARGIN;
        let mut tallest = 0;
        for house in floor {
            let width = room * weight(house) / whole;
            let height = house_at(&mut boxes, house, x, y, width);
            places.insert(&house.folder, Place { x, y, width, height });
            tallest = tallest.max(height);
            x += width + MARGIN;
        }
        y += tallest + BETWEEN;
    }
    let mut arrows = String::new();
    for house in houses {
        for below in house.below.iter().filter(|below| is_direct(house, below, houses)) {
            if let (Some(from), Some(to)) = (places.get(house.folder.as_str()), places.get(below.as_str())) {
                arrow(&mut arrows, *from, *to);
            }
        }
    }
    let height = y - BETWEEN + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n{arrows}{boxes}</svg>\n"
    )
}

fn arrow(out: &mut String, from: Place, to: Place) {
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

/// Draws a house and gives its height.
fn house_at(out: &mut String, house: &House, x: usize, y: usize, width: usize) -> usize {
    let mut rooms = String::new();
    let mut at = y + HEAD;
    for row in &house.rooms {
        let mut left = x + 8;
        // A row of the engine fills the width; others are as wide as their names.
        let fills = house.rooms.len() > 1;
        for (name, lines) in row {
            let text = format!("{name} {}", thousands(*lines));
            let wide = if fills { (width - 8) / row.len() - 8 } else { text.chars().count() * LETTER + 14 };
            if left + wide > x + width - 8 && left > x + 8 {
                left = x + 8;
                at += ROOM + 4;
            }
            let _ = writeln!(
                rooms,
                "<rect x=\"{left}\" y=\"{at}\" width=\"{wide}\" height=\"{ROOM}\" rx=\"4\" fill=\"#ffffff\" stroke=\"#adb5bd\"/>\
                 <text x=\"{}\" y=\"{}\" font-size=\"12\" fill=\"#343a40\" text-anchor=\"middle\">{text}</text>",
                left + wide / 2,
                at + 16,
            );
            left += wide + 8;
        }
        if !row.is_empty() {
            at += ROOM + 4;
        }
    }
    let height = at + 6 - y;
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#e7f0f9\" stroke=\"#4c78a8\"/>\n\
         <text x=\"{}\" y=\"{}\" font-size=\"15\" font-weight=\"bold\" fill=\"#1b2a3a\">{} <tspan font-weight=\"normal\" \
         font-size=\"12\" fill=\"#495057\">{} lines</tspan></text>\n\
         <text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#495057\">{}</text>\n{rooms}",
        x + 10,
        y + 21,
        house.name,
        thousands(house.lines),
        x + 10,
        y + 40,
        cut(&house.what, (width - 16) / 6),
    );
    height
}

/// So that not every change of the code changes the picture.
fn thousands(lines: usize) -> String {
    if lines < 1000 { "‹ 1 k".to_owned() } else { format!("{} k", (lines + 500) / 1000) }
}

/// The text without what stands in brackets behind it, of so many letters.
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

    fn house(folder: &str, below: &[&str]) -> House {
        let below = below.iter().map(|name| (*name).to_owned()).collect();
        House {
            folder: folder.into(),
            name: folder.into(),
            what: String::new(),
            lines: 1,
            rooms: Vec::new(),
            below,
        }
    }

    #[test]
    fn a_crate_stands_above_all_that_it_uses() {
        let houses = [house("a", &[]), house("b", &["a"]), house("c", &["b", "a"]), house("d", &["a"])];
        let floors: Vec<Vec<&str>> = floors(&houses)
            .iter()
            .map(|floor| floor.iter().map(|house| house.folder.as_str()).collect())
            .collect();
        assert_eq!(floors, [vec!["c", "d"], vec!["b"], vec!["a"]]);
        assert!(is_direct(&houses[2], "b", &houses));
        assert!(!is_direct(&houses[2], "a", &houses));
    }
}
