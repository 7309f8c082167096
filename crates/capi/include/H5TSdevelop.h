/* The lock of the library, for connectors with threads. */
#ifndef H5TSdevelop_H
#define H5TSdevelop_H

#include "H5public.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Take and release the lock; count the attempts. */
H5_DLL herr_t H5TSmutex_acquire(unsigned lock_count, bool *acquired);
H5_DLL herr_t H5TSmutex_release(unsigned *lock_count);
H5_DLL herr_t H5TSmutex_get_attempt_count(unsigned *count);

#ifdef __cplusplus
}
#endif

#endif /* H5TSdevelop_H */
