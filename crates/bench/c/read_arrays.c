/* Reads datasets named "x" through a libhdf5 that is loaded at run time:  read_arrays LIBHDF5
 * Each line on standard input is one reading, including the opening of the file. The answer is one line: seconds,
 * seconds of the processor, and a sum over what was read.
 *     whole FILE TYPE                            all elements
 *     slab FILE TYPE RANK START.. COUNT.. STRIDE..   a strided selection, into a buffer of one dimension
 *     points FILE TYPE N SEED                    N points of a 2-D dataset
 *     boxes FILE TYPE N SIZE SEED                N boxes of SIZE x SIZE of a 2-D dataset, one after the other
 *     near FILE TYPE N SIZE SEED SIDE            N boxes within the first SIDE x SIDE elements
 *     rows FILE TYPE N SIZE SEED                 N runs of SIZE elements of a 1-D dataset, at multiples of SIZE
 *     field FILE NAME                            one f64 member of a compound
 *     strings FILE                               variable-length strings
 *     records FILE                               whole records, as they are stored
 *     peak now                                   the peak memory of the process in bytes, in place of seconds
 * TYPE is i32, f32 or f64. For a request after the word "peak", the answer is bytes of memory in place of seconds.
 * The prototypes below declare the calls of the public C interface that this program uses. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "clock.h"

typedef int64_t hid_t;
typedef int herr_t;
typedef unsigned long long hsize_t;

static herr_t (*open_library)(void);
static hid_t (*file_open)(const char *, unsigned, hid_t);
static herr_t (*file_close)(hid_t);
static hid_t (*dataset_open)(hid_t, const char *, hid_t), (*dataset_space)(hid_t);
static herr_t (*dataset_read)(hid_t, hid_t, hid_t, hid_t, hid_t, void *);
static herr_t (*dataset_close)(hid_t);
static herr_t (*reclaim)(hid_t, hid_t, hid_t, void *);
static hid_t (*type_create)(int, size_t), (*dataset_type)(hid_t);
static herr_t (*type_insert)(hid_t, const char *, size_t, hid_t);
static herr_t (*type_close)(hid_t);
static size_t (*type_size)(hid_t);
static long long (*space_points)(hid_t), (*space_selected)(hid_t);
static int (*space_dims)(hid_t, hsize_t *, hsize_t *);
static hid_t (*space_create)(int, const hsize_t *, const hsize_t *);
static herr_t (*select_slab)(hid_t, int, const hsize_t *, const hsize_t *, const hsize_t *, const hsize_t *);
static herr_t (*select_points)(hid_t, int, size_t, const hsize_t *);
static herr_t (*space_close)(hid_t);

static void check(long long value, const char *what) {
    if (value < 0) {
        fprintf(stderr, "read_arrays: %s failed\n", what);
        exit(3);
    }
}
#define CHECK(call) check((long long)(call), #call)

static void *library;
static void *find(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "read_arrays: no %s\n", name);
        exit(2);
    }
    return found;
}

static char *buffer;
static size_t buffer_size;
/* Returns a buffer that is already mapped, so that page faults are not timed. */
static void *scratch(size_t size) {
    if (size > buffer_size) {
        free(buffer);
        buffer = malloc(size);
        memset(buffer, 1, size);
        buffer_size = size;
    }
    return buffer;
}

static uint64_t sum_of(const void *data, size_t size) {
    /* Adds eight words at once, without dependencies between them. */
    static const uint64_t powers[8] = {27512614111, 887503681, 28629151, 923521, 29791, 961, 31, 1};
    const char *bytes = data;
    uint64_t sum = size;
    size_t i = 0;
    for (; i + 32 <= size; i += 32) {
        uint32_t words[8];
        uint64_t part = 0;
        memcpy(words, bytes + i, 32);
        for (int k = 0; k < 8; k++) part += words[k] * powers[k];
        sum = sum * 852891037441 + part;
    }
    for (; i + 4 <= size; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, 4);
        sum = sum * 31 + word;
    }
    return sum;
}

static uint64_t state;
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static hid_t native(const char *name, size_t *size) {
    *size = strcmp(name, "f64") ? 4 : 8;
    const char *symbol = !strcmp(name, "i32") ? "H5T_NATIVE_INT_g" : *size == 8 ? "H5T_NATIVE_DOUBLE_g" : "H5T_NATIVE_FLOAT_g";
    return *(hid_t *)find(symbol);
}

static hsize_t number(void) { return strtoull(strtok(NULL, " \n"), NULL, 10); }

static void answer(Time took, uint64_t sum) {
    printf("%.9f %.9f %llu\n", took.wall, took.cpu, (unsigned long long)sum);
    fflush(stdout);
}

static void strings(const char *path) {
    Time start = begin();
    hid_t file = file_open(path, 0, 0);
    CHECK(file);
    hid_t set = dataset_open(file, "x", 0), space = dataset_space(set), type = dataset_type(set);
    size_t count = (size_t)space_points(space);
    char **all = scratch(count * sizeof(char *));
    CHECK(dataset_read(set, type, 0, 0, 0, all));
    Time took = since(start);
    uint64_t sum = count;
    for (size_t i = 0; i < count; i++) sum = sum * 31 + strlen(all[i]) + (unsigned char)all[i][0];
    start = begin();
    CHECK(reclaim(type, space, 0, all));
    type_close(type), space_close(space), dataset_close(set), file_close(file);
    Time freed = since(start);
    took.wall += freed.wall, took.cpu += freed.cpu;
    answer(took, sum);
}

static void whole(const char *path, hid_t type, size_t size) {
    Time start = begin();
    hid_t file = file_open(path, 0, 0);
    CHECK(file);
    hid_t set = dataset_open(file, "x", 0), space = dataset_space(set);
    size_t bytes = (size_t)space_points(space) * size;
    if (bytes > buffer_size) {
        /* Maps the buffer before the clock starts. */
        scratch(bytes);
        space_close(space), dataset_close(set), file_close(file);
        whole(path, type, size);
        return;
    }
    CHECK(dataset_read(set, type, 0, 0, 0, buffer));
    space_close(space), dataset_close(set), file_close(file);
    Time took = since(start);
    answer(took, sum_of(buffer, bytes));
}

static void parts(const char *kind, const char *path, hid_t type, size_t size) {
    hsize_t start[8], count[8], stride[8], *points = NULL, rank = 0, turns = 1, side = 1, selected = 1, within = 0;
    int boxes = !strcmp(kind, "boxes") || !strcmp(kind, "near");
    if (!strcmp(kind, "slab")) {
        rank = number();
        for (hsize_t i = 0; i < rank; i++) start[i] = number();
        for (hsize_t i = 0; i < rank; i++) selected *= count[i] = number();
        for (hsize_t i = 0; i < rank; i++) stride[i] = number();
    } else if (!strcmp(kind, "points")) {
        selected = number(), state = number();
        points = malloc(selected * 16);
    } else {
        turns = number(), side = number(), state = number();
        selected = boxes ? side * side : side;
        if (!strcmp(kind, "near")) within = number();
    }
    char *out = scratch(selected * turns * size);
    Time begun = begin();
    hid_t file = file_open(path, 0, 0);
    CHECK(file);
    hid_t set = dataset_open(file, "x", 0), space = dataset_space(set);
    hid_t memory = space_create(1, &selected, NULL);
    hsize_t dims[8];
    CHECK(space_dims(space, dims, NULL));
    if (within) dims[0] = dims[1] = within;
    for (hsize_t turn = 0; turn < turns; turn++) {
        if (points) {
            for (hsize_t i = 0; i < selected; i++) points[2 * i] = next() % dims[0], points[2 * i + 1] = next() % dims[1];
            CHECK(select_points(space, 0, selected, points));
        } else if (rank) {
            CHECK(select_slab(space, 0, start, stride, count, NULL));
        } else if (boxes) {
            start[0] = next() % (dims[0] - side), start[1] = next() % (dims[1] - side);
            count[0] = count[1] = side;
            CHECK(select_slab(space, 0, start, NULL, count, NULL));
        } else {
            start[0] = next() % (dims[0] / side) * side;
            count[0] = side;
            CHECK(select_slab(space, 0, start, NULL, count, NULL));
        }
        CHECK(dataset_read(set, type, memory, space, 0, out + turn * selected * size));
    }
    space_close(memory), space_close(space), dataset_close(set), file_close(file);
    Time took = since(begun);
    free(points);
    answer(took, sum_of(out, selected * turns * size));
}

static void load(const char *path) {
    library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "read_arrays: %s\n", dlerror());
        exit(2);
    }
    *(void **)&open_library = find("H5open");
    *(void **)&file_open = find("H5Fopen"), *(void **)&file_close = find("H5Fclose");
    *(void **)&dataset_open = find("H5Dopen2"), *(void **)&dataset_space = find("H5Dget_space");
    *(void **)&dataset_read = find("H5Dread"), *(void **)&dataset_close = find("H5Dclose");
    *(void **)&reclaim = find("H5Dvlen_reclaim");
    *(void **)&type_create = find("H5Tcreate"), *(void **)&dataset_type = find("H5Dget_type");
    *(void **)&type_insert = find("H5Tinsert");
    *(void **)&type_close = find("H5Tclose"), *(void **)&type_size = find("H5Tget_size");
    *(void **)&space_points = find("H5Sget_simple_extent_npoints");
    *(void **)&space_selected = find("H5Sget_select_npoints");
    *(void **)&space_dims = find("H5Sget_simple_extent_dims");
    *(void **)&space_create = find("H5Screate_simple"), *(void **)&space_close = find("H5Sclose");
    *(void **)&select_slab = find("H5Sselect_hyperslab"), *(void **)&select_points = find("H5Sselect_elements");
    CHECK(open_library());
}

int main(int argc, char **argv) {
    static char line[4096];
    if (argc < 2) return 1;
    load(argv[1]);
    while (fgets(line, sizeof line, stdin)) {
        size_t size = 8;
        char *kind = strtok(without_peak(line), " \n"), *path = strtok(NULL, " \n");
        if (!kind || !path) return 1;
        if (!strcmp(kind, "peak")) {
            struct rusage usage;
            getrusage(RUSAGE_SELF, &usage);
            Time most = {(double)usage.ru_maxrss * 1024, 0};
            answer(most, 0);
        } else if (!strcmp(kind, "strings")) {
            strings(path);
        } else if (!strcmp(kind, "field")) {
            hid_t type = type_create(6, 8);
            CHECK(type_insert(type, strtok(NULL, " \n"), 0, *(hid_t *)find("H5T_NATIVE_DOUBLE_g")));
            whole(path, type, 8);
            type_close(type);
        } else if (!strcmp(kind, "records")) {
            hid_t file = file_open(path, 0, 0), set = dataset_open(file, "x", 0), type = dataset_type(set);
            CHECK(type);
            dataset_close(set), file_close(file);
            whole(path, type, type_size(type));
            type_close(type);
        } else {
            hid_t type = native(strtok(NULL, " \n"), &size);
            if (!strcmp(kind, "whole")) whole(path, type, size);
            else parts(kind, path, type, size);
        }
    }
    return 0;
}
