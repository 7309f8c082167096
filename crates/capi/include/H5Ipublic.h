/* Identifiers. */
#ifndef H5Ipublic_H
#define H5Ipublic_H

#include "H5public.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of identifiers. Types that H5Iregister_type makes have higher numbers. */
typedef enum H5I_type_t {
    H5I_UNINIT = -2,
    H5I_BADID = -1,
    H5I_FILE = 1,
    H5I_GROUP = 2,
    H5I_DATATYPE = 3,
    H5I_DATASPACE = 4,
    H5I_DATASET = 5,
    H5I_MAP = 6,
    H5I_ATTR = 7,
    H5I_VFL = 8,
    H5I_VOL = 9,
    H5I_GENPROP_CLS = 10,
    H5I_GENPROP_LST = 11,
    H5I_ERROR_CLASS = 12,
    H5I_ERROR_MSG = 13,
    H5I_ERROR_STACK = 14,
    H5I_SPACE_SEL_ITER = 15,
    H5I_EVENTSET = 16,
    H5I_NTYPES = 17
} H5I_type_t;

/* The identifier of an object; negative if invalid. */
typedef int64_t hid_t;

/* Formats for printf, and the size. */
#define PRIdHID PRId64
#define PRIxHID PRIx64
#define PRIXHID PRIX64
#define PRIoHID PRIo64
#define H5_SIZEOF_HID_T H5_SIZEOF_INT64_T

/* The identifier of nothing. */
#define H5I_INVALID_HID (-1)

/* A callback that frees the object of an identifier. */
typedef herr_t (*H5I_free_t)(void *obj, void **request);

/* A callback of H5Isearch: a positive result ends the search. */
typedef int (*H5I_search_func_t)(void *obj, hid_t id, void *key);

/* A callback of H5Iiterate. */
typedef herr_t (*H5I_iterate_func_t)(hid_t id, void *udata);

/* Properties of an identifier. */
H5_DLL H5I_type_t H5Iget_type(hid_t id);
H5_DLL hid_t H5Iget_file_id(hid_t id);
H5_DLL ssize_t H5Iget_name(hid_t id, char *name, size_t size);
H5_DLL htri_t H5Iis_valid(hid_t id);

/* Reference counts of an identifier. */
H5_DLL int H5Iinc_ref(hid_t id);
H5_DLL int H5Idec_ref(hid_t id);
H5_DLL int H5Iget_ref(hid_t id);

/* Identifiers of the application. */
H5_DLL hid_t H5Iregister(H5I_type_t type, const void *object);
H5_DLL void *H5Iobject_verify(hid_t id, H5I_type_t type);
H5_DLL void *H5Iremove_verify(hid_t id, H5I_type_t type);
H5_DLL void *H5Isearch(H5I_type_t type, H5I_search_func_t func, void *key);
H5_DLL herr_t H5Iiterate(H5I_type_t type, H5I_iterate_func_t op, void *op_data);
H5_DLL herr_t H5Inmembers(H5I_type_t type, hsize_t *num_members);

/* Types of identifiers. */
H5_DLL H5I_type_t H5Iregister_type2(unsigned reserved, H5I_free_t free_func);
H5_DLL herr_t H5Iclear_type(H5I_type_t type, bool force);
H5_DLL herr_t H5Idestroy_type(H5I_type_t type);
H5_DLL int H5Iinc_type_ref(H5I_type_t type);
H5_DLL int H5Idec_type_ref(H5I_type_t type);
H5_DLL int H5Iget_type_ref(H5I_type_t type);
H5_DLL htri_t H5Itype_exists(H5I_type_t type);

/* Calls and types of older versions; H5_NO_DEPRECATED_SYMBOLS hides them. */
#ifndef H5_NO_DEPRECATED_SYMBOLS

H5_DLL H5I_type_t H5Iregister_type1(size_t hash_size, unsigned reserved, H5I_free_t free_func);
#endif /* H5_NO_DEPRECATED_SYMBOLS */

#ifdef __cplusplus
}
#endif

#endif /* H5Ipublic_H */
