/* The connector that passes all operations to the one below. */
#ifndef H5VLpassthru_H
#define H5VLpassthru_H

#include "H5VLpublic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The identifier of the connector. */
H5_DLLVAR hid_t H5VL_PASSTHRU_g;
#define H5VL_PASSTHRU (H5OPEN H5VL_PASSTHRU_g)

/* Name, number and version. */
#define H5VL_PASSTHRU_NAME "pass_through"
#define H5VL_PASSTHRU_VALUE 1
#define H5VL_PASSTHRU_VERSION 0

/* Configuration of the pass-through connector. */
typedef struct H5VL_pass_through_info_t {
    hid_t under_vol_id;
    void *under_vol_info;
} H5VL_pass_through_info_t;

#ifdef __cplusplus
}
#endif

#endif /* H5VLpassthru_H */
