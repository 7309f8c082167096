//! All exported functions by their names, and calls of them.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::LazyLock;

/// The largest number of words that a call passes: integers and pointers.
pub(crate) const MAX_WORDS: usize = 14;

/// The largest number of floating-point arguments of a function.
pub(crate) const MAX_NUMBERS: usize = 3;

/// An exported function, without its arguments.
pub(crate) type Function = unsafe extern "C" fn();

macro_rules! exported {
    ($($name:ident)*) => {
        // SAFETY: the library defines these names as functions. They are called through `call`.
        unsafe extern "C" {
            $(fn $name();)*
        }

        /// The functions with their names.
        pub(crate) static FUNCTIONS: &[(&str, Function)] = &[$((stringify!($name), $name)),*];
    };
}

/// A function that takes all its arguments as words.
type Called = unsafe extern "C" fn(
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    f64,
    f64,
    f64,
) -> u64;

/// Calls a function with words in the registers and on the stack. Functions with fewer arguments
/// ignore the others.
pub(crate) fn call(function: Function, words: &[u64], numbers: &[f64]) -> u64 {
    let mut w = [0_u64; MAX_WORDS];
    let mut n = [0_f64; MAX_NUMBERS];
    w[..words.len()].copy_from_slice(words);
    n[..numbers.len()].copy_from_slice(numbers);
    // SAFETY: in the conventions of Linux for x86-64 and AArch64, integers and pointers of up to
    // 64 bits fill the same registers and stack slots, floating-point numbers fill registers of
    // their own, and the caller removes surplus arguments.
    let called = unsafe { std::mem::transmute::<Function, Called>(function) };
    // SAFETY: the arguments are those of the prototype, and pointers lead to memory of the size
    // that the documentation of the function states.
    unsafe {
        called(
            w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], n[0],
            n[1], n[2],
        )
    }
}

#[cfg(target_arch = "x86_64")]
// SAFETY: the declaration is that of the header. The library has the variadic function on x86-64.
unsafe extern "C" {
    fn H5Epush2(
        stack: i64,
        file: *const c_char,
        function: *const c_char,
        line: c_uint,
        class: i64,
        major: i64,
        minor: i64,
        format: *const c_char,
        ...
    ) -> c_int;
}

/// Calls the variadic function with a format and arguments for it. Returns its name, if the library
/// has it.
pub(crate) fn push_error(stack: i64, [class, major, minor]: [i64; 3]) -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the texts end with a zero byte, and the arguments are those of the format.
    unsafe {
        let (text, format) = (c"text".as_ptr(), c"%d %s %.2f %ld".as_ptr());
        H5Epush2(stack, text, text, 7, class, major, minor, format, -1, text, 0.5_f64, i64::MIN);
        Some("H5Epush2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

exported! {
    H5Aclose H5Aclose_async H5Acreate1 H5Acreate2 H5Acreate_async H5Acreate_by_name
    H5Acreate_by_name_async H5Adelete H5Adelete_by_idx H5Adelete_by_name H5Aexists
    H5Aexists_async H5Aexists_by_name H5Aexists_by_name_async H5Aget_create_plist H5Aget_info
    H5Aget_info_by_idx H5Aget_info_by_name H5Aget_name H5Aget_name_by_idx H5Aget_num_attrs
    H5Aget_space H5Aget_storage_size H5Aget_type H5Aiterate1 H5Aiterate2 H5Aiterate_by_name
    H5Aopen H5Aopen_async H5Aopen_by_idx H5Aopen_by_idx_async H5Aopen_by_name
    H5Aopen_by_name_async H5Aopen_idx H5Aopen_name H5Aread H5Aread_async H5Arename
    H5Arename_async H5Arename_by_name H5Arename_by_name_async H5Awrite H5Awrite_async
    H5Dchunk_iter H5Dclose H5Dclose_async H5Dcreate1 H5Dcreate2 H5Dcreate_anon H5Dcreate_async
    H5Ddebug H5Derase H5Dextend H5Dfill H5Dflush H5Dformat_convert H5Dgather H5Dget_access_plist
    H5Dget_chunk_index_type H5Dget_chunk_info H5Dget_chunk_info_by_coord
    H5Dget_chunk_storage_size H5Dget_create_plist H5Dget_defined H5Dget_num_chunks H5Dget_offset
    H5Dget_space H5Dget_space_async H5Dget_space_status H5Dget_storage_size
    H5Dget_struct_chunk_info H5Dget_struct_chunk_info_by_coord H5Dget_type H5Diterate H5Dopen1
    H5Dopen2 H5Dopen_async H5Dread H5Dread_async H5Dread_chunk H5Dread_chunk1 H5Dread_chunk2
    H5Dread_multi H5Dread_multi_async H5Dread_struct_chunk H5Drefresh H5Dscatter H5Dset_extent
    H5Dset_extent_async H5Dstruct_chunk_iter H5Dvlen_get_buf_size H5Dvlen_reclaim H5Dwrite
    H5Dwrite_async H5Dwrite_chunk H5Dwrite_multi H5Dwrite_multi_async H5Dwrite_struct_chunk
    H5EScancel H5ESclose H5EScreate H5ESfree_err_info H5ESget_count H5ESget_err_count
    H5ESget_err_info H5ESget_err_status H5ESget_op_counter H5ESget_requests H5ESinsert_request
    H5ESregister_complete_func H5ESregister_insert_func H5ESwait H5Eappend_stack H5Eauto_is_v2
    H5Eclear1 H5Eclear2 H5Eclose_msg H5Eclose_stack H5Ecreate_msg H5Ecreate_stack H5Eget_auto1
    H5Eget_auto2 H5Eget_class_name H5Eget_current_stack H5Eget_major H5Eget_minor H5Eget_msg
    H5Eget_num H5Eis_paused H5Epause_stack H5Epop H5Eprint1 H5Eprint2 H5Epush1 H5Eregister_class
    H5Eresume_stack H5Eset_auto1 H5Eset_auto2 H5Eset_current_stack H5Eunregister_class H5Ewalk1
    H5Ewalk2 H5FD_core_init H5FD_family_init H5FD_log_init H5FD_multi_init H5FD_onion_init
    H5FD_sec2_init H5FD_splitter_init H5FD_stdio_init H5FDalloc H5FDclose H5FDcmp H5FDctl
    H5FDdelete H5FDdriver_query H5FDflush H5FDfree H5FDget_eoa H5FDget_eof H5FDget_vfd_handle
    H5FDis_driver_registered_by_name H5FDis_driver_registered_by_value H5FDlock
    H5FDonion_get_revision_count H5FDopen H5FDperform_init H5FDquery H5FDread
    H5FDread_from_selection H5FDread_selection H5FDread_vector H5FDread_vector_from_selection
    H5FDregister H5FDset_eoa H5FDtruncate H5FDunlock H5FDunregister H5FDwrite
    H5FDwrite_from_selection H5FDwrite_selection H5FDwrite_vector
    H5FDwrite_vector_from_selection H5Fclear_elink_file_cache H5Fclose H5Fclose_async H5Fcreate
    H5Fcreate_async H5Fdelete H5Fflush H5Fflush_async H5Fformat_convert H5Fget_access_plist
    H5Fget_create_plist H5Fget_dset_no_attrs_hint H5Fget_eoa H5Fget_file_image H5Fget_fileno
    H5Fget_filesize H5Fget_free_sections H5Fget_freespace H5Fget_info1 H5Fget_info2
    H5Fget_intent H5Fget_mdc_config H5Fget_mdc_hit_rate H5Fget_mdc_image_info
    H5Fget_mdc_logging_status H5Fget_mdc_size H5Fget_metadata_read_retry_info H5Fget_name
    H5Fget_obj_count H5Fget_obj_ids H5Fget_page_buffering_stats H5Fget_vfd_handle
    H5Fincrement_filesize H5Fis_accessible H5Fis_hdf5 H5Fmount H5Fopen H5Fopen_async H5Freopen
    H5Freopen_async H5Freset_mdc_hit_rate_stats H5Freset_page_buffering_stats
    H5Fset_dset_no_attrs_hint H5Fset_latest_format H5Fset_libver_bounds H5Fset_mdc_config
    H5Fstart_mdc_logging H5Fstart_swmr_write H5Fstop_mdc_logging H5Funmount H5Gclose
    H5Gclose_async H5Gcreate1 H5Gcreate2 H5Gcreate_anon H5Gcreate_async H5Gflush H5Gget_comment
    H5Gget_create_plist H5Gget_info H5Gget_info_async H5Gget_info_by_idx
    H5Gget_info_by_idx_async H5Gget_info_by_name H5Gget_info_by_name_async H5Gget_linkval
    H5Gget_num_objs H5Gget_objinfo H5Gget_objname_by_idx H5Gget_objtype_by_idx H5Giterate
    H5Glink H5Glink2 H5Gmove H5Gmove2 H5Gopen1 H5Gopen2 H5Gopen_async H5Grefresh H5Gset_comment
    H5Gunlink H5Iclear_type H5Idec_ref H5Idec_type_ref H5Idestroy_type H5Iget_file_id
    H5Iget_name H5Iget_ref H5Iget_type H5Iget_type_ref H5Iinc_ref H5Iinc_type_ref H5Iis_valid
    H5Iiterate H5Inmembers H5Iobject_verify H5Iregister H5Iregister_future H5Iregister_type
    H5Iregister_type1 H5Iregister_type2 H5Iremove_verify H5Isearch H5Itype_exists H5Lcopy
    H5Lcreate_external H5Lcreate_hard H5Lcreate_hard_async H5Lcreate_soft H5Lcreate_soft_async
    H5Lcreate_ud H5Ldelete H5Ldelete_async H5Ldelete_by_idx H5Ldelete_by_idx_async H5Lexists
    H5Lexists_async H5Lget_info1 H5Lget_info2 H5Lget_info_by_idx1 H5Lget_info_by_idx2
    H5Lget_name_by_idx H5Lget_val H5Lget_val_by_idx H5Lis_registered H5Literate1 H5Literate2
    H5Literate_async H5Literate_by_name1 H5Literate_by_name2 H5Lmove H5Lregister
    H5Lunpack_elink_val H5Lunregister H5Lvisit1 H5Lvisit2 H5Lvisit_by_name1 H5Lvisit_by_name2
    H5Oare_mdc_flushes_disabled H5Oclose H5Oclose_async H5Ocopy H5Ocopy_async H5Odecr_refcount
    H5Odisable_mdc_flushes H5Oenable_mdc_flushes H5Oexists_by_name H5Oflush H5Oflush_async
    H5Oget_comment H5Oget_comment_by_name H5Oget_info1 H5Oget_info2 H5Oget_info3
    H5Oget_info_by_idx1 H5Oget_info_by_idx2 H5Oget_info_by_idx3 H5Oget_info_by_name1
    H5Oget_info_by_name2 H5Oget_info_by_name3 H5Oget_info_by_name_async H5Oget_native_info
    H5Oget_native_info_by_idx H5Oget_native_info_by_name H5Oincr_refcount H5Olink H5Oopen
    H5Oopen_async H5Oopen_by_addr H5Oopen_by_idx H5Oopen_by_idx_async H5Oopen_by_token
    H5Orefresh H5Orefresh_async H5Oset_comment H5Oset_comment_by_name H5Otoken_cmp
    H5Otoken_from_str H5Otoken_to_str H5Ovisit1 H5Ovisit2 H5Ovisit3 H5Ovisit_by_name1
    H5Ovisit_by_name2 H5Ovisit_by_name3 H5PLappend H5PLget H5PLget_loading_state H5PLinsert
    H5PLprepend H5PLremove H5PLreplace H5PLset_loading_state H5PLsize
    H5Padd_merge_committed_dtype_path H5Pall_filters_avail H5Pclose H5Pclose_class H5Pcopy
    H5Pcopy_prop H5Pcreate H5Pcreate_class H5Pdecode H5Pencode1 H5Pencode2 H5Pequal H5Pexist
    H5Pfill_value_defined H5Pfree_merge_committed_dtype_paths H5Pget
    H5Pget_actual_selection_io_mode H5Pget_alignment H5Pget_alloc_time H5Pget_append_flush
    H5Pget_attr_creation_order H5Pget_attr_phase_change H5Pget_btree_ratios H5Pget_buffer
    H5Pget_cache H5Pget_char_encoding H5Pget_chunk H5Pget_chunk_cache H5Pget_chunk_opts
    H5Pget_class H5Pget_class_name H5Pget_class_parent H5Pget_copy_object
    H5Pget_core_write_tracking H5Pget_create_intermediate_group H5Pget_data_transform
    H5Pget_driver H5Pget_driver_config_str H5Pget_driver_info H5Pget_dset_no_attrs_hint
    H5Pget_edc_check H5Pget_efile_prefix H5Pget_elink_acc_flags H5Pget_elink_cb
    H5Pget_elink_fapl H5Pget_elink_file_cache_size H5Pget_elink_prefix H5Pget_est_link_info
    H5Pget_evict_on_close H5Pget_external H5Pget_external_count H5Pget_family_offset
    H5Pget_fapl_core H5Pget_fapl_durability H5Pget_fapl_family H5Pget_fapl_multi H5Pget_fapl_onion H5Pget_fapl_splitter
    H5Pget_fclose_degree H5Pget_file_image H5Pget_file_image_callbacks H5Pget_file_locking
    H5Pget_file_space H5Pget_file_space_page_size H5Pget_file_space_strategy H5Pget_fill_time
    H5Pget_fill_value H5Pget_filter1 H5Pget_filter2 H5Pget_filter3 H5Pget_filter_by_id1
    H5Pget_filter_by_id2 H5Pget_filter_by_id3 H5Pget_gc_references H5Pget_hyper_vector_size
    H5Pget_istore_k H5Pget_layout H5Pget_libver_bounds H5Pget_link_creation_order
    H5Pget_link_phase_change H5Pget_local_heap_size_hint H5Pget_mcdt_search_cb H5Pget_mdc_config
    H5Pget_mdc_image_config H5Pget_mdc_log_options H5Pget_meta_block_size
    H5Pget_metadata_read_attempts H5Pget_modify_write_buf H5Pget_multi_type H5Pget_nfilters
    H5Pget_nfilters2 H5Pget_nlinks H5Pget_no_selection_io_cause H5Pget_nprops
    H5Pget_obj_track_times H5Pget_object_flush_cb H5Pget_page_buffer_size H5Pget_preserve
    H5Pget_relax_file_integrity_checks H5Pget_selection_io H5Pget_shared_mesg_index
    H5Pget_shared_mesg_nindexes H5Pget_shared_mesg_phase_change H5Pget_sieve_buf_size
    H5Pget_size H5Pget_sizes H5Pget_small_data_block_size H5Pget_struct_chunk
    H5Pget_struct_chunk_sections H5Pget_sym_k H5Pget_type_conv_cb H5Pget_userblock
    H5Pget_version H5Pget_virtual_count H5Pget_virtual_dsetname H5Pget_virtual_filename
    H5Pget_virtual_prefix H5Pget_virtual_printf_gap H5Pget_virtual_spatial_tree
    H5Pget_virtual_srcspace H5Pget_virtual_view H5Pget_virtual_vspace H5Pget_vlen_mem_manager
    H5Pget_vol_cap_flags H5Pget_vol_id H5Pget_vol_info H5Pinsert1 H5Pinsert2 H5Pisa_class
    H5Piterate H5Pmodify_filter H5Pmodify_filter2 H5Pregister1 H5Pregister2 H5Premove
    H5Premove_filter H5Premove_filter2 H5Pset H5Pset_alignment H5Pset_alloc_time
    H5Pset_append_flush H5Pset_attr_creation_order H5Pset_attr_phase_change H5Pset_btree_ratios
    H5Pset_buffer H5Pset_cache H5Pset_char_encoding H5Pset_chunk H5Pset_chunk_cache
    H5Pset_chunk_opts H5Pset_copy_object H5Pset_core_write_tracking
    H5Pset_create_intermediate_group H5Pset_data_transform H5Pset_dataset_io_hyperslab_selection
    H5Pset_deflate H5Pset_driver H5Pset_driver_by_name H5Pset_driver_by_value
    H5Pset_dset_no_attrs_hint H5Pset_edc_check H5Pset_efile_prefix H5Pset_elink_acc_flags
    H5Pset_elink_cb H5Pset_elink_fapl H5Pset_elink_file_cache_size H5Pset_elink_prefix
    H5Pset_est_link_info H5Pset_evict_on_close H5Pset_external H5Pset_family_offset
    H5Pset_fapl_core H5Pset_fapl_durability H5Pset_fapl_family H5Pset_fapl_log H5Pset_fapl_multi H5Pset_fapl_onion
    H5Pset_fapl_sec2 H5Pset_fapl_split H5Pset_fapl_splitter H5Pset_fapl_stdio
    H5Pset_fclose_degree H5Pset_file_image H5Pset_file_image_callbacks H5Pset_file_locking
    H5Pset_file_space H5Pset_file_space_page_size H5Pset_file_space_strategy H5Pset_fill_time
    H5Pset_fill_value H5Pset_filter H5Pset_filter2 H5Pset_filter_callback H5Pset_fletcher32
    H5Pset_gc_references H5Pset_hyper_vector_size H5Pset_istore_k H5Pset_layout
    H5Pset_libver_bounds H5Pset_link_creation_order H5Pset_link_phase_change
    H5Pset_local_heap_size_hint H5Pset_mcdt_search_cb H5Pset_mdc_config H5Pset_mdc_image_config
    H5Pset_mdc_log_options H5Pset_meta_block_size H5Pset_metadata_read_attempts
    H5Pset_modify_write_buf H5Pset_multi_type H5Pset_nbit H5Pset_nlinks H5Pset_obj_track_times
    H5Pset_object_flush_cb H5Pset_page_buffer_size H5Pset_preserve
    H5Pset_relax_file_integrity_checks H5Pset_scaleoffset H5Pset_selection_io
    H5Pset_shared_mesg_index H5Pset_shared_mesg_nindexes H5Pset_shared_mesg_phase_change
    H5Pset_shuffle H5Pset_sieve_buf_size H5Pset_sizes H5Pset_small_data_block_size
    H5Pset_struct_chunk H5Pset_sym_k H5Pset_szip H5Pset_type_conv_cb H5Pset_userblock
    H5Pset_virtual H5Pset_virtual_prefix H5Pset_virtual_printf_gap H5Pset_virtual_spatial_tree
    H5Pset_virtual_view H5Pset_vlen_mem_manager H5Pset_vol H5Punregister H5Rcopy H5Rcreate
    H5Rcreate_attr H5Rcreate_object H5Rcreate_region H5Rdereference1 H5Rdereference2 H5Rdestroy
    H5Requal H5Rget_attr_name H5Rget_file_name H5Rget_name H5Rget_obj_name H5Rget_obj_type1
    H5Rget_obj_type2 H5Rget_obj_type3 H5Rget_region H5Rget_type H5Ropen_attr H5Ropen_attr_async
    H5Ropen_object H5Ropen_object_async H5Ropen_region H5Ropen_region_async H5Sclose
    H5Scombine_hyperslab H5Scombine_select H5Scopy H5Screate H5Screate_simple H5Sdecode
    H5Sencode1 H5Sencode2 H5Sextent_copy H5Sextent_equal H5Sget_regular_hyperslab
    H5Sget_select_bounds H5Sget_select_elem_npoints H5Sget_select_elem_pointlist
    H5Sget_select_hyper_blocklist H5Sget_select_hyper_nblocks H5Sget_select_npoints
    H5Sget_select_type H5Sget_simple_extent_dims H5Sget_simple_extent_ndims
    H5Sget_simple_extent_npoints H5Sget_simple_extent_type H5Sis_regular_hyperslab H5Sis_simple
    H5Smodify_select H5Soffset_simple H5Ssel_iter_close H5Ssel_iter_create
    H5Ssel_iter_get_seq_list H5Ssel_iter_reset H5Sselect_adjust H5Sselect_all H5Sselect_copy
    H5Sselect_elements H5Sselect_hyperslab H5Sselect_intersect_block H5Sselect_none
    H5Sselect_project_intersection H5Sselect_shape_same H5Sselect_valid H5Sset_extent_none
    H5Sset_extent_simple H5TSmutex_acquire H5TSmutex_get_attempt_count H5TSmutex_release
    H5Tarray_create1 H5Tarray_create2 H5Tclose H5Tclose_async H5Tcommit1 H5Tcommit2
    H5Tcommit_anon H5Tcommit_async H5Tcommitted H5Tcompiler_conv H5Tcomplex_create H5Tconvert
    H5Tcopy H5Tcreate H5Tdecode H5Tdecode1 H5Tdecode2 H5Tdetect_class H5Tencode H5Tenum_create
    H5Tenum_insert H5Tenum_nameof H5Tenum_valueof H5Tequal H5Tfind H5Tflush H5Tget_array_dims1
    H5Tget_array_dims2 H5Tget_array_ndims H5Tget_class H5Tget_create_plist H5Tget_cset
    H5Tget_ebias H5Tget_fields H5Tget_inpad H5Tget_member_class H5Tget_member_index
    H5Tget_member_name H5Tget_member_offset H5Tget_member_type H5Tget_member_value
    H5Tget_native_type H5Tget_nmembers H5Tget_norm H5Tget_offset H5Tget_order H5Tget_pad
    H5Tget_precision H5Tget_sign H5Tget_size H5Tget_strpad H5Tget_super H5Tget_tag H5Tinsert
    H5Tis_variable_str H5Tlock H5Topen1 H5Topen2 H5Topen_async H5Tpack H5Treclaim H5Trefresh
    H5Tregister H5Tset_cset H5Tset_ebias H5Tset_fields H5Tset_inpad H5Tset_norm H5Tset_offset
    H5Tset_order H5Tset_pad H5Tset_precision H5Tset_sign H5Tset_size H5Tset_strpad H5Tset_tag
    H5Tunregister H5Tvlen_create H5VL_native_register H5VL_pass_through_register H5VLattr_close
    H5VLattr_create H5VLattr_get H5VLattr_open H5VLattr_optional H5VLattr_optional_op
    H5VLattr_read H5VLattr_specific H5VLattr_write H5VLblob_get H5VLblob_optional H5VLblob_put
    H5VLblob_specific H5VLclose H5VLclose_lib_context H5VLcmp_connector_cls
    H5VLcmp_connector_info H5VLconnector_info_to_str H5VLconnector_str_to_info
    H5VLcopy_connector_info H5VLdataset_close H5VLdataset_create H5VLdataset_get
    H5VLdataset_open H5VLdataset_optional H5VLdataset_optional_op H5VLdataset_read
    H5VLdataset_specific H5VLdataset_write H5VLdatatype_close H5VLdatatype_commit
    H5VLdatatype_get H5VLdatatype_open H5VLdatatype_optional H5VLdatatype_optional_op
    H5VLdatatype_specific H5VLfile_close H5VLfile_create H5VLfile_get H5VLfile_open
    H5VLfile_optional H5VLfile_optional_op H5VLfile_specific H5VLfind_opt_operation
    H5VLfinish_lib_state H5VLfree_connector_info H5VLfree_lib_state H5VLfree_wrap_ctx
    H5VLget_cap_flags H5VLget_connector_id H5VLget_connector_id_by_name
    H5VLget_connector_id_by_value H5VLget_connector_name H5VLget_file_type H5VLget_object
    H5VLget_value H5VLget_wrap_ctx H5VLgroup_close H5VLgroup_create H5VLgroup_get H5VLgroup_open
    H5VLgroup_optional H5VLgroup_optional_op H5VLgroup_specific H5VLinitialize
    H5VLintrospect_get_cap_flags H5VLintrospect_get_conn_cls H5VLintrospect_opt_query
    H5VLis_connector_registered_by_name H5VLis_connector_registered_by_value H5VLlink_copy
    H5VLlink_create H5VLlink_get H5VLlink_move H5VLlink_optional H5VLlink_optional_op
    H5VLlink_specific H5VLnative_addr_to_token H5VLnative_token_to_addr H5VLobject
    H5VLobject_copy H5VLobject_get H5VLobject_is_native H5VLobject_open H5VLobject_optional
    H5VLobject_optional_op H5VLobject_specific H5VLopen_lib_context H5VLoptional
    H5VLpeek_connector_id_by_name H5VLpeek_connector_id_by_value H5VLquery_optional
    H5VLregister_connector H5VLregister_connector_by_name H5VLregister_connector_by_value
    H5VLregister_opt_operation H5VLrequest_cancel H5VLrequest_free H5VLrequest_notify
    H5VLrequest_optional H5VLrequest_optional_op H5VLrequest_specific H5VLrequest_wait
    H5VLrestore_lib_state H5VLretrieve_lib_state H5VLstart_lib_state H5VLterminate H5VLtoken_cmp
    H5VLtoken_from_str H5VLtoken_to_str H5VLunregister_connector H5VLunregister_opt_operation
    H5VLunwrap_object H5VLwrap_object H5VLwrap_register H5Zfilter_avail H5Zget_filter_info
    H5Zregister H5Zunregister H5allocate_memory H5atclose H5check_version H5close H5dont_atexit
    H5free_memory H5garbage_collect H5get_free_list_sizes H5get_libversion
    H5is_library_terminating H5is_library_threadsafe H5open H5resize_memory
    H5set_free_list_limits
}

macro_rules! identifiers {
    ($($name:ident)*) => {
        // SAFETY: the library defines these names as constant identifiers.
        unsafe extern "C" {
            $(static $name: i64;)*
        }

        /// Returns the predefined identifiers with their names.
        pub(crate) fn predefined() -> &'static [(&'static str, i64)] {
            static ALL: LazyLock<Vec<(&str, i64)>> = LazyLock::new(|| {
                // SAFETY: the identifiers are constants.
                unsafe { vec![$((stringify!($name), $name)),*] }
            });
            &ALL
        }
    };
}

identifiers! {
    H5T_NATIVE_INT_g H5T_NATIVE_SCHAR_g H5T_NATIVE_UCHAR_g H5T_NATIVE_DOUBLE_g
    H5T_NATIVE_FLOAT_g H5T_NATIVE_LLONG_g H5T_NATIVE_B8_g H5T_STD_I16BE_g H5T_STD_U64LE_g
    H5T_IEEE_F32BE_g H5T_IEEE_F16LE_g H5T_C_S1_g H5T_FORTRAN_S1_g H5T_STD_REF_OBJ_g
    H5T_STD_REF_DSETREG_g H5T_STD_REF_g H5T_NATIVE_OPAQUE_g H5T_UNIX_D32LE_g
    H5T_COMPLEX_IEEE_F32LE_g H5T_NATIVE_LDOUBLE_g H5FD_CORE_id_g H5FD_FAMILY_id_g H5FD_LOG_id_g
    H5FD_MULTI_id_g H5FD_ONION_id_g H5FD_SEC2_id_g H5FD_SPLITTER_id_g H5FD_STDIO_id_g
    H5VL_NATIVE_g H5VL_PASSTHRU_g H5P_CLS_ROOT_ID_g H5P_CLS_OBJECT_CREATE_ID_g
    H5P_CLS_FILE_CREATE_ID_g H5P_CLS_FILE_ACCESS_ID_g H5P_CLS_DATASET_CREATE_ID_g
    H5P_CLS_DATASET_ACCESS_ID_g H5P_CLS_DATASET_XFER_ID_g H5P_CLS_FILE_MOUNT_ID_g
    H5P_CLS_GROUP_CREATE_ID_g H5P_CLS_GROUP_ACCESS_ID_g H5P_CLS_DATATYPE_CREATE_ID_g
    H5P_CLS_DATATYPE_ACCESS_ID_g H5P_CLS_STRING_CREATE_ID_g H5P_CLS_ATTRIBUTE_CREATE_ID_g
    H5P_CLS_ATTRIBUTE_ACCESS_ID_g H5P_CLS_OBJECT_COPY_ID_g H5P_CLS_LINK_CREATE_ID_g
    H5P_CLS_LINK_ACCESS_ID_g H5P_CLS_MAP_CREATE_ID_g H5P_CLS_MAP_ACCESS_ID_g
    H5P_CLS_REFERENCE_ACCESS_ID_g H5P_CLS_VOL_INITIALIZE_ID_g H5P_LST_ATTRIBUTE_ACCESS_ID_g
    H5P_LST_ATTRIBUTE_CREATE_ID_g H5P_LST_DATASET_ACCESS_ID_g H5P_LST_DATASET_CREATE_ID_g
    H5P_LST_DATASET_XFER_ID_g H5P_LST_DATATYPE_ACCESS_ID_g H5P_LST_DATATYPE_CREATE_ID_g
    H5P_LST_FILE_ACCESS_ID_g H5P_LST_FILE_CREATE_ID_g H5P_LST_FILE_MOUNT_ID_g
    H5P_LST_GROUP_ACCESS_ID_g H5P_LST_GROUP_CREATE_ID_g H5P_LST_LINK_ACCESS_ID_g
    H5P_LST_LINK_CREATE_ID_g H5P_LST_MAP_ACCESS_ID_g H5P_LST_MAP_CREATE_ID_g
    H5P_LST_OBJECT_COPY_ID_g H5P_LST_REFERENCE_ACCESS_ID_g H5P_LST_VOL_INITIALIZE_ID_g
}
