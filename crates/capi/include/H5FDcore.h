/* Driver: files in memory, written to disk at close if asked. */
#ifndef H5FDcore_H
#define H5FDcore_H

#include "H5FDpublic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The identifier of the driver. */
H5_DLLVAR hid_t H5FD_CORE_id_g;
#define H5FD_CORE (H5OPEN H5FD_CORE_id_g)

/* The number of the driver. */
#define H5FD_CORE_VALUE H5_VFD_CORE

/* The driver in a file access list. */
H5_DLL herr_t H5Pset_fapl_core(hid_t fapl_id, size_t increment, bool backing_store);
H5_DLL herr_t H5Pget_fapl_core(hid_t fapl_id, size_t *increment, bool *backing_store);

#ifdef __cplusplus
}
#endif

#endif /* H5FDcore_H */
