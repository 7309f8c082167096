//! Rules 2 and 3: inside the engine, `store < index < {object, data} < ops`; only `store` sees drivers.

use super::Finding;
use super::source::{File, Tree, is_word};

/// Rooms and what each may use, besides itself and what is in no room.
const ROOMS: &[(&str, &[&str])] = &[
    ("store", &[]),
    ("index", &["store"]),
    ("object", &["store", "index"]),
    ("data", &["store", "index"]),
    ("ops", &["store", "index", "object", "data"]),
];

/// Rooms that never name a driver.
const WITHOUT_DRIVERS: &[&str] = &["index", "object", "data"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let Some(("engine", inside)) = file.source_of() else { continue };
        let first = inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs");
        let Some((room, below)) = ROOMS.iter().find(|(room, _)| *room == first) else { continue };
        for (line, used) in uses(file, inside) {
            let is_room = ROOMS.iter().any(|(other, _)| *other == used);
            if is_room && used != *room && !below.contains(&used.as_str()) {
                let message =
                    format!("`{room}` must not use `{used}`: store < index < {{object, data}} < ops");
                findings.push(Finding::new(&file.path, line, message));
            }
        }
        if WITHOUT_DRIVERS.contains(room) {
            for (at, _) in file.code.match_indices("hyperslab_vfd") {
                let message = format!("`{room}` must not see drivers: only `store` does");
                findings.push(Finding::new(&file.path, file.line_of(at), message));
            }
        }
    }
    findings
}

/// Returns lines and the first path segments under the crate's root that the file names.
pub(super) fn uses(file: &File, inside: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, word) in file.code.match_indices("crate::") {
        if !file.code.as_bytes().get(at.wrapping_sub(1)).is_some_and(|byte| is_word(*byte)) {
            found.extend(segments(file, at + word.len()));
        }
    }
    // `super::` as often as the file is deep, or more often, ends at the root as well.
    let depth = inside.split('/').count() - usize::from(inside.ends_with("/mod.rs"));
    let mut at = 0;
    while let Some(start) = file.code.get(at..).and_then(|rest| rest.find("super::")).map(|found| found + at)
    {
        let chain = file.code.get(start..).unwrap_or_default();
        let mut count = 0;
        while chain.get(count * 7..).is_some_and(|rest| rest.starts_with("super::")) {
            count += 1;
        }
        at = start + count * 7;
        if count >= depth {
            found.extend(segments(file, at));
        }
    }
    found
}

/// What stands at `at`: one name, or the names at the first level of `{…}`.
fn segments(file: &File, at: usize) -> Vec<(usize, String)> {
    let rest = file.code.get(at..).unwrap_or_default();
    if !rest.starts_with('{') {
        return word(rest).map(|name| (file.line_of(at), name)).into_iter().collect();
    }
    let (mut depth, mut found) = (0_usize, Vec::new());
    let mut expected = true;
    for (offset, character) in rest.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => expected = true,
            _ if expected && depth == 1 && (character.is_alphabetic() || character == '_') => {
                expected = false;
                let name = rest.get(offset..).and_then(word);
                found.extend(name.map(|name| (file.line_of(at + offset), name)));
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

fn word(text: &str) -> Option<String> {
    let word: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arrows_down_and_sideways_into_the_own_room_are_fine() {
        assert!(
            lines("crates/engine/src/object/link.rs", "use crate::{error::Error, index::heap, object::x};")
                .is_empty()
        );
        assert!(
            lines("crates/engine/src/ops/read.rs", "use crate::object; use crate::data::plan;").is_empty()
        );
        assert!(lines("crates/engine/src/lib.rs", "use crate::ops;").is_empty());
        assert!(lines("crates/hyperslab/src/data/x.rs", "use crate::ops;").is_empty());
    }

    #[test]
    fn arrows_up_are_found_in_every_spelling() {
        let path = "crates/engine/src/index/btree.rs";
        for text in [
            "//! x\nuse crate::object::link;",
            "\nuse crate::{\n store::{data, Bytes}, object};".trim_start_matches('\n'),
            "\nfn f(x: super::super::object::Link) {}",
            "\nlet x = crate::object::f();",
        ] {
            let found = lines(path, text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(
                found[0].starts_with("crates/engine/src/index/btree.rs:2: `index` must not use `object`"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn object_and_data_do_not_know_each_other() {
        assert_eq!(lines("crates/engine/src/object/mod.rs", "use super::data::plan;").len(), 1);
        assert_eq!(lines("crates/engine/src/data.rs", "use crate::object;").len(), 1);
    }

    #[test]
    fn only_store_sees_drivers() {
        assert_eq!(lines("crates/engine/src/data/read.rs", "use hyperslab_vfd::Driver;").len(), 1);
        assert!(lines("crates/engine/src/store/open.rs", "use hyperslab_vfd::Driver;").is_empty());
    }
}
