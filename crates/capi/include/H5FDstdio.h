/* Driver: files through the streams of C. */
#ifndef H5FDstdio_H
#define H5FDstdio_H

#include "H5FDpublic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The identifier of the driver. */
H5_DLLVAR hid_t H5FD_STDIO_id_g;
#define H5FD_STDIO (H5OPEN H5FD_STDIO_id_g)

/* The driver in a file access list. */
H5_DLL herr_t H5Pset_fapl_stdio(hid_t fapl_id);

#ifdef __cplusplus
}
#endif

#endif /* H5FDstdio_H */
