//! Encoded property lists (`H5Pencode2`, `H5Pdecode`).
//!
//! An encoding consists of the version, the number of the list's class, then the name, a zero byte
//! and the value of each property. A zero byte ends the list. A number follows a byte with its
//! width; truth values, enumerations and single bytes have no width. The module `plist::encoding`
//! describes the values that are not single numbers. libhdf5 encodes the same bytes in another
//! order. Drivers, callbacks and cache images are not encoded.

use std::sync::Arc;

use hyperslab::serialized::SelectionFormat;

use crate::ctypes::{herr_t, hid_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::id::{Entry, register};
use crate::plist::classes::LibraryClass;
use crate::plist::encoding::{self, take, take_text};
use crate::plist::names::{self, Form, Known};
use crate::plist::{self, PropertyList, Settings};
use crate::pointer::{Buffer, Data, Out, Stream};
use crate::symbols as s;
use crate::{export, h5s_encode};

/// The version of the encoding of property lists.
const VERSION: u8 = 0;
/// The maximum size in bytes of an encoded property list that the library decodes.
const MAX_BYTES: usize = 1 << 20;

/// A table of the property list classes that can be encoded: for each class number in an encoding,
/// the class and its identifier.
const KINDS: &[(u8, LibraryClass, hid_t)] = {
    use LibraryClass as L;
    &[
        (1, L::Root, s::CLASS_ROOT),
        (2, L::ObjectCreate, s::CLASS_OBJECT_CREATE),
        (3, L::FileCreate, s::CLASS_FILE_CREATE),
        (4, L::FileAccess, s::CLASS_FILE_ACCESS),
        (5, L::DatasetCreate, s::CLASS_DATASET_CREATE),
        (6, L::DatasetAccess, s::CLASS_DATASET_ACCESS),
        (7, L::Transfer, s::CLASS_DATASET_XFER),
        (8, L::FileMount, s::CLASS_FILE_MOUNT),
        (9, L::GroupCreate, s::CLASS_GROUP_CREATE),
        (10, L::GroupAccess, s::CLASS_GROUP_ACCESS),
        (11, L::DatatypeCreate, s::CLASS_DATATYPE_CREATE),
        (12, L::DatatypeAccess, s::CLASS_DATATYPE_ACCESS),
        (13, L::StringCreate, s::CLASS_STRING_CREATE),
        (14, L::AttributeCreate, s::CLASS_ATTRIBUTE_CREATE),
        (15, L::ObjectCopy, s::CLASS_OBJECT_COPY),
        (16, L::LinkCreate, s::CLASS_LINK_CREATE),
        (17, L::LinkAccess, s::CLASS_LINK_ACCESS),
        (18, L::AttributeAccess, s::CLASS_ATTRIBUTE_ACCESS),
        (19, L::ConnectorInitialize, s::CLASS_VOL_INITIALIZE),
        (20, L::MapCreate, s::CLASS_MAP_CREATE),
        (21, L::MapAccess, s::CLASS_MAP_ACCESS),
        (22, L::ReferenceAccess, s::CLASS_REFERENCE_ACCESS),
    ]
};

/// The name of the property that states whether a dataset creation list has the default allocation
/// time. The time itself is a part of the encoded fill value.
const ALLOCATION_STATE: &str = "alloc_time_state";
/// The name of the property that states the number of indexes of shared messages.
const INDEX_COUNT: &str = "num_shmsg_indexes";
/// The width of the allocation time state in bytes.
const STATE_BYTES: u8 = 4;
/// Properties of this library that libhdf5 does not encode.
const NOT_ENCODED: &[&str] = &["super_version", "tconv_buf", "bkgr_buf"];
/// Numbers that are encoded with all bytes, although other numbers of their type are not.
const FULL_WIDTH: &[&str] = &["rfic_flags"];
/// Enumerations, which are encoded as one byte.
const ENUMERATIONS: &[&str] = &[
    "close_degree",
    "multi_type",
    "libver_low_bound",
    "libver_high_bound",
    "file_space_strategy",
    "err_detect",
    "selection_io_mode",
    "vds_view",
    "character_encoding",
];

/// Returns the encoding of a number in a property list.
fn encode_number(known: &Known, value: Vec<u8>) -> Outcome<Vec<u8>> {
    if ENUMERATIONS.contains(&known.name) {
        return Ok(value.into_iter().take(1).collect());
    }
    let used = match known.form {
        Form::Byte => return Ok(value),
        Form::Size if FULL_WIDTH.contains(&known.name) => value.len(),
        Form::Number => value.len(),
        Form::Size => value.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1),
    };
    Ok(std::iter::once(encoding::narrow(used)?).chain(value.into_iter().take(used)).collect())
}

/// Returns the encoding of a property list, with selections in the format `form`.
///
/// # Errors
/// Fails if a property has no encoding.
pub fn encode(list: &PropertyList, form: SelectionFormat) -> Outcome<Vec<u8>> {
    let class = list.class.library;
    let kind = KINDS.iter().find(|(_, other, _)| *other == class).map_or(0, |(kind, ..)| *kind);
    let mut bytes = vec![VERSION, kind];
    let settings = list.settings.read();
    let mut put = |name: &str, value: Vec<u8>| {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        bytes.extend(value);
    };
    for known in names::known(class).filter(|known| !NOT_ENCODED.contains(&known.name)) {
        let Ok(value) = known.get(&settings) else { continue };
        put(known.name, encode_number(known, value)?);
    }
    for property in encoding::all() {
        let mut value = Vec::new();
        if (property.encode)(&settings, &mut value, form)? {
            put(property.name, value);
        }
    }
    if let Settings::DatasetCreate(dataset) = &*settings {
        let state = u32::from(dataset.allocation_time.is_none());
        put(ALLOCATION_STATE, [&[STATE_BYTES], state.to_le_bytes().as_slice()].concat());
    }
    bytes.push(0);
    Ok(bytes)
}

/// Returns the next byte of an encoded property list.
fn take_byte(bytes: &mut Stream) -> Outcome<u8> {
    Ok(take(bytes, 1)?.first().copied().unwrap_or(0))
}

/// Decodes the file access list inside of another encoded list.
///
/// # Errors
/// Fails if the bytes are no encoding of a file access list.
pub fn decode_file_access(bytes: &mut Stream) -> Outcome<PropertyList> {
    decode(bytes, Some(LibraryClass::FileAccess))
}

/// Decodes a property list from the caller's bytes. If `only` is given, the list must have this
/// class. A list inside of a list then ends the nesting, because file access lists contain no
/// lists.
fn decode(bytes: &mut Stream, only: Option<LibraryClass>) -> Outcome<PropertyList> {
    let bad = |text: &'static str| Failure::new(codes::PLIST, codes::BADVALUE, text);
    if take_byte(bytes)? != VERSION {
        return Err(Failure::new(codes::PLIST, codes::VERSION, "unknown version of the encoding"));
    }
    let kind = take_byte(bytes)?;
    let class = KINDS.iter().find(|(number, ..)| *number == kind).ok_or_else(|| bad("unknown list"))?;
    if only.is_some_and(|only| only != class.1) {
        return Err(bad("an encoded list contains a list of another class"));
    }
    let list = PropertyList::create(crate::h5p::find_class(class.2)?)?;
    let (mut default_time, mut indexes) = (false, None);
    loop {
        let name = take_text(bytes)?;
        if name.is_empty() {
            break;
        }
        if name == ALLOCATION_STATE.as_bytes() {
            let width = take_byte(bytes)?;
            default_time = take(bytes, width.into())?.first() == Some(&1);
            continue;
        }
        let mut settings = list.settings.write();
        if let Some(property) = encoding::all().find(|property| property.name.as_bytes() == name) {
            (property.decode)(&mut settings, bytes)?;
            if let (INDEX_COUNT, Settings::FileCreate(file)) = (property.name, &*settings) {
                indexes = Some(file.shared_indexes.len());
            }
            continue;
        }
        let known = names::find(class.1, &name).ok_or_else(|| bad("unknown property"))?;
        decode_number(known, &mut settings, bytes)?;
    }
    if let (true, Settings::DatasetCreate(dataset)) = (default_time, &mut *list.settings.write()) {
        dataset.allocation_time = None;
    }
    // The parts of the indexes always come for eight indexes, before or after their number.
    if let (Some(indexes), Settings::FileCreate(file)) = (indexes, &mut *list.settings.write()) {
        file.shared_indexes.truncate(indexes);
    }
    Ok(list)
}

/// Decodes a number of a property list.
fn decode_number(known: &Known, settings: &mut Settings, bytes: &mut Stream) -> Outcome<()> {
    let is_byte = known.form == Form::Byte || ENUMERATIONS.contains(&known.name);
    let width = if is_byte { 1 } else { take_byte(bytes)?.into() };
    if width > known.size {
        let text = "an encoded value is wider than its property";
        return Err(Failure::new(codes::PLIST, codes::BADVALUE, text));
    }
    let mut value = take(bytes, width)?;
    value.resize(known.size, 0);
    known.set(settings, &value).map(drop)
}

/// Encodes a property list into the caller's buffer. If the buffer is null or too small, stores
/// only the size.
fn store_encoding(list: hid_t, buffer: Buffer, size: Out<usize>, form: SelectionFormat) -> Outcome<herr_t> {
    let text = "the list cannot be encoded";
    let bytes = encode(&*plist::find(list)?, form).because(codes::PLIST, codes::CANTENCODE, text)?;
    let space = size.require("size")?.get().unwrap_or(0);
    if !buffer.is_null() && space >= bytes.len() {
        buffer.put(&bytes, bytes.len());
    }
    size.put(bytes.len());
    Ok(0)
}

export! {
    /// Encodes a property list into `buf` and stores the size of the encoding in `nalloc`.
    fn H5Pencode2(plist_id: hid_t, buf: Buffer, nalloc: Out<usize>, fapl_id: hid_t) -> herr_t {
        store_encoding(plist_id, buf, nalloc, h5s_encode::form_of(fapl_id)?)
    }

    /// Encodes a property list into `buf` and stores the size of the encoding in `nalloc` (HDF5
    /// 1.10 form).
    fn H5Pencode1(plist_id: hid_t, buf: Buffer, nalloc: Out<usize>) -> herr_t {
        store_encoding(plist_id, buf, nalloc, SelectionFormat::Compatible)
    }

    /// Decodes a property list and returns the list's new identifier. The encoding states its own
    /// length.
    fn H5Pdecode(buf: Data) -> hid_t {
        let mut bytes = buf.stream(MAX_BYTES).ok_or_else(|| Failure::bad_value("no encoding"))?;
        let list = decode(&mut bytes, None).because(codes::PLIST, codes::CANTDECODE, "the list cannot be decoded")?;
        Ok(register(Entry::PropertyList(Arc::new(list))))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use hyperslab::datatype::ByteOrder;
    use hyperslab::{Dataspace, Datatype, Region, Selection};

    use super::*;
    use crate::h5p::{H5Pcreate, H5Pequal};
    use crate::h5p_file_create::{H5Pset_sym_k, H5Pset_userblock};
    use crate::plist::settings::{
        DatasetCreate, FillChoice, FilterEntry, GroupCreate, LayoutChoice, MappingChoice, ObjectCreate,
    };

    #[test]
    fn lists_are_encoded_and_decoded() {
        let mut size = 0_usize;
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            let list = H5Pcreate(s::CLASS_FILE_CREATE);
            assert_eq!((H5Pset_userblock(list, 2048), H5Pset_sym_k(list, 0, 9)), (0, 0));
            let none = Buffer::of(std::ptr::null_mut());
            assert_eq!(H5Pencode1(list, none, Out::of(&raw mut size)), 0);
            let mut bytes = vec![0_u8; size];
            assert_eq!(H5Pencode2(list, Buffer::of(bytes.as_mut_ptr().cast()), Out::of(&raw mut size), 0), 0);
            let copy = H5Pdecode(Data::of(bytes.as_ptr().cast()));
            assert!(copy > 0);
            assert_eq!(H5Pequal(list, copy), 1);
            bytes[0] = 9;
            assert_eq!(H5Pdecode(Data::of(bytes.as_ptr().cast())), -1);
        }
    }

    /// Encodes the list of `settings`, decodes the encoding, and expects equal settings. Expects
    /// that the encoding has each of the `parts`, which libhdf5 2.0.0 encodes too.
    #[track_caller]
    fn round_trip(class: hid_t, settings: &Settings, parts: &[&[u8]]) {
        crate::init::start();
        let list = PropertyList::create(crate::h5p::find_class(class).unwrap()).unwrap();
        *list.settings.write() = settings.clone();
        let bytes = encode(&list, SelectionFormat::Compatible).unwrap();
        for part in parts {
            let found = bytes.windows(part.len()).any(|window| window == *part);
            assert!(found, "{} is not in {}", part.escape_ascii(), bytes.escape_ascii());
        }
        let mut stream = Data::of(bytes.as_ptr().cast()).stream(MAX_BYTES).unwrap();
        let decoded = decode(&mut stream, None).unwrap();
        assert_eq!(format!("{:?}", *decoded.settings.read()), format!("{settings:?}"));
    }

    #[test]
    fn the_parts_of_dataset_lists_are_those_of_libhdf5() {
        let mut list =
            DatasetCreate { layout: LayoutChoice::Chunked, chunk: vec![4, 300], ..Default::default() };
        let filter = |id, data: &[u32], name: Option<&[u8]>| FilterEntry {
            id,
            flags: 1,
            data: data.to_vec(),
            name: name.map(<[u8]>::to_vec),
        };
        list.filters = vec![
            filter(2, &[], Some(b"shuffle")),
            filter(1, &[5], Some(b"deflate")),
            filter(32000, &[4, 261, 80], Some(b"lzf")),
        ];
        round_trip(
            s::CLASS_DATASET_CREATE,
            &Settings::DatasetCreate(list),
            &[
                b"layout\0\x02\x02\x04\0\0\0\x2c\x01\0\0",
                b"pline\0\x04\x01\x03\x02\0\0\0\x01\0\0\0\0\x01\0\x01\0\0\0\x01\0\0\0\0\x01\x01\x05\0\0\0",
                b"\0\x7d\0\0\x01\0\0\0\x01lzf\0\0\0\0\0\0\0\0\0\x01\x03\x04\0\0\0\x05\x01\0\0\x50\0\0\0",
                b"fill_value\0\x03\x02\0\0\0\0\0\0\0\0",
                b"alloc_time_state\0\x04\x01\0\0\0",
                b"object header flags\0\x20",
            ],
        );
        let fill = FillChoice::Value(Datatype::i32(ByteOrder::LittleEndian), vec![7, 0, 0, 0]);
        let list = DatasetCreate {
            fill,
            fill_time: 0,
            allocation_time: Some(1),
            external: vec![(b"ab.bin".to_vec(), 10, 200), (b"c.bin".to_vec(), 0, u64::MAX)],
            object: ObjectCreate {
                attribute_order: 3,
                track_times: false,
                max_compact: 5,
                min_dense: 3,
                ..Default::default()
            },
            ..Default::default()
        };
        round_trip(
            s::CLASS_DATASET_CREATE,
            &Settings::DatasetCreate(list),
            &[
                b"fill_value\0\x01\0\x04\0\0\0\0\0\0\0\x07\0\0\0\x01\x0e\x03\0\x10\x08\0\0\x04\0\0\0\0\0\x20\0",
                b"alloc_time_state\0\x04\0\0\0\0",
                b"efl\0\x01\x02\x01\x07ab.bin\0\x01\x0a\x01\xc8\x01\x06c.bin\0\x01\0\x08\xff\xff\xff\xff\xff\xff\xff\xff",
                b"object header flags\0\x0c",
            ],
        );
    }

    #[test]
    fn the_number_of_indexes_may_come_before_their_parts() {
        crate::init::start();
        let mut bytes = b"\0\x03num_shmsg_indexes\0\x04\x01\0\0\0shmsg_message_types\0\x04".to_vec();
        bytes.extend([2, 0, 0, 0]);
        bytes.extend([0; 28]);
        bytes.push(0);
        let decoded = decode(&mut Data::of(bytes.as_ptr().cast()).stream(MAX_BYTES).unwrap(), None).unwrap();
        let Settings::FileCreate(decoded) = &*decoded.settings.read() else { panic!("another class") };
        assert_eq!(decoded.shared_indexes, [(2, 250)]);
    }

    #[test]
    fn mappings_of_virtual_datasets_are_encoded() {
        let part = |start, count| Selection::region(&Region::new(&[start], &[count]).unwrap());
        let mapping = |file: &[u8], start| MappingChoice {
            space: (Dataspace::simple(&[6]), part(start, 3)),
            file: file.to_vec(),
            dataset: b"dset".to_vec(),
            source: (Dataspace::extendible(&[3], &[Some(3)]).unwrap(), Selection::All),
        };
        let list = DatasetCreate {
            layout: LayoutChoice::Virtual,
            mappings: vec![mapping(b"f.h5", 0), mapping(b".", 3)],
            ..Default::default()
        };
        crate::init::start();
        let class = crate::h5p::find_class(s::CLASS_DATASET_CREATE).unwrap();
        let created = PropertyList::create(class).unwrap();
        *created.settings.write() = Settings::DatasetCreate(list.clone());
        let bytes = encode(&created, SelectionFormat::Compatible).unwrap();
        let start = b"layout\0\x03\x02\0\0\0\0\0\0\0f.h5\0dset\0\x01\0\x08\x18\0\0\0\x01\x01\x01";
        assert!(bytes.windows(start.len()).any(|window| window == start), "{}", bytes.escape_ascii());
        let decoded = decode(&mut Data::of(bytes.as_ptr().cast()).stream(MAX_BYTES).unwrap(), None).unwrap();
        let Settings::DatasetCreate(decoded) = &*decoded.settings.read() else { panic!("another class") };
        assert_eq!(decoded.layout, LayoutChoice::Virtual);
        for (decoded, wanted) in decoded.mappings.iter().zip(&list.mappings) {
            assert_eq!((&decoded.file, &decoded.dataset), (&wanted.file, &wanted.dataset));
            assert_eq!(decoded.space.0.dims(), [6]);
            assert_eq!(decoded.space.1, wanted.space.1);
            assert_eq!(decoded.source.1, Selection::All);
        }
        assert_eq!(decoded.mappings.len(), 2);
        // The encoding describes the selections in another way.
        assert_eq!(decoded.mappings, list.mappings);
        assert_ne!(decoded.mappings, vec![mapping(b"f.h5", 0), mapping(b".", 2)]);
    }

    #[test]
    fn group_lists_are_encoded() {
        let list = GroupCreate {
            local_heap_size: 300,
            max_compact: 9,
            min_dense: 2,
            estimated_links: 77,
            estimated_name_length: 66,
            link_order: 1,
            ..Default::default()
        };
        let parts: &[&[u8]] = &[
            b"link info\0\x04\x01\0\0\0",
            b"group info\0\x2c\x01\0\0\x09\0\x02\0\x4d\0\x42\0",
            b"pline\0\x04\x01\0",
        ];
        round_trip(s::CLASS_GROUP_CREATE, &Settings::GroupCreate(list), parts);
    }
}
