//! Small files that require much work: the limits end the work with an error.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab::{ErrorKind, File, FileOptions, Limits, OpenOptions, Selection, VirtualMapping};

/// Creates a chain of virtual datasets. Each dataset maps the previous dataset several times,
/// always to the same elements.
fn shown_in_turn(levels: usize, times: usize, elements: u64) -> File {
    let file = FileOptions::new().create_in_memory().unwrap();
    file.new_dataset("0").write(&vec![7_u8; usize::try_from(elements).unwrap()]).unwrap();
    for level in 1..=levels {
        let (source, all) = (format!("/{}", level - 1), Selection::All);
        let (file_name, dataset) = (b".".to_vec(), source.into_bytes());
        let mapping =
            VirtualMapping { file: file_name, dataset, selection: all.clone(), source_selection: all };
        let builder = file.new_dataset(&level.to_string()).of::<u8>().shape(&[elements]);
        builder.virtual_sources(&vec![mapping; times]).create().unwrap();
    }
    file
}

fn open(file: &File, limits: Limits) -> File {
    OpenOptions::new().limits(limits).open_bytes(file.to_bytes().unwrap()).unwrap()
}

#[test]
fn virtual_datasets_that_refer_to_each_other_many_times_reach_the_limit() {
    // Without a limit, the read would copy one element 64^12 times.
    let file = shown_in_turn(12, 64, 1);
    let limits = Limits { virtual_steps: 1 << 16, ..Limits::default() };
    let error = open(&file, limits).dataset("12").unwrap().read_raw::<u8>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error:?}");
    assert_eq!(open(&file, limits).dataset("2").unwrap().read_raw::<u8>(..).unwrap(), [7]);
}

#[test]
fn copies_count_toward_the_limit() {
    let elements = 1 << 12;
    let limits = Limits { virtual_steps: 1 << 10, ..Limits::default() };
    let file = open(&shown_in_turn(2, 40, elements), limits);
    assert_eq!(file.dataset("1").unwrap().read_raw::<u8>(..).unwrap(), vec![7; 1 << 12]);
    let error = file.dataset("2").unwrap().read_raw::<u8>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error:?}");
}
