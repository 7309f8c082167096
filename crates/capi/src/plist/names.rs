//! The library's properties under the names that C programs pass to `H5Pget` and `H5Pset`.

use std::ffi::{c_int, c_uint};

use super::Settings;
use super::classes::LibraryClass;
use super::settings::{DatasetAccess, DatasetCreate, FileCreate, GroupCreate, LinkCreate};
use crate::ctypes::{herr_t, hsize_t};
use crate::error::{Failure, Outcome};

/// The encoding of a property value in an encoded property list (`H5Pencode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A value of one byte.
    Byte,
    /// A value of fixed width, after a byte with the width.
    Number,
    /// A size without leading zero bytes, after a byte with the number of bytes.
    Size,
}

/// A property of the library that C programs can access by name, in the property lists of a class.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The name of the property.
    pub name: &'static str,
    /// The size of the value in bytes.
    pub size: usize,
    /// The encoding of the value in an encoded property list.
    pub form: Form,
    /// A function that returns the value's bytes from the settings of a list.
    read: fn(&Settings) -> Option<Vec<u8>>,
    /// A function that stores the value's bytes in the settings of a list.
    write: fn(&mut Settings, &[u8]) -> Option<()>,
}

impl Known {
    /// Returns the bytes of the library property's value as a C program stores them in memory.
    ///
    /// # Errors
    /// Fails if only a dedicated function, and not `H5Pget`, returns the property.
    pub fn get(&self, settings: &Settings) -> Outcome<Vec<u8>> {
        (self.read)(settings).ok_or_else(|| {
            Failure::unsupported(format!(
                "the property {} has no C value; use the functions for this property",
                self.name
            ))
        })
    }

    /// Sets the library property to a value from the memory of a C program.
    ///
    /// # Errors
    /// Fails if only a dedicated function, and not `H5Pset`, sets the property.
    pub fn set(&self, settings: &mut Settings, bytes: &[u8]) -> Outcome<herr_t> {
        (self.write)(settings, bytes).map(|()| 0).ok_or_else(|| {
            Failure::unsupported(format!(
                "the property {} has no C value; use the functions for this property",
                self.name
            ))
        })
    }
}

/// A value of a library property that has a fixed size in C.
trait Scalar: Sized {
    /// The form of a property value in an encoded property list.
    const FORM: Form;
    /// Returns the bytes of the property value as C programs store them in memory.
    fn store(&self) -> Vec<u8>;
    /// Decodes a property value from the bytes of a C program. Returns `None` if the number of
    /// bytes is wrong.
    fn load(bytes: &[u8]) -> Option<Self>;
}

macro_rules! scalars {
    ($($type:ty = $form:ident)*) => {$(
        impl Scalar for $type {
            const FORM: Form = Form::$form;

            fn store(&self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }

            #[expect(clippy::host_endian_bytes, reason = "values are in the memory of C programs")]
            fn load(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_ne_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

scalars! { u8 = Byte c_int = Number i64 = Size usize = Size f64 = Number }

impl Scalar for c_uint {
    const FORM: Form = Form::Number;

    fn store(&self) -> Vec<u8> {
        self.cast_signed().store()
    }

    fn load(bytes: &[u8]) -> Option<Self> {
        c_int::load(bytes).map(c_int::cast_unsigned)
    }
}

impl Scalar for hsize_t {
    const FORM: Form = Form::Size;

    fn store(&self) -> Vec<u8> {
        self.cast_signed().store()
    }

    fn load(bytes: &[u8]) -> Option<Self> {
        i64::load(bytes).map(i64::cast_unsigned)
    }
}

impl Scalar for bool {
    const FORM: Form = Form::Byte;

    fn store(&self) -> Vec<u8> {
        vec![u8::from(*self)]
    }

    fn load(bytes: &[u8]) -> Option<Self> {
        bytes.first().map(|byte| *byte != 0)
    }
}

/// Defines the property table of a class: properties with a C value, and the names and sizes of the
/// other properties.
macro_rules! properties {
    ($table:ident { $pattern:pat }: $($name:literal $type:ty = $field:expr;)* | $($other:literal $size:literal;)*) => {
        /// The properties that this class adds to its parent class.
        const $table: &[Known] = &[
            $(Known {
                name: $name,
                size: size_of::<$type>(),
                form: <$type as Scalar>::FORM,
                read: |settings| match settings {
                    $pattern => Some(Scalar::store(&$field)),
                    _ => None,
                },
                write: |settings, bytes| match settings {
                    $pattern => {
                        $field = <$type as Scalar>::load(bytes)?;
                        Some(())
                    }
                    _ => None,
                },
            },)*
            $(Known { name: $other, size: $size, form: Form::Number, read: |_| None, write: |_, _| None },)*
        ];
    };
}

properties! { OBJECT_CREATE {
        Settings::ObjectCreate(it)
        | Settings::FileCreate(FileCreate { group: GroupCreate { object: it, .. }, .. })
        | Settings::GroupCreate(GroupCreate { object: it, .. })
        | Settings::DatasetCreate(DatasetCreate { object: it, .. })
    }:
    "max compact attr" c_uint = it.max_compact;
    "min dense attr" c_uint = it.min_dense;
    | "object header flags" 1; "pline" 40;
}

properties! { GROUP_CREATE { Settings::GroupCreate(it) }: | "group info" 24; "link info" 48; }

properties! { FILE_CREATE { Settings::FileCreate(it) }:
    "block_size" hsize_t = it.user_block;
    "symbol_leaf" c_uint = it.group_leaf_k;
    "addr_byte_num" u8 = it.offset_bytes;
    "obj_byte_num" u8 = it.length_bytes;
    "super_version" c_uint = it.superblock_version;
    "shmsg_list_max" c_uint = it.shared_max_list;
    "shmsg_btree_min" c_uint = it.shared_min_btree;
    "file_space_strategy" c_int = it.strategy;
    "free_space_persist" bool = it.persist;
    "free_space_threshold" hsize_t = it.threshold;
    "file_space_page_size" hsize_t = it.page_size;
    | "btree_rank" 8; "num_shmsg_indexes" 4; "shmsg_message_types" 32; "shmsg_message_minsize" 32;
}

properties! { FILE_ACCESS { Settings::FileAccess(it) }:
    "rdcc_nslots" usize = it.cache.slots;
    "rdcc_nbytes" usize = it.cache.bytes;
    "rdcc_w0" f64 = it.cache.preemption;
    "threshold" hsize_t = it.alignment_threshold;
    "align" hsize_t = it.alignment;
    "meta_block_size" hsize_t = it.metadata_block;
    "sieve_buf_size" usize = it.sieve_buffer;
    "sdata_block_size" hsize_t = it.small_data_block;
    "gc_ref" c_uint = it.collect_references;
    "close_degree" c_int = it.close_degree;
    "family_offset" hsize_t = it.family_offset;
    "multi_type" c_int = it.multi_type;
    "libver_low_bound" c_int = it.libver.0;
    "libver_high_bound" c_int = it.libver.1;
    "efc_size" c_uint = it.external_link_cache;
    "metadata_read_attempts" c_uint = it.read_attempts;
    "evict_on_close_flag" bool = it.evict_on_close;
    "page_buffer_size" usize = it.page_buffer.0;
    "page_buffer_min_meta_perc" c_uint = it.page_buffer.1;
    "page_buffer_min_raw_perc" c_uint = it.page_buffer.2;
    "rfic_flags" hsize_t = it.relaxed_checks;
    | "mdc_initCacheCfg" 1216; "vfd_info" 24; "file_image_info" 72; "object_flush_cb" 16;
    "use_file_locking" 1; "ignore_disabled_file_locks" 1; "vol_connector_info" 16;
    "mdc_initCacheImageCfg" 12;
}

properties! { DATASET_CREATE { Settings::DatasetCreate(it) }:
    "dset_oh_minimize" bool = it.minimize_header;
    | "layout" 2168; "fill_value" 64; "efl" 32;
}

properties! { LINK_ACCESS {
        Settings::LinkAccess(it) | Settings::DatasetAccess(DatasetAccess { link: it, .. })
    }:
    "max soft links" usize = it.max_links;
    "external link flags" c_uint = it.external_flags;
    | "external link prefix" 8; "external link fapl" 8; "external link callback" 16;
}

properties! { DATASET_ACCESS { Settings::DatasetAccess(it) }:
    "vds_view" c_int = it.virtual_view;
    "vds_printf_gap" hsize_t = it.virtual_gap;
    | "rdcc_nslots" 8; "rdcc_nbytes" 8; "rdcc_w0" 8; "vds_prefix" 8; "append_flush" 280;
    "external file prefix" 8; "vds_use_tree" 1;
}

properties! { TRANSFER { Settings::Transfer(it) }:
    "max_temp_buf" usize = it.buffer.0;
    "tconv_buf" usize = it.buffer.1;
    "bkgr_buf" usize = it.buffer.2;
    "vec_size" usize = it.hyper_vector_size;
    "err_detect" c_int = it.check_errors;
    "selection_io_mode" c_int = it.selection_io;
    "modify_write_buf" bool = it.modify_buffer;
    | "bkgr_buf_type" 4; "btree_split_ratio" 24; "vlen_alloc" 8; "vlen_alloc_info" 8; "vlen_free" 8;
    "vlen_free_info" 8; "filter_cb" 16; "type_conv_cb" 16; "data_transform" 8;
}

properties! { FILE_MOUNT { Settings::FileMount(it) }: "local" bool = it.local; | }

properties! { STRING_CREATE {
        Settings::StringCreate(it) | Settings::LinkCreate(LinkCreate { name: it, .. })
    }:
    "character_encoding" c_int = it.charset; |
}

properties! { LINK_CREATE { Settings::LinkCreate(it) }:
    "intermediate_group" c_uint = it.intermediate_groups; |
}

properties! { OBJECT_COPY { Settings::ObjectCopy(it) }:
    "copy object" c_uint = it.flags;
    | "merge committed dtype list" 8; "committed dtype list search" 16;
}

/// Returns the tables of library properties of a property list class and its ancestors.
fn tables(class: LibraryClass) -> &'static [&'static [Known]] {
    use LibraryClass as L;
    match class {
        L::Root | L::ConnectorInitialize => &[],
        L::ObjectCreate | L::DatatypeCreate | L::MapCreate => &[OBJECT_CREATE],
        L::GroupCreate => &[OBJECT_CREATE, GROUP_CREATE],
        L::FileCreate => &[OBJECT_CREATE, GROUP_CREATE, FILE_CREATE],
        L::FileAccess | L::ReferenceAccess => &[FILE_ACCESS],
        L::DatasetCreate => &[OBJECT_CREATE, DATASET_CREATE],
        L::DatasetAccess => &[LINK_ACCESS, DATASET_ACCESS],
        L::Transfer => &[TRANSFER],
        L::FileMount => &[FILE_MOUNT],
        L::StringCreate | L::AttributeCreate => &[STRING_CREATE],
        L::LinkCreate => &[STRING_CREATE, LINK_CREATE],
        L::GroupAccess | L::DatatypeAccess | L::AttributeAccess | L::LinkAccess | L::MapAccess => {
            &[LINK_ACCESS]
        }
        L::ObjectCopy => &[OBJECT_COPY],
    }
}

/// Finds the library property with the given name among the properties that property lists of a
/// library class have.
pub fn find(class: LibraryClass, name: &[u8]) -> Option<&'static Known> {
    let all = tables(class).iter().flat_map(|table| table.iter());
    all.into_iter().find(|known| known.name.as_bytes() == name)
}

/// Returns all library properties that property lists of a library class have, including inherited
/// properties.
pub fn known(class: LibraryClass) -> impl Iterator<Item = &'static Known> {
    tables(class).iter().flat_map(|table| table.iter())
}

/// Returns the names of all library properties that property lists of a library class have.
pub fn all(class: LibraryClass) -> Vec<&'static str> {
    known(class).map(|known| known.name).collect()
}
