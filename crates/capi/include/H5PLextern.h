/* The functions that a plugin exports. hdf5.h does not include this file; a plugin does. */
#ifndef H5PLextern_H
#define H5PLextern_H

#include "hdf5.h"

/* Visibility in the plugin itself. */
#if defined(_WIN32)
#define H5PLUGIN_DLL __declspec(dllexport)
#elif defined(__GNUC__)
#define H5PLUGIN_DLL __attribute__((visibility("default")))
#else
#define H5PLUGIN_DLL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the kind of the plugin. */
H5PLUGIN_DLL H5PL_type_t H5PLget_plugin_type(void);

/* Returns the class struct of the plugin: H5Z_class2_t, H5VL_class_t or H5FD_class_t. */
H5PLUGIN_DLL const void *H5PLget_plugin_info(void);

#ifdef __cplusplus
}
#endif

#endif /* H5PLextern_H */
