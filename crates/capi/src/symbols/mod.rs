//! The data symbols that the library exports, and the predefined identifiers.

pub mod datatypes;

use crate::ctypes::{H5O_token_t, IdKind, hid_t};
use crate::id::constant;

/// Defines predefined identifiers and the data symbols that export them.
macro_rules! identifiers {
    ($kind:ident: $($number:literal $name:ident $symbol:ident)*) => {$(
        #[doc = concat!("The predefined identifier in the data symbol `", stringify!($symbol), "`.")]
        pub const $name: hid_t = constant(IdKind::$kind, $number);

        #[doc = concat!("The exported data symbol with the identifier `", stringify!($name), "`.")]
        #[expect(unsafe_code, reason = "C programs read the symbol by its name")]
        // SAFETY: the name belongs to the interface; nothing else defines it.
        #[unsafe(no_mangle)]
        pub static $symbol: hid_t = $name;
    )*};
}

identifiers! { Driver:
    1 CORE_DRIVER H5FD_CORE_id_g
    2 FAMILY_DRIVER H5FD_FAMILY_id_g
    3 LOG_DRIVER H5FD_LOG_id_g
    4 MULTI_DRIVER H5FD_MULTI_id_g
    5 ONION_DRIVER H5FD_ONION_id_g
    6 SEC2_DRIVER H5FD_SEC2_id_g
    7 SPLITTER_DRIVER H5FD_SPLITTER_id_g
    8 STDIO_DRIVER H5FD_STDIO_id_g
}

identifiers! { Connector:
    1 NATIVE_CONNECTOR H5VL_NATIVE_g
    2 PASS_THROUGH_CONNECTOR H5VL_PASSTHRU_g
}

identifiers! { PropertyClass:
    1 CLASS_ROOT H5P_CLS_ROOT_ID_g
    2 CLASS_OBJECT_CREATE H5P_CLS_OBJECT_CREATE_ID_g
    3 CLASS_FILE_CREATE H5P_CLS_FILE_CREATE_ID_g
    4 CLASS_FILE_ACCESS H5P_CLS_FILE_ACCESS_ID_g
    5 CLASS_DATASET_CREATE H5P_CLS_DATASET_CREATE_ID_g
    6 CLASS_DATASET_ACCESS H5P_CLS_DATASET_ACCESS_ID_g
    7 CLASS_DATASET_XFER H5P_CLS_DATASET_XFER_ID_g
    8 CLASS_FILE_MOUNT H5P_CLS_FILE_MOUNT_ID_g
    9 CLASS_GROUP_CREATE H5P_CLS_GROUP_CREATE_ID_g
    10 CLASS_GROUP_ACCESS H5P_CLS_GROUP_ACCESS_ID_g
    11 CLASS_DATATYPE_CREATE H5P_CLS_DATATYPE_CREATE_ID_g
    12 CLASS_DATATYPE_ACCESS H5P_CLS_DATATYPE_ACCESS_ID_g
    13 CLASS_STRING_CREATE H5P_CLS_STRING_CREATE_ID_g
    14 CLASS_ATTRIBUTE_CREATE H5P_CLS_ATTRIBUTE_CREATE_ID_g
    15 CLASS_ATTRIBUTE_ACCESS H5P_CLS_ATTRIBUTE_ACCESS_ID_g
    16 CLASS_OBJECT_COPY H5P_CLS_OBJECT_COPY_ID_g
    17 CLASS_LINK_CREATE H5P_CLS_LINK_CREATE_ID_g
    18 CLASS_LINK_ACCESS H5P_CLS_LINK_ACCESS_ID_g
    19 CLASS_MAP_CREATE H5P_CLS_MAP_CREATE_ID_g
    20 CLASS_MAP_ACCESS H5P_CLS_MAP_ACCESS_ID_g
    21 CLASS_REFERENCE_ACCESS H5P_CLS_REFERENCE_ACCESS_ID_g
    22 CLASS_VOL_INITIALIZE H5P_CLS_VOL_INITIALIZE_ID_g
}

identifiers! { PropertyList:
    1 LIST_ATTRIBUTE_ACCESS H5P_LST_ATTRIBUTE_ACCESS_ID_g
    2 LIST_ATTRIBUTE_CREATE H5P_LST_ATTRIBUTE_CREATE_ID_g
    3 LIST_DATASET_ACCESS H5P_LST_DATASET_ACCESS_ID_g
    4 LIST_DATASET_CREATE H5P_LST_DATASET_CREATE_ID_g
    5 LIST_DATASET_XFER H5P_LST_DATASET_XFER_ID_g
    6 LIST_DATATYPE_ACCESS H5P_LST_DATATYPE_ACCESS_ID_g
    7 LIST_DATATYPE_CREATE H5P_LST_DATATYPE_CREATE_ID_g
    8 LIST_FILE_ACCESS H5P_LST_FILE_ACCESS_ID_g
    9 LIST_FILE_CREATE H5P_LST_FILE_CREATE_ID_g
    10 LIST_FILE_MOUNT H5P_LST_FILE_MOUNT_ID_g
    11 LIST_GROUP_ACCESS H5P_LST_GROUP_ACCESS_ID_g
    12 LIST_GROUP_CREATE H5P_LST_GROUP_CREATE_ID_g
    13 LIST_LINK_ACCESS H5P_LST_LINK_ACCESS_ID_g
    14 LIST_LINK_CREATE H5P_LST_LINK_CREATE_ID_g
    15 LIST_MAP_ACCESS H5P_LST_MAP_ACCESS_ID_g
    16 LIST_MAP_CREATE H5P_LST_MAP_CREATE_ID_g
    17 LIST_OBJECT_COPY H5P_LST_OBJECT_COPY_ID_g
    18 LIST_REFERENCE_ACCESS H5P_LST_REFERENCE_ACCESS_ID_g
    19 LIST_VOL_INITIALIZE H5P_LST_VOL_INITIALIZE_ID_g
}

/// The exported value of the undefined object token (`H5O_TOKEN_UNDEF`).
#[expect(unsafe_code, reason = "C programs read the symbol by its name")]
// SAFETY: the name belongs to the interface; nothing else defines it.
#[unsafe(no_mangle)]
pub static H5O_TOKEN_UNDEF_g: H5O_token_t = H5O_token_t::UNDEFINED;

/// The exported flag that the HDF5 library is initialized. Always `true`: all identifiers are
/// constants, and the first call starts the library.
#[expect(unsafe_code, reason = "C programs read the symbol by its name")]
// SAFETY: the name belongs to the interface; nothing else defines it.
#[unsafe(no_mangle)]
pub static H5_libinit_g: bool = true;

/// The exported flag that the HDF5 library is shutting down. Always `false`: the library can start
/// again after its shutdown.
#[expect(unsafe_code, reason = "C programs read the symbol by its name")]
// SAFETY: the name belongs to the interface; nothing else defines it.
#[unsafe(no_mangle)]
pub static H5_libterm_g: bool = false;
