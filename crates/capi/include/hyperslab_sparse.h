/* Sparse datasets: structured chunks, which store the defined elements and their values. HDF5 2.2.0
 * has no such calls; hdf5.h does not include this file. The names and arguments follow the
 * proposals of The HDF Group, and those of its prototype if the two differ. */
#ifndef HYPERSLAB_SPARSE_H
#define HYPERSLAB_SPARSE_H

#include "hdf5.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The layout class of structured chunks; it continues H5D_layout_t. */
#define H5D_STRUCT_CHUNK ((H5D_layout_t)4)

/* Kinds of structured chunks, as bits: elements that are defined one by one; elements of variable
 * length. */
#define H5D_SPARSE_CHUNK 0x01u
#define H5D_VL_CHUNK 0x02u

/* The sections of a structured chunk: the set of defined elements, values of fixed size, and values
 * of variable length. Each section has a filter pipeline. */
typedef enum H5_section_type_t {
    H5_SECTION_UNKNOWN = -1,
    H5_SECTION_SELECTION = 0,
    H5_SECTION_FIXED = 1,
    H5_SECTION_VL = 2,
    H5_SECTION_NUM = 3
} H5_section_type_t;

/* A stored structured chunk. The caller supplies the arrays, which have an element for each
 * section. */
typedef struct H5D_struct_chunk_info_t {
    unsigned type;             /* H5D_SPARSE_CHUNK, H5D_VL_CHUNK */
    uint8_t num_sections;      /* length of the arrays */
    uint16_t *filter_mask;     /* filters that were left out, as bits */
    size_t *section_size;      /* bytes as stored */
    size_t *section_orig_size; /* bytes before the filters */
} H5D_struct_chunk_info_t;

/* A callback for one stored chunk: 0 continues, a positive result stops, a negative result
 * fails. */
typedef int (*H5D_struct_chunk_iter_op_t)(const hsize_t *offset, H5D_struct_chunk_info_t *info,
    haddr_t *addr, hsize_t *size, void *op_data);

/* Dataset creation: the layout. `flag` is H5D_SPARSE_CHUNK; the getter returns the number of
 * dimensions. */
H5_DLL herr_t H5Pset_struct_chunk(hid_t dcpl_id, int ndims, const hsize_t dim[], unsigned flag);
H5_DLL int H5Pget_struct_chunk(hid_t dcpl_id, int max_ndims, hsize_t dim[], unsigned *flag);
H5_DLL herr_t H5Pget_struct_chunk_sections(hid_t dcpl_id, int *num, H5_section_type_t buf[]);

/* Dataset creation: the filters of one section. H5Z_FILTER_ALL removes all of them. */
H5_DLL herr_t H5Pset_filter2(hid_t plist_id, H5_section_type_t section, H5Z_filter_t filter,
    unsigned flags, size_t cd_nelmts, const unsigned cd_values[]);
H5_DLL herr_t H5Pmodify_filter2(hid_t plist_id, H5_section_type_t section, H5Z_filter_t filter,
    unsigned flags, size_t cd_nelmts, const unsigned cd_values[]);
H5_DLL herr_t H5Premove_filter2(hid_t plist_id, H5_section_type_t section, H5Z_filter_t filter);
H5_DLL herr_t H5Pget_nfilters2(hid_t plist_id, H5_section_type_t section, int *n);
H5_DLL H5Z_filter_t H5Pget_filter3(hid_t plist_id, H5_section_type_t section, unsigned idx,
    unsigned *flags, size_t *cd_nelmts, unsigned cd_values[], size_t namelen, char name[],
    unsigned *filter_config);
H5_DLL herr_t H5Pget_filter_by_id3(hid_t plist_id, H5_section_type_t section, H5Z_filter_t filter,
    unsigned *flags, size_t *cd_nelmts, unsigned cd_values[], size_t namelen, char name[],
    unsigned *filter_config);

/* Defined elements. H5Dwrite defines elements; H5Dread takes the fill value for all others. The
 * first call returns a dataspace that selects the defined elements within file_space_id; the second
 * makes the elements of file_space_id undefined. */
H5_DLL hid_t H5Dget_defined(hid_t dset_id, hid_t file_space_id, hid_t dxpl_id);
H5_DLL herr_t H5Derase(hid_t dset_id, hid_t file_space_id, hid_t dxpl_id);

/* Stored chunks. `offset` are the coordinates of the first element of a chunk, and buf[i] is
 * section i as stored. If `buf` is NULL, a read only fills `info`. A missing chunk has size 0 and
 * the address HADDR_UNDEF. */
H5_DLL herr_t H5Dwrite_struct_chunk(hid_t dset_id, hid_t dxpl_id, const hsize_t *offset,
    H5D_struct_chunk_info_t *info, void *buf[]);
H5_DLL herr_t H5Dread_struct_chunk(hid_t dset_id, hid_t dxpl_id, const hsize_t *offset,
    H5D_struct_chunk_info_t *info, void *buf[]);
H5_DLL herr_t H5Dget_struct_chunk_info(hid_t dset_id, hid_t file_space_id, hsize_t chunk_idx,
    hsize_t *offset, H5D_struct_chunk_info_t *info, haddr_t *addr, hsize_t *size);
H5_DLL herr_t H5Dget_struct_chunk_info_by_coord(hid_t dset_id, const hsize_t *offset,
    H5D_struct_chunk_info_t *info, haddr_t *addr, hsize_t *size);
H5_DLL herr_t H5Dstruct_chunk_iter(hid_t dset_id, hid_t dxpl_id, H5D_struct_chunk_iter_op_t op,
    void *op_data);

#ifdef __cplusplus
}
#endif

#endif /* HYPERSLAB_SPARSE_H */
