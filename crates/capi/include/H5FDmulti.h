/* Driver: files whose kinds of data lie in separate members. */
#ifndef H5FDmulti_H
#define H5FDmulti_H

#include "H5FDpublic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The identifier of the driver. */
H5_DLLVAR hid_t H5FD_MULTI_id_g;
#define H5FD_MULTI (H5OPEN H5FD_MULTI_id_g)

/* The driver in a file access list. */
H5_DLL herr_t H5Pset_fapl_multi(hid_t fapl_id, const H5FD_mem_t *memb_map, const hid_t *memb_fapl,
    const char *const *memb_name, const haddr_t *memb_addr, bool relax);
H5_DLL herr_t H5Pget_fapl_multi(hid_t fapl_id, H5FD_mem_t *memb_map, hid_t *memb_fapl,
    char **memb_name, haddr_t *memb_addr, bool *relax);
H5_DLL herr_t H5Pset_fapl_split(hid_t fapl, const char *meta_ext, hid_t meta_plist_id,
    const char *raw_ext, hid_t raw_plist_id);

#ifdef __cplusplus
}
#endif

#endif /* H5FDmulti_H */
