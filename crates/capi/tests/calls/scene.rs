//! The start of a run, which makes objects of each kind, and its end, which closes all and counts
//! what is left.

use crate::calls::ids::{self, kind};
use crate::calls::memory::Block;
use crate::calls::names::predefined;
use crate::calls::state::{self, below, byte, chance};
use crate::calls::{api, callbacks, query};

/// Functions of which calls are more frequent, because other calls need their results.
pub(crate) const FREQUENT: &[&str] = &[
    "H5Fcreate",
    "H5Fopen",
    "H5Freopen",
    "H5Gcreate2",
    "H5Gopen2",
    "H5Dcreate2",
    "H5Dopen2",
    "H5Dcreate_anon",
    "H5Acreate2",
    "H5Aopen",
    "H5Oopen",
    "H5Ocopy",
    "H5Lcreate_hard",
    "H5Lcreate_soft",
    "H5Lcreate_external",
    "H5Ldelete",
    "H5Lmove",
    "H5Screate_simple",
    "H5Sselect_hyperslab",
    "H5Sselect_elements",
    "H5Scopy",
    "H5Scombine_hyperslab",
    "H5Scombine_select",
    "H5Smodify_select",
    "H5Tcopy",
    "H5Tcreate",
    "H5Tinsert",
    "H5Tarray_create2",
    "H5Tvlen_create",
    "H5Tenum_create",
    "H5Tcommit2",
    "H5Pcreate",
    "H5Pcopy",
    "H5Pset_chunk",
    "H5Pset_deflate",
    "H5Pset_virtual",
    "H5Pset_layout",
    "H5Pset_fapl_core",
    "H5Pset_fapl_family",
    "H5Pset_libver_bounds",
    "H5Pset_struct_chunk",
    "H5Dset_extent",
    "H5Rcreate_object",
    "H5Rcreate_region",
    "H5Rcreate_attr",
    "H5EScreate",
    "H5Ssel_iter_create",
    "H5Ecreate_stack",
    "H5Eget_current_stack",
    "H5Ovisit3",
    "H5Literate2",
    "H5Aiterate2",
    "H5Dget_space",
    "H5Dget_type",
    "H5Dget_create_plist",
    "H5Fget_access_plist",
    "H5FDopen",
    "H5Fflush",
    "H5Iregister_type2",
    "H5Iregister",
    "H5allocate_memory",
    "H5Pcreate_class",
    "H5Pinsert2",
    "H5Fmount",
    "H5Tget_native_type",
    "H5Pset_external",
];

/// Classes of which the run has a property list.
const CLASSES: &[&str] = &[
    "FILE_ACCESS",
    "FILE_CREATE",
    "DATASET_CREATE",
    "DATASET_ACCESS",
    "DATASET_XFER",
    "LINK_CREATE",
    "LINK_ACCESS",
    "GROUP_CREATE",
    "OBJECT_COPY",
    "ATTRIBUTE_CREATE",
];

const CREATE_OVER: u64 = 2;
const NOT_DEFINED: u64 = u64::MAX;
const ALL_OBJECTS: u64 = 0x1f;

/// The highest number of a kind of identifiers that the library defines.
const LAST_KIND: i64 = kind::EVENT_SET;

/// Returns the predefined identifier of a name.
pub(crate) fn constant(name: &str) -> u64 {
    predefined().iter().find(|(known, _)| *known == name).map_or(0, |(_, id)| *id as u64)
}

/// Returns a buffer for a text, which the block keeps.
pub(crate) fn text(text: &str) -> Block {
    Block::of(&[text.as_bytes(), &[0]].concat())
}

/// Makes property lists, and a file with a group, datasets, an attribute and links.
pub(crate) fn set(fixture: &[u8]) {
    api("H5Eset_auto2", &[0, 0, 0]);
    let (property, value) = (text("a"), Block::zeroed(8));
    for class in CLASSES {
        let list = api("H5Pcreate", &[constant(&format!("H5P_CLS_{class}_ID_g"))]) as u64;
        api("H5Pinsert2", &[list, property.word(), 8, value.word(), 0, 0, 0, 0, 0, 0]);
    }
    let folder = state::with(|state| state.folder.clone());
    if chance(96) {
        let mut bytes = fixture.to_vec();
        std::fs::write(folder.join("fixture.h5"), &bytes).expect("the folder of the run");
        for _ in 0..below(12) {
            let at = usize::from(byte()) << 8 | usize::from(byte());
            let length = bytes.len();
            bytes[at % length] ^= byte();
        }
        std::fs::write(folder.join("damaged.h5"), &bytes).expect("the folder of the run");
    }
    let name = text(&folder.join("one.h5").to_string_lossy());
    let access = api("H5Pcreate", &[constant("H5P_CLS_FILE_ACCESS_ID_g")]) as u64;
    match byte() {
        0..64 => api("H5Pset_fapl_core", &[access, 1 << 16, 0]),
        64..128 => api("H5Pset_libver_bounds", &[access, 2, 4]),
        _ => 0,
    };
    let file = api("H5Fcreate", &[name.word(), CREATE_OVER, 0, access]) as u64;
    objects(file);
}

fn objects(file: u64) {
    let names = ["g", "d", "v", "c", "s", "a", "e"].map(text);
    let [g, d, v, c, s, a, e] = names.each_ref().map(Block::word);
    let int = constant("H5T_NATIVE_INT_g");
    let group = api("H5Gcreate2", &[file, g, 0, 0, 0]) as u64;
    let (sizes, most) = (Block::of_words(&[6, 5]), Block::of_words(&[NOT_DEFINED, NOT_DEFINED]));
    let plane = api("H5Screate_simple", &[2, sizes.word(), most.word()]) as u64;
    let chunked = api("H5Pcreate", &[constant("H5P_CLS_DATASET_CREATE_ID_g")]) as u64;
    let chunk = Block::of_words(&[4, 3]);
    api("H5Pset_chunk", &[chunked, 2, chunk.word()]);
    if chance(128) {
        api("H5Pset_deflate", &[chunked, 1]);
    }
    api("H5Dcreate2", &[file, d, int, plane, 0, chunked, 0]);
    let line = api("H5Screate_simple", &[1, sizes.word(), 0]) as u64;
    let variable = api("H5Tcopy", &[constant("H5T_C_S1_g")]) as u64;
    api("H5Tset_size", &[variable, u64::MAX]);
    api("H5Dcreate2", &[group, v, variable, line, 0, 0, 0]);
    let compound = api("H5Tcreate", &[6, 24]) as u64;
    api("H5Tinsert", &[compound, a, 0, int]);
    api("H5Tinsert", &[compound, d, 8, constant("H5T_NATIVE_DOUBLE_g")]);
    api("H5Tinsert", &[compound, s, 16, variable]);
    api("H5Dcreate2", &[file, c, compound, line, 0, 0, 0]);
    api("H5Acreate2", &[group, a, int, line, 0, 0]);
    let enumeration = api("H5Tenum_create", &[int]) as u64;
    let value = Block::of_words(&[3]);
    api("H5Tenum_insert", &[enumeration, a, value.word()]);
    api("H5Tcommit2", &[file, e, enumeration, 0, 0, 0]);
    api("H5Lcreate_soft", &[d, file, s, 0, 0]);
}

/// Returns the number of identifiers of each kind of the library.
pub(crate) fn counts() -> Vec<u64> {
    let count = |number: i64| {
        let result = Block::zeroed(8);
        query("H5Inmembers", &[number as u64, result.word()]);
        result.word_at(0)
    };
    query("H5open", &[]);
    (1..=LAST_KIND).map(count).collect()
}

/// Closes all objects that the run knows, and fails if others are left.
pub(crate) fn end(at_start: &[u64]) {
    for file in state::with(|state| std::mem::take(&mut state.drivers)) {
        api("H5FDclose", &[file]);
    }
    for reference in state::with(|state| state.references.clone()) {
        api("H5Rdestroy", &[reference]);
    }
    for block in state::with(|state| std::mem::take(&mut state.blocks)) {
        api("H5free_memory", &[block]);
    }
    let constants: Vec<i64> = predefined().iter().map(|(_, id)| *id).collect();
    for id in state::with(|state| std::mem::take(&mut state.ids)).into_iter().rev() {
        let is_ours = !constants.contains(&id) && ids::kind_of(id) != kind::CONNECTOR;
        while is_ours && query("H5Iis_valid", &[id as u64]) > 0 && api("H5Idec_ref", &[id as u64]) > 0 {}
    }
    for number in state::with(|state| std::mem::take(&mut state.kinds)) {
        query("H5Idestroy_type", &[number]);
    }
    let open = query("H5Fget_obj_count", &[ALL_OBJECTS, ALL_OBJECTS]);
    if open != 0 {
        state::fail(&format!("{open} objects of files are left"));
    }
    for (number, (count, before)) in counts().iter().zip(at_start).enumerate() {
        if count > before {
            let kind = number as u64 + 1;
            let all = callbacks::ids_of(kind);
            state::fail(&format!("{count} identifiers of kind {kind} are left, {before} at first: {all:x?}"));
        }
    }
    api("H5close", &[]);
    let _ = std::fs::read_dir(state::with(|state| state.folder.clone())).map(|entries| {
        entries.flatten().for_each(|entry| drop(std::fs::remove_file(entry.path())));
    });
}
