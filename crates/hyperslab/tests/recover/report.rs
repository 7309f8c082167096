//! The report of losses: the lost part, its location, and the replacement.

use hyperslab::{
    Datatype, File, FileOptions, Layout, LibraryVersion, LibverBounds, LossPart, Points, Recovery,
    ReferenceTarget, SalvagedState,
};

use crate::{Outcome, salvage, salvage_by};

fn bounds() -> [LibverBounds; 2] {
    [LibraryVersion::Earliest, LibraryVersion::V110]
        .map(|low| LibverBounds::new(low, LibraryVersion::LATEST).unwrap())
}

/// Creates a dataset with 10 filtered chunks of 50 numbers.
fn numbers(file: &File) -> Vec<i32> {
    let numbers: Vec<i32> = (1..=500).collect();
    file.new_dataset("numbers").chunks(&[50]).deflate(6).fill(-1).write(&numbers).unwrap();
    numbers
}

#[test]
fn a_damaged_chunk_is_filled_and_named() {
    for bounds in bounds() {
        let file = FileOptions::new().libver(bounds).create_in_memory().unwrap();
        let mut expected = numbers(&file);
        let chunk = file.dataset("numbers").unwrap().chunks().list().unwrap()[3].clone();
        let mut bytes = file.to_bytes().unwrap();
        let start = usize::try_from(chunk.address).unwrap();
        bytes[start..start + usize::try_from(chunk.size).unwrap()].fill(0x55);
        let (saved, salvaged) = salvage(bytes, "chunk");
        expected[150..200].fill(-1);
        let saved = File::from_bytes(saved).unwrap();
        assert_eq!(saved.dataset("numbers").unwrap().read_raw::<i32>(..).unwrap(), expected);
        let object = salvaged.objects.iter().find(|object| object.path == "/numbers").unwrap();
        assert_eq!(object.state(), SalvagedState::Partly);
        let tally = object.chunks.unwrap();
        assert_eq!((tally.copied, tally.damaged, tally.possible), (9, 1, 10));
        let [loss] = object.losses.as_slice() else { panic!("{object}") };
        let LossPart::Region(region) = &loss.part else { panic!("{loss}") };
        assert_eq!((&region.start[..], &region.count[..]), (&[150][..], &[50][..]));
        assert_eq!((loss.structure, loss.address), (Some("chunk"), Some(chunk.address)));
        assert!(object.to_string().contains("elements [150:200]"), "{object}");
        assert_eq!(salvaged.outcome(), Outcome::Partly);
    }
}

#[test]
fn damaged_attributes_are_reported_one_by_one() {
    // Each attribute refers to a separate committed datatype. One of these datatypes is destroyed.
    let file = FileOptions::new().create_in_memory().unwrap();
    file.new_dataset("data").write(&[1, 2, 3]).unwrap();
    let data = file.dataset("data").unwrap();
    data.set_attribute("first", 1).unwrap();
    data.set_attribute("text", "of variable length").unwrap();
    data.set_attribute("last", 3.5).unwrap();
    let mut bytes = file.to_bytes().unwrap();
    let Some(heap) = bytes.windows(4).position(|window| window == b"GCOL") else { return };
    bytes[heap..heap + 8].fill(0);
    let (saved, salvaged) = salvage(bytes, "attribute");
    let saved = File::from_bytes(saved).unwrap().dataset("data").unwrap();
    assert_eq!(saved.read_raw::<i32>(..).unwrap(), [1, 2, 3]);
    assert_eq!(saved.attribute("first").unwrap().read_scalar::<i32>().unwrap(), 1);
    assert_eq!(saved.attribute("last").unwrap().read_scalar::<f64>().unwrap(), 3.5);
    assert_eq!(salvaged.count(SalvagedState::Partly), 1, "{salvaged}");
}

#[test]
fn truncated_rows_are_reported() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let expected: Vec<u64> = (1..=10_000).collect();
    file.new_dataset("rows").write(&expected).unwrap();
    let Layout::Contiguous { address: Some(start) } = file.dataset("rows").unwrap().layout() else {
        panic!()
    };
    let mut bytes = file.to_bytes().unwrap();
    bytes.truncate(usize::try_from(start).unwrap() + 8 * 5000);
    let (saved, salvaged) = salvage(bytes, "rows");
    let saved = File::from_bytes(saved).unwrap().dataset("rows").unwrap().read_raw::<u64>(..).unwrap();
    assert_eq!(saved.len(), expected.len());
    let object = salvaged.objects.iter().find(|object| object.path == "/rows").unwrap();
    let rows: Vec<(u64, u64)> = object
        .losses
        .iter()
        .filter_map(|loss| match loss.part {
            LossPart::Row { first, count } => Some((first, count)),
            _ => None,
        })
        .collect();
    let [(first, count)] = rows.as_slice() else { panic!("{object}") };
    assert!(*first <= 5000 && first + count == 10_000 && *first > 4900, "{object}");
    let first = usize::try_from(*first).unwrap();
    assert_eq!(saved[..first], expected[..first]);
    assert!(saved[first..].iter().all(|value| *value == 0));
}

/// A few damaged bytes never make a small file grow to terabytes, for every type of elements.
#[test]
fn an_impossible_extent_is_reported() {
    let bounds = LibverBounds::new(LibraryVersion::Earliest, LibraryVersion::LATEST).unwrap();
    let file = FileOptions::new().libver(bounds).create_in_memory().unwrap();
    let names: Vec<String> = (0..4711).map(|number| number.to_string()).collect();
    file.new_dataset("names").write_strings(&names).unwrap();
    file.new_dataset("numbers").write(&(0..4711).collect::<Vec<i32>>()).unwrap();
    file.new_dataset("compact").compact().write(&[1_u8; 4711]).unwrap();
    let mut bytes = file.to_bytes().unwrap();
    let dims: Vec<usize> =
        (0..bytes.len() - 8).filter(|at| bytes[*at..*at + 8] == 4711_u64.to_le_bytes()).collect();
    assert!(dims.len() >= 3);
    for at in dims {
        bytes[at..at + 8].copy_from_slice(&(4711_u64 << 28).to_le_bytes());
    }
    let length = bytes.len();
    let (saved, salvaged) = salvage(bytes, "extents");
    assert!(saved.len() <= length, "{} bytes", saved.len());
    let state = |name| salvaged.objects.iter().find(|object| object.path == name).unwrap().state();
    assert_eq!(state("/names"), SalvagedState::Partly, "{salvaged}");
    assert_eq!(state("/numbers"), SalvagedState::Partly, "{salvaged}");
    assert_eq!(state("/compact"), SalvagedState::Lost, "{salvaged}");
}

#[test]
fn lost_groups_are_found_again() {
    for bounds in bounds() {
        let file = FileOptions::new().libver(bounds).create_in_memory().unwrap();
        let group = file.create_group("group").unwrap();
        group.create_group("inner").unwrap().new_dataset("deep").write(&[7, 8, 9]).unwrap();
        group.new_dataset("data").write(&[1.5]).unwrap();
        let header = usize::try_from(file.group("group").unwrap().token().address()).unwrap();
        let mut bytes = file.to_bytes().unwrap();
        bytes[header..header + 16].fill(0xff);
        let (saved, salvaged) = salvage(bytes.clone(), "group");
        let saved = File::from_bytes(saved).unwrap();
        let folder = saved.group("lost+found").unwrap();
        let tops: Vec<String> = folder.links().unwrap().iter().map(hyperslab::Link::name_lossy).collect();
        assert_eq!(tops.len(), 2, "{tops:?}\n{salvaged}");
        let deep: Vec<Vec<i32>> = tops
            .iter()
            .filter_map(|top| folder.dataset(&format!("{top}/deep")).ok())
            .map(|dataset| dataset.read_raw(..).unwrap())
            .collect();
        assert_eq!(deep, [[7, 8, 9]]);
        let lost: Vec<&str> = salvaged
            .objects
            .iter()
            .filter(|object| object.state() == SalvagedState::Lost)
            .map(|object| object.path.as_str())
            .collect();
        assert_eq!(lost, ["/group"]);
        let (saved, _) = Recovery::new().search(false).salvage_bytes(bytes).unwrap();
        assert!(File::from_bytes(saved).unwrap().is_empty().unwrap());
    }
}

/// The bytes of an HDF5 file inside a dataset do not count as lost objects.
#[test]
fn an_hdf5_file_inside_a_dataset_is_not_salvaged() {
    let inner = FileOptions::new().create_in_memory().unwrap();
    inner.new_dataset("inner").write(&[1, 2, 3]).unwrap();
    let file = FileOptions::new().create_in_memory().unwrap();
    file.new_dataset("bytes").write(&inner.to_bytes().unwrap()).unwrap();
    file.new_dataset("other").write(&[1]).unwrap();
    let header = usize::try_from(file.dataset("other").unwrap().token().address()).unwrap();
    let mut bytes = file.to_bytes().unwrap();
    bytes[header..header + 16].fill(0);
    let (saved, salvaged) = salvage(bytes, "file in a file");
    let saved = File::from_bytes(saved).unwrap();
    assert!(saved.group("lost+found").is_err(), "{salvaged}");
    assert!(saved.dataset("bytes").is_ok());
}

#[test]
fn damaged_sparse_chunks_are_reported_one_by_one() {
    let file = FileOptions::new().libver(LibverBounds::LATEST).create_in_memory().unwrap();
    let sparse = file.new_dataset("sparse").of::<i32>().shape(&[100]).sparse(&[10]).create().unwrap();
    let coordinates: Vec<u64> = (0..100).step_by(3).collect();
    let values: Vec<i32> = coordinates.iter().map(|at| i32::try_from(*at).unwrap() + 1).collect();
    sparse.sparse().write(&Points { rank: 1, coordinates }, &values).unwrap();
    let before = sparse.read_raw::<i32>(..).unwrap();
    let chunks = sparse.sparse().chunks().unwrap();
    let mut bytes = file.to_bytes().unwrap();
    let start = usize::try_from(chunks[4].address).unwrap();
    bytes[start..start + 6].fill(0xff);
    let (saved, salvaged) = salvage(bytes, "sparse");
    let saved = File::from_bytes(saved).unwrap().dataset("sparse").unwrap();
    let mut expected = before;
    expected[40..50].fill(0);
    assert_eq!(saved.read_raw::<i32>(..).unwrap(), expected, "{salvaged}");
}

/// If two links have the same name, one stays, and the object of the other link goes to the group
/// of lost objects.
#[test]
fn equal_names_after_damage_are_distinguished() {
    let [earliest, _] = bounds();
    let file = FileOptions::new().libver(earliest).create_in_memory().unwrap();
    let group = file.create_group("group").unwrap();
    for (name, value) in [("name-1", 1), ("name-2", 2)] {
        group.new_dataset(name).write(&[value]).unwrap();
    }
    let mut bytes = file.to_bytes().unwrap();
    let Some(at) = bytes.windows(6).position(|window| window == b"name-2") else {
        panic!("old groups have a heap")
    };
    bytes[at + 5] = b'1';
    let (saved, salvaged) = salvage(bytes, "names");
    let saved = File::from_bytes(saved).unwrap();
    let all: Vec<Vec<i32>> = saved
        .walk()
        .filter_map(|visited| visited.object.ok()?.into_dataset().ok()?.read_raw(..).ok())
        .collect();
    assert_eq!(all.concat().iter().sum::<i32>(), 3, "{salvaged}");
}

/// A group whose link cannot be created goes to the group of lost objects, even if it has a link to
/// itself. The reference counts of its members include its links.
#[test]
fn an_unnamed_group_with_a_link_to_itself() {
    let [earliest, _] = bounds();
    let file = FileOptions::new().libver(earliest).create_in_memory().unwrap();
    let outside = file.create_group("outside").unwrap();
    let group = file.create_group("group").unwrap();
    group.new_dataset("name-1").write(&[1]).unwrap();
    let circle = group.create_group("name-2").unwrap();
    circle.link_hard("itself", &circle).unwrap();
    circle.link_hard("outside", &outside).unwrap();
    let mut bytes = file.to_bytes().unwrap();
    let at = bytes.windows(6).position(|window| window == b"name-2").unwrap();
    bytes[at + 5] = b'1';
    for search in [true, false] {
        let (saved, salvaged) = salvage_by(&Recovery::new().search(search), bytes.clone(), "a circle");
        let saved = File::from_bytes(saved).unwrap();
        let folder = saved.group("lost+found").unwrap();
        let [link] = &folder.links().unwrap()[..] else { panic!("one is put aside: {salvaged}") };
        let circle = folder.group(&link.name_lossy()).unwrap();
        assert_eq!(circle.group("itself/itself").unwrap().token(), circle.token());
        assert_eq!(circle.group("outside").unwrap().token(), saved.group("outside").unwrap().token());
    }
}

/// An array of chunks that ends before the extent: the report has one loss, and the work does not
/// depend on the number of missing chunks.
#[test]
fn an_extent_of_more_chunks_than_the_array_has() {
    let [_, latest] = bounds();
    let file = FileOptions::new().libver(latest).create_in_memory().unwrap();
    let data: Vec<i32> = (1..=4711).collect();
    let dataset = file.new_dataset("numbers").chunks(&[100]).write(&data).unwrap();
    let header = usize::try_from(dataset.token().address()).unwrap();
    let mut bytes = file.to_bytes().unwrap();
    let dims: Vec<usize> =
        (header..header + 200).filter(|at| bytes[*at..*at + 8] == 4711_u64.to_le_bytes()).collect();
    for at in dims {
        bytes[at..at + 8].copy_from_slice(&(1_u64 << 60).to_le_bytes());
    }
    let is_end = |end: &usize| {
        let sum = bytes[*end..*end + 4].iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        let original = file.to_bytes().unwrap();
        hyperslab_format::codec::checksum(&original[header..*end]) == sum
    };
    let end = (header + 16..header + 2000).find(is_end).unwrap();
    let sum = hyperslab_format::codec::checksum(&bytes[header..end]);
    bytes[end..end + 4].copy_from_slice(&sum.to_le_bytes());
    // A version 1 B-tree holds only the existing chunks, but a fixed array has an entry for every
    // possible chunk: the index must be changed.
    for (bounds, losses) in [(LibverBounds::DEFAULT, 1), (LibverBounds::LATEST, 2)] {
        let (saved, salvaged) = salvage_by(&Recovery::new().libver(bounds), bytes.clone(), "extent");
        assert!(saved.len() <= 2 * bytes.len(), "{} bytes", saved.len());
        let object = salvaged.objects.iter().find(|object| object.path == "/numbers").unwrap();
        assert_eq!(object.losses.len(), losses, "{salvaged}");
        let saved = File::from_bytes(saved).unwrap().dataset("numbers").unwrap();
        let rows = hyperslab::Selection::region(&hyperslab::Region::new(&[0], &[4711]).unwrap());
        assert_eq!(saved.read_raw::<i32>(&rows).unwrap(), data);
    }
}

/// A dataset lies at the address of a committed datatype that another dataset uses. Both datasets
/// are salvaged, each with the datatype.
#[test]
fn a_reference_to_a_dataset_as_a_datatype() {
    let [earliest, _] = bounds();
    let file = FileOptions::new().libver(earliest).create_in_memory().unwrap();
    let datatype = file.commit_datatype("type", &<i32 as hyperslab::H5Type>::datatype()).unwrap();
    let group = file.create_group("group").unwrap();
    let place = |dataset: &hyperslab::Dataset| usize::try_from(dataset.token().address()).unwrap();
    let [one, other] = [[1, 2, 3], [4, 5, 6]].map(|values| {
        let name = format!("from-{}", values[0]);
        let dataset = group.new_dataset(&name).committed(&datatype).shape(&[3]).create().unwrap();
        dataset.write(.., &values).unwrap();
        dataset
    });
    let lost = usize::try_from(group.token().address()).unwrap();
    let mut bytes = file.to_bytes().unwrap();
    bytes[lost..lost + 16].fill(0xff);
    let header = place(&one)..place(&one) + 300;
    let used = datatype.token().address().to_le_bytes();
    let at = header.clone().find(|at| bytes[*at..*at + 8] == used).unwrap();
    bytes[at..at + 8].copy_from_slice(&other.token().address().to_le_bytes());
    let (saved, salvaged) = salvage(bytes, "no type");
    let mut values: Vec<Vec<i32>> = File::from_bytes(saved)
        .unwrap()
        .walk()
        .filter_map(|visited| visited.object.ok()?.into_dataset().ok()?.read_raw(..).ok())
        .collect();
    values.sort_unstable();
    assert_eq!(values, [[1, 2, 3], [4, 5, 6]], "{salvaged}");
}

/// A reference to an attribute with a destroyed name becomes a null reference.
#[test]
fn a_reference_to_an_attribute_without_a_name() {
    let file = FileOptions::new().libver(LibverBounds::LATEST).create_in_memory().unwrap();
    let values = file.new_dataset("values").write(&[1, 2, 3]).unwrap();
    values.set_attribute("unmistakable", 1).unwrap();
    let kind = hyperslab::datatype::ReferenceKind::Object2;
    let reference = hyperslab::datatype::Reference { kind, version: 1 };
    let datatype = Datatype { size: 18, class: hyperslab::DatatypeClass::Reference(reference) };
    let links = file.new_dataset("links").datatype(datatype).shape(&[1]).create().unwrap();
    links
        .write_references(.., &[ReferenceTarget::Attribute(values.token(), b"unmistakable".to_vec())])
        .unwrap();
    let mut bytes = file.to_bytes().unwrap();
    let mut name = b"\x0c\0".to_vec();
    name.extend(b"unmistakable");
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at] = 0;
    let (saved, salvaged) = salvage(bytes, "no name");
    let links = File::from_bytes(saved).unwrap().dataset("links").unwrap();
    let [one] = &links.read_references::<hyperslab::IxDyn>(..).unwrap().into_raw_vec_and_offset().0[..]
    else {
        panic!("one")
    };
    assert!(one.is_null(), "{salvaged}");
}
