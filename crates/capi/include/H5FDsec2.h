/* Driver: files of the operating system. */
#ifndef H5FDsec2_H
#define H5FDsec2_H

#include "H5FDpublic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The identifier of the driver. */
H5_DLLVAR hid_t H5FD_SEC2_id_g;
#define H5FD_SEC2 (H5OPEN H5FD_SEC2_id_g)

/* The number of the driver. */
#define H5FD_SEC2_VALUE H5_VFD_SEC2

/* The driver in a file access list. */
H5_DLL herr_t H5Pset_fapl_sec2(hid_t fapl_id);

#ifdef __cplusplus
}
#endif

#endif /* H5FDsec2_H */
