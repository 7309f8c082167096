/* Driver: files of several members of equal size. */
#ifndef H5FDfamily_H
#define H5FDfamily_H

#include "H5FDpublic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The identifier of the driver. */
H5_DLLVAR hid_t H5FD_FAMILY_id_g;
#define H5FD_FAMILY (H5OPEN H5FD_FAMILY_id_g)

/* The number of the driver. */
#define H5FD_FAMILY_VALUE H5_VFD_FAMILY

/* The driver in a file access list. */
H5_DLL herr_t H5Pset_fapl_family(hid_t fapl_id, hsize_t memb_size, hid_t memb_fapl_id);
H5_DLL herr_t H5Pget_fapl_family(hid_t fapl_id, hsize_t *memb_size, hid_t *memb_fapl_id);

#ifdef __cplusplus
}
#endif

#endif /* H5FDfamily_H */
