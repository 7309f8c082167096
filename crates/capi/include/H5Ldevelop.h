/* User-defined links. */
#ifndef H5Ldevelop_H
#define H5Ldevelop_H

#include "H5Lpublic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Versions of H5L_class_t and of the value of an external link. */
#define H5L_LINK_CLASS_T_VERS 1
#define H5L_EXT_VERSION 0
#define H5L_EXT_FLAGS_ALL 0

/* A callback after a user-defined link is created. */
typedef herr_t (*H5L_create_func_t)(const char *link_name, hid_t loc_group, const void *lnkdata,
    size_t lnkdata_size, hid_t lcpl_id);

/* A callback after a user-defined link is moved. */
typedef herr_t (*H5L_move_func_t)(const char *new_name, hid_t new_loc, const void *lnkdata,
    size_t lnkdata_size);

/* A callback after a user-defined link is copied. */
typedef herr_t (*H5L_copy_func_t)(const char *new_name, hid_t new_loc, const void *lnkdata,
    size_t lnkdata_size);

/* A callback that opens the target of a user-defined link. */
typedef hid_t (*H5L_traverse_func_t)(const char *link_name, hid_t cur_group, const void *lnkdata,
    size_t lnkdata_size, hid_t lapl_id, hid_t dxpl_id);

/* A callback before a user-defined link is deleted. */
typedef herr_t (*H5L_delete_func_t)(const char *link_name, hid_t file, const void *lnkdata,
    size_t lnkdata_size);

/* A callback that returns the value of a user-defined link. */
typedef ssize_t (*H5L_query_func_t)(const char *link_name, const void *lnkdata, size_t lnkdata_size,
    void *buf, size_t buf_size);

/* A class of user-defined links. `version` is H5L_LINK_CLASS_T_VERS. */
typedef struct {
    int version;
    H5L_type_t id;
    const char *comment;
    H5L_create_func_t create_func;
    H5L_move_func_t move_func;
    H5L_copy_func_t copy_func;
    H5L_traverse_func_t trav_func;
    H5L_delete_func_t del_func;
    H5L_query_func_t query_func;
} H5L_class_t;

/* Register and remove a class. */
H5_DLL herr_t H5Lregister(const H5L_class_t *cls);
H5_DLL herr_t H5Lunregister(H5L_type_t id);

/* Calls and types of older versions; H5_NO_DEPRECATED_SYMBOLS hides them. */
#ifndef H5_NO_DEPRECATED_SYMBOLS

#define H5L_LINK_CLASS_T_VERS_0 0

typedef hid_t (*H5L_traverse_0_func_t)(const char *link_name, hid_t cur_group, const void *lnkdata,
    size_t lnkdata_size, hid_t lapl_id);

/* A class of user-defined links without a transfer list in trav_func. */
typedef struct {
    int version;
    H5L_type_t id;
    const char *comment;
    H5L_create_func_t create_func;
    H5L_move_func_t move_func;
    H5L_copy_func_t copy_func;
    H5L_traverse_0_func_t trav_func;
    H5L_delete_func_t del_func;
    H5L_query_func_t query_func;
} H5L_class_0_t;
#endif /* H5_NO_DEPRECATED_SYMBOLS */

#ifdef __cplusplus
}
#endif

#endif /* H5Ldevelop_H */
