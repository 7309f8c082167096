/* Arguments of the callbacks for groups, links, objects, requests and blobs. H5VLconnector.h
 * includes this file. */
#ifndef H5VLconnector_object_args_H
#define H5VLconnector_object_args_H

#include "H5VLconnector_args.h"

/* Groups. */
typedef enum H5VL_group_get_t {
    H5VL_GROUP_GET_GCPL = 0,
    H5VL_GROUP_GET_INFO = 1
} H5VL_group_get_t;

typedef struct H5VL_group_get_info_args_t {
    H5VL_loc_params_t loc_params;
    H5G_info_t *ginfo;
} H5VL_group_get_info_args_t;

typedef struct H5VL_group_get_args_t {
    H5VL_group_get_t op_type;
    union {
        struct {
            hid_t gcpl_id;
        } get_gcpl;
        H5VL_group_get_info_args_t get_info;
    } args;
} H5VL_group_get_args_t;

typedef enum H5VL_group_specific_t {
    H5VL_GROUP_MOUNT = 0,
    H5VL_GROUP_UNMOUNT = 1,
    H5VL_GROUP_FLUSH = 2,
    H5VL_GROUP_REFRESH = 3
} H5VL_group_specific_t;

typedef struct H5VL_group_spec_mount_args_t {
    const char *name;
    void *child_file;
    hid_t fmpl_id;
} H5VL_group_spec_mount_args_t;

typedef struct H5VL_group_specific_args_t {
    H5VL_group_specific_t op_type;
    union {
        H5VL_group_spec_mount_args_t mount;
        struct {
            const char *name;
        } unmount;
        struct {
            hid_t grp_id;
        } flush;
        struct {
            hid_t grp_id;
        } refresh;
    } args;
} H5VL_group_specific_args_t;

typedef int H5VL_group_optional_t;

/* Links. */
typedef enum H5VL_link_create_t {
    H5VL_LINK_CREATE_HARD = 0,
    H5VL_LINK_CREATE_SOFT = 1,
    H5VL_LINK_CREATE_UD = 2
} H5VL_link_create_t;

typedef struct H5VL_link_create_args_t {
    H5VL_link_create_t op_type;
    union {
        struct {
            void *curr_obj;
            H5VL_loc_params_t curr_loc_params;
        } hard;
        struct {
            const char *target;
        } soft;
        struct {
            H5L_type_t type;
            const void *buf;
            size_t buf_size;
        } ud;
    } args;
} H5VL_link_create_args_t;

typedef enum H5VL_link_get_t {
    H5VL_LINK_GET_INFO = 0,
    H5VL_LINK_GET_NAME = 1,
    H5VL_LINK_GET_VAL = 2
} H5VL_link_get_t;

typedef struct H5VL_link_get_args_t {
    H5VL_link_get_t op_type;
    union {
        struct {
            H5L_info2_t *linfo;
        } get_info;
        struct {
            size_t name_size;
            char *name;
            size_t *name_len;
        } get_name;
        struct {
            size_t buf_size;
            void *buf;
        } get_val;
    } args;
} H5VL_link_get_args_t;

typedef enum H5VL_link_specific_t {
    H5VL_LINK_DELETE = 0,
    H5VL_LINK_EXISTS = 1,
    H5VL_LINK_ITER = 2
} H5VL_link_specific_t;

typedef struct H5VL_link_iterate_args_t {
    bool recursive;
    H5_index_t idx_type;
    H5_iter_order_t order;
    hsize_t *idx_p;
    H5L_iterate2_t op;
    void *op_data;
} H5VL_link_iterate_args_t;

typedef struct H5VL_link_specific_args_t {
    H5VL_link_specific_t op_type;
    union {
        struct {
            bool *exists;
        } exists;
        H5VL_link_iterate_args_t iterate;
    } args;
} H5VL_link_specific_args_t;

typedef int H5VL_link_optional_t;

/* Objects of any kind. */
typedef enum H5VL_object_get_t {
    H5VL_OBJECT_GET_FILE = 0,
    H5VL_OBJECT_GET_NAME = 1,
    H5VL_OBJECT_GET_TYPE = 2,
    H5VL_OBJECT_GET_INFO = 3
} H5VL_object_get_t;

typedef struct H5VL_object_get_args_t {
    H5VL_object_get_t op_type;
    union {
        struct {
            void **file;
        } get_file;
        struct {
            size_t buf_size;
            char *buf;
            size_t *name_len;
        } get_name;
        struct {
            H5O_type_t *obj_type;
        } get_type;
        struct {
            unsigned fields;
            H5O_info2_t *oinfo;
        } get_info;
    } args;
} H5VL_object_get_args_t;

typedef enum H5VL_object_specific_t {
    H5VL_OBJECT_CHANGE_REF_COUNT = 0,
    H5VL_OBJECT_EXISTS = 1,
    H5VL_OBJECT_LOOKUP = 2,
    H5VL_OBJECT_VISIT = 3,
    H5VL_OBJECT_FLUSH = 4,
    H5VL_OBJECT_REFRESH = 5
} H5VL_object_specific_t;

typedef struct H5VL_object_visit_args_t {
    H5_index_t idx_type;
    H5_iter_order_t order;
    unsigned fields;
    H5O_iterate2_t op;
    void *op_data;
} H5VL_object_visit_args_t;

typedef struct H5VL_object_specific_args_t {
    H5VL_object_specific_t op_type;
    union {
        struct {
            int delta;
        } change_rc;
        struct {
            bool *exists;
        } exists;
        struct {
            H5O_token_t *token_ptr;
        } lookup;
        H5VL_object_visit_args_t visit;
        struct {
            hid_t obj_id;
        } flush;
        struct {
            hid_t obj_id;
        } refresh;
    } args;
} H5VL_object_specific_args_t;

typedef int H5VL_object_optional_t;

/* Asynchronous operations. */
typedef enum H5VL_request_status_t {
    H5VL_REQUEST_STATUS_IN_PROGRESS = 0,
    H5VL_REQUEST_STATUS_SUCCEED = 1,
    H5VL_REQUEST_STATUS_FAIL = 2,
    H5VL_REQUEST_STATUS_CANT_CANCEL = 3,
    H5VL_REQUEST_STATUS_CANCELED = 4
} H5VL_request_status_t;

typedef enum H5VL_request_specific_t {
    H5VL_REQUEST_GET_ERR_STACK = 0,
    H5VL_REQUEST_GET_EXEC_TIME = 1
} H5VL_request_specific_t;

typedef struct H5VL_request_specific_args_t {
    H5VL_request_specific_t op_type;
    union {
        struct {
            hid_t err_stack_id;
        } get_err_stack;
        struct {
            uint64_t *exec_ts;
            uint64_t *exec_time;
        } get_exec_time;
    } args;
} H5VL_request_specific_args_t;

typedef int H5VL_request_optional_t;

/* Values of variable length that the connector stores. */
typedef enum H5VL_blob_specific_t {
    H5VL_BLOB_DELETE = 0,
    H5VL_BLOB_ISNULL = 1,
    H5VL_BLOB_SETNULL = 2
} H5VL_blob_specific_t;

typedef struct H5VL_blob_specific_args_t {
    H5VL_blob_specific_t op_type;
    union {
        struct {
            bool *isnull;
        } is_null;
    } args;
} H5VL_blob_specific_args_t;

typedef int H5VL_blob_optional_t;

#endif /* H5VLconnector_object_args_H */
