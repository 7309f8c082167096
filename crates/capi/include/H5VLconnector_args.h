/* Arguments of the callbacks of a connector. H5VLconnector.h includes this file. */
#ifndef H5VLconnector_args_H
#define H5VLconnector_args_H

#include "H5Apublic.h"
#include "H5Dpublic.h"
#include "H5ESpublic.h"
#include "H5Fpublic.h"
#include "H5Gpublic.h"
#include "H5Ipublic.h"
#include "H5Lpublic.h"
#include "H5Opublic.h"
#include "H5Rpublic.h"
#include "H5VLpublic.h"

/* The version of H5VL_file_cont_info_t, the size of a blob identifier, and the first optional
 * operation that is free for connectors. */
#define H5VL_CONTAINER_INFO_VERSION 0x01
#define H5VL_MAX_BLOB_ID_SIZE 16
#define H5VL_RESERVED_NATIVE_OPTIONAL 1024

/* Kinds of locations. */
typedef enum H5VL_loc_type_t {
    H5VL_OBJECT_BY_SELF = 0,
    H5VL_OBJECT_BY_NAME = 1,
    H5VL_OBJECT_BY_IDX = 2,
    H5VL_OBJECT_BY_TOKEN = 3
} H5VL_loc_type_t;

typedef struct H5VL_loc_by_name {
    const char *name;
    hid_t lapl_id;
} H5VL_loc_by_name_t;

typedef struct H5VL_loc_by_idx {
    const char *name;
    H5_index_t idx_type;
    H5_iter_order_t order;
    hsize_t n;
    hid_t lapl_id;
} H5VL_loc_by_idx_t;

typedef struct H5VL_loc_by_token {
    H5O_token_t *token;
} H5VL_loc_by_token_t;

/* A location: the object itself, or an object by name, index or token. */
typedef struct H5VL_loc_params_t {
    H5I_type_t obj_type;
    H5VL_loc_type_t type;
    union {
        H5VL_loc_by_token_t loc_by_token;
        H5VL_loc_by_name_t loc_by_name;
        H5VL_loc_by_idx_t loc_by_idx;
    } loc_data;
} H5VL_loc_params_t;

/* An optional operation and its arguments. */
typedef struct H5VL_optional_args_t {
    int op_type;
    void *args;
} H5VL_optional_args_t;

/* Attributes. */
typedef enum H5VL_attr_get_t {
    H5VL_ATTR_GET_ACPL = 0,
    H5VL_ATTR_GET_INFO = 1,
    H5VL_ATTR_GET_NAME = 2,
    H5VL_ATTR_GET_SPACE = 3,
    H5VL_ATTR_GET_STORAGE_SIZE = 4,
    H5VL_ATTR_GET_TYPE = 5
} H5VL_attr_get_t;

typedef struct H5VL_attr_get_name_args_t {
    H5VL_loc_params_t loc_params;
    size_t buf_size;
    char *buf;
    size_t *attr_name_len;
} H5VL_attr_get_name_args_t;

typedef struct H5VL_attr_get_info_args_t {
    H5VL_loc_params_t loc_params;
    const char *attr_name;
    H5A_info_t *ainfo;
} H5VL_attr_get_info_args_t;

typedef struct H5VL_attr_get_args_t {
    H5VL_attr_get_t op_type;
    union {
        struct {
            hid_t acpl_id;
        } get_acpl;
        H5VL_attr_get_info_args_t get_info;
        H5VL_attr_get_name_args_t get_name;
        struct {
            hid_t space_id;
        } get_space;
        struct {
            hsize_t *data_size;
        } get_storage_size;
        struct {
            hid_t type_id;
        } get_type;
    } args;
} H5VL_attr_get_args_t;

typedef enum H5VL_attr_specific_t {
    H5VL_ATTR_DELETE = 0,
    H5VL_ATTR_DELETE_BY_IDX = 1,
    H5VL_ATTR_EXISTS = 2,
    H5VL_ATTR_ITER = 3,
    H5VL_ATTR_RENAME = 4
} H5VL_attr_specific_t;

typedef struct H5VL_attr_iterate_args_t {
    H5_index_t idx_type;
    H5_iter_order_t order;
    hsize_t *idx;
    H5A_operator2_t op;
    void *op_data;
} H5VL_attr_iterate_args_t;

typedef struct H5VL_attr_delete_by_idx_args_t {
    H5_index_t idx_type;
    H5_iter_order_t order;
    hsize_t n;
} H5VL_attr_delete_by_idx_args_t;

typedef struct H5VL_attr_specific_args_t {
    H5VL_attr_specific_t op_type;
    union {
        struct {
            const char *name;
        } del;
        H5VL_attr_delete_by_idx_args_t delete_by_idx;
        struct {
            const char *name;
            bool *exists;
        } exists;
        H5VL_attr_iterate_args_t iterate;
        struct {
            const char *old_name;
            const char *new_name;
        } rename;
    } args;
} H5VL_attr_specific_args_t;

typedef int H5VL_attr_optional_t;

/* Datasets. */
typedef enum H5VL_dataset_get_t {
    H5VL_DATASET_GET_DAPL = 0,
    H5VL_DATASET_GET_DCPL = 1,
    H5VL_DATASET_GET_SPACE = 2,
    H5VL_DATASET_GET_SPACE_STATUS = 3,
    H5VL_DATASET_GET_STORAGE_SIZE = 4,
    H5VL_DATASET_GET_TYPE = 5
} H5VL_dataset_get_t;

typedef struct H5VL_dataset_get_args_t {
    H5VL_dataset_get_t op_type;
    union {
        struct {
            hid_t dapl_id;
        } get_dapl;
        struct {
            hid_t dcpl_id;
        } get_dcpl;
        struct {
            hid_t space_id;
        } get_space;
        struct {
            H5D_space_status_t *status;
        } get_space_status;
        struct {
            hsize_t *storage_size;
        } get_storage_size;
        struct {
            hid_t type_id;
        } get_type;
    } args;
} H5VL_dataset_get_args_t;

typedef enum H5VL_dataset_specific_t {
    H5VL_DATASET_SET_EXTENT = 0,
    H5VL_DATASET_FLUSH = 1,
    H5VL_DATASET_REFRESH = 2
} H5VL_dataset_specific_t;

typedef struct H5VL_dataset_specific_args_t {
    H5VL_dataset_specific_t op_type;
    union {
        struct {
            const hsize_t *size;
        } set_extent;
        struct {
            hid_t dset_id;
        } flush;
        struct {
            hid_t dset_id;
        } refresh;
    } args;
} H5VL_dataset_specific_args_t;

typedef int H5VL_dataset_optional_t;

/* Committed datatypes. */
typedef enum H5VL_datatype_get_t {
    H5VL_DATATYPE_GET_BINARY_SIZE = 0,
    H5VL_DATATYPE_GET_BINARY = 1,
    H5VL_DATATYPE_GET_TCPL = 2
} H5VL_datatype_get_t;

typedef struct H5VL_datatype_get_args_t {
    H5VL_datatype_get_t op_type;
    union {
        struct {
            size_t *size;
        } get_binary_size;
        struct {
            void *buf;
            size_t buf_size;
        } get_binary;
        struct {
            hid_t tcpl_id;
        } get_tcpl;
    } args;
} H5VL_datatype_get_args_t;

typedef enum H5VL_datatype_specific_t {
    H5VL_DATATYPE_FLUSH = 0,
    H5VL_DATATYPE_REFRESH = 1
} H5VL_datatype_specific_t;

typedef struct H5VL_datatype_specific_args_t {
    H5VL_datatype_specific_t op_type;
    union {
        struct {
            hid_t type_id;
        } flush;
        struct {
            hid_t type_id;
        } refresh;
    } args;
} H5VL_datatype_specific_args_t;

typedef int H5VL_datatype_optional_t;

/* Files. */
typedef struct H5VL_file_cont_info_t {
    unsigned version;
    uint64_t feature_flags;
    size_t token_size;
    size_t blob_id_size;
} H5VL_file_cont_info_t;

typedef enum H5VL_file_get_t {
    H5VL_FILE_GET_CONT_INFO = 0,
    H5VL_FILE_GET_FAPL = 1,
    H5VL_FILE_GET_FCPL = 2,
    H5VL_FILE_GET_FILENO = 3,
    H5VL_FILE_GET_INTENT = 4,
    H5VL_FILE_GET_NAME = 5,
    H5VL_FILE_GET_OBJ_COUNT = 6,
    H5VL_FILE_GET_OBJ_IDS = 7
} H5VL_file_get_t;

typedef struct H5VL_file_get_name_args_t {
    H5I_type_t type;
    size_t buf_size;
    char *buf;
    size_t *file_name_len;
} H5VL_file_get_name_args_t;

typedef struct H5VL_file_get_obj_ids_args_t {
    unsigned types;
    size_t max_objs;
    hid_t *oid_list;
    size_t *count;
} H5VL_file_get_obj_ids_args_t;

typedef struct H5VL_file_get_args_t {
    H5VL_file_get_t op_type;
    union {
        struct {
            H5VL_file_cont_info_t *info;
        } get_cont_info;
        struct {
            hid_t fapl_id;
        } get_fapl;
        struct {
            hid_t fcpl_id;
        } get_fcpl;
        struct {
            unsigned long *fileno;
        } get_fileno;
        struct {
            unsigned *flags;
        } get_intent;
        H5VL_file_get_name_args_t get_name;
        struct {
            unsigned types;
            size_t *count;
        } get_obj_count;
        H5VL_file_get_obj_ids_args_t get_obj_ids;
    } args;
} H5VL_file_get_args_t;

typedef enum H5VL_file_specific_t {
    H5VL_FILE_FLUSH = 0,
    H5VL_FILE_REOPEN = 1,
    H5VL_FILE_IS_ACCESSIBLE = 2,
    H5VL_FILE_DELETE = 3,
    H5VL_FILE_IS_EQUAL = 4
} H5VL_file_specific_t;

typedef struct H5VL_file_specific_args_t {
    H5VL_file_specific_t op_type;
    union {
        struct {
            H5I_type_t obj_type;
            H5F_scope_t scope;
        } flush;
        struct {
            void **file;
        } reopen;
        struct {
            const char *filename;
            hid_t fapl_id;
            bool *accessible;
        } is_accessible;
        struct {
            const char *filename;
            hid_t fapl_id;
        } del;
        struct {
            void *obj2;
            bool *same_file;
        } is_equal;
    } args;
} H5VL_file_specific_args_t;

typedef int H5VL_file_optional_t;

#endif /* H5VLconnector_args_H */
