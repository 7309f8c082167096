//! Transfers of elements. The buffer has exactly the size that the dataspaces and the datatype ask
//! for.

use crate::calls::memory::{Block, LARGE};
use crate::calls::state::{self, below, byte, chance, one_of};
use crate::calls::{api, find, ids, query};

/// Classes of datatypes whose elements in memory contain pointers, or may contain them.
const POINTER_CLASSES: &[u64] = &[3, 7, 9];

/// Returns an identifier for a parameter of this name.
pub(crate) fn pick(parameter: &str) -> u64 {
    ids::choose(find("H5Dread"), parameter)
}

/// Returns the size of an element, or 0 if the identifier is not of a datatype.
pub(crate) fn size_of(datatype: u64) -> u64 {
    query("H5Tget_size", &[datatype]).max(0) as u64
}

/// Returns the number of elements of a dataspace, or 0 if the identifier is not of a dataspace.
pub(crate) fn extent(space: u64) -> u64 {
    query("H5Sget_simple_extent_npoints", &[space]).max(0) as u64
}

/// Returns a buffer for elements, or `None` if it would be large. Elements that contain pointers
/// are zero.
pub(crate) fn elements(datatype: u64, count: u64) -> Option<Block> {
    let size = size_of(datatype).checked_mul(count).filter(|size| *size <= LARGE as u64)? as usize;
    let is_zero = POINTER_CLASSES.iter().any(|class| query("H5Tdetect_class", &[datatype, *class]) != 0);
    let (first, second) = (byte() % 7, byte() % 3);
    let value = |at: usize| {
        if is_zero {
            0
        } else if at.is_multiple_of(4) {
            first
        } else {
            second
        }
    };
    Some(Block::of(&(0..size).map(value).collect::<Vec<u8>>()))
}

/// The identifiers of a transfer between a dataset and a buffer.
struct Transfer {
    dataset: u64,
    datatype: u64,
    memory: u64,
    file: u64,
    list: u64,
}

impl Transfer {
    fn choose() -> Self {
        let dataset = pick("dset_id");
        let datatype = if chance(128) { api("H5Dget_type", &[dataset]) as u64 } else { pick("mem_type_id") };
        let memory = if chance(150) { 0 } else { pick("mem_space_id") };
        let file = match byte() {
            0..120 => 0,
            120..200 => {
                let space = api("H5Dget_space", &[dataset]) as u64;
                select(space);
                space
            }
            _ => pick("file_space_id"),
        };
        Self { dataset, datatype, memory, file, list: pick("dxpl_id") }
    }

    /// Returns the buffer. A dataspace in memory alone states the number of elements.
    fn buffer(&self) -> Option<Block> {
        if ids::kind_of(self.memory as i64) == ids::kind::DATASPACE {
            return elements(self.datatype, extent(self.memory));
        }
        let space = query("H5Dget_space", &[self.dataset]) as u64;
        let count = extent(space).max(extent(self.file));
        query("H5Sclose", &[space]);
        elements(self.datatype, count)
    }
}

/// Selects a part of a dataspace.
fn select(space: u64) {
    let numbers = |least: u64| {
        let words: Vec<u64> = (0..32).map(|_| least + below(4) as u64).collect();
        Block::of_words(&words)
    };
    let (start, count) = (numbers(0), numbers(1));
    api("H5Sselect_hyperslab", &[space, below(5) as u64, start.word(), 0, count.word(), 0]);
}

/// Reads or writes elements of a dataset or an attribute.
pub(crate) fn transfer() {
    match byte() {
        0..170 => dataset(),
        170..220 => attribute(),
        _ => several(),
    }
}

fn dataset() {
    let transfer = Transfer::choose();
    let Some(buffer) = transfer.buffer() else { return };
    let Transfer { dataset, datatype, memory, file, list } = transfer;
    let words = [dataset, datatype, memory, file, list, buffer.word()];
    let name = one_of(&["H5Dread", "H5Dwrite", "H5Dread_async", "H5Dwrite_async"]);
    call(name, &words, &buffer);
    let space = if memory == 0 { pick("space_id") } else { memory };
    if name.starts_with("H5Dread") && extent(space) * size_of(datatype) <= buffer.size() as u64 {
        api(one_of(&["H5Treclaim", "H5Dvlen_reclaim"]), &[datatype, space, 0, buffer.word()]);
    }
}

/// Calls a function or its asynchronous variant.
fn call(name: &str, words: &[u64], buffer: &Block) {
    if name.ends_with("_async") {
        let words = [&[0, 0, 7], words, &[if chance(128) { 0 } else { pick("es_id") }]].concat();
        api(name, &words);
    } else {
        api(name, words);
    }
    if !buffer.is_intact() {
        state::fail(&format!("{name} wrote after the buffer of elements"));
    }
}

fn attribute() {
    let attribute = pick("attr_id");
    let datatype = if chance(128) { api("H5Aget_type", &[attribute]) as u64 } else { pick("mem_type_id") };
    let space = query("H5Aget_space", &[attribute]) as u64;
    let count = extent(space);
    query("H5Sclose", &[space]);
    let Some(buffer) = elements(datatype, count) else { return };
    let name = one_of(&["H5Aread", "H5Awrite", "H5Aread_async", "H5Awrite_async"]);
    call(name, &[attribute, datatype, buffer.word()], &buffer);
}

/// Transfers elements of several datasets by one call.
fn several() {
    let transfers: Vec<Transfer> = (0..=below(3)).map(|_| Transfer::choose()).collect();
    let Some(buffers) = transfers.iter().map(Transfer::buffer).collect::<Option<Vec<Block>>>() else {
        return;
    };
    let list =
        |part: fn(&Transfer) -> u64| Block::of_words(&transfers.iter().map(part).collect::<Vec<u64>>());
    let (datasets, datatypes) = (list(|transfer| transfer.dataset), list(|transfer| transfer.datatype));
    let (memory, files) = (list(|transfer| transfer.memory), list(|transfer| transfer.file));
    let pointers = Block::of_words(&buffers.iter().map(Block::word).collect::<Vec<u64>>());
    let words = [
        transfers.len() as u64,
        datasets.word(),
        datatypes.word(),
        memory.word(),
        files.word(),
        transfers[0].list,
        pointers.word(),
    ];
    let name = one_of(&["H5Dread_multi", "H5Dwrite_multi", "H5Dread_multi_async", "H5Dwrite_multi_async"]);
    call(name, &words, &pointers);
    if !buffers.iter().all(Block::is_intact) {
        state::fail(&format!("{name} wrote after a buffer of elements"));
    }
}
