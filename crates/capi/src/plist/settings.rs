//! The library's properties, one struct for each class of property lists.

use std::ffi::{c_int, c_uint, c_void};

use hyperslab::filter::FilterSpec;
use hyperslab::{Datatype, Selection};

use super::callbacks::{AppendFlush, ExternalLinkCallback, FlushCallback, ImageCallbacks, MergeCallback};
use super::driver_choice::DriverChoice;
use super::metadata_cache::H5AC_cache_config_t;
pub use super::transfer::Transfer;
use crate::ctypes::{H5S_UNLIMITED, hid_t, hsize_t};

/// The library's properties of a list.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say the classes")]
#[expect(clippy::large_enum_variant, reason = "a list is behind a pointer")]
pub enum Settings {
    /// A class without properties of the library.
    Empty,
    ObjectCreate(ObjectCreate),
    FileCreate(FileCreate),
    FileAccess(FileAccess),
    DatasetCreate(DatasetCreate),
    DatasetAccess(DatasetAccess),
    Transfer(Transfer),
    FileMount(FileMount),
    GroupCreate(GroupCreate),
    StringCreate(StringCreate),
    LinkCreate(LinkCreate),
    LinkAccess(LinkAccess),
    ObjectCopy(ObjectCopy),
}

/// Properties of new objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectCreate {
    /// The number of attributes above which they are stored densely.
    pub max_compact: c_uint,
    /// The number of attributes below which they are stored in the object header again.
    pub min_dense: c_uint,
    /// The flags of the attributes' creation order (`H5P_CRT_ORDER_*`).
    pub attribute_order: c_uint,
    /// True if the object header stores times.
    pub track_times: bool,
}

impl Default for ObjectCreate {
    fn default() -> Self {
        Self { max_compact: 8, min_dense: 6, attribute_order: 0, track_times: true }
    }
}

/// Properties of new groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupCreate {
    /// The properties of all objects.
    pub object: ObjectCreate,
    /// The size of the local heap in bytes; 0 for the default.
    pub local_heap_size: usize,
    /// The expected number of links.
    pub estimated_links: c_uint,
    /// The expected length of the names of links.
    pub estimated_name_length: c_uint,
    /// The number of links above which they are stored densely.
    pub max_compact: c_uint,
    /// The number of links below which they are stored in the object header again.
    pub min_dense: c_uint,
    /// The flags of the links' creation order (`H5P_CRT_ORDER_*`).
    pub link_order: c_uint,
}

impl Default for GroupCreate {
    fn default() -> Self {
        Self {
            object: ObjectCreate::default(),
            local_heap_size: 0,
            estimated_links: 4,
            estimated_name_length: 8,
            max_compact: 8,
            min_dense: 6,
            link_order: 0,
        }
    }
}

/// Properties of new files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCreate {
    /// The properties of the root group.
    pub group: GroupCreate,
    /// The size of the user block in bytes.
    pub user_block: hsize_t,
    /// The bytes of an address in the file.
    pub offset_bytes: u8,
    /// The bytes of a length in the file.
    pub length_bytes: u8,
    /// Half of the entries of a B-tree node of groups.
    pub group_internal_k: c_uint,
    /// Half of the entries of a symbol table node.
    pub group_leaf_k: c_uint,
    /// Half of the entries of a B-tree node of chunks.
    pub chunk_k: c_uint,
    /// The indexes of shared messages: flags of message types and the minimum size in bytes.
    pub shared_indexes: Vec<(c_uint, c_uint)>,
    /// The number of messages above which an index is a B-tree.
    pub shared_max_list: c_uint,
    /// The number of messages below which an index is a list again.
    pub shared_min_btree: c_uint,
    /// The file space strategy (`H5F_fspace_strategy_t`).
    pub strategy: c_int,
    /// True if free space is stored in the file.
    pub persist: bool,
    /// The smallest free section that is tracked, in bytes.
    pub threshold: hsize_t,
    /// The size of a page in bytes.
    pub page_size: hsize_t,
    /// The version of the superblock of a file that exists.
    pub superblock_version: c_uint,
}

impl Default for FileCreate {
    fn default() -> Self {
        Self {
            group: GroupCreate::default(),
            user_block: 0,
            offset_bytes: 8,
            length_bytes: 8,
            group_internal_k: 16,
            group_leaf_k: 4,
            chunk_k: 32,
            shared_indexes: Vec::new(),
            shared_max_list: 50,
            shared_min_btree: 40,
            strategy: 0,
            persist: false,
            threshold: 1,
            page_size: 4096,
            superblock_version: 0,
        }
    }
}

/// The number of slots of a chunk cache, its bytes, and its preemption factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChunkCache {
    /// The number of slots of the hash table.
    pub slots: usize,
    /// The size in bytes.
    pub bytes: usize,
    /// The preemption factor, from 0 to 1.
    pub preemption: f64,
}

/// Properties of opening a file.
#[derive(Debug, Clone)]
pub struct FileAccess {
    /// The driver and its configuration.
    pub driver: DriverChoice,
    /// The default chunk cache of datasets.
    pub cache: ChunkCache,
    /// The least size of a block that is aligned, in bytes.
    pub alignment_threshold: hsize_t,
    /// The alignment in bytes.
    pub alignment: hsize_t,
    /// The size of the blocks for metadata, in bytes.
    pub metadata_block: hsize_t,
    /// The size of the blocks for small raw data, in bytes.
    pub small_data_block: hsize_t,
    /// The size of the sieve buffer in bytes.
    pub sieve_buffer: usize,
    /// True if references are collected.
    pub collect_references: c_uint,
    /// The close degree (`H5F_close_degree_t`).
    pub close_degree: c_int,
    /// The lowest and highest library version (`H5F_libver_t`).
    pub libver: (c_int, c_int),
    /// The kind of memory of the multi driver.
    pub multi_type: c_int,
    /// The offset of the family driver's file descriptor.
    pub family_offset: hsize_t,
    /// The initial file image.
    pub image: Option<std::sync::Arc<[u8]>>,
    /// The functions that allocate and free file images.
    pub image_callbacks: ImageCallbacks,
    /// The configuration of the metadata cache, which clients set and read back.
    pub metadata_cache: H5AC_cache_config_t,
    /// True if metadata of an object leaves the cache when the object is closed.
    pub evict_on_close: bool,
    /// The configuration of the metadata cache image: generate, resize status, entry ageout.
    pub cache_image: (bool, bool, c_int),
    /// The size of the page buffer, and the least percentages of metadata and raw data.
    pub page_buffer: (usize, c_uint, c_uint),
    /// The use of file locks, and whether a file system without locks is ignored; `None` until set.
    pub locking: Option<(bool, bool)>,
    /// The number of files of external links that stay open.
    pub external_link_cache: c_uint,
    /// The function that is called when an object is flushed.
    pub object_flush: FlushCallback,
    /// The number of attempts to read metadata of a SWMR file; 0 for the default.
    pub read_attempts: c_uint,
    /// The log of the metadata cache: enabled, path, starts with the access.
    pub cache_log: (bool, Vec<u8>, bool),
    /// The connector of the object layer.
    pub connector: hid_t,
    /// The configuration text of the driver.
    pub driver_config: Option<Vec<u8>>,
    /// The checks of the file that are left out (`H5F_RFIC_*`).
    pub relaxed_checks: u64,
    /// Durability of flushes: 0 full, 1 ordered, 2 none. A property of hyperslab.
    pub durability: c_int,
}

impl Default for FileAccess {
    fn default() -> Self {
        Self {
            driver: DriverChoice::default(),
            cache: ChunkCache { slots: 8191, bytes: 8 << 20, preemption: 0.75 },
            alignment_threshold: 1,
            alignment: 1,
            metadata_block: 2048,
            small_data_block: 2048,
            sieve_buffer: 64 << 10,
            collect_references: 0,
            close_degree: 0,
            libver: (1, 5),
            multi_type: 0,
            family_offset: 0,
            image: None,
            image_callbacks: ImageCallbacks::default(),
            metadata_cache: H5AC_cache_config_t::default(),
            evict_on_close: false,
            cache_image: (false, false, -1),
            page_buffer: (0, 0, 0),
            locking: None,
            external_link_cache: 0,
            object_flush: FlushCallback::default(),
            read_attempts: 0,
            cache_log: (false, Vec::new(), false),
            connector: crate::symbols::NATIVE_CONNECTOR,
            driver_config: None,
            relaxed_checks: 0,
            durability: 2,
        }
    }
}

/// The layout that a new dataset shall have (`H5D_layout_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say the layouts")]
pub enum LayoutChoice {
    Compact = 0,
    Contiguous = 1,
    Chunked = 2,
    Virtual = 3,
    Structured = 4,
}

/// The fill value of a new dataset.
#[derive(Debug, Clone, PartialEq)]
pub enum FillChoice {
    /// Zeros.
    Default,
    /// No fill value.
    Undefined,
    /// An element in the memory form of a datatype.
    Value(Datatype, Vec<u8>),
}

/// One filter of a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterEntry {
    /// The identifier.
    pub id: c_int,
    /// The flags: `H5Z_FLAG_*`.
    pub flags: c_uint,
    /// The client data.
    pub data: Vec<c_uint>,
    /// The name, for filters without one in the registry.
    pub name: Option<Vec<u8>>,
}

impl FilterEntry {
    /// Returns the filter for the pipeline of a new dataset.
    pub fn spec(&self) -> Option<FilterSpec> {
        let id = u16::try_from(self.id).ok()?;
        let flags = u16::try_from(self.flags & 0xffff).ok()?;
        let name = self.name.as_ref().map(|name| String::from_utf8_lossy(name).into_owned());
        Some(FilterSpec::custom(id.into(), flags, self.data.clone(), name).or_missing())
    }
}

/// One mapping of a new virtual dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct MappingChoice {
    /// The extent of the virtual dataset's dataspace, and its selection.
    pub space: (hyperslab::Dataspace, Selection),
    /// The name of the source file.
    pub file: Vec<u8>,
    /// The name of the source dataset.
    pub dataset: Vec<u8>,
    /// The extent of the source's dataspace, and its selection.
    pub source: (hyperslab::Dataspace, Selection),
}

/// Structured chunks of a new dataset.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StructuredChoice {
    /// The shape of the chunks.
    pub chunk: Vec<hsize_t>,
    /// The kind: `H5D_SPARSE_CHUNK`, `H5D_VL_CHUNK`.
    pub flags: c_uint,
    /// The filters of each section: selection, values, heap.
    pub filters: [Vec<FilterEntry>; 3],
}

/// Properties of new datasets.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetCreate {
    /// The properties of all objects.
    pub object: ObjectCreate,
    /// The layout.
    pub layout: LayoutChoice,
    /// The shape of the chunks of a chunked layout.
    pub chunk: Vec<hsize_t>,
    /// The options of chunks (`H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS`).
    pub chunk_options: c_uint,
    /// The structured chunks.
    pub structured: StructuredChoice,
    /// The external files: name, offset, size.
    pub external: Vec<(Vec<u8>, i64, hsize_t)>,
    /// The mappings of a virtual layout.
    pub mappings: Vec<MappingChoice>,
    /// The fill value.
    pub fill: FillChoice,
    /// The time at which the fill value is written (`H5D_fill_time_t`).
    pub fill_time: c_int,
    /// The time at which space is allocated (`H5D_alloc_time_t`); `None` until set.
    pub allocation_time: Option<c_int>,
    /// The filter pipeline.
    pub filters: Vec<FilterEntry>,
    /// True if the object header is made as small as possible.
    pub minimize_header: bool,
}

impl Default for DatasetCreate {
    fn default() -> Self {
        Self {
            object: ObjectCreate::default(),
            layout: LayoutChoice::Contiguous,
            chunk: Vec::new(),
            chunk_options: 0,
            structured: StructuredChoice::default(),
            external: Vec::new(),
            mappings: Vec::new(),
            fill: FillChoice::Default,
            fill_time: 2,
            allocation_time: None,
            filters: Vec::new(),
            minimize_header: false,
        }
    }
}

/// Properties of access by links.
#[derive(Debug, Clone)]
pub struct LinkAccess {
    /// The number of soft and external links that a path may follow.
    pub max_links: usize,
    /// The folder of the files of external links.
    pub external_prefix: Option<Vec<u8>>,
    /// The access list of the files of external links.
    pub external_access: Option<std::sync::Arc<super::PropertyList>>,
    /// The flags with which files of external links are opened.
    pub external_flags: c_uint,
    /// The function that is called before an external link is followed.
    pub external_callback: ExternalLinkCallback,
}

/// The flag that opens files of external links as the file that contains the link.
pub const DEFAULT_EXTERNAL_FLAGS: c_uint = 0xffff;

impl Default for LinkAccess {
    fn default() -> Self {
        Self {
            max_links: 16,
            external_prefix: None,
            external_access: None,
            external_flags: DEFAULT_EXTERNAL_FLAGS,
            external_callback: ExternalLinkCallback::default(),
        }
    }
}

/// Properties of access to datasets.
#[derive(Debug, Clone)]
pub struct DatasetAccess {
    /// The properties of links.
    pub link: LinkAccess,
    /// The number of slots of the chunk cache; `None` for the file's number.
    pub cache_slots: Option<usize>,
    /// The size of the chunk cache in bytes; `None` for the file's size.
    pub cache_bytes: Option<usize>,
    /// The preemption factor of the chunk cache; `None` for the file's factor.
    pub cache_preemption: Option<f64>,
    /// The extent of unlimited virtual datasets (`H5D_vds_view_t`).
    pub virtual_view: c_int,
    /// The number of missing sources that end an unlimited virtual dataset.
    pub virtual_gap: hsize_t,
    /// The folder of the sources of virtual datasets.
    pub virtual_prefix: Option<Vec<u8>>,
    /// The folder of external files.
    pub external_prefix: Option<Vec<u8>>,
    /// The function that is called when appended data reaches a boundary.
    pub append_flush: AppendFlush,
    /// True if the mappings of a virtual dataset are found by a spatial tree.
    pub virtual_tree: bool,
}

impl Default for DatasetAccess {
    fn default() -> Self {
        Self {
            link: LinkAccess::default(),
            cache_slots: None,
            cache_bytes: None,
            cache_preemption: None,
            virtual_view: 1,
            virtual_gap: 0,
            virtual_prefix: None,
            external_prefix: None,
            append_flush: AppendFlush::default(),
            virtual_tree: true,
        }
    }
}

/// Properties of mounting a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileMount {
    /// True if soft links lead out of the mounted file.
    pub local: bool,
}

/// Properties of new names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StringCreate {
    /// The character set (`H5T_cset_t`).
    pub charset: c_int,
}

/// Properties of new links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkCreate {
    /// The properties of the name.
    pub name: StringCreate,
    /// True if missing groups of the path are created.
    pub intermediate_groups: c_uint,
}

/// Properties of copies of objects.
#[derive(Debug, Clone, Default)]
pub struct ObjectCopy {
    /// The flags: `H5O_COPY_*`.
    pub flags: c_uint,
    /// The paths in which committed datatypes are searched first.
    pub merge_paths: Vec<Vec<u8>>,
    /// The function that decides about the search for committed datatypes.
    pub merge_callback: MergeCallback,
}

/// The size of a chunk cache property that stands for the file's value.
pub const UNSET_SIZE: usize = usize::MAX;

/// An unlimited size of an external file.
pub const UNLIMITED_SIZE: hsize_t = H5S_UNLIMITED;

/// Opaque data of a callback.
pub type UserData = *mut c_void;
