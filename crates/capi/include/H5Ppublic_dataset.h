/* Properties of datasets and transfers. H5Ppublic.h includes this file. */
#ifndef H5Ppublic_dataset_H
#define H5Ppublic_dataset_H

#include "H5Ppublic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The method of a parallel transfer of chunks. */
typedef enum H5D_mpio_actual_chunk_opt_mode_t {
    H5D_MPIO_NO_CHUNK_OPTIMIZATION = 0,
    H5D_MPIO_LINK_CHUNK = 1,
    H5D_MPIO_MULTI_CHUNK = 2
} H5D_mpio_actual_chunk_opt_mode_t;

/* The kind of a parallel transfer. */
typedef enum H5D_mpio_actual_io_mode_t {
    H5D_MPIO_NO_COLLECTIVE = 0,
    H5D_MPIO_CHUNK_INDEPENDENT = 1,
    H5D_MPIO_CHUNK_COLLECTIVE = 2,
    H5D_MPIO_CHUNK_MIXED = 3,
    H5D_MPIO_CONTIGUOUS_COLLECTIVE = 4
} H5D_mpio_actual_io_mode_t;

/* Reasons of a transfer that was not collective, as bits. */
typedef enum H5D_mpio_no_collective_cause_t {
    H5D_MPIO_COLLECTIVE = 0,
    H5D_MPIO_SET_INDEPENDENT = 1,
    H5D_MPIO_DATATYPE_CONVERSION = 2,
    H5D_MPIO_DATA_TRANSFORMS = 4,
    H5D_MPIO_MPI_OPT_TYPES_ENV_VAR_DISABLED = 8,
    H5D_MPIO_NOT_SIMPLE_OR_SCALAR_DATASPACES = 16,
    H5D_MPIO_NOT_CONTIGUOUS_OR_CHUNKED_DATASET = 32,
    H5D_MPIO_PARALLEL_FILTERED_WRITES_DISABLED = 64,
    H5D_MPIO_ERROR_WHILE_CHECKING_COLLECTIVE_POSSIBLE = 128,
    H5D_MPIO_NO_SELECTION_IO = 256,
    H5D_MPIO_NO_COLLECTIVE_MAX_CAUSE = 512
} H5D_mpio_no_collective_cause_t;

/* Reasons against selection I/O, as bits. */
#define H5D_SEL_IO_DISABLE_BY_API 0x0001u
#define H5D_SEL_IO_NOT_CONTIGUOUS_OR_CHUNKED_DATASET 0x0002u
#define H5D_SEL_IO_CONTIGUOUS_SIEVE_BUFFER 0x0004u
#define H5D_SEL_IO_NO_VECTOR_OR_SELECTION_IO_CB 0x0008u
#define H5D_SEL_IO_PAGE_BUFFER 0x0010u
#define H5D_SEL_IO_DATASET_FILTER 0x0020u
#define H5D_SEL_IO_CHUNK_CACHE 0x0040u
#define H5D_SEL_IO_TCONV_BUF_TOO_SMALL 0x0080u
#define H5D_SEL_IO_BKG_BUF_TOO_SMALL 0x0100u
#define H5D_SEL_IO_DEFAULT_OFF 0x0200u

/* Reasons that also forbid collective transfers. */
#define H5D_MPIO_NO_SELECTION_IO_CAUSES \
    (H5D_SEL_IO_DISABLE_BY_API | H5D_SEL_IO_TCONV_BUF_TOO_SMALL | H5D_SEL_IO_BKG_BUF_TOO_SMALL | \
    H5D_SEL_IO_DATASET_FILTER | H5D_SEL_IO_CHUNK_CACHE)

/* Use of selection I/O by a transfer. */
typedef enum H5D_selection_io_mode_t {
    H5D_SELECTION_IO_MODE_DEFAULT = 0,
    H5D_SELECTION_IO_MODE_OFF = 1,
    H5D_SELECTION_IO_MODE_ON = 2
} H5D_selection_io_mode_t;

/* Kinds of I/O that a transfer used, as bits. */
#define H5D_SCALAR_IO 0x0001u
#define H5D_VECTOR_IO 0x0002u
#define H5D_SELECTION_IO 0x0004u

/* Dataset creation: filters. */
H5_DLL herr_t H5Pset_shuffle(hid_t plist_id);
H5_DLL herr_t H5Pset_nbit(hid_t plist_id);
H5_DLL herr_t H5Pset_scaleoffset(hid_t plist_id, H5Z_SO_scale_type_t scale_type, int scale_factor);
H5_DLL herr_t H5Pset_szip(hid_t plist_id, unsigned options_mask, unsigned pixels_per_block);

/* Dataset creation: virtual datasets. */
H5_DLL herr_t H5Pget_virtual_spatial_tree(hid_t dcpl_id, bool *use_tree);
H5_DLL herr_t H5Pget_virtual_count(hid_t dcpl_id, size_t *count);
H5_DLL ssize_t H5Pget_virtual_dsetname(hid_t dcpl_id, size_t index, char *name, size_t size);
H5_DLL ssize_t H5Pget_virtual_filename(hid_t dcpl_id, size_t index, char *name, size_t size);
H5_DLL hid_t H5Pget_virtual_srcspace(hid_t dcpl_id, size_t index);
H5_DLL hid_t H5Pget_virtual_vspace(hid_t dcpl_id, size_t index);
H5_DLL herr_t H5Pset_virtual_spatial_tree(hid_t dcpl_id, bool use_tree);
H5_DLL herr_t H5Pset_virtual(hid_t dcpl_id, hid_t vspace_id, const char *src_file_name,
    const char *src_dset_name, hid_t src_space_id);

/* Dataset creation: layout, chunks, external storage, allocation, fill value. */
H5_DLL herr_t H5Pget_alloc_time(hid_t plist_id, H5D_alloc_time_t *alloc_time);
H5_DLL herr_t H5Pset_alloc_time(hid_t plist_id, H5D_alloc_time_t alloc_time);
H5_DLL int H5Pget_chunk(hid_t plist_id, int max_ndims, hsize_t dim[]);
H5_DLL herr_t H5Pset_chunk(hid_t plist_id, int ndims, const hsize_t dim[ ]);
H5_DLL herr_t H5Pget_chunk_opts(hid_t plist_id, unsigned *opts);
H5_DLL herr_t H5Pset_chunk_opts(hid_t plist_id, unsigned opts);
H5_DLL herr_t H5Pget_dset_no_attrs_hint(hid_t dcpl_id, bool *minimize);
H5_DLL herr_t H5Pset_dset_no_attrs_hint(hid_t dcpl_id, bool minimize);
H5_DLL herr_t H5Pget_external(hid_t plist_id, unsigned idx, size_t name_size, char *name,
    HDoff_t *offset, hsize_t *size);
H5_DLL herr_t H5Pset_external(hid_t plist_id, const char *name, HDoff_t offset, hsize_t size);
H5_DLL int H5Pget_external_count(hid_t plist_id);
H5_DLL herr_t H5Pget_fill_time(hid_t plist_id, H5D_fill_time_t *fill_time);
H5_DLL herr_t H5Pset_fill_time(hid_t plist_id, H5D_fill_time_t fill_time);
H5_DLL herr_t H5Pget_fill_value(hid_t plist_id, hid_t type_id, void *value);
H5_DLL herr_t H5Pset_fill_value(hid_t plist_id, hid_t type_id, const void *value);
H5_DLL H5D_layout_t H5Pget_layout(hid_t plist_id);
H5_DLL herr_t H5Pset_layout(hid_t plist_id, H5D_layout_t layout);
H5_DLL herr_t H5Pfill_value_defined(hid_t plist, H5D_fill_value_t *status);

/* Dataset access. */
H5_DLL herr_t H5Pget_append_flush(hid_t dapl_id, unsigned dims, hsize_t boundary[],
    H5D_append_cb_t *func, void **udata);
H5_DLL herr_t H5Pset_append_flush(hid_t dapl_id, unsigned ndims, const hsize_t boundary[],
    H5D_append_cb_t func, void *udata);
H5_DLL herr_t H5Pget_chunk_cache(hid_t dapl_id, size_t *rdcc_nslots, size_t *rdcc_nbytes,
    double *rdcc_w0);
H5_DLL herr_t H5Pset_chunk_cache(hid_t dapl_id, size_t rdcc_nslots, size_t rdcc_nbytes,
    double rdcc_w0);
H5_DLL ssize_t H5Pget_efile_prefix(hid_t dapl_id, char *prefix, size_t size);
H5_DLL herr_t H5Pset_efile_prefix(hid_t dapl_id, const char *prefix);
H5_DLL ssize_t H5Pget_virtual_prefix(hid_t dapl_id, char *prefix, size_t size);
H5_DLL herr_t H5Pset_virtual_prefix(hid_t dapl_id, const char *prefix);
H5_DLL herr_t H5Pget_virtual_printf_gap(hid_t dapl_id, hsize_t *gap_size);
H5_DLL herr_t H5Pset_virtual_printf_gap(hid_t dapl_id, hsize_t gap_size);
H5_DLL herr_t H5Pget_virtual_view(hid_t dapl_id, H5D_vds_view_t *view);
H5_DLL herr_t H5Pset_virtual_view(hid_t dapl_id, H5D_vds_view_t view);

/* Transfer. */
H5_DLL herr_t H5Pget_actual_selection_io_mode(hid_t plist_id, uint32_t *actual_selection_io_mode);
H5_DLL herr_t H5Pget_btree_ratios(hid_t plist_id, double *left, double *middle, double *right);
H5_DLL herr_t H5Pset_btree_ratios(hid_t plist_id, double left, double middle, double right);
H5_DLL size_t H5Pget_buffer(hid_t plist_id, void **tconv, void **bkg);
H5_DLL herr_t H5Pset_buffer(hid_t plist_id, size_t size, void *tconv, void *bkg);
H5_DLL ssize_t H5Pget_data_transform(hid_t plist_id, char *expression, size_t size);
H5_DLL herr_t H5Pset_data_transform(hid_t plist_id, const char *expression);
H5_DLL herr_t H5Pset_dataset_io_hyperslab_selection(hid_t plist_id, unsigned rank, H5S_seloper_t op,
    const hsize_t start[], const hsize_t stride[], const hsize_t count[], const hsize_t block[]);
H5_DLL H5Z_EDC_t H5Pget_edc_check(hid_t plist_id);
H5_DLL herr_t H5Pset_edc_check(hid_t plist_id, H5Z_EDC_t check);
H5_DLL herr_t H5Pset_filter_callback(hid_t plist_id, H5Z_filter_func_t func, void *op_data);
H5_DLL herr_t H5Pget_hyper_vector_size(hid_t fapl_id, size_t *size);
H5_DLL herr_t H5Pset_hyper_vector_size(hid_t plist_id, size_t size);
H5_DLL herr_t H5Pget_modify_write_buf(hid_t plist_id, bool *modify_write_buf);
H5_DLL herr_t H5Pset_modify_write_buf(hid_t plist_id, bool modify_write_buf);
H5_DLL herr_t H5Pget_no_selection_io_cause(hid_t plist_id, uint32_t *no_selection_io_cause);
H5_DLL int H5Pget_preserve(hid_t plist_id);
H5_DLL herr_t H5Pset_preserve(hid_t plist_id, bool status);
H5_DLL herr_t H5Pget_selection_io(hid_t plist_id, H5D_selection_io_mode_t *selection_io_mode);
H5_DLL herr_t H5Pset_selection_io(hid_t plist_id, H5D_selection_io_mode_t selection_io_mode);
H5_DLL herr_t H5Pget_type_conv_cb(hid_t dxpl_id, H5T_conv_except_func_t *op, void **operate_data);
H5_DLL herr_t H5Pset_type_conv_cb(hid_t dxpl_id, H5T_conv_except_func_t op, void *operate_data);
H5_DLL herr_t H5Pget_vlen_mem_manager(hid_t plist_id, H5MM_allocate_t *alloc_func,
    void **alloc_info, H5MM_free_t *free_func, void **free_info);
H5_DLL herr_t H5Pset_vlen_mem_manager(hid_t plist_id, H5MM_allocate_t alloc_func, void *alloc_info,
    H5MM_free_t free_func, void *free_info);

#ifdef __cplusplus
}
#endif

#endif /* H5Ppublic_dataset_H */
