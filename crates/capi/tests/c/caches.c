/* Statistics of caches, event sets, plugins, flushes of metadata, and the end of the library. */
#include "check.h"
#include <string.h>

static void metadata_cache(void)
{
    H5AC_cache_config_t config;
    double rate = -1;
    size_t most = 0, clean = 0, current = 0;
    int entries = 0;
    char name[16];
    hid_t file = H5Fcreate("cache.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), group;
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "group %d", i);
        CHECK((group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0 && H5Gclose(group) >= 0);
    }
    CHECK(H5Fget_mdc_size(file, &most, &clean, &current, &entries) >= 0);
    CHECK(most > 0 && clean <= most && current > 0 && current <= most && entries > 0);
    CHECK(H5Fget_mdc_hit_rate(file, &rate) >= 0 && rate >= 0 && rate <= 1);
    CHECK(H5Freset_mdc_hit_rate_stats(file) >= 0);
    CHECK(H5Fget_mdc_hit_rate(file, &rate) >= 0 && rate == 0);
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "group %d", i);
        CHECK(H5Lexists(file, name, H5P_DEFAULT) > 0);
    }
    CHECK(H5Fget_mdc_hit_rate(file, &rate) >= 0 && rate >= 0 && rate <= 1);
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    CHECK(H5Fget_mdc_config(file, &config) >= 0 && config.max_size >= config.min_size);
    config.set_initial_size = true;
    config.initial_size = config.max_size / 2;
    CHECK(H5Fset_mdc_config(file, &config) >= 0);
    CHECK(H5Fget_mdc_size(file, &most, NULL, NULL, NULL) >= 0 && most == config.max_size / 2);
    memset(&config, 0, sizeof config);
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    CHECK(H5Fget_mdc_config(file, &config) >= 0);
    config.min_size = config.max_size + 1;
    H5E_BEGIN_TRY
    CHECK(H5Fset_mdc_config(file, &config) < 0);
    config.version = 99;
    CHECK(H5Fset_mdc_config(file, &config) < 0 && H5Fget_mdc_config(file, &config) < 0);
    H5E_END_TRY
    CHECK(H5Fclose(file) >= 0);
}

static void flush_control(void)
{
    bool disabled = true;
    hid_t file = H5Fcreate("corked.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Oare_mdc_flushes_disabled(group, &disabled) >= 0 && !disabled);
    CHECK(H5Odisable_mdc_flushes(group) >= 0);
    CHECK(H5Oare_mdc_flushes_disabled(group, &disabled) >= 0 && disabled);
    H5E_BEGIN_TRY
    CHECK(H5Odisable_mdc_flushes(group) < 0);
    H5E_END_TRY
    CHECK(H5Oenable_mdc_flushes(group) >= 0);
    CHECK(H5Oare_mdc_flushes_disabled(group, &disabled) >= 0 && !disabled);
    H5E_BEGIN_TRY
    CHECK(H5Oenable_mdc_flushes(group) < 0);
    H5E_END_TRY
    CHECK(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
}

static void page_buffer(void)
{
    unsigned accesses[2], hits[2], misses[2], evictions[2], bypasses[2];
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), fcpl = H5Pcreate(H5P_FILE_CREATE);
    hsize_t size = 1000;
    int values[1000] = {0};
    CHECK(H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_PAGE, false, 1) >= 0);
    CHECK(H5Pset_file_space_page_size(fcpl, 4096) >= 0);
    CHECK(H5Pset_page_buffer_size(fapl, 1 << 16, 0, 0) >= 0);
    hid_t file = H5Fcreate("pages.h5", H5F_ACC_TRUNC, fcpl, fapl), space = H5Screate_simple(1, &size, NULL);
    hid_t dset = H5Dcreate2(file, "numbers", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Dwrite(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    CHECK(H5Dread(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    CHECK(H5Fget_page_buffering_stats(file, accesses, hits, misses, evictions, bypasses) >= 0);
    for (int i = 0; i < 2; i++)
        CHECK(hits[i] <= accesses[i] && misses[i] <= accesses[i]);
    CHECK(H5Freset_page_buffering_stats(file) >= 0);
    CHECK(H5Fget_page_buffering_stats(file, accesses, hits, misses, evictions, bypasses) >= 0);
    CHECK(accesses[0] == 0 && accesses[1] == 0 && hits[0] == 0 && hits[1] == 0);
    CHECK(H5Dclose(dset) >= 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
    CHECK((file = H5Fcreate("plain.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
    H5E_BEGIN_TRY
    CHECK(H5Fget_page_buffering_stats(file, accesses, hits, misses, evictions, bypasses) < 0);
    CHECK(H5Freset_page_buffering_stats(file) < 0);
    H5E_END_TRY
    CHECK(H5Fclose(file) >= 0 && H5Pclose(fapl) >= 0 && H5Pclose(fcpl) >= 0);
}

static int inserted, completed;

static herr_t on_insert(const H5ES_op_info_t *info, void *data)
{
    if (info->api_name != NULL)
        ++*(int *)data;
    return 0;
}

static herr_t on_complete(const H5ES_op_info_t *info, H5ES_status_t status, hid_t error, void *data)
{
    (void)info, (void)status, (void)error;
    ++*(int *)data;
    return 0;
}

static void event_sets(void)
{
    hid_t set = H5EScreate();
    size_t count = 9, pending = 9;
    bool failed = true;
    uint64_t counter = 9;
    CHECK(set >= 0 && H5ESget_count(set, &count) >= 0 && count == 0);
    CHECK(H5ESregister_insert_func(set, on_insert, &inserted) >= 0);
    CHECK(H5ESregister_complete_func(set, on_complete, &completed) >= 0);
    CHECK(H5ESget_op_counter(set, &counter) >= 0 && counter == 0);
    hid_t file = H5Fcreate_async("events.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT, set);
    hid_t group = H5Gcreate_async(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT, set);
    CHECK(file >= 0 && group >= 0);
    CHECK(H5Gclose_async(group, set) >= 0 && H5Fflush_async(file, H5F_SCOPE_GLOBAL, set) >= 0);
    CHECK(H5Fclose_async(file, set) >= 0);
    CHECK(H5ESwait(set, H5ES_WAIT_FOREVER, &pending, &failed) >= 0 && pending == 0 && !failed);
    CHECK(H5ESget_err_status(set, &failed) >= 0 && !failed);
    CHECK(H5ESget_err_count(set, &count) >= 0 && count == 0);
    CHECK(H5EScancel(set, &count, &failed) >= 0 && count == 0 && !failed);
    CHECK(H5ESclose(set) >= 0);
    CHECK((file = H5Fopen("events.h5", H5F_ACC_RDONLY, H5P_DEFAULT)) >= 0);
    CHECK(H5Lexists(file, "group", H5P_DEFAULT) > 0 && H5Fclose(file) >= 0);
    /* Without an event set, the operations are those of the other functions. */
    CHECK((file = H5Fopen_async("events.h5", H5F_ACC_RDONLY, H5P_DEFAULT, H5ES_NONE)) >= 0);
    CHECK(H5Fclose_async(file, H5ES_NONE) >= 0);
}

static void plugins(void)
{
    unsigned mask = 0, count = 0, before = 0;
    char name[64];
    CHECK(H5PLget_loading_state(&mask) >= 0 && mask != 0);
    CHECK(H5PLset_loading_state(0) >= 0 && H5PLget_loading_state(&mask) >= 0 && mask == 0);
    CHECK(H5PLset_loading_state(H5PL_ALL_PLUGIN) >= 0);
    CHECK(H5PLsize(&before) >= 0 && H5PLappend("/first") >= 0 && H5PLprepend("/second") >= 0);
    CHECK(H5PLinsert("/third", 1) >= 0 && H5PLsize(&count) >= 0 && count == before + 3);
    CHECK(H5PLget(1, name, sizeof name) == 6 && strcmp(name, "/third") == 0);
    CHECK(H5PLreplace("/fourth", 1) >= 0 && H5PLget(1, NULL, 0) == 7);
    CHECK(H5PLremove(1) >= 0 && H5PLremove(0) >= 0 && H5PLremove(count - 3) >= 0);
    H5E_BEGIN_TRY
    CHECK(H5PLremove(999) < 0 && H5PLget(999, name, sizeof name) < 0);
    H5E_END_TRY
    CHECK(H5Zfilter_avail(30000) == 0);
}

static int ended[2], order;

static void on_end(void *data)
{
    *(int *)data = ++order;
}

static void end_of_library(void)
{
    CHECK(H5atclose(on_end, &ended[0]) >= 0 && H5atclose(on_end, &ended[1]) >= 0);
    CHECK(H5close() >= 0);
    /* The last function is called first. */
    CHECK(ended[1] == 1 && ended[0] == 2);
    CHECK(H5open() >= 0 && H5close() >= 0 && order == 2);
}

int main(int argc, char **argv)
{
    struct {
        const char *name;
        void (*part)(void);
    } parts[] = {{"metadata_cache", metadata_cache}, {"flush_control", flush_control}, {"page_buffer", page_buffer},
                 {"event_sets", event_sets}, {"plugins", plugins}, {"end_of_library", end_of_library}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (argc == 1 || strcmp(argv[1], parts[i].name) == 0)
            parts[i].part();
    puts("all parts passed");
    return 0;
}
