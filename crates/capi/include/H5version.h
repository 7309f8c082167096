/* The choice of versions. A call or type that changed has a number at the end of each of its names:
 * H5Acreate1, H5Acreate2. The name without a number means one of them. H5_USE_16_API to
 * H5_USE_200_API choose the names of that release; the oldest one counts if several are defined.
 * H5Acreate_vers and the like choose the version of a single name. */
#ifndef H5version_H
#define H5version_H

/* The default of this library, from H5pubconf.h. */
#if defined(H5_USE_16_API_DEFAULT) && !defined(H5_USE_16_API)
#define H5_USE_16_API 1
#endif
#if defined(H5_USE_18_API_DEFAULT) && !defined(H5_USE_18_API)
#define H5_USE_18_API 1
#endif
#if defined(H5_USE_110_API_DEFAULT) && !defined(H5_USE_110_API)
#define H5_USE_110_API 1
#endif
#if defined(H5_USE_112_API_DEFAULT) && !defined(H5_USE_112_API)
#define H5_USE_112_API 1
#endif
#if defined(H5_USE_114_API_DEFAULT) && !defined(H5_USE_114_API)
#define H5_USE_114_API 1
#endif
#if defined(H5_USE_200_API_DEFAULT) && !defined(H5_USE_200_API)
#define H5_USE_200_API 1
#endif

/* The chosen release as a number. */
#undef HYPERSLAB_H5_RELEASE
#if defined(H5_USE_16_API)
#define HYPERSLAB_H5_RELEASE 16
#elif defined(H5_USE_18_API)
#define HYPERSLAB_H5_RELEASE 18
#elif defined(H5_USE_110_API)
#define HYPERSLAB_H5_RELEASE 110
#elif defined(H5_USE_112_API)
#define HYPERSLAB_H5_RELEASE 112
#elif defined(H5_USE_114_API)
#define HYPERSLAB_H5_RELEASE 114
#else
#define HYPERSLAB_H5_RELEASE 200
#endif

#if HYPERSLAB_H5_RELEASE < 200 && defined(H5_NO_DEPRECATED_SYMBOLS)
#error "an older release needs the calls that H5_NO_DEPRECATED_SYMBOLS hides"
#endif

/* Names that changed in release 1.8. */
#if HYPERSLAB_H5_RELEASE < 18
#ifndef H5Acreate_vers
#define H5Acreate_vers 1
#endif
#ifndef H5Aiterate_vers
#define H5Aiterate_vers 1
#endif
#ifndef H5Dcreate_vers
#define H5Dcreate_vers 1
#endif
#ifndef H5Dopen_vers
#define H5Dopen_vers 1
#endif
#ifndef H5Eclear_vers
#define H5Eclear_vers 1
#endif
#ifndef H5Eget_auto_vers
#define H5Eget_auto_vers 1
#endif
#ifndef H5Eprint_vers
#define H5Eprint_vers 1
#endif
#ifndef H5Epush_vers
#define H5Epush_vers 1
#endif
#ifndef H5Eset_auto_vers
#define H5Eset_auto_vers 1
#endif
#ifndef H5Ewalk_vers
#define H5Ewalk_vers 1
#endif
#ifndef H5Gcreate_vers
#define H5Gcreate_vers 1
#endif
#ifndef H5Gopen_vers
#define H5Gopen_vers 1
#endif
#ifndef H5Pget_filter_vers
#define H5Pget_filter_vers 1
#endif
#ifndef H5Pget_filter_by_id_vers
#define H5Pget_filter_by_id_vers 1
#endif
#ifndef H5Pinsert_vers
#define H5Pinsert_vers 1
#endif
#ifndef H5Pregister_vers
#define H5Pregister_vers 1
#endif
#ifndef H5Rget_obj_type_vers
#define H5Rget_obj_type_vers 1
#endif
#ifndef H5Tarray_create_vers
#define H5Tarray_create_vers 1
#endif
#ifndef H5Tcommit_vers
#define H5Tcommit_vers 1
#endif
#ifndef H5Tget_array_dims_vers
#define H5Tget_array_dims_vers 1
#endif
#ifndef H5Topen_vers
#define H5Topen_vers 1
#endif
#ifndef H5E_auto_t_vers
#define H5E_auto_t_vers 1
#endif
#ifndef H5Z_class_t_vers
#define H5Z_class_t_vers 1
#endif
#else
#ifndef H5Acreate_vers
#define H5Acreate_vers 2
#endif
#ifndef H5Aiterate_vers
#define H5Aiterate_vers 2
#endif
#ifndef H5Dcreate_vers
#define H5Dcreate_vers 2
#endif
#ifndef H5Dopen_vers
#define H5Dopen_vers 2
#endif
#ifndef H5Eclear_vers
#define H5Eclear_vers 2
#endif
#ifndef H5Eget_auto_vers
#define H5Eget_auto_vers 2
#endif
#ifndef H5Eprint_vers
#define H5Eprint_vers 2
#endif
#ifndef H5Epush_vers
#define H5Epush_vers 2
#endif
#ifndef H5Eset_auto_vers
#define H5Eset_auto_vers 2
#endif
#ifndef H5Ewalk_vers
#define H5Ewalk_vers 2
#endif
#ifndef H5Gcreate_vers
#define H5Gcreate_vers 2
#endif
#ifndef H5Gopen_vers
#define H5Gopen_vers 2
#endif
#ifndef H5Pget_filter_vers
#define H5Pget_filter_vers 2
#endif
#ifndef H5Pget_filter_by_id_vers
#define H5Pget_filter_by_id_vers 2
#endif
#ifndef H5Pinsert_vers
#define H5Pinsert_vers 2
#endif
#ifndef H5Pregister_vers
#define H5Pregister_vers 2
#endif
#ifndef H5Rget_obj_type_vers
#define H5Rget_obj_type_vers 2
#endif
#ifndef H5Tarray_create_vers
#define H5Tarray_create_vers 2
#endif
#ifndef H5Tcommit_vers
#define H5Tcommit_vers 2
#endif
#ifndef H5Tget_array_dims_vers
#define H5Tget_array_dims_vers 2
#endif
#ifndef H5Topen_vers
#define H5Topen_vers 2
#endif
#ifndef H5E_auto_t_vers
#define H5E_auto_t_vers 2
#endif
#ifndef H5Z_class_t_vers
#define H5Z_class_t_vers 2
#endif
#endif

/* Names that changed in release 1.10. */
#if HYPERSLAB_H5_RELEASE < 110
#ifndef H5Fget_info_vers
#define H5Fget_info_vers 1
#endif
#ifndef H5Rdereference_vers
#define H5Rdereference_vers 1
#endif
#else
#ifndef H5Fget_info_vers
#define H5Fget_info_vers 2
#endif
#ifndef H5Rdereference_vers
#define H5Rdereference_vers 2
#endif
#endif

/* Names that changed in release 1.12. */
#if HYPERSLAB_H5_RELEASE < 112
#ifndef H5Lget_info_vers
#define H5Lget_info_vers 1
#endif
#ifndef H5Lget_info_by_idx_vers
#define H5Lget_info_by_idx_vers 1
#endif
#ifndef H5Literate_vers
#define H5Literate_vers 1
#endif
#ifndef H5Literate_by_name_vers
#define H5Literate_by_name_vers 1
#endif
#ifndef H5Lvisit_vers
#define H5Lvisit_vers 1
#endif
#ifndef H5Lvisit_by_name_vers
#define H5Lvisit_by_name_vers 1
#endif
#ifndef H5Oget_info_vers
#define H5Oget_info_vers 1
#endif
#ifndef H5Oget_info_by_idx_vers
#define H5Oget_info_by_idx_vers 1
#endif
#ifndef H5Oget_info_by_name_vers
#define H5Oget_info_by_name_vers 1
#endif
#ifndef H5Ovisit_vers
#define H5Ovisit_vers 1
#endif
#ifndef H5Ovisit_by_name_vers
#define H5Ovisit_by_name_vers 1
#endif
#ifndef H5Pencode_vers
#define H5Pencode_vers 1
#endif
#ifndef H5Sencode_vers
#define H5Sencode_vers 1
#endif
#ifndef H5O_info_t_vers
#define H5O_info_t_vers 1
#endif
#ifndef H5O_iterate_t_vers
#define H5O_iterate_t_vers 1
#endif
#else
#ifndef H5Lget_info_vers
#define H5Lget_info_vers 2
#endif
#ifndef H5Lget_info_by_idx_vers
#define H5Lget_info_by_idx_vers 2
#endif
#ifndef H5Literate_vers
#define H5Literate_vers 2
#endif
#ifndef H5Literate_by_name_vers
#define H5Literate_by_name_vers 2
#endif
#ifndef H5Lvisit_vers
#define H5Lvisit_vers 2
#endif
#ifndef H5Lvisit_by_name_vers
#define H5Lvisit_by_name_vers 2
#endif
#ifndef H5Oget_info_vers
#define H5Oget_info_vers 3
#endif
#ifndef H5Oget_info_by_idx_vers
#define H5Oget_info_by_idx_vers 3
#endif
#ifndef H5Oget_info_by_name_vers
#define H5Oget_info_by_name_vers 3
#endif
#ifndef H5Ovisit_vers
#define H5Ovisit_vers 3
#endif
#ifndef H5Ovisit_by_name_vers
#define H5Ovisit_by_name_vers 3
#endif
#ifndef H5Pencode_vers
#define H5Pencode_vers 2
#endif
#ifndef H5Sencode_vers
#define H5Sencode_vers 2
#endif
#ifndef H5O_info_t_vers
#define H5O_info_t_vers 2
#endif
#ifndef H5O_iterate_t_vers
#define H5O_iterate_t_vers 2
#endif
#endif

/* Names that changed in release 2.0. */
#if HYPERSLAB_H5_RELEASE < 200
#ifndef H5Dread_chunk_vers
#define H5Dread_chunk_vers 1
#endif
#ifndef H5Iregister_type_vers
#define H5Iregister_type_vers 1
#endif
#ifndef H5Tdecode_vers
#define H5Tdecode_vers 1
#endif
#else
#ifndef H5Dread_chunk_vers
#define H5Dread_chunk_vers 2
#endif
#ifndef H5Iregister_type_vers
#define H5Iregister_type_vers 2
#endif
#ifndef H5Tdecode_vers
#define H5Tdecode_vers 2
#endif
#endif

#include "H5version_names.h"

#endif /* H5version_H */
