/* Filters of the application. */
#ifndef H5Zdevelop_H
#define H5Zdevelop_H

#include "H5Zpublic.h"
#include "H5Ipublic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of H5Z_class2_t. */
#define H5Z_CLASS_T_VERS 1

/* A failure callback and its data. */
typedef struct H5Z_cb_t {
    H5Z_filter_func_t func;
    void *op_data;
} H5Z_cb_t;

/* A callback that decides if a filter suits a dataset's type and dataspace. */
typedef htri_t (*H5Z_can_apply_func_t)(hid_t dcpl_id, hid_t type_id, hid_t space_id);

/* A callback that adapts a filter's parameters to a dataset. */
typedef herr_t (*H5Z_set_local_func_t)(hid_t dcpl_id, hid_t type_id, hid_t space_id);

/* The filter itself. It replaces *buf by free() and malloc(), and returns the new number of valid
 * bytes or 0. */
typedef size_t (*H5Z_func_t)(unsigned int flags, size_t cd_nelmts, const unsigned int cd_values[],
    size_t nbytes, size_t *buf_size, void **buf);

/* A filter. `version` is H5Z_CLASS_T_VERS. */
typedef struct H5Z_class2_t {
    int version;
    H5Z_filter_t id;
    unsigned encoder_present;
    unsigned decoder_present;
    const char *name;
    H5Z_can_apply_func_t can_apply;
    H5Z_set_local_func_t set_local;
    H5Z_func_t filter;
} H5Z_class2_t;

/* Register and remove a filter. */
H5_DLL herr_t H5Zregister(const void *cls);
H5_DLL herr_t H5Zunregister(H5Z_filter_t id);

/* Calls and types of older versions; H5_NO_DEPRECATED_SYMBOLS hides them. */
#ifndef H5_NO_DEPRECATED_SYMBOLS

/* A filter in the form of version 1.6. */
typedef struct H5Z_class1_t {
    H5Z_filter_t id;
    const char *name;
    H5Z_can_apply_func_t can_apply;
    H5Z_set_local_func_t set_local;
    H5Z_func_t filter;
} H5Z_class1_t;
#endif /* H5_NO_DEPRECATED_SYMBOLS */

#ifdef __cplusplus
}
#endif

#endif /* H5Zdevelop_H */
