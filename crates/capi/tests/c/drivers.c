/* File drivers: the drivers of the library, a driver of the program, and images of files. */
#include "check.h"
#include <string.h>
#include <sys/stat.h>

#define COUNT 2000

/* Writes a dataset with `COUNT` numbers from `first` on, with a text attribute. */
static void fill(hid_t file, const char *name, int first)
{
    hsize_t size = COUNT;
    int values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = first + i;
    hid_t space = H5Screate_simple(1, &size, NULL), scalar = H5Screate(H5S_SCALAR);
    hid_t dset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t attr = H5Acreate2(dset, "first", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Dwrite(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    CHECK(H5Awrite(attr, H5T_NATIVE_INT, &first) >= 0);
    CHECK(H5Aclose(attr) >= 0 && H5Dclose(dset) >= 0 && H5Sclose(scalar) >= 0 && H5Sclose(space) >= 0);
}

/* Compares a dataset with the numbers that `fill` writes. */
static void compare(hid_t file, const char *name, int first)
{
    int values[COUNT], stored = -1;
    hid_t dset = H5Dopen2(file, name, H5P_DEFAULT);
    CHECK(dset >= 0);
    hid_t attr = H5Aopen(dset, "first", H5P_DEFAULT);
    CHECK(H5Dread(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    CHECK(H5Aread(attr, H5T_NATIVE_INT, &stored) >= 0 && stored == first);
    for (int i = 0; i < COUNT; i++)
        CHECK(values[i] == first + i);
    CHECK(H5Aclose(attr) >= 0 && H5Dclose(dset) >= 0);
}

/* Writes a file with the given access list, opens it again, changes it, and reads it. */
static void round_trip(const char *name, hid_t fapl, hid_t driver)
{
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    CHECK(file >= 0);
    fill(file, "one", 1);
    hid_t list = H5Fget_access_plist(file);
    CHECK(H5Pget_driver(list) == driver);
    CHECK(H5Pclose(list) >= 0 && H5Fclose(file) >= 0);
    CHECK((file = H5Fopen(name, H5F_ACC_RDWR, fapl)) >= 0);
    compare(file, "one", 1);
    fill(file, "two", 5000);
    CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    compare(file, "two", 5000);
    CHECK(H5Fclose(file) >= 0);
    CHECK((file = H5Fopen(name, H5F_ACC_RDONLY, fapl)) >= 0);
    compare(file, "one", 1);
    compare(file, "two", 5000);
    CHECK(H5Fclose(file) >= 0);
    CHECK(H5Fis_accessible(name, fapl) > 0);
}

static int exists(const char *name)
{
    struct stat status;
    return stat(name, &status) == 0;
}

/* The drivers of one file: sec2, stdio, log, and core with a file. */
static void single_files(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_fapl_sec2(fapl) >= 0 && H5Pget_driver(fapl) == H5FD_SEC2);
    round_trip("sec2.h5", fapl, H5FD_SEC2);
    CHECK(H5Pset_fapl_stdio(fapl) >= 0 && H5Pget_driver(fapl) == H5FD_STDIO);
    round_trip("stdio.h5", fapl, H5FD_STDIO);
    CHECK(H5Pset_fapl_log(fapl, "driver.log", H5FD_LOG_LOC_IO | H5FD_LOG_ALLOC, 4096) >= 0);
    CHECK(H5Pget_driver(fapl) == H5FD_LOG);
    round_trip("log.h5", fapl, H5FD_LOG);
    CHECK(exists("driver.log"));
    size_t increment = 0;
    bool stored = false;
    CHECK(H5Pset_fapl_core(fapl, 1 << 16, true) >= 0);
    CHECK(H5Pget_fapl_core(fapl, &increment, &stored) >= 0 && increment == 1 << 16 && stored);
    round_trip("core.h5", fapl, H5FD_CORE);
    /* Without a file, nothing is stored. */
    CHECK(H5Pset_fapl_core(fapl, 1 << 16, false) >= 0);
    hid_t file = H5Fcreate("nowhere.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    fill(file, "one", 1);
    compare(file, "one", 1);
    CHECK(H5Fclose(file) >= 0 && !exists("nowhere.h5"));
    /* Pages that changed are written, with or without write tracking. */
    bool tracked = false;
    size_t page = 0;
    CHECK(H5Pset_fapl_core(fapl, 1 << 16, true) >= 0);
    CHECK(H5Pset_core_write_tracking(fapl, true, 1024) >= 0);
    CHECK(H5Pget_core_write_tracking(fapl, &tracked, &page) >= 0 && tracked && page == 1024);
    round_trip("tracked.h5", fapl, H5FD_CORE);
    CHECK(H5Pclose(fapl) >= 0);
}

/* The drivers with several files: family, split and multi. */
static void several_files(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), member = -1;
    hsize_t size = 0;
    CHECK(H5Pset_fapl_family(fapl, 4096, H5P_DEFAULT) >= 0);
    CHECK(H5Pget_fapl_family(fapl, &size, &member) >= 0 && size == 4096);
    CHECK(H5Pclose(member) >= 0);
    round_trip("family_%d.h5", fapl, H5FD_FAMILY);
    CHECK(exists("family_0.h5") && exists("family_4.h5"));
    /* Another size of members does not fit the file. */
    CHECK(H5Pset_fapl_family(fapl, 8192, H5P_DEFAULT) >= 0);
    H5E_BEGIN_TRY
    CHECK(H5Fopen("family_%d.h5", H5F_ACC_RDONLY, fapl) < 0);
    H5E_END_TRY
    CHECK(H5Pset_fapl_split(fapl, "-meta.h5", H5P_DEFAULT, "-raw.h5", H5P_DEFAULT) >= 0);
    CHECK(H5Pget_driver(fapl) == H5FD_MULTI);
    round_trip("split", fapl, H5FD_MULTI);
    CHECK(exists("split-meta.h5") && exists("split-raw.h5"));
    CHECK(H5Pset_fapl_multi(fapl, NULL, NULL, NULL, NULL, true) >= 0);
    round_trip("multi", fapl, H5FD_MULTI);
    CHECK(exists("multi-s.h5") && exists("multi-r.h5"));
    H5FD_mem_t map[H5FD_MEM_NTYPES];
    hid_t members[H5FD_MEM_NTYPES];
    char *names[H5FD_MEM_NTYPES];
    haddr_t addresses[H5FD_MEM_NTYPES];
    bool relaxed = false;
    CHECK(H5Pget_fapl_multi(fapl, map, members, names, addresses, &relaxed) >= 0 && relaxed);
    for (int i = 1; i < H5FD_MEM_NTYPES; i++) {
        CHECK(names[i] != NULL);
        H5free_memory(names[i]);
    }
    /* The map gives all kinds of metadata to one file. */
    for (int i = 0; i < H5FD_MEM_NTYPES; i++) {
        map[i] = i == H5FD_MEM_DRAW ? H5FD_MEM_DRAW : H5FD_MEM_SUPER;
        members[i] = H5P_DEFAULT;
        addresses[i] = i == H5FD_MEM_DRAW ? HADDR_MAX / 2 : 0;
        names[i] = i == H5FD_MEM_DRAW ? "%s.raw" : "%s.meta";
    }
    CHECK(H5Pset_fapl_multi(fapl, map, members, (const char *const *)names, addresses, false) >= 0);
    round_trip("mapped", fapl, H5FD_MULTI);
    CHECK(exists("mapped.raw") && exists("mapped.meta"));
    CHECK(H5Pclose(fapl) >= 0);
}

/* The driver of the program: a stream of C, with counts of its calls. */
typedef struct {
    H5FD_t part;
    FILE *stream;
    haddr_t eoa, eof;
    int tag;
} stream_t;

typedef struct {
    int tag;
} choice_t;

static struct {
    int opened, closed, read, written, flushed, truncated, copied, freed, locked, unlocked, deleted, terminated;
    int tag;
} calls;

static void *choice_copy(const void *choice)
{
    choice_t *copy = malloc(sizeof *copy);
    *copy = *(const choice_t *)choice;
    calls.copied++;
    return copy;
}

static herr_t choice_free(void *choice)
{
    calls.freed++;
    free(choice);
    return 0;
}

static void *choice_get(H5FD_t *file)
{
    choice_t *choice = malloc(sizeof *choice);
    choice->tag = ((stream_t *)file)->tag;
    return choice;
}

static herr_t stream_end(void)
{
    calls.terminated++;
    return 0;
}

static H5FD_t *stream_open(const char *name, unsigned flags, hid_t fapl, haddr_t most)
{
    const choice_t *choice = H5Pget_driver_info(fapl);
    const char *mode = flags & H5F_ACC_TRUNC ? "w+b" : flags & H5F_ACC_RDWR ? "r+b" : "rb";
    FILE *stream = fopen(name, mode);
    (void)most;
    if (stream == NULL)
        return NULL;
    stream_t *file = calloc(1, sizeof *file);
    file->stream = stream;
    file->tag = calls.tag = choice == NULL ? -1 : choice->tag;
    fseek(stream, 0, SEEK_END);
    file->eof = (haddr_t)ftell(stream);
    calls.opened++;
    return &file->part;
}

static herr_t stream_close(H5FD_t *file)
{
    fclose(((stream_t *)file)->stream);
    free(file);
    calls.closed++;
    return 0;
}

static int stream_compare(const H5FD_t *one, const H5FD_t *other)
{
    return one < other ? -1 : one > other;
}

static herr_t stream_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t stream_eoa(const H5FD_t *file, H5FD_mem_t kind)
{
    (void)kind;
    return ((const stream_t *)file)->eoa;
}

static herr_t stream_set_eoa(H5FD_t *file, H5FD_mem_t kind, haddr_t end)
{
    (void)kind;
    ((stream_t *)file)->eoa = end;
    return 0;
}

static haddr_t stream_eof(const H5FD_t *file, H5FD_mem_t kind)
{
    (void)kind;
    return ((const stream_t *)file)->eof;
}

static herr_t stream_handle(H5FD_t *file, hid_t fapl, void **handle)
{
    (void)fapl;
    *handle = &((stream_t *)file)->stream;
    return 0;
}

static herr_t stream_read(H5FD_t *file, H5FD_mem_t kind, hid_t dxpl, haddr_t at, size_t size, void *buffer)
{
    (void)kind, (void)dxpl;
    fseek(((stream_t *)file)->stream, (long)at, SEEK_SET);
    size_t got = fread(buffer, 1, size, ((stream_t *)file)->stream);
    memset((char *)buffer + got, 0, size - got);
    calls.read++;
    return 0;
}

static herr_t stream_write(H5FD_t *file, H5FD_mem_t kind, hid_t dxpl, haddr_t at, size_t size, const void *buffer)
{
    stream_t *own = (stream_t *)file;
    (void)kind, (void)dxpl;
    fseek(own->stream, (long)at, SEEK_SET);
    calls.written++;
    if (fwrite(buffer, 1, size, own->stream) != size)
        return -1;
    if (at + size > own->eof)
        own->eof = at + size;
    return 0;
}

static herr_t stream_flush(H5FD_t *file, hid_t dxpl, bool closing)
{
    (void)dxpl, (void)closing;
    calls.flushed++;
    return fflush(((stream_t *)file)->stream);
}

static herr_t stream_truncate(H5FD_t *file, hid_t dxpl, bool closing)
{
    (void)file, (void)dxpl, (void)closing;
    calls.truncated++;
    return 0;
}

static herr_t stream_lock(H5FD_t *file, bool exclusive)
{
    (void)file, (void)exclusive;
    calls.locked++;
    return 0;
}

static herr_t stream_unlock(H5FD_t *file)
{
    (void)file;
    calls.unlocked++;
    return 0;
}

static herr_t stream_delete(const char *name, hid_t fapl)
{
    (void)fapl;
    calls.deleted++;
    return remove(name);
}

static const H5FD_class_t stream_class = {
    .version = H5FD_CLASS_VERSION, .value = 600, .name = "stream", .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK, .terminate = stream_end, .fapl_size = sizeof(choice_t), .fapl_get = choice_get,
    .fapl_copy = choice_copy, .fapl_free = choice_free, .open = stream_open, .close = stream_close,
    .cmp = stream_compare, .query = stream_query, .get_eoa = stream_eoa, .set_eoa = stream_set_eoa,
    .get_eof = stream_eof, .get_handle = stream_handle, .read = stream_read, .write = stream_write,
    .flush = stream_flush, .truncate = stream_truncate, .lock = stream_lock, .unlock = stream_unlock,
    .del = stream_delete, .fl_map = H5FD_FLMAP_DICHOTOMY};

static void own_driver(void)
{
    choice_t choice = {7};
    H5FD_class_t broken = stream_class;
    broken.read = NULL;
    H5E_BEGIN_TRY
    CHECK(H5FDregister(&broken) < 0);
    H5E_END_TRY
    CHECK(H5FDis_driver_registered_by_name("stream") == 0);
    hid_t driver = H5FDregister(&stream_class), fapl = H5Pcreate(H5P_FILE_ACCESS), list;
    CHECK(driver >= 0 && H5Iget_type(driver) == H5I_VFL);
    CHECK(H5FDis_driver_registered_by_name("stream") > 0 && H5FDis_driver_registered_by_value(600) > 0);
    CHECK(H5Pset_driver(fapl, driver, &choice) >= 0);
    CHECK(H5Pget_driver(fapl) == driver && ((const choice_t *)H5Pget_driver_info(fapl))->tag == 7);
    round_trip("stream.h5", fapl, driver);
    CHECK(calls.opened >= 3 && calls.closed == calls.opened && calls.read > 0 && calls.written > 0);
    CHECK(calls.flushed > 0 && calls.truncated > 0 && calls.locked > 0 && calls.tag == 7);
    /* The list of an open file has the choice of the file, and the handle is the driver's. */
    hid_t file = H5Fopen("stream.h5", H5F_ACC_RDONLY, fapl);
    void *handle = NULL;
    CHECK((list = H5Fget_access_plist(file)) >= 0);
    CHECK(((const choice_t *)H5Pget_driver_info(list))->tag == 7 && H5Pclose(list) >= 0);
    CHECK(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && *(FILE **)handle != NULL);
    CHECK(H5Fclose(file) >= 0);
    /* Other programs read the file, since the driver changes no bytes. */
    CHECK((file = H5Fopen("stream.h5", H5F_ACC_RDONLY, H5P_DEFAULT)) >= 0);
    compare(file, "two", 5000);
    CHECK(H5Fclose(file) >= 0);
    CHECK(H5Fdelete("stream.h5", fapl) >= 0 && calls.deleted == 1 && !exists("stream.h5"));
    H5E_BEGIN_TRY
    CHECK(H5Fopen("stream.h5", H5F_ACC_RDONLY, fapl) < 0);
    H5E_END_TRY
    CHECK(H5Pclose(fapl) >= 0 && H5FDunregister(driver) >= 0 && calls.terminated == 1);
    CHECK(H5FDis_driver_registered_by_name("stream") == 0);
}

/* The calls of drivers without an HDF5 file. */
static void driver_calls(void)
{
    choice_t choice = {3};
    unsigned long flags = 0;
    char bytes[8] = {0};
    hid_t driver = H5FDregister(&stream_class), fapl = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_driver(fapl, driver, &choice) >= 0);
    H5FD_t *file = H5FDopen("plain", H5F_ACC_RDWR | H5F_ACC_CREAT | H5F_ACC_TRUNC, fapl, HADDR_UNDEF);
    CHECK(file != NULL && H5FDset_eoa(file, H5FD_MEM_DEFAULT, 100) >= 0);
    CHECK(H5FDget_eoa(file, H5FD_MEM_DEFAULT) == 100 && H5FDquery(file, &flags) >= 0);
    CHECK(flags & H5FD_FEAT_DATA_SIEVE);
    CHECK(H5FDwrite(file, H5FD_MEM_DRAW, H5P_DEFAULT, 10, 5, "bytes") >= 0);
    CHECK(H5FDget_eof(file, H5FD_MEM_DEFAULT) == 15);
    CHECK(H5FDread(file, H5FD_MEM_DRAW, H5P_DEFAULT, 10, 5, bytes) >= 0 && memcmp(bytes, "bytes", 6) == 0);
    CHECK(H5FDflush(file, H5P_DEFAULT, false) >= 0 && H5FDtruncate(file, H5P_DEFAULT, false) >= 0);
    CHECK(H5FDlock(file, true) >= 0 && H5FDunlock(file) >= 0);
    /* Several blocks: a size of 0 and a kind of `H5FD_MEM_NOLIST` repeat the values before them. */
    H5FD_mem_t kinds[2] = {H5FD_MEM_DRAW, H5FD_MEM_NOLIST};
    haddr_t at[3] = {20, 30, 40};
    size_t sizes[2] = {3, 0};
    const void *from[3] = {"one", "two", "six"};
    char to[3][4] = {"", "", ""};
    void *into[3] = {to[0], to[1], to[2]};
    CHECK(H5FDwrite_vector(file, H5P_DEFAULT, 3, kinds, at, sizes, from) >= 0);
    CHECK(H5FDread_vector(file, H5P_DEFAULT, 3, kinds, at, sizes, into) >= 0);
    CHECK(strcmp(to[0], "one") == 0 && strcmp(to[1], "two") == 0 && strcmp(to[2], "six") == 0);
    /* A selection of bytes in memory, at a selection of elements from an offset of the file. */
    hsize_t six = 6, two = 2, start = 1, stride = 2;
    hid_t memory = H5Screate_simple(1, &six, NULL), inside = H5Screate_simple(1, &six, NULL);
    hid_t spaces[1] = {memory}, places[1] = {inside};
    haddr_t offsets[1] = {50};
    size_t element[1] = {2};
    char packed[13] = "aabbccddeeff", back[13] = "------------";
    const void *source[1] = {packed};
    void *target[1] = {back};
    CHECK(H5Sselect_hyperslab(memory, H5S_SELECT_SET, &start, &stride, &two, NULL) >= 0);
    CHECK(H5Sselect_hyperslab(inside, H5S_SELECT_SET, &start, NULL, &two, NULL) >= 0);
    CHECK(H5FDwrite_selection(file, H5FD_MEM_DRAW, H5P_DEFAULT, 1, spaces, places, offsets, element, source) >= 0);
    CHECK(H5FDread(file, H5FD_MEM_DRAW, H5P_DEFAULT, 52, 4, bytes) >= 0 && memcmp(bytes, "bbdd", 4) == 0);
    CHECK(H5FDread_selection(file, H5FD_MEM_DRAW, H5P_DEFAULT, 1, spaces, places, offsets, element, target) >= 0);
    CHECK(strcmp(back, "--bb--dd----") == 0);
    CHECK(H5FDwrite_vector_from_selection(file, H5FD_MEM_DRAW, H5P_DEFAULT, 1, spaces, places, offsets, element, source) >= 0);
    CHECK(H5FDread_vector_from_selection(file, H5FD_MEM_DRAW, H5P_DEFAULT, 1, spaces, places, offsets, element, target) >= 0);
    CHECK(H5FDwrite_from_selection(file, H5FD_MEM_DRAW, H5P_DEFAULT, 1, spaces, places, offsets, element, source) >= 0);
    CHECK(H5FDread_from_selection(file, H5FD_MEM_DRAW, H5P_DEFAULT, 1, spaces, places, offsets, element, target) >= 0);
    CHECK(H5Sclose(memory) >= 0 && H5Sclose(inside) >= 0);
    /* Space comes from the end of the allocation. */
    haddr_t block = H5FDalloc(file, H5FD_MEM_DRAW, H5P_DEFAULT, 20);
    CHECK(block == 100 && H5FDget_eoa(file, H5FD_MEM_DEFAULT) == 120);
    CHECK(H5FDfree(file, H5FD_MEM_DRAW, H5P_DEFAULT, block, 20) >= 0);
    CHECK(H5FDcmp(file, file) == 0 && H5FDclose(file) >= 0 && exists("plain"));
    calls.deleted = 0;
    CHECK(H5FDdelete("plain", fapl) >= 0 && calls.deleted == 1 && !exists("plain"));
    CHECK(H5Pclose(fapl) >= 0 && H5FDunregister(driver) >= 0);
    /* The drivers of the library also open files without HDF5. */
    CHECK((file = H5FDopen("plain", H5F_ACC_RDWR | H5F_ACC_CREAT, H5P_DEFAULT, HADDR_UNDEF)) != NULL);
    CHECK(H5FDset_eoa(file, H5FD_MEM_DEFAULT, 64) >= 0);
    CHECK(H5FDwrite(file, H5FD_MEM_DRAW, H5P_DEFAULT, 10, 5, "bytes") >= 0);
    CHECK(H5FDread(file, H5FD_MEM_DRAW, H5P_DEFAULT, 10, 5, bytes) >= 0 && memcmp(bytes, "bytes", 5) == 0);
    CHECK(H5FDget_eof(file, H5FD_MEM_DEFAULT) == 15 && H5FDclose(file) >= 0);
}

/* An image of a file in memory. */
static void images(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file = H5Fcreate("image.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    fill(file, "one", 1);
    CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    ssize_t size = H5Fget_file_image(file, NULL, 0);
    CHECK(size > COUNT * (ssize_t)sizeof(int));
    char *image = malloc((size_t)size);
    CHECK(H5Fget_file_image(file, image, (size_t)size) == size);
    CHECK(H5Fclose(file) >= 0);
    CHECK(H5Pset_fapl_core(fapl, 1 << 16, false) >= 0);
    CHECK(H5Pset_file_image(fapl, image, (size_t)size) >= 0);
    CHECK((file = H5Fopen("in memory", H5F_ACC_RDWR, fapl)) >= 0);
    compare(file, "one", 1);
    fill(file, "two", 5000);
    compare(file, "two", 5000);
    CHECK(H5Fclose(file) >= 0 && H5Pclose(fapl) >= 0 && !exists("in memory"));
    free(image);
}

int main(void)
{
    single_files();
    several_files();
    own_driver();
    driver_calls();
    images();
    puts("all parts passed");
    return 0;
}
