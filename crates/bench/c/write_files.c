/* Writes files through a libhdf5 that is loaded at run time:  write_files LIBHDF5
 * Each line on standard input is one file, from its creation to its closing; the answer is one line: seconds, seconds of the
 * processor, and the bytes of the file.
 *     arrays FILE LOW TYPE FILTERS ROWS COLUMNS CHUNK_ROWS CHUNK_COLUMNS   one dataset, whole; no chunks if they are 0
 *     objects FILE LOW N         datasets of 3 x 4 f64 with two attributes each
 *     attributes FILE LOW N      attributes of one group
 *     links FILE LOW N           hard links in one group
 *     grouped FILE LOW N         datasets of 8 i32 without values over 100 groups in turn, with an attribute each
 *     beside FILE LOW N          groups with one group each
 *     chain FILE LOW N           groups, each in the one before
 *     append FILE LOW N SIZE UNLIMITED   N chunks of SIZE f64, one by one, each with H5Dset_extent; 0, 1 or 2 unlimited dimensions
 *     insert FILE LOW N SIZE UNLIMITED STEP   N encoded chunks of SIZE f64, every STEP-th, of a dataset of that size
 *     flushes FILE LOW N SIZE    N chunks of SIZE f64, one by one, the file flushed after each
 *     strings FILE LOW N         variable-length strings, whole
 *     slabs FILE LOW ROWS COLUMNS CHUNK_ROWS CHUNK_COLUMNS SLAB_ROWS SLAB_COLUMNS STRIDE   f32, box by box; with a stride above 1
 *                                only every STRIDE-th column, of the whole array, SLAB_ROWS at a time
 *     records FILE LOW N         compounds of i32, f64 and i16, packed in the file, as the compiler lays them out in memory
 *     packed FILE LOW N          the same compounds, packed in memory too
 * LOW is the lower library bound: 0 earliest, 1 v18, 2 v110. FILTERS: none, gzip, shuffle_gzip, nbit; or the type in the
 * file, to which f32 is converted: i16, f64, f32be.
 * For a request after the word "peak", the answer is bytes of memory in place of seconds.
 * With "sync" after LIBHDF5, the program syncs the file after each flush and after the file is closed, which durability requires.
 * The prototypes below declare the calls of the public C interface that this program uses. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"

typedef int64_t hid_t;
typedef int herr_t;
typedef unsigned long long hsize_t;

static void *library;
static void *find(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "write_files: no %s\n", name);
        exit(2);
    }
    return found;
}
static hid_t id(const char *name) { return *(hid_t *)find(name); }

static void check(long long value, const char *what) {
    if (value < 0) {
        fprintf(stderr, "write_files: %s failed\n", what);
        exit(3);
    }
}
#define CHECK(call) check((long long)(call), #call)
#define FUNCTIONS                                                                                                   \
    F(herr_t, H5open, (void))                                                                                       \
    F(hid_t, H5Fcreate, (const char *, unsigned, hid_t, hid_t))                                                     \
    F(herr_t, H5Fflush, (hid_t, int))                                                                               \
    F(herr_t, H5Fclose, (hid_t))                                                                                    \
    F(hid_t, H5Pcreate, (hid_t))                                                                                    \
    F(herr_t, H5Pclose, (hid_t))                                                                                    \
    F(herr_t, H5Pset_libver_bounds, (hid_t, int, int))                                                              \
    F(herr_t, H5Pset_chunk, (hid_t, int, const hsize_t *))                                                          \
    F(herr_t, H5Pset_deflate, (hid_t, unsigned))                                                                    \
    F(herr_t, H5Pset_shuffle, (hid_t))                                                                              \
    F(herr_t, H5Pset_nbit, (hid_t))                                                                                 \
    F(hid_t, H5Screate_simple, (int, const hsize_t *, const hsize_t *))                                             \
    F(hid_t, H5Screate, (int))                                                                                      \
    F(herr_t, H5Sselect_hyperslab, (hid_t, int, const hsize_t *, const hsize_t *, const hsize_t *, const hsize_t *)) \
    F(herr_t, H5Sclose, (hid_t))                                                                                    \
    F(hid_t, H5Tcopy, (hid_t))                                                                                      \
    F(herr_t, H5Tset_size, (hid_t, size_t))                                                                         \
    F(herr_t, H5Tset_precision, (hid_t, size_t))                                                                    \
    F(hid_t, H5Tcreate, (int, size_t))                                                                              \
    F(herr_t, H5Tinsert, (hid_t, const char *, size_t, hid_t))                                                      \
    F(herr_t, H5Tclose, (hid_t))                                                                                    \
    F(hid_t, H5Dcreate2, (hid_t, const char *, hid_t, hid_t, hid_t, hid_t, hid_t))                                  \
    F(herr_t, H5Dwrite, (hid_t, hid_t, hid_t, hid_t, hid_t, const void *))                                          \
    F(herr_t, H5Dwrite_chunk, (hid_t, hid_t, uint32_t, const hsize_t *, size_t, const void *))                      \
    F(herr_t, H5Dset_extent, (hid_t, const hsize_t *))                                                              \
    F(hid_t, H5Dget_space, (hid_t))                                                                                 \
    F(herr_t, H5Dclose, (hid_t))                                                                                    \
    F(hid_t, H5Acreate2, (hid_t, const char *, hid_t, hid_t, hid_t, hid_t))                                         \
    F(herr_t, H5Awrite, (hid_t, hid_t, const void *))                                                               \
    F(herr_t, H5Aclose, (hid_t))                                                                                    \
    F(hid_t, H5Gcreate2, (hid_t, const char *, hid_t, hid_t, hid_t))                                                \
    F(herr_t, H5Gclose, (hid_t))                                                                                    \
    F(herr_t, H5Lcreate_hard, (hid_t, const char *, hid_t, const char *, hid_t, hid_t))
#define F(type, name, arguments) static type(*name) arguments;
FUNCTIONS
#undef F

static char *rest;
static hsize_t number(void) { return strtoull(strtok_r(NULL, " \n", &rest), NULL, 10); }

static hid_t make(const char *path, hsize_t low) {
    hid_t access = H5Pcreate(id("H5P_CLS_FILE_ACCESS_ID_g"));
    CHECK(H5Pset_libver_bounds(access, (int)low, 2));
    hid_t file = H5Fcreate(path, 2, 0, access);
    CHECK(file);
    H5Pclose(access);
    return file;
}

/* The same numbers as in the Rust program. */
static void numbers(void *data, const char *type, hsize_t count) {
    if (!strcmp(type, "f32")) {
        float *values = data;
        for (hsize_t i = 0; i < count; i++) values[i] = (float)(i % 1000) * 0.25f + (float)((i * 2654435761u >> 7) % 16);
    } else {
        int *values = data;
        for (hsize_t i = 0; i < count; i++) values[i] = (int)((i / 7 + (i * 2654435761u >> 9) % 64) % 4096);
    }
}

static void *array;
static char array_is[64];
static void arrays(const char *path, hsize_t low, Time *start) {
    char *type = strtok_r(NULL, " \n", &rest), *filters = strtok_r(NULL, " \n", &rest);
    hsize_t dims[2] = {number(), 0}, chunk[2];
    dims[1] = number(), chunk[0] = number(), chunk[1] = number();
    char is[64];
    snprintf(is, sizeof is, "%s %llu", type, dims[0] * dims[1]);
    if (strcmp(is, array_is)) {
        free(array);
        array = malloc(4 * dims[0] * dims[1]);
        numbers(array, type, dims[0] * dims[1]);
        strcpy(array_is, is);
    }
    *start = begin();
    hid_t file = make(path, low), properties = H5Pcreate(id("H5P_CLS_DATASET_CREATE_ID_g"));
    hid_t memory = !strcmp(type, "f32") ? id("H5T_NATIVE_FLOAT_g") : id("H5T_NATIVE_INT_g"), stored = H5Tcopy(memory);
    if (!strcmp(filters, "i16")) stored = H5Tcopy(id("H5T_NATIVE_SHORT_g"));
    if (!strcmp(filters, "f64")) stored = H5Tcopy(id("H5T_NATIVE_DOUBLE_g"));
    if (!strcmp(filters, "f32be")) stored = H5Tcopy(id("H5T_IEEE_F32BE_g"));
    if (chunk[0]) CHECK(H5Pset_chunk(properties, 2, chunk));
    if (!strcmp(filters, "shuffle_gzip")) CHECK(H5Pset_shuffle(properties));
    if (strstr(filters, "gzip")) CHECK(H5Pset_deflate(properties, 4));
    if (!strcmp(filters, "nbit")) {
        CHECK(H5Tset_precision(stored, 12));
        CHECK(H5Pset_nbit(properties));
    }
    hid_t space = H5Screate_simple(2, dims, NULL);
    hid_t set = H5Dcreate2(file, "x", stored, space, 0, properties, 0);
    CHECK(set);
    CHECK(H5Dwrite(set, memory, 0, 0, 0, array));
    H5Dclose(set), H5Sclose(space), H5Tclose(stored), H5Pclose(properties);
    CHECK(H5Fclose(file));
}

static void objects(hid_t file, hsize_t count) {
    hid_t doubles = id("H5T_NATIVE_DOUBLE_g"), integers = id("H5T_NATIVE_INT_g");
    hsize_t dims[2] = {3, 4};
    for (hsize_t i = 0; i < count; i++) {
        double values[12];
        for (int k = 0; k < 12; k++) values[k] = (double)i + k;
        char name[32];
        snprintf(name, sizeof name, "dataset_%05llu", i);
        hid_t space = H5Screate_simple(2, dims, NULL), one = H5Screate(0);
        hid_t set = H5Dcreate2(file, name, doubles, space, 0, 0, 0);
        CHECK(set);
        CHECK(H5Dwrite(set, doubles, 0, 0, 0, values));
        double scale = 0.5;
        int number = (int)i;
        hid_t attribute = H5Acreate2(set, "scale", doubles, one, 0, 0);
        CHECK(H5Awrite(attribute, doubles, &scale));
        H5Aclose(attribute);
        attribute = H5Acreate2(set, "number", integers, one, 0, 0);
        CHECK(H5Awrite(attribute, integers, &number));
        H5Aclose(attribute);
        H5Dclose(set), H5Sclose(space), H5Sclose(one);
    }
}

static void attributes(hid_t file, hsize_t count) {
    hid_t doubles = id("H5T_NATIVE_DOUBLE_g"), one = H5Screate(0), group = H5Gcreate2(file, "g", 0, 0, 0);
    for (hsize_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "attr_%05llu", i);
        double value = (double)i;
        hid_t attribute = H5Acreate2(group, name, doubles, one, 0, 0);
        CHECK(attribute);
        CHECK(H5Awrite(attribute, doubles, &value));
        H5Aclose(attribute);
    }
    H5Gclose(group), H5Sclose(one);
}

static void links(hid_t file, hsize_t count) {
    hid_t target = H5Gcreate2(file, "t", 0, 0, 0), group = H5Gcreate2(file, "g", 0, 0, 0);
    for (hsize_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "link_%06llu", i * 7919 % count);
        CHECK(H5Lcreate_hard(target, ".", group, name, 0, 0));
    }
    H5Gclose(target), H5Gclose(group);
}

static void grouped(hid_t file, hsize_t count) {
    hid_t integers = id("H5T_NATIVE_INT_g"), one = H5Screate(0), groups[100];
    hsize_t dims[1] = {8};
    char name[32];
    for (int k = 0; k < 100; k++) {
        snprintf(name, sizeof name, "group_%02d", k);
        groups[k] = H5Gcreate2(file, name, 0, 0, 0);
    }
    for (hsize_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "dataset_%07llu", i);
        hid_t space = H5Screate_simple(1, dims, NULL);
        hid_t set = H5Dcreate2(groups[i % 100], name, integers, space, 0, 0, 0);
        CHECK(set);
        int number = (int)i;
        hid_t attribute = H5Acreate2(set, "number", integers, one, 0, 0);
        CHECK(H5Awrite(attribute, integers, &number));
        H5Aclose(attribute), H5Dclose(set), H5Sclose(space);
    }
    for (int k = 0; k < 100; k++) H5Gclose(groups[k]);
    H5Sclose(one);
}

static void beside(hid_t file, hsize_t count) {
    for (hsize_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "group_%05llu", i);
        hid_t group = H5Gcreate2(file, name, 0, 0, 0), member = H5Gcreate2(group, "member", 0, 0, 0);
        CHECK(member);
        H5Gclose(member), H5Gclose(group);
    }
}

static void chain(hid_t file, hsize_t count) {
    hid_t group = H5Gcreate2(file, "g", 0, 0, 0);
    for (hsize_t i = 1; i < count; i++) {
        hid_t next = H5Gcreate2(group, "g", 0, 0, 0);
        CHECK(next);
        H5Gclose(group), group = next;
    }
    H5Gclose(group);
}

static int syncs;
static void sync_file(const char *path) {
    if (!syncs) return;
    int descriptor = open(path, O_RDWR);
    CHECK(descriptor);
    CHECK(fsync(descriptor));
    close(descriptor);
}

static void append(hid_t file, hsize_t count, hsize_t size, hsize_t unlimited, const char *flushed) {
    hid_t doubles = id("H5T_NATIVE_DOUBLE_g"), properties = H5Pcreate(id("H5P_CLS_DATASET_CREATE_ID_g"));
    hsize_t dims[2] = {0, size}, most[2] = {unlimited ? ~0ull : count, unlimited > 1 ? ~0ull : size}, chunk[2] = {1, size};
    double *values = malloc(size * sizeof(double));
    CHECK(H5Pset_chunk(properties, 2, chunk));
    hid_t space = H5Screate_simple(2, dims, most), memory = H5Screate_simple(1, &size, NULL);
    hid_t set = H5Dcreate2(file, "x", doubles, space, 0, properties, 0);
    CHECK(set);
    H5Sclose(space);
    for (hsize_t i = 0; i < count; i++) {
        for (hsize_t k = 0; k < size; k++) values[k] = (double)(i + k);
        hsize_t now[2] = {i + 1, size}, start[2] = {i, 0}, counts[2] = {1, size};
        CHECK(H5Dset_extent(set, now));
        space = H5Dget_space(set);
        CHECK(H5Sselect_hyperslab(space, 0, start, NULL, counts, NULL));
        CHECK(H5Dwrite(set, doubles, memory, space, 0, values));
        H5Sclose(space);
        if (flushed) {
            CHECK(H5Fflush(file, 1));
            sync_file(flushed);
        }
    }
    H5Dclose(set), H5Sclose(memory), H5Pclose(properties), free(values);
}

static void insert(hid_t file, hsize_t count, hsize_t size, hsize_t unlimited, hsize_t step) {
    hid_t doubles = id("H5T_NATIVE_DOUBLE_g"), properties = H5Pcreate(id("H5P_CLS_DATASET_CREATE_ID_g"));
    hsize_t dims[2] = {count, size}, most[2] = {unlimited ? ~0ull : count, unlimited > 1 ? ~0ull : size}, chunk[2] = {1, size};
    char *values = malloc(size * sizeof(double));
    memset(values, 7, size * sizeof(double));
    CHECK(H5Pset_chunk(properties, 2, chunk));
    hid_t space = H5Screate_simple(2, dims, most), set = H5Dcreate2(file, "x", doubles, space, 0, properties, 0);
    CHECK(set);
    for (hsize_t i = 0; i < count; i++) {
        hsize_t start[2] = {i * step % count, 0};
        CHECK(H5Dwrite_chunk(set, 0, 0, start, size * sizeof(double), values));
    }
    H5Dclose(set), H5Sclose(space), H5Pclose(properties), free(values);
}

static void slabs(const char *path, hsize_t low, Time *start) {
    hsize_t dims[2] = {number(), 0}, chunk[2], slab[2];
    dims[1] = number(), chunk[0] = number(), chunk[1] = number(), slab[0] = number(), slab[1] = number();
    hsize_t stride = number(), each[2] = {slab[0], slab[1] / stride}, steps[2] = {1, stride};
    float *values = malloc(4 * each[0] * each[1]);
    numbers(values, "f32", each[0] * each[1]);
    *start = begin();
    hid_t file = make(path, low), properties = H5Pcreate(id("H5P_CLS_DATASET_CREATE_ID_g")), f32 = id("H5T_NATIVE_FLOAT_g");
    if (chunk[0]) CHECK(H5Pset_chunk(properties, 2, chunk));
    hid_t space = H5Screate_simple(2, dims, NULL), memory = H5Screate_simple(2, each, NULL);
    hid_t set = H5Dcreate2(file, "x", f32, space, 0, properties, 0);
    CHECK(set);
    for (hsize_t row = 0; row < dims[0]; row += slab[0])
        for (hsize_t column = 0; column < dims[1]; column += slab[1]) {
            hsize_t at[2] = {row, column};
            CHECK(H5Sselect_hyperslab(space, 0, at, steps, each, NULL));
            CHECK(H5Dwrite(set, f32, memory, space, 0, values));
        }
    H5Dclose(set), H5Sclose(space), H5Sclose(memory), H5Pclose(properties);
    CHECK(H5Fclose(file));
    free(values);
}

struct record {
    int number;
    double value;
    short kind;
};
static struct record *all_records;
static hsize_t record_count;
static void make_records(hsize_t count) {
    if (record_count == count) return;
    all_records = calloc(count, sizeof(struct record));
    for (hsize_t i = 0; i < count; i++) all_records[i] = (struct record){(int)i, (double)i * 0.5, (short)(i % 100)};
    record_count = count;
}
static void records(hid_t file, hsize_t count) {
    hid_t integer = id("H5T_NATIVE_INT_g"), real = id("H5T_NATIVE_DOUBLE_g"), small = id("H5T_NATIVE_SHORT_g");
    hid_t memory = H5Tcreate(6, sizeof(struct record)), stored = H5Tcreate(6, 14);
    CHECK(H5Tinsert(memory, "number", 0, integer)), CHECK(H5Tinsert(stored, "number", 0, integer));
    CHECK(H5Tinsert(memory, "value", 8, real)), CHECK(H5Tinsert(stored, "value", 4, real));
    CHECK(H5Tinsert(memory, "kind", 16, small)), CHECK(H5Tinsert(stored, "kind", 12, small));
    hid_t space = H5Screate_simple(1, &count, NULL), set = H5Dcreate2(file, "x", stored, space, 0, 0, 0);
    CHECK(set);
    CHECK(H5Dwrite(set, memory, 0, 0, 0, all_records));
    H5Dclose(set), H5Sclose(space), H5Tclose(memory), H5Tclose(stored);
}

/* Records without padding between their members, written without conversion. */
static char *all_packed;
static hsize_t packed_count;
static void make_packed(hsize_t count) {
    if (packed_count == count) return;
    all_packed = malloc(count * 14);
    for (hsize_t i = 0; i < count; i++) {
        int number = (int)i;
        double value = (double)i * 0.5;
        short kind = (short)(i % 100);
        memcpy(all_packed + 14 * i, &number, 4), memcpy(all_packed + 14 * i + 4, &value, 8), memcpy(all_packed + 14 * i + 12, &kind, 2);
    }
    packed_count = count;
}
static void packed(hid_t file, hsize_t count) {
    hid_t type = H5Tcreate(6, 14);
    CHECK(H5Tinsert(type, "number", 0, id("H5T_NATIVE_INT_g"))), CHECK(H5Tinsert(type, "value", 4, id("H5T_NATIVE_DOUBLE_g")));
    CHECK(H5Tinsert(type, "kind", 12, id("H5T_NATIVE_SHORT_g")));
    hid_t space = H5Screate_simple(1, &count, NULL), set = H5Dcreate2(file, "x", type, space, 0, 0, 0);
    CHECK(set);
    CHECK(H5Dwrite(set, type, 0, 0, 0, all_packed));
    H5Dclose(set), H5Sclose(space), H5Tclose(type);
}

static char **texts;
static hsize_t text_count;
static void make_texts(hsize_t count) {
    if (text_count == count) return;
    texts = malloc(count * sizeof(char *));
    for (hsize_t i = 0; i < count; i++) {
        texts[i] = malloc(48);
        snprintf(texts[i], 48, "string number %llu", i * 7919 % count);
    }
    text_count = count;
}
static void strings(hid_t file, hsize_t count) {
    hid_t type = H5Tcopy(id("H5T_C_S1_g"));
    CHECK(H5Tset_size(type, (size_t)-1));
    hid_t space = H5Screate_simple(1, &count, NULL), set = H5Dcreate2(file, "x", type, space, 0, 0, 0);
    CHECK(set);
    CHECK(H5Dwrite(set, type, 0, 0, 0, texts));
    H5Dclose(set), H5Sclose(space), H5Tclose(type);
}

int main(int argc, char **argv) {
    static char line[4096];
    if (argc < 2) return 1;
    syncs = argc > 2 && !strcmp(argv[2], "sync");
    library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "write_files: %s\n", dlerror());
        return 2;
    }
#define F(type, name, arguments) *(void **)&name = find(#name);
    FUNCTIONS
#undef F
    CHECK(H5open());
    while (fgets(line, sizeof line, stdin)) {
        char *kind = strtok_r(without_peak(line), " \n", &rest), *path = strtok_r(NULL, " \n", &rest);
        if (!kind || !path) return 1;
        hsize_t low = number();
        unlink(path);
        Time start;
        if (!strcmp(kind, "arrays")) {
            arrays(path, low, &start);
        } else if (!strcmp(kind, "slabs")) {
            slabs(path, low, &start);
        } else {
            hsize_t count = number();
            int chunks = !strcmp(kind, "append") || !strcmp(kind, "insert");
            hsize_t size = chunks ? number() : 0, unlimited = chunks ? number() : 0;
            if (!strcmp(kind, "strings")) make_texts(count);
            if (!strcmp(kind, "records")) make_records(count);
            if (!strcmp(kind, "packed")) make_packed(count);
            start = begin();
            hid_t file = make(path, low);
            if (!strcmp(kind, "objects")) objects(file, count);
            else if (!strcmp(kind, "attributes")) attributes(file, count);
            else if (!strcmp(kind, "links")) links(file, count);
            else if (!strcmp(kind, "grouped")) grouped(file, count);
            else if (!strcmp(kind, "beside")) beside(file, count);
            else if (!strcmp(kind, "chain")) chain(file, count);
            else if (!strcmp(kind, "append")) append(file, count, size, unlimited, NULL);
            else if (!strcmp(kind, "insert")) insert(file, count, size, unlimited, number());
            else if (!strcmp(kind, "flushes")) append(file, count, number(), 1, path);
            else if (!strcmp(kind, "strings")) strings(file, count);
            else if (!strcmp(kind, "records")) records(file, count);
            else if (!strcmp(kind, "packed")) packed(file, count);
            else return 1;
            CHECK(H5Fclose(file));
        }
        sync_file(path);
        Time took = since(start);
        struct stat status;
        if (stat(path, &status)) return 1;
        printf("%.9f %.9f %llu\n", took.wall, took.cpu, (unsigned long long)status.st_size);
        fflush(stdout);
    }
    return 0;
}
