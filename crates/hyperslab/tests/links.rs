//! Every storage of links and every method gives the same list of links.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

use std::ops::ControlFlow;

use hyperslab::{File, FileOptions, Group, GroupStorage, LibraryVersion, LibverBounds, Link};

#[test]
fn visited_links_are_the_listed_ones() {
    let latest = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    let cases = [
        (LibverBounds::EARLIEST, 100, GroupStorage::SymbolTable),
        (latest, 5, GroupStorage::Compact),
        (latest, 3000, GroupStorage::Dense),
    ];
    for (bounds, count, storage) in cases {
        let file = FileOptions::new().libver(bounds).create_in_memory().unwrap();
        let group = file.create_group("g").unwrap();
        let other = file.create_group("other").unwrap();
        for number in 0..count {
            let name = format!("{:x}", (number * 7919 + 1) % 65_537);
            if number % 3 == 0 || storage == GroupStorage::SymbolTable {
                group.link_hard(&name, &other).unwrap();
            } else if number % 3 == 1 {
                group.link_soft(&name, "/other").unwrap();
            } else {
                group.link_external(&name, "elsewhere.h5", "/there").unwrap();
            }
        }
        let file = File::from_bytes(file.to_bytes().unwrap()).unwrap();
        let group = file.group("g").unwrap();
        assert_eq!(group.storage().unwrap(), storage);
        let listed = group.links().unwrap();
        let mut visited: Vec<Link> = Vec::new();
        group
            .visit_links(|link| {
                // The visitor may open the visited links.
                let asked = group.link(std::str::from_utf8(link.name()).unwrap()).unwrap().unwrap();
                assert_eq!(asked, link.to_link());
                assert_eq!((asked.charset, asked.creation_order), (link.charset(), link.creation_order()));
                let hard = link.hard().map(hyperslab::LinkTarget::Hard);
                assert!(hard.is_none_or(|hard| hard == asked.target));
                visited.push(asked);
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(visited, listed);
        assert_eq!(visited.len(), count);
        assert!(visited.is_sorted_by(|one, other| one.name < other.name));
        assert_eq!(group.member_names().unwrap().len(), count);
        let mut seen = 0;
        group
            .visit_links(|_| {
                seen += 1;
                if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        assert_eq!(seen, 2);
    }
}

/// Changes many groups in turn: adds datasets, links and groups, and removes some of them.
fn groups_in_turn(file: &File) -> Vec<Group> {
    let groups: Vec<Group> =
        (0..30).map(|number| file.create_group(&format!("g{number}")).unwrap()).collect();
    for number in 0..3000_usize {
        let (group, next) = (&groups[number % 30], &groups[(number + 1) % 30]);
        let dataset = group.new_dataset(&format!("d{number}")).of::<i32>().shape(&[2]).create().unwrap();
        dataset.set_attribute("number", i32::try_from(number).unwrap()).unwrap();
        match number % 7 {
            0 => group.link_hard(&format!("next{number}"), next).unwrap(),
            // A symbol table cannot store this link, so that the group gets another storage.
            1 if number > 1500 => group.link_soft(&format!("größe{number}"), "/g0").unwrap(),
            2 if number > 1000 => group.remove(&format!("d{number}")).unwrap(),
            3 => group.set_attribute("last", i32::try_from(number).unwrap()).unwrap(),
            4 => drop(group.create_group(&format!("inner{number}")).unwrap()),
            5 if number % 11 == 0 => assert!(group.link_exists(&format!("d{number}")).unwrap()),
            6 if number % 13 == 0 => file.flush().unwrap(),
            _ => assert!(group.create_group(&format!("d{number}")).is_err()),
        }
    }
    groups
}

#[test]
fn groups_that_change_in_turn_hold_all_their_links() {
    let latest = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    for bounds in [LibverBounds::EARLIEST, latest] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("turns.h5");
        let file = FileOptions::new().libver(bounds).create(&path).unwrap();
        drop(groups_in_turn(&file));
        file.close().unwrap();
        let report = hyperslab_check::check_path(&path).unwrap();
        assert!(report.is_sound(), "{report}");
        let file = File::open(&path).unwrap();
        for number in 0..3000_usize {
            let group = file.group(&format!("g{}", number % 30)).unwrap();
            let name = format!("d{number}");
            let removed = number % 7 == 2 && number > 1000;
            assert_eq!(group.link_exists(&name).unwrap(), !removed, "{name}");
            if !removed {
                let value: i32 =
                    group.dataset(&name).unwrap().attribute("number").unwrap().read_scalar().unwrap();
                assert_eq!(value, i32::try_from(number).unwrap());
            }
            let has = |name: String| group.link_exists(&name).unwrap();
            assert_eq!(has(format!("next{number}")), number % 7 == 0);
            assert_eq!(has(format!("größe{number}")), number % 7 == 1 && number > 1500);
            assert_eq!(has(format!("inner{number}")), number % 7 == 4);
        }
        let other = file.group("g1").unwrap().group("next0");
        assert!(other.is_err(), "`next0` is a member of `g0`");
        assert_eq!(file.group("g0/next0").unwrap().token(), file.group("g1").unwrap().token());
    }
}
