/* The durability of files: the content of a file after its writer is killed or the power fails.
 * HDF5 2.2.0 has no such calls; hdf5.h does not include this file. */
#ifndef HYPERSLAB_DURABILITY_H
#define HYPERSLAB_DURABILITY_H

#include "hdf5.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Guarantees for the content of a file. */
typedef enum H5F_durability_t {
    H5F_DURABILITY_FULL = 0,    /* each completed flush survives a power loss */
    H5F_DURABILITY_ORDERED = 1, /* each completed flush survives the death of the program */
    H5F_DURABILITY_NONE = 2     /* the death of the program may damage the file */
} H5F_durability_t;

/* File access: the durability of the file. A list without a choice has the durability that the
 * environment variable HYPERSLAB_DURABILITY names (full, ordered, none), or H5F_DURABILITY_NONE. */
H5_DLL herr_t H5Pset_fapl_durability(hid_t fapl_id, H5F_durability_t durability);
H5_DLL herr_t H5Pget_fapl_durability(hid_t fapl_id, H5F_durability_t *durability);

#ifdef __cplusplus
}
#endif

#endif
