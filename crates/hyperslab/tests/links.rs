//! Every storage of links and every method gives the same list of links.

use std::ops::ControlFlow;

use hyperslab::{FileOptions, GroupStorage, LibraryVersion, LibverBounds, Link};

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
        let file = hyperslab::File::from_bytes(file.to_bytes().unwrap()).unwrap();
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
