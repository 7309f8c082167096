/* Writes at the end of a dataset, and encoded chunks. */
#ifndef H5DOpublic_H
#define H5DOpublic_H

#include "hdf5.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extends the dimension axis of a dataset and writes the new elements. */
H5HL_DLL herr_t H5DOappend(hid_t dset_id, hid_t dxpl_id, unsigned axis, size_t extension,
    hid_t memtype, const void *buf);

/* The older names of H5Dwrite_chunk and H5Dread_chunk. */
#ifndef H5_NO_DEPRECATED_SYMBOLS
H5HL_DLL herr_t H5DOwrite_chunk(hid_t dset_id, hid_t dxpl_id, uint32_t filters,
    const hsize_t *offset, size_t data_size, const void *buf);
H5HL_DLL herr_t H5DOread_chunk(hid_t dset_id, hid_t dxpl_id, const hsize_t *offset,
    uint32_t *filters, void *buf);
#endif

#ifdef __cplusplus
}
#endif

#endif
