//! Freed space is used again: a file whose datasets are replaced repeatedly does not grow.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::arithmetic_side_effects,
    reason = "in a test a panic is the report"
)]

use std::sync::Arc;

use hyperslab::vfd::{Core, Driver as _};
use hyperslab::{File, FileOptions, FileSpace, FileSpaceStrategy, LibraryVersion, LibverBounds, OpenOptions};

const DATASETS: u32 = 1000;
const ROUNDS: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Contiguous,
    Chunked,
    Filtered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Nothing,
    Flush,
    Reopen,
}

fn make(file: &File, number: u32, layout: Layout, round: u32) {
    let length = 50 + u64::from(number * 37 % 400);
    let values: Vec<u32> = (0..length as u32).map(|at| (at * at).wrapping_mul(round + number)).collect();
    let dataset = file.new_dataset(&format!("data {number}")).of::<u32>().shape(&[length]);
    let dataset = match layout {
        Layout::Contiguous => dataset,
        Layout::Chunked => dataset.chunks(&[64]).unlimited(),
        Layout::Filtered => dataset.chunks(&[64]).unlimited().shuffle().deflate(1),
    };
    dataset.create().unwrap().write(.., &values).unwrap();
}

fn open(medium: &Arc<Core>, bounds: LibverBounds) -> File {
    OpenOptions::new().write(true).libver(bounds).open_driver(medium.clone()).unwrap()
}

/// Returns the length of the file after each round.
fn lengths(layout: Layout, between: Between, space: Option<FileSpace>, low: LibraryVersion) -> Vec<u64> {
    let medium = Arc::new(Core::from_vec("space", Vec::new()));
    let bounds = LibverBounds::new(low, LibraryVersion::LATEST).unwrap();
    let options = FileOptions::new().libver(bounds);
    let options = match space {
        Some(space) => options.file_space(space),
        None => options,
    };
    let mut file = options.create_driver(medium.clone()).unwrap();
    let mut lengths = Vec::new();
    for round in 0..=ROUNDS {
        for number in 0..DATASETS {
            if round > 0 {
                file.remove(&format!("data {number}")).unwrap();
                if between == Between::Flush && number % 100 == 0 {
                    file.flush().unwrap();
                }
            }
            make(&file, number, layout, round);
        }
        if between == Between::Reopen {
            file.close().unwrap();
            file = open(&medium, bounds);
        } else {
            file.flush().unwrap();
        }
        lengths.push(medium.len().unwrap());
    }
    file.close().unwrap();
    let report = hyperslab_check::check(medium.clone(), &Default::default()).unwrap();
    assert_eq!(report.faults, 0, "{:#?}", report.findings);
    let last = open(&medium, bounds).dataset("data 999").unwrap().read_raw::<u32>(..).unwrap();
    assert_eq!(last.get(3), Some(&(9 * (ROUNDS + 999))));
    lengths
}

fn stays(layout: Layout, between: Between, space: Option<FileSpace>) {
    for low in [LibraryVersion::V18, LibraryVersion::V110] {
        if space.is_some() && low == LibraryVersion::V18 {
            continue;
        }
        let lengths = lengths(layout, between, space, low);
        let (first, last) = (lengths.first().unwrap(), lengths.last().unwrap());
        assert!(*last <= first + first / 20, "{layout:?}, {between:?}, {space:?}, {low:?}: {lengths:?}");
    }
}

#[test]
fn space_is_reused_within_a_session() {
    for layout in [Layout::Contiguous, Layout::Chunked, Layout::Filtered] {
        for between in [Between::Nothing, Between::Flush] {
            stays(layout, between, None);
        }
    }
}

#[test]
fn space_is_reused_across_sessions_if_free_space_is_stored() {
    for strategy in [FileSpaceStrategy::FreeSpaceAndAggregators, FileSpaceStrategy::Page] {
        let space = FileSpace { strategy, persist: true, threshold: 1, page_size: 4096 };
        for layout in [Layout::Contiguous, Layout::Chunked, Layout::Filtered] {
            stays(layout, Between::Reopen, Some(space));
        }
    }
}
