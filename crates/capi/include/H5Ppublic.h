/* Property lists. */
#ifndef H5Ppublic_H
#define H5Ppublic_H

#include "H5public.h"
#include "H5ACpublic.h"
#include "H5Dpublic.h"
#include "H5FDpublic.h"
#include "H5Fpublic.h"
#include "H5Ipublic.h"
#include "H5Lpublic.h"
#include "H5MMpublic.h"
#include "H5Opublic.h"
#include "H5Spublic.h"
#include "H5Tpublic.h"
#include "H5Zpublic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The default list of any class. */
#define H5P_DEFAULT 0

/* Classes. */
H5_DLLVAR hid_t H5P_CLS_ROOT_ID_g;
#define H5P_ROOT (H5OPEN H5P_CLS_ROOT_ID_g)
H5_DLLVAR hid_t H5P_CLS_OBJECT_CREATE_ID_g;
#define H5P_OBJECT_CREATE (H5OPEN H5P_CLS_OBJECT_CREATE_ID_g)
H5_DLLVAR hid_t H5P_CLS_FILE_CREATE_ID_g;
#define H5P_FILE_CREATE (H5OPEN H5P_CLS_FILE_CREATE_ID_g)
H5_DLLVAR hid_t H5P_CLS_FILE_ACCESS_ID_g;
#define H5P_FILE_ACCESS (H5OPEN H5P_CLS_FILE_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_CLS_DATASET_CREATE_ID_g;
#define H5P_DATASET_CREATE (H5OPEN H5P_CLS_DATASET_CREATE_ID_g)
H5_DLLVAR hid_t H5P_CLS_DATASET_ACCESS_ID_g;
#define H5P_DATASET_ACCESS (H5OPEN H5P_CLS_DATASET_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_CLS_DATASET_XFER_ID_g;
#define H5P_DATASET_XFER (H5OPEN H5P_CLS_DATASET_XFER_ID_g)
H5_DLLVAR hid_t H5P_CLS_FILE_MOUNT_ID_g;
#define H5P_FILE_MOUNT (H5OPEN H5P_CLS_FILE_MOUNT_ID_g)
H5_DLLVAR hid_t H5P_CLS_GROUP_CREATE_ID_g;
#define H5P_GROUP_CREATE (H5OPEN H5P_CLS_GROUP_CREATE_ID_g)
H5_DLLVAR hid_t H5P_CLS_GROUP_ACCESS_ID_g;
#define H5P_GROUP_ACCESS (H5OPEN H5P_CLS_GROUP_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_CLS_DATATYPE_CREATE_ID_g;
#define H5P_DATATYPE_CREATE (H5OPEN H5P_CLS_DATATYPE_CREATE_ID_g)
H5_DLLVAR hid_t H5P_CLS_DATATYPE_ACCESS_ID_g;
#define H5P_DATATYPE_ACCESS (H5OPEN H5P_CLS_DATATYPE_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_CLS_MAP_CREATE_ID_g;
#define H5P_MAP_CREATE (H5OPEN H5P_CLS_MAP_CREATE_ID_g)
H5_DLLVAR hid_t H5P_CLS_MAP_ACCESS_ID_g;
#define H5P_MAP_ACCESS (H5OPEN H5P_CLS_MAP_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_CLS_STRING_CREATE_ID_g;
#define H5P_STRING_CREATE (H5OPEN H5P_CLS_STRING_CREATE_ID_g)
H5_DLLVAR hid_t H5P_CLS_ATTRIBUTE_CREATE_ID_g;
#define H5P_ATTRIBUTE_CREATE (H5OPEN H5P_CLS_ATTRIBUTE_CREATE_ID_g)
H5_DLLVAR hid_t H5P_CLS_ATTRIBUTE_ACCESS_ID_g;
#define H5P_ATTRIBUTE_ACCESS (H5OPEN H5P_CLS_ATTRIBUTE_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_CLS_OBJECT_COPY_ID_g;
#define H5P_OBJECT_COPY (H5OPEN H5P_CLS_OBJECT_COPY_ID_g)
H5_DLLVAR hid_t H5P_CLS_LINK_CREATE_ID_g;
#define H5P_LINK_CREATE (H5OPEN H5P_CLS_LINK_CREATE_ID_g)
H5_DLLVAR hid_t H5P_CLS_LINK_ACCESS_ID_g;
#define H5P_LINK_ACCESS (H5OPEN H5P_CLS_LINK_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_CLS_VOL_INITIALIZE_ID_g;
#define H5P_VOL_INITIALIZE (H5OPEN H5P_CLS_VOL_INITIALIZE_ID_g)
H5_DLLVAR hid_t H5P_CLS_REFERENCE_ACCESS_ID_g;
#define H5P_REFERENCE_ACCESS (H5OPEN H5P_CLS_REFERENCE_ACCESS_ID_g)

/* Default lists of the classes. */
H5_DLLVAR hid_t H5P_LST_FILE_CREATE_ID_g;
#define H5P_FILE_CREATE_DEFAULT (H5OPEN H5P_LST_FILE_CREATE_ID_g)
H5_DLLVAR hid_t H5P_LST_FILE_ACCESS_ID_g;
#define H5P_FILE_ACCESS_DEFAULT (H5OPEN H5P_LST_FILE_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_LST_DATASET_CREATE_ID_g;
#define H5P_DATASET_CREATE_DEFAULT (H5OPEN H5P_LST_DATASET_CREATE_ID_g)
H5_DLLVAR hid_t H5P_LST_DATASET_ACCESS_ID_g;
#define H5P_DATASET_ACCESS_DEFAULT (H5OPEN H5P_LST_DATASET_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_LST_DATASET_XFER_ID_g;
#define H5P_DATASET_XFER_DEFAULT (H5OPEN H5P_LST_DATASET_XFER_ID_g)
H5_DLLVAR hid_t H5P_LST_FILE_MOUNT_ID_g;
#define H5P_FILE_MOUNT_DEFAULT (H5OPEN H5P_LST_FILE_MOUNT_ID_g)
H5_DLLVAR hid_t H5P_LST_GROUP_CREATE_ID_g;
#define H5P_GROUP_CREATE_DEFAULT (H5OPEN H5P_LST_GROUP_CREATE_ID_g)
H5_DLLVAR hid_t H5P_LST_GROUP_ACCESS_ID_g;
#define H5P_GROUP_ACCESS_DEFAULT (H5OPEN H5P_LST_GROUP_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_LST_DATATYPE_CREATE_ID_g;
#define H5P_DATATYPE_CREATE_DEFAULT (H5OPEN H5P_LST_DATATYPE_CREATE_ID_g)
H5_DLLVAR hid_t H5P_LST_DATATYPE_ACCESS_ID_g;
#define H5P_DATATYPE_ACCESS_DEFAULT (H5OPEN H5P_LST_DATATYPE_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_LST_MAP_CREATE_ID_g;
#define H5P_MAP_CREATE_DEFAULT (H5OPEN H5P_LST_MAP_CREATE_ID_g)
H5_DLLVAR hid_t H5P_LST_MAP_ACCESS_ID_g;
#define H5P_MAP_ACCESS_DEFAULT (H5OPEN H5P_LST_MAP_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_LST_ATTRIBUTE_CREATE_ID_g;
#define H5P_ATTRIBUTE_CREATE_DEFAULT (H5OPEN H5P_LST_ATTRIBUTE_CREATE_ID_g)
H5_DLLVAR hid_t H5P_LST_ATTRIBUTE_ACCESS_ID_g;
#define H5P_ATTRIBUTE_ACCESS_DEFAULT (H5OPEN H5P_LST_ATTRIBUTE_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_LST_OBJECT_COPY_ID_g;
#define H5P_OBJECT_COPY_DEFAULT (H5OPEN H5P_LST_OBJECT_COPY_ID_g)
H5_DLLVAR hid_t H5P_LST_LINK_CREATE_ID_g;
#define H5P_LINK_CREATE_DEFAULT (H5OPEN H5P_LST_LINK_CREATE_ID_g)
H5_DLLVAR hid_t H5P_LST_LINK_ACCESS_ID_g;
#define H5P_LINK_ACCESS_DEFAULT (H5OPEN H5P_LST_LINK_ACCESS_ID_g)
H5_DLLVAR hid_t H5P_LST_VOL_INITIALIZE_ID_g;
#define H5P_VOL_INITIALIZE_DEFAULT (H5OPEN H5P_LST_VOL_INITIALIZE_ID_g)
H5_DLLVAR hid_t H5P_LST_REFERENCE_ACCESS_ID_g;
#define H5P_REFERENCE_ACCESS_DEFAULT (H5OPEN H5P_LST_REFERENCE_ACCESS_ID_g)

/* A callback after a list of a class is created. */
typedef herr_t (*H5P_cls_create_func_t)(hid_t prop_id, void *create_data);

/* A callback after a list is copied. */
typedef herr_t (*H5P_cls_copy_func_t)(hid_t new_prop_id, hid_t old_prop_id, void *copy_data);

/* A callback before a list is closed. */
typedef herr_t (*H5P_cls_close_func_t)(hid_t prop_id, void *close_data);

/* Callbacks of a property, without and with the list. They may change the value. */
typedef herr_t (*H5P_prp_cb1_t)(const char *name, size_t size, void *value);
typedef herr_t (*H5P_prp_cb2_t)(hid_t prop_id, const char *name, size_t size, void *value);
typedef H5P_prp_cb1_t H5P_prp_create_func_t;
typedef H5P_prp_cb2_t H5P_prp_set_func_t;
typedef H5P_prp_cb2_t H5P_prp_get_func_t;

/* Callbacks that turn a value into bytes and back. */
typedef herr_t (*H5P_prp_encode_func_t)(const void *value, void **buf, size_t *size);
typedef herr_t (*H5P_prp_decode_func_t)(const void **buf, void *value);
typedef H5P_prp_cb2_t H5P_prp_delete_func_t;
typedef H5P_prp_cb1_t H5P_prp_copy_func_t;

/* A comparison of two values, as memcmp returns it. */
typedef int (*H5P_prp_compare_func_t)(const void *value1, const void *value2, size_t size);
typedef H5P_prp_cb1_t H5P_prp_close_func_t;

/* A callback for one property: 0 continues, a positive result stops, a negative result fails. */
typedef herr_t (*H5P_iterate_t)(hid_t id, const char *name, void *iter_data);

/* Lists. */
H5_DLL herr_t H5Pclose(hid_t plist_id);
H5_DLL hid_t H5Pcopy(hid_t plist_id);
H5_DLL hid_t H5Pcreate(hid_t cls_id);
H5_DLL hid_t H5Pdecode(const void *buf);
H5_DLL herr_t H5Pencode2(hid_t plist_id, void *buf, size_t *nalloc, hid_t fapl_id);
H5_DLL htri_t H5Pequal(hid_t id1, hid_t id2);
H5_DLL hid_t H5Pget_class(hid_t plist_id);
H5_DLL htri_t H5Pisa_class(hid_t plist_id, hid_t pclass_id);

/* Classes of the application. */
H5_DLL herr_t H5Pclose_class(hid_t plist_id);
H5_DLL hid_t H5Pcreate_class(hid_t parent, const char *name, H5P_cls_create_func_t create,
    void *create_data, H5P_cls_copy_func_t copy, void *copy_data, H5P_cls_close_func_t close,
    void *close_data);
H5_DLL char *H5Pget_class_name(hid_t pclass_id);
H5_DLL hid_t H5Pget_class_parent(hid_t pclass_id);
H5_DLL herr_t H5Pregister2(hid_t cls_id, const char *name, size_t size, void *def_value,
    H5P_prp_create_func_t create, H5P_prp_set_func_t set, H5P_prp_get_func_t get,
    H5P_prp_delete_func_t prp_del, H5P_prp_copy_func_t copy, H5P_prp_compare_func_t compare,
    H5P_prp_close_func_t close);
H5_DLL herr_t H5Punregister(hid_t pclass_id, const char *name);

/* Properties of a list or class by name. */
H5_DLL herr_t H5Pcopy_prop(hid_t dst_id, hid_t src_id, const char *name);
H5_DLL htri_t H5Pexist(hid_t plist_id, const char *name);
H5_DLL herr_t H5Pget(hid_t plist_id, const char *name, void *value);
H5_DLL herr_t H5Pget_nprops(hid_t id, size_t *nprops);
H5_DLL herr_t H5Pget_size(hid_t id, const char *name, size_t *size);
H5_DLL herr_t H5Pinsert2(hid_t plist_id, const char *name, size_t size, void *value,
    H5P_prp_set_func_t set, H5P_prp_get_func_t get, H5P_prp_delete_func_t prp_del,
    H5P_prp_copy_func_t copy, H5P_prp_compare_func_t compare, H5P_prp_close_func_t close);
H5_DLL int H5Piterate(hid_t id, int *idx, H5P_iterate_t iter_func, void *iter_data);
H5_DLL herr_t H5Premove(hid_t plist_id, const char *name);
H5_DLL herr_t H5Pset(hid_t plist_id, const char *name, const void *value);

/* Calls and types of older versions; H5_NO_DEPRECATED_SYMBOLS hides them. */
#ifndef H5_NO_DEPRECATED_SYMBOLS

#define H5P_NO_CLASS H5P_ROOT

H5_DLL herr_t H5Pregister1(hid_t cls_id, const char *name, size_t size, void *def_value,
    H5P_prp_create_func_t prp_create, H5P_prp_set_func_t prp_set, H5P_prp_get_func_t prp_get,
    H5P_prp_delete_func_t prp_del, H5P_prp_copy_func_t prp_copy, H5P_prp_close_func_t prp_close);
H5_DLL herr_t H5Pinsert1(hid_t plist_id, const char *name, size_t size, void *value,
    H5P_prp_set_func_t prp_set, H5P_prp_get_func_t prp_get, H5P_prp_delete_func_t prp_delete,
    H5P_prp_copy_func_t prp_copy, H5P_prp_close_func_t prp_close);
H5_DLL herr_t H5Pencode1(hid_t plist_id, void *buf, size_t *nalloc);
H5_DLL H5Z_filter_t H5Pget_filter1(hid_t plist_id, unsigned filter, unsigned int *flags,
    size_t *cd_nelmts, unsigned cd_values[], size_t namelen, char name[]);
H5_DLL herr_t H5Pget_filter_by_id1(hid_t plist_id, H5Z_filter_t id, unsigned int *flags,
    size_t *cd_nelmts, unsigned cd_values[], size_t namelen, char name[]);
H5_DLL herr_t H5Pget_version(hid_t plist_id, unsigned *boot, unsigned *freelist, unsigned *stab,
    unsigned *shhdr);
H5_DLL herr_t H5Pset_file_space(hid_t plist_id, H5F_file_space_type_t strategy, hsize_t threshold);
H5_DLL herr_t H5Pget_file_space(hid_t plist_id, H5F_file_space_type_t *strategy,
    hsize_t *threshold);
#endif /* H5_NO_DEPRECATED_SYMBOLS */

#ifdef __cplusplus
}
#endif

#include "H5Ppublic_dataset.h"
#include "H5Ppublic_file.h"
#include "H5Ppublic_object.h"

#endif /* H5Ppublic_H */
