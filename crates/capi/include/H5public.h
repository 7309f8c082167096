/* Basic types, versions, and calls about the library as a whole. */
#ifndef H5public_H
#define H5public_H

#include "H5pubconf.h"
#include "H5version.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "H5api_adpt.h"

/* The version of HDF5 whose interface this is. */
#define H5_VERS_MAJOR 2
#define H5_VERS_MINOR 2
#define H5_VERS_RELEASE 0
#define H5_VERS_SUBRELEASE ""
#define H5_VERS_STR "2.2.0"
#define H5_VERS_INFO "HDF5 library version: " H5_VERS_STR

/* Comparisons with a version, also for #if. */
#define H5_VERSION_GE(major, minor, release) \
    (H5_VERS_MAJOR != (major)   ? H5_VERS_MAJOR > (major) \
     : H5_VERS_MINOR != (minor) ? H5_VERS_MINOR > (minor) \
                                : H5_VERS_RELEASE >= (release))
#define H5_VERSION_LE(major, minor, release) \
    (H5_VERS_MAJOR != (major)   ? H5_VERS_MAJOR < (major) \
     : H5_VERS_MINOR != (minor) ? H5_VERS_MINOR < (minor) \
                                : H5_VERS_RELEASE <= (release))

/* Compares the version of the headers with that of the library. The program ends if they differ too
 * much, unless the environment variable HDF5_DISABLE_VERSION_CHECK forbids it. */
#define H5check() H5check_version(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE)

/* The name of a function, although a macro has the same name. */
#define H5_NO_EXPAND(x) (x)

/* Names of environment variables. */
#define HDF5_DRIVER "HDF5_DRIVER"
#define HDF5_DRIVER_CONFIG "HDF5_DRIVER_CONFIG"
#define HDF5_VOL_CONNECTOR "HDF5_VOL_CONNECTOR"
#define HDF5_PLUGIN_PATH "HDF5_PLUGIN_PATH"
#define HDF5_PLUGIN_PRELOAD "HDF5_PLUGIN_PRELOAD"
#define HDF5_USE_FILE_LOCKING "HDF5_USE_FILE_LOCKING"
#define HDF5_NOCLEANUP "HDF5_NOCLEANUP"
#define HDF5_PREFER_WINDOWS_CODE_PAGE "HDF5_PREFER_WINDOWS_CODE_PAGE"

/* The result of a call: negative means failure. */
typedef int herr_t;

/* A truth value of the interface. */
typedef bool hbool_t;

/* A truth value or a failure: positive, 0, negative. */
typedef int htri_t;

/* A number of bytes or elements. */
typedef uint64_t hsize_t;
#define H5_SIZEOF_HSIZE_T 8
#define HSIZE_UNDEF UINT64_MAX
#define PRIdHSIZE PRId64
#define PRIiHSIZE PRIi64
#define PRIoHSIZE PRIo64
#define PRIuHSIZE PRIu64
#define PRIxHSIZE PRIx64
#define PRIXHSIZE PRIX64

/* A number of bytes or elements with a sign. */
typedef int64_t hssize_t;
#define H5_SIZEOF_HSSIZE_T 8

/* An offset in an external file. */
typedef off_t HDoff_t;

/* An address in a file. */
typedef uint64_t haddr_t;
#define H5_SIZEOF_HADDR_T 8
#define HADDR_UNDEF UINT64_MAX
#define HADDR_MAX (HADDR_UNDEF - 1)
#define PRIdHADDR PRId64
#define PRIoHADDR PRIo64
#define PRIuHADDR PRIu64
#define PRIxHADDR PRIx64
#define PRIXHADDR PRIX64
#define H5_PRINTF_HADDR_FMT "%" PRIuHADDR

/* Orders of iteration. */
typedef enum {
    H5_ITER_UNKNOWN = -1,
    H5_ITER_INC = 0,
    H5_ITER_DEC = 1,
    H5_ITER_NATIVE = 2,
    H5_ITER_N = 3
} H5_iter_order_t;

/* Results of a callback of an iteration. */
#define H5_ITER_ERROR (-1)
#define H5_ITER_CONT 0
#define H5_ITER_STOP 1

/* Indexes of links and attributes. */
typedef enum H5_index_t {
    H5_INDEX_UNKNOWN = -1,
    H5_INDEX_NAME = 0,
    H5_INDEX_CRT_ORDER = 1,
    H5_INDEX_N = 2
} H5_index_t;

/* Bytes of an index and of the heap beside it. */
typedef struct H5_ih_info_t {
    hsize_t index_size;
    hsize_t heap_size;
} H5_ih_info_t;

/* The identity of an object within its file. */
#define H5O_MAX_TOKEN_SIZE 16
typedef struct H5O_token_t {
    uint8_t __data[H5O_MAX_TOKEN_SIZE];
} H5O_token_t;

/* A callback at the end of the library. */
typedef void (*H5_atclose_func_t)(void *ctx);

/* Hints about the usual value of a condition. */
#ifdef __GNUC__
#define H5_HAVE_BUILTIN_EXPECT 1
#define H5_LIKELY(expression) __builtin_expect(!!(expression), 1)
#define H5_UNLIKELY(expression) __builtin_expect(!!(expression), 0)
#else
#define H5_LIKELY(expression) (expression)
#define H5_UNLIKELY(expression) (expression)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The state of the library: started; about to end. */
H5_DLLVAR bool H5_libinit_g;
H5_DLLVAR bool H5_libterm_g;

/* Starts the library before a predefined identifier is read, as in (H5OPEN H5T_NATIVE_INT_g). */
#undef H5OPEN
#define H5OPEN (H5_LIKELY(H5_libinit_g || H5_libterm_g) ? 0 : H5open()),

/* Start and end. */
H5_DLL herr_t H5open(void);
H5_DLL herr_t H5close(void);
H5_DLL herr_t H5atclose(H5_atclose_func_t func, void *ctx);
H5_DLL herr_t H5dont_atexit(void);
H5_DLL herr_t H5is_library_terminating(bool *is_terminating);

/* Version and abilities. */
H5_DLL herr_t H5get_libversion(unsigned *majnum, unsigned *minnum, unsigned *relnum);
H5_DLL herr_t H5check_version(unsigned majnum, unsigned minnum, unsigned relnum);
H5_DLL herr_t H5is_library_threadsafe(bool *is_ts);

/* Memory that passes between the program and the library. */
H5_DLL void *H5allocate_memory(size_t size, bool clear);
H5_DLL void *H5resize_memory(void *mem, size_t size);
H5_DLL herr_t H5free_memory(void *mem);

/* Memory that the library keeps for later use. */
H5_DLL herr_t H5garbage_collect(void);
H5_DLL herr_t H5set_free_list_limits(int reg_global_lim, int reg_list_lim, int arr_global_lim,
    int arr_list_lim, int blk_global_lim, int blk_list_lim);
H5_DLL herr_t H5get_free_list_sizes(size_t *reg_size, size_t *arr_size, size_t *blk_size,
    size_t *fac_size);

#ifdef __cplusplus
}
#endif

#endif /* H5public_H */
