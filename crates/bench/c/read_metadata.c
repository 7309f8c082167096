/* Reads objects, attributes, links and indexes through a libhdf5 that is loaded at run time:  read_metadata LIBHDF5
 * Each line on standard input is one reading, including the opening of the file. The answer is one line: seconds, seconds of
 * the processor, and a sum over what was read; or "unsupported" and the reason.
 *     list FILE                 the datasets of the root group: name, extent, size of an element, names of attributes
 *     visit FILE                all objects of the file, their paths
 *     objects FILE              the same datasets, read whole, with all attributes
 *     attributes FILE           all attributes of the group "g", names and f64
 *     links FILE                names of the links of the group "g"
 *     lookup FILE N OF SEED     N of OF links of the group "g" by name
 *     sizes FILE N SEED         the stored sizes of N chunks of one row in the dataset "x" of two dimensions
 *     chunks FILE N SEED        N such chunks, as they are stored
 *     walk FILE                 the addresses of all chunks of "x"
 * For a request after the word "peak", the answer is bytes of memory in place of seconds.
 * The prototypes below declare the calls of the public C interface that this program uses. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

typedef int64_t hid_t;
typedef int herr_t;
typedef unsigned long long hsize_t;
typedef herr_t (*visit_t)(hid_t, const char *, const void *, void *);
typedef int (*chunk_visit_t)(const hsize_t *, unsigned, uint64_t, hsize_t, void *);

static void check(long long value, const char *what) {
    if (value < 0) {
        fprintf(stderr, "read_metadata: %s failed\n", what);
        exit(3);
    }
}
#define CHECK(call) check((long long)(call), #call)
#define FUNCTIONS                                                                                        \
    F(herr_t, H5open, (void))                                                                            \
    F(hid_t, H5Fopen, (const char *, unsigned, hid_t))                                                   \
    F(herr_t, H5Fclose, (hid_t))                                                                         \
    F(hid_t, H5Dopen2, (hid_t, const char *, hid_t))                                                     \
    F(hid_t, H5Dget_type, (hid_t))                                                                       \
    F(hid_t, H5Dget_space, (hid_t))                                                                      \
    F(herr_t, H5Dread, (hid_t, hid_t, hid_t, hid_t, hid_t, void *))                                      \
    F(herr_t, H5Dget_chunk_storage_size, (hid_t, const hsize_t *, hsize_t *))                            \
    F(herr_t, H5Dclose, (hid_t))                                                                         \
    F(hid_t, H5Aopen, (hid_t, const char *, hid_t))                                                      \
    F(hid_t, H5Aget_type, (hid_t))                                                                       \
    F(hid_t, H5Aget_space, (hid_t))                                                                      \
    F(herr_t, H5Aread, (hid_t, hid_t, void *))                                                           \
    F(herr_t, H5Aiterate2, (hid_t, int, int, hsize_t *, visit_t, void *))                                \
    F(herr_t, H5Aclose, (hid_t))                                                                         \
    F(hid_t, H5Gopen2, (hid_t, const char *, hid_t))                                                     \
    F(herr_t, H5Gclose, (hid_t))                                                                         \
    F(size_t, H5Tget_size, (hid_t))                                                                      \
    F(hid_t, H5Tget_native_type, (hid_t, int))                                                           \
    F(herr_t, H5Tclose, (hid_t))                                                                         \
    F(int, H5Sget_simple_extent_dims, (hid_t, hsize_t *, hsize_t *))                                     \
    F(long long, H5Sget_simple_extent_npoints, (hid_t))                                                  \
    F(herr_t, H5Sclose, (hid_t))
#define F(type, name, arguments) static type(*name) arguments;
FUNCTIONS
#undef F
/* Older libraries have other names for the first three, and lack the last. */
static herr_t (*read_chunk)(hid_t, hid_t, const hsize_t *, uint32_t *, void *);
static herr_t (*link_iterate)(hid_t, int, int, hsize_t *, visit_t, void *);
static herr_t (*visit)(hid_t, int, int, visit_t, void *, unsigned);
static herr_t (*chunk_iterate)(hid_t, hid_t, chunk_visit_t, void *);

static void *buffer;
static size_t buffer_size;
static void *scratch(size_t size) {
    if (size > buffer_size) {
        free(buffer);
        buffer = malloc(size);
        buffer_size = size;
    }
    return buffer;
}

static uint64_t sum;
static void add(const void *data, size_t size) {
    for (size_t i = 0; i < size; i++) sum += ((const unsigned char *)data)[i];
}

static uint64_t state;
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static herr_t on_name(hid_t object, const char *name, const void *info, void *data) {
    (void)object, (void)info, (void)data;
    add(name, strlen(name));
    return 0;
}

static herr_t on_visited(hid_t object, const char *name, const void *info, void *data) {
    return strcmp(name, ".") ? on_name(object, name, info, data) : 0;
}

static herr_t on_listed(hid_t group, const char *name, const void *info, void *data) {
    (void)info, (void)data;
    hsize_t dims[32], at = 0;
    hid_t set = H5Dopen2(group, name, 0);
    CHECK(set);
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    CHECK(rank);
    add(name, strlen(name));
    for (int i = 0; i < rank; i++) sum += dims[i];
    sum += H5Tget_size(type);
    CHECK(H5Aiterate2(set, 0, 2, &at, on_name, NULL));
    H5Tclose(type), H5Sclose(space), H5Dclose(set);
    return 0;
}

static herr_t on_attribute(hid_t object, const char *name, const void *info, void *data) {
    (void)info;
    hid_t attribute = H5Aopen(object, name, 0);
    CHECK(attribute);
    hid_t stored = H5Aget_type(attribute), space = H5Aget_space(attribute), type = H5Tget_native_type(stored, 0);
    size_t size = H5Tget_size(type) * (size_t)H5Sget_simple_extent_npoints(space);
    CHECK(H5Aread(attribute, type, scratch(size)));
    add(buffer, size);
    if (data) add(name, strlen(name));
    H5Tclose(type), H5Tclose(stored), H5Sclose(space), H5Aclose(attribute);
    return 0;
}

static herr_t on_object(hid_t group, const char *name, const void *info, void *data) {
    (void)info, (void)data;
    hsize_t at = 0;
    hid_t set = H5Dopen2(group, name, 0);
    CHECK(set);
    hid_t stored = H5Dget_type(set), space = H5Dget_space(set), type = H5Tget_native_type(stored, 0);
    size_t size = H5Tget_size(type) * (size_t)H5Sget_simple_extent_npoints(space);
    CHECK(H5Dread(set, type, 0, 0, 0, scratch(size)));
    add(buffer, size);
    CHECK(H5Aiterate2(set, 0, 2, &at, on_attribute, NULL));
    H5Tclose(type), H5Tclose(stored), H5Sclose(space), H5Dclose(set);
    return 0;
}

static int on_chunk(const hsize_t *offset, unsigned mask, uint64_t address, hsize_t size, void *data) {
    (void)mask, (void)data;
    sum += offset[0] + address + size;
    return 0;
}

/* Adds the names of links to the sum. */
static char group_names[1];
static void of_group(hid_t file, const char *kind, const hsize_t *numbers) {
    hsize_t at = 0;
    hid_t group = H5Gopen2(file, "g", 0);
    CHECK(group);
    if (!strcmp(kind, "links")) CHECK(link_iterate(group, 0, 2, &at, on_name, NULL));
    if (!strcmp(kind, "attributes")) CHECK(H5Aiterate2(group, 0, 2, &at, on_attribute, group_names));
    if (!strcmp(kind, "lookup")) {
        state = numbers[2];
        for (hsize_t i = 0; i < numbers[0]; i++) {
            char name[32];
            snprintf(name, sizeof name, "link_%06llu", (hsize_t)(next() % numbers[1]));
            hid_t found = H5Gopen2(group, name, 0);
            CHECK(found);
            H5Gclose(found);
        }
        sum = numbers[0];
    }
    H5Gclose(group);
}

static void of_chunks(hid_t file, const char *kind, const hsize_t *numbers) {
    hid_t set = H5Dopen2(file, "x", 0), space = H5Dget_space(set);
    hsize_t dims[8], offset[2] = {0, 0}, size;
    uint32_t mask;
    int whole = !strcmp(kind, "chunks");
    CHECK(H5Sget_simple_extent_dims(space, dims, NULL));
    if (!strcmp(kind, "walk")) {
        CHECK(chunk_iterate(set, 0, on_chunk, NULL));
    } else {
        state = numbers[1];
        for (hsize_t i = 0; i < numbers[0]; i++) {
            offset[0] = next() % dims[0];
            if (whole) {
                size = dims[1] * 8;
                CHECK(read_chunk(set, 0, offset, &mask, scratch(size)));
                add(buffer, size);
            } else {
                CHECK(H5Dget_chunk_storage_size(set, offset, &size));
            }
            sum += size;
        }
    }
    H5Sclose(space), H5Dclose(set);
}

int main(int argc, char **argv) {
    static char line[4096];
    if (argc < 2) return 1;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "read_metadata: %s\n", dlerror());
        return 2;
    }
#define F(type, name, arguments) *(void **)&name = dlsym(library, #name);
    FUNCTIONS
#undef F
    *(void **)&link_iterate = dlsym(library, "H5Literate2");
    if (!link_iterate) *(void **)&link_iterate = dlsym(library, "H5Literate");
    *(void **)&read_chunk = dlsym(library, "H5Dread_chunk1");
    if (!read_chunk) *(void **)&read_chunk = dlsym(library, "H5Dread_chunk");
    *(void **)&visit = dlsym(library, "H5Ovisit3");
    if (!visit) *(void **)&visit = dlsym(library, "H5Ovisit2");
    *(void **)&chunk_iterate = dlsym(library, "H5Dchunk_iter");
    CHECK(H5open());
    while (fgets(line, sizeof line, stdin)) {
        char *kind = strtok(without_peak(line), " \n"), *path = strtok(NULL, " \n"), *word;
        hsize_t numbers[4] = {0}, at = 0;
        if (!kind || !path) return 1;
        for (int i = 0; i < 4 && (word = strtok(NULL, " \n")); i++) numbers[i] = strtoull(word, NULL, 10);
        if (!strcmp(kind, "walk") && !chunk_iterate) {
            printf("unsupported this version of libhdf5 has no function H5Dchunk_iter\n");
            fflush(stdout);
            continue;
        }
        sum = 0;
        Time start = begin();
        hid_t file = H5Fopen(path, 0, 0);
        CHECK(file);
        if (!strcmp(kind, "list")) CHECK(link_iterate(file, 0, 2, &at, on_listed, NULL));
        else if (!strcmp(kind, "visit")) CHECK(visit(file, 0, 2, on_visited, NULL, 1));
        else if (!strcmp(kind, "objects")) CHECK(link_iterate(file, 0, 2, &at, on_object, NULL));
        else if (!strcmp(kind, "sizes") || !strcmp(kind, "chunks") || !strcmp(kind, "walk")) of_chunks(file, kind, numbers);
        else of_group(file, kind, numbers);
        CHECK(H5Fclose(file));
        Time took = since(start);
        printf("%.9f %.9f %llu\n", took.wall, took.cpu, (unsigned long long)sum);
        fflush(stdout);
    }
    return 0;
}
