//! Accidents that happen to a file and its journal after a writer was killed: each row of the table
//! in `docs/journal.md` is tested at every third point of a writer's life, on real files;
//! `HYPERSLAB_ACCIDENTS=all` tries every point.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::arithmetic_side_effects,
    reason = "in a test a panic is the report"
)]

mod mounts;
mod rows;
mod scene;

use rows::{ROWS, Row};
use scene::{Scene, Versions};

/// Tests an accident at every point of a writer's life. Returns the failures.
fn try_row(number: usize, row: &Row, scene: &Scene) -> Vec<String> {
    let all = std::env::var_os("HYPERSLAB_ACCIDENTS").is_some_and(|value| value == "all");
    let (first, step) = if all { (0, 1) } else { (number % 3, 3) };
    let mut failures = Vec::new();
    for point in (first..=scene.history.len()).step_by(step) {
        let state = scene.killed_at(point);
        if let Err(why) = (row.accident)(&state) {
            let name = row.name;
            failures.push(format!("{name}, {:?}, killed after operation {point}: {why}", scene.versions));
        }
    }
    failures
}

#[test]
fn every_accident_ends_as_the_documentation_says() {
    let mut failures = Vec::new();
    for versions in [Versions::Earliest, Versions::Latest] {
        let scene = Scene::new(versions);
        for (number, row) in ROWS.iter().enumerate() {
            failures.extend(try_row(number, row, &scene));
        }
    }
    let count = failures.len();
    assert!(failures.is_empty(), "{count} failures:\n{}", failures[..count.min(20)].join("\n"));
}

/// The table of the documentation has a row for each accident, with the same words.
#[test]
fn the_documentation_names_every_accident() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/journal.md")).unwrap();
    let names = ROWS.iter().map(|row| row.name).chain(mounts::NAMES);
    let missing: Vec<&str> = names.filter(|name| !page.contains(&format!("| {name} |"))).collect();
    assert!(missing.is_empty(), "docs/journal.md has no row for {missing:#?}");
}
