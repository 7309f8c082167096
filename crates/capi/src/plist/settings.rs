//! The library's properties, with one struct for each property list class.

use std::ffi::{c_int, c_uint, c_void};

use hyperslab::{Datatype, Selection};

use super::callbacks::{AppendFlush, ExternalLinkCallback, FlushCallback, MergeCallback};
use super::driver_choice::DriverChoice;
pub use super::filter_entry::FilterEntry;
use super::image::{Image, ImageFunctions};
use super::metadata_cache::H5AC_cache_config_t;
pub use super::transfer::Transfer;
use crate::ctypes::{H5S_UNLIMITED, hid_t, hsize_t};
use crate::h5s_encode;

/// The values of the library's properties in a property list, by the class of the list.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say the classes")]
#[expect(clippy::large_enum_variant, reason = "a list is behind a pointer")]
pub enum Settings {
    /// The properties of a class to which the library adds none.
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

/// The object creation properties that objects of all kinds have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectCreate {
    /// The maximum number of attributes in compact storage.
    pub max_compact: c_uint,
    /// The minimum number of attributes in dense storage.
    pub min_dense: c_uint,
    /// The flags of creation order tracking for attributes (`H5P_CRT_ORDER_*`).
    pub attribute_order: c_uint,
    /// True if new object headers store times.
    pub track_times: bool,
    /// The filters of a list for objects of any kind. Lists for datasets have their own filters.
    pub filters: Vec<FilterEntry>,
}

impl Default for ObjectCreate {
    fn default() -> Self {
        Self { max_compact: 8, min_dense: 6, attribute_order: 0, track_times: true, filters: Vec::new() }
    }
}

/// The properties of a group creation list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupCreate {
    /// The creation properties that all objects have.
    pub object: ObjectCreate,
    /// The size of the group's local heap in bytes; 0 for the default.
    pub local_heap_size: usize,
    /// The expected number of links in the group.
    pub estimated_links: c_uint,
    /// The expected length of a link name in bytes.
    pub estimated_name_length: c_uint,
    /// The maximum number of links in compact storage.
    pub max_compact: c_uint,
    /// The minimum number of links in dense storage.
    pub min_dense: c_uint,
    /// The flags of creation order tracking for links (`H5P_CRT_ORDER_*`).
    pub link_order: c_uint,
    /// The filters for the links in dense storage.
    pub filters: Vec<FilterEntry>,
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
            filters: Vec::new(),
        }
    }
}

/// The properties of a file creation list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCreate {
    /// The creation properties of the root group.
    pub group: GroupCreate,
    /// The size of the user block in bytes.
    pub user_block: hsize_t,
    /// The number of bytes of an address in the file.
    pub offset_bytes: u8,
    /// The number of bytes of a length in the file.
    pub length_bytes: u8,
    /// Half of the maximum number of entries in a B-tree node of a symbol table.
    pub group_internal_k: c_uint,
    /// Half of the maximum number of entries in a symbol table node.
    pub group_leaf_k: c_uint,
    /// Half of the maximum number of entries in a B-tree node of a chunk index.
    pub chunk_k: c_uint,
    /// The indexes of shared messages: flags of message types, and the minimum message size in
    /// bytes.
    pub shared_indexes: Vec<(c_uint, c_uint)>,
    /// The maximum number of messages in an index that is stored as a list.
    pub shared_max_list: c_uint,
    /// The minimum number of messages in an index that is stored as a B-tree.
    pub shared_min_btree: c_uint,
    /// The file space strategy (`H5F_fspace_strategy_t`).
    pub strategy: c_int,
    /// True if the file stores its free space when it is closed.
    pub persist: bool,
    /// The minimum size of a tracked free-space section in bytes.
    pub threshold: hsize_t,
    /// The page size for paged allocation in bytes.
    pub page_size: hsize_t,
    /// The superblock version of an existing file.
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

/// The parameters of the chunk cache of a file or dataset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChunkCache {
    /// The number of slots in the hash table of the chunk cache.
    pub slots: usize,
    /// The maximum size of the chunk cache in bytes.
    pub bytes: usize,
    /// The preemption factor for completely read or written chunks, from 0 to 1.
    pub preemption: f64,
}

/// The properties of a file access list.
#[derive(Debug, Clone)]
pub struct FileAccess {
    /// The file driver and its configuration.
    pub driver: DriverChoice,
    /// The default chunk cache parameters of the file's datasets.
    pub cache: ChunkCache,
    /// The minimum size of an aligned block in bytes.
    pub alignment_threshold: hsize_t,
    /// The alignment of blocks in bytes.
    pub alignment: hsize_t,
    /// The minimum size of a block that is allocated for metadata, in bytes.
    pub metadata_block: hsize_t,
    /// The minimum size of a block that is allocated for small raw data, in bytes.
    pub small_data_block: hsize_t,
    /// The size of the sieve buffer in bytes.
    pub sieve_buffer: usize,
    /// The garbage collection flag for references, which the library stores but does not use.
    pub collect_references: c_uint,
    /// The close degree of the file (`H5F_close_degree_t`).
    pub close_degree: c_int,
    /// The lowest and the highest library version whose format the file may use (`H5F_libver_t`).
    pub libver: (c_int, c_int),
    /// The memory kind that the multi driver's handle belongs to (`H5FD_mem_t`).
    pub multi_type: c_int,
    /// The file offset that selects the member whose descriptor the family driver returns.
    pub family_offset: hsize_t,
    /// The initial bytes of a file in memory.
    pub image: Option<std::sync::Arc<Image>>,
    /// The user's functions that manage the memory of file images.
    pub image_callbacks: std::sync::Arc<ImageFunctions>,
    /// The configuration of the metadata cache, which clients set and read back.
    pub metadata_cache: H5AC_cache_config_t,
    /// True if the library evicts an object's metadata when the object is closed.
    pub evict_on_close: bool,
    /// The configuration of the metadata cache image: generation, saved resize status, and entry
    /// age limit.
    pub cache_image: (bool, bool, c_int),
    /// The page buffer: size in bytes, and minimum percentages for metadata and raw data.
    pub page_buffer: (usize, c_uint, c_uint),
    /// The use of file locks, and whether missing lock support is ignored; `None` if not set.
    pub locking: Option<(bool, bool)>,
    /// The maximum number of external link files that stay open.
    pub external_link_cache: c_uint,
    /// The callback for the flush of an object.
    pub object_flush: FlushCallback,
    /// The number of attempts to read metadata under SWMR access; 0 for the default.
    pub read_attempts: c_uint,
    /// The log of the metadata cache: whether it is enabled, its path, and whether it starts when
    /// the file is opened.
    pub cache_log: (bool, Vec<u8>, bool),
    /// The identifier of the virtual object layer connector.
    pub connector: hid_t,
    /// The text that configures the driver.
    pub driver_config: Option<Vec<u8>>,
    /// The integrity checks that are skipped when the file is opened (`H5F_RFIC_*`).
    pub relaxed_checks: u64,
    /// The durability of flushes (`H5F_durability_t`); `None` if not set.
    pub durability: Option<c_int>,
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
            libver: crate::linked::Interface::of_program().format_bounds(),
            multi_type: 0,
            family_offset: 0,
            image: None,
            image_callbacks: std::sync::Arc::default(),
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
            durability: None,
        }
    }
}

/// The storage layout of a new dataset in a dataset creation list (`H5D_layout_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say the layouts")]
pub enum LayoutChoice {
    Compact = 0,
    Contiguous = 1,
    Chunked = 2,
    Virtual = 3,
    Structured = 4,
}

/// The fill value of a new dataset in a dataset creation list.
#[derive(Debug, Clone, PartialEq)]
pub enum FillChoice {
    /// The default fill value, which consists of zero bytes.
    Default,
    /// No fill value.
    Undefined,
    /// A fill value with its datatype in memory form.
    Value(Datatype, Vec<u8>),
}

/// A mapping of a new virtual dataset in a dataset creation list. Two mappings are equal if they
/// map the same elements, even if their selections are described in different ways.
#[derive(Debug, Clone)]
pub struct MappingChoice {
    /// The extent of the virtual dataset and the selection of its mapped elements.
    pub space: (hyperslab::Dataspace, Selection),
    /// The name of the source file.
    pub file: Vec<u8>,
    /// The path of the source dataset.
    pub dataset: Vec<u8>,
    /// The extent of the source dataset and the selection of its mapped elements.
    pub source: (hyperslab::Dataspace, Selection),
}

impl PartialEq for MappingChoice {
    fn eq(&self, other: &Self) -> bool {
        let normal = |(extent, selection): &(hyperslab::Dataspace, Selection)| {
            let all = matches!(selection, Selection::All) && extent.rank() > 0;
            let selection = if all { Selection::region(&extent.region()) } else { selection.clone() };
            (extent.dims().to_vec(), extent.max_dims(), h5s_encode::merged(&selection))
        };
        (&self.file, &self.dataset) == (&other.file, &other.dataset)
            && normal(&self.space) == normal(&other.space)
            && normal(&self.source) == normal(&other.source)
    }
}

/// The structured chunks of a new dataset in a dataset creation list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StructuredChoice {
    /// The shape of the structured chunks.
    pub chunk: Vec<hsize_t>,
    /// The kind of the chunks: `H5D_SPARSE_CHUNK` or `H5D_VL_CHUNK`.
    pub flags: c_uint,
    /// The filters of the selection section, the value section and the heap section.
    pub filters: [Vec<FilterEntry>; 3],
}

/// The properties of a dataset creation list.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetCreate {
    /// The creation properties that all objects have.
    pub object: ObjectCreate,
    /// The layout of the new dataset's raw data.
    pub layout: LayoutChoice,
    /// The chunk shape of a chunked layout.
    pub chunk: Vec<hsize_t>,
    /// The chunk options (`H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS`).
    pub chunk_options: c_uint,
    /// The chunks of a structured chunk layout.
    pub structured: StructuredChoice,
    /// The external files of a contiguous layout: name, offset and size in bytes.
    pub external: Vec<(Vec<u8>, i64, hsize_t)>,
    /// The mappings of a virtual layout.
    pub mappings: Vec<MappingChoice>,
    /// The fill value of the dataset.
    pub fill: FillChoice,
    /// The time at which the library writes the fill value (`H5D_fill_time_t`).
    pub fill_time: c_int,
    /// The time at which the library allocates raw data (`H5D_alloc_time_t`); `None` if not set.
    pub allocation_time: Option<c_int>,
    /// The filters in the order of encoding.
    pub filters: Vec<FilterEntry>,
    /// True if the library gives the object header the minimum size.
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

/// The properties of a link access list.
#[derive(Debug, Clone)]
pub struct LinkAccess {
    /// The maximum number of soft and external links that the library follows in a path.
    pub max_links: usize,
    /// The folder that contains the files of external links.
    pub external_prefix: Option<Vec<u8>>,
    /// The access list with which the library opens the files of external links.
    pub external_access: Option<std::sync::Arc<super::PropertyList>>,
    /// The flags with which the library opens the files of external links.
    pub external_flags: c_uint,
    /// The callback before the traversal of an external link.
    pub external_callback: ExternalLinkCallback,
}

/// The value of the link access property `external_flags` for the default access. An external
/// link's file is then opened with the flags of the file that contains the link.
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

/// The properties of a dataset access list.
#[derive(Debug, Clone)]
pub struct DatasetAccess {
    /// The access properties of links.
    pub link: LinkAccess,
    /// The number of chunk cache slots; `None` for the number that the file states.
    pub cache_slots: Option<usize>,
    /// The size of the chunk cache in bytes; `None` for the size that the file states.
    pub cache_bytes: Option<usize>,
    /// The preemption factor of the chunk cache; `None` for the factor that the file states.
    pub cache_preemption: Option<f64>,
    /// The rule for the extent of unlimited virtual datasets (`H5D_vds_view_t`).
    pub virtual_view: c_int,
    /// The maximum number of successive missing source files inside an unlimited virtual dataset.
    pub virtual_gap: hsize_t,
    /// The folder that contains the source files of virtual datasets.
    pub virtual_prefix: Option<Vec<u8>>,
    /// The folder that contains external raw data files.
    pub external_prefix: Option<Vec<u8>>,
    /// The boundary and callback for appended data.
    pub append_flush: AppendFlush,
    /// True if a spatial tree speeds up the search for mappings of a virtual dataset.
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

/// The properties of a file mount list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileMount {
    /// True if soft links of the mounted file resolve only within it.
    pub local: bool,
}

/// The properties of a string creation list, which apply to the names of new links and attributes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StringCreate {
    /// The character set of the name (`H5T_cset_t`).
    pub charset: c_int,
}

/// The properties of a link creation list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkCreate {
    /// The creation properties of the link's name.
    pub name: StringCreate,
    /// Nonzero if the library creates missing groups of the path.
    pub intermediate_groups: c_uint,
}

/// The properties of an object copy list.
#[derive(Debug, Clone, Default)]
pub struct ObjectCopy {
    /// The flags of the copy (`H5O_COPY_*`).
    pub flags: c_uint,
    /// The paths of committed datatypes that the copy may reuse.
    pub merge_paths: Vec<Vec<u8>>,
    /// The callback that decides about the search for equal committed datatypes.
    pub merge_callback: MergeCallback,
}

/// The value of a chunk cache property that requests the setting of the file.
pub const UNSET_SIZE: usize = usize::MAX;

/// The value in a list of external raw data files that stands for a file without a size limit.
pub const UNLIMITED_SIZE: hsize_t = H5S_UNLIMITED;

/// A pointer to the user's data that a callback function of the user receives.
pub type UserData = *mut c_void;
