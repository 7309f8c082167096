//! C functions that hyperslab does not support yet. Each function adds an `H5E_UNSUPPORTED` record
//! with its name to the error stack and returns its failure value. `functions.tsv` contains the
//! reasons.

use std::ffi::c_void;

use crate::ctypes::{herr_t, hid_t};
use crate::error::Failure;
use crate::export;

/// Defines unsupported functions. The definitions have no parameters, because the functions do not
/// read their arguments.
macro_rules! not_yet {
    ($($result:ty: $($name:ident)*;)*) => {
        export! {$($(
            /// Fails with `H5E_UNSUPPORTED`, because hyperslab does not support this function yet.
            fn $name() -> $result {
                Err(Failure::unsupported(concat!(stringify!($name), " is not supported")))
            }
        )*)*}
    };
}

not_yet! {
    herr_t:
        H5ESget_requests H5ESinsert_request H5TSmutex_acquire H5TSmutex_get_attempt_count
        H5TSmutex_release H5VLattr_close H5VLattr_get H5VLattr_optional H5VLattr_optional_op
        H5VLattr_read H5VLattr_specific H5VLattr_write H5VLblob_get H5VLblob_optional
        H5VLblob_put H5VLblob_specific H5VLclose_lib_context H5VLcmp_connector_info
        H5VLconnector_info_to_str H5VLcopy_connector_info H5VLdataset_close H5VLdataset_get
        H5VLdataset_optional H5VLdataset_optional_op H5VLdataset_read H5VLdataset_specific
        H5VLdataset_write H5VLdatatype_close H5VLdatatype_get H5VLdatatype_optional
        H5VLdatatype_optional_op H5VLdatatype_specific H5VLfile_close H5VLfile_get
        H5VLfile_optional H5VLfile_optional_op H5VLfile_specific H5VLfind_opt_operation
        H5VLfinish_lib_state H5VLfree_lib_state H5VLfree_wrap_ctx H5VLget_cap_flags
        H5VLget_value H5VLget_wrap_ctx H5VLgroup_close H5VLgroup_get H5VLgroup_optional
        H5VLgroup_optional_op H5VLgroup_specific H5VLinitialize H5VLintrospect_get_conn_cls
        H5VLintrospect_opt_query H5VLlink_copy H5VLlink_create H5VLlink_get H5VLlink_move
        H5VLlink_optional H5VLlink_optional_op H5VLlink_specific H5VLobject_copy H5VLobject_get
        H5VLobject_optional H5VLobject_optional_op H5VLobject_specific H5VLopen_lib_context
        H5VLoptional H5VLregister_opt_operation H5VLrequest_cancel H5VLrequest_free
        H5VLrequest_notify H5VLrequest_optional H5VLrequest_optional_op H5VLrequest_specific
        H5VLrequest_wait H5VLrestore_lib_state H5VLretrieve_lib_state H5VLstart_lib_state
        H5VLterminate H5VLtoken_cmp H5VLtoken_from_str H5VLtoken_to_str
        H5VLunregister_opt_operation;
    hid_t:
        H5VL_pass_through_register H5VLget_file_type
        H5VLpeek_connector_id_by_name H5VLpeek_connector_id_by_value H5VLregister_connector
        H5VLwrap_register;
    *mut c_void:
        H5VLattr_create H5VLattr_open H5VLdataset_create H5VLdataset_open H5VLdatatype_commit
        H5VLdatatype_open H5VLfile_create H5VLfile_open H5VLget_object H5VLgroup_create
        H5VLgroup_open H5VLobject H5VLobject_open H5VLunwrap_object H5VLwrap_object;
}
