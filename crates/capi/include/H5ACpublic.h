/* Configuration of the metadata cache. */
#ifndef H5ACpublic_H
#define H5ACpublic_H

#include "H5public.h"
#include "H5Cpublic.h"

/* Versions and limits. */
#define H5AC__CURR_CACHE_CONFIG_VERSION 1
#define H5AC__MAX_TRACE_FILE_NAME_LEN 1024
#define H5AC_METADATA_WRITE_STRATEGY__PROCESS_0_ONLY 0
#define H5AC_METADATA_WRITE_STRATEGY__DISTRIBUTED 1

/* The settings of a file's metadata cache. `version` is H5AC__CURR_CACHE_CONFIG_VERSION. */
typedef struct H5AC_cache_config_t {
    int version;
    bool rpt_fcn_enabled;
    bool open_trace_file;
    bool close_trace_file;
    char trace_file_name[H5AC__MAX_TRACE_FILE_NAME_LEN + 1];
    bool evictions_enabled;
    bool set_initial_size;
    size_t initial_size;
    double min_clean_fraction;
    size_t max_size;
    size_t min_size;
    long int epoch_length;
    enum H5C_cache_incr_mode incr_mode;
    double lower_hr_threshold;
    double increment;
    bool apply_max_increment;
    size_t max_increment;
    enum H5C_cache_flash_incr_mode flash_incr_mode;
    double flash_multiple;
    double flash_threshold;
    enum H5C_cache_decr_mode decr_mode;
    double upper_hr_threshold;
    double decrement;
    bool apply_max_decrement;
    size_t max_decrement;
    int epochs_before_eviction;
    bool apply_empty_reserve;
    double empty_reserve;
    size_t dirty_bytes_threshold;
    int metadata_write_strategy;
} H5AC_cache_config_t;

#define H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION 1
#define H5AC__CACHE_IMAGE__ENTRY_AGEOUT__NONE -1
#define H5AC__CACHE_IMAGE__ENTRY_AGEOUT__MAX 100

/* The settings of the image of the metadata cache that a file may keep when it closes. */
typedef struct H5AC_cache_image_config_t {
    int version;
    bool generate_image;
    bool save_resize_status;
    int entry_ageout;
} H5AC_cache_image_config_t;

#endif /* H5ACpublic_H */
