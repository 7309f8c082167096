/* Reads every dataset of a file's root group whole, with all attributes, through a libhdf5 that is loaded at
 * run time:  read_objects LIBHDF5 FILE
 * Each line on standard input asks for one reading, the opening of the file included; the answer is one line:
 * seconds, datasets, attributes, bytes, and a sum over all bytes read.
 * The prototypes below declare the calls of the public C interface (1.12 and later) that this program uses. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int64_t hid_t;
typedef int herr_t;
typedef unsigned long long hsize_t;

static herr_t (*open_library)(void);
static hid_t (*file_open)(const char *, unsigned, hid_t);
static herr_t (*file_close)(hid_t);
static hid_t (*dataset_open)(hid_t, const char *, hid_t);
static hid_t (*dataset_type)(hid_t), (*dataset_space)(hid_t);
static herr_t (*dataset_read)(hid_t, hid_t, hid_t, hid_t, hid_t, void *);
static herr_t (*dataset_close)(hid_t);
static hid_t (*attribute_type)(hid_t), (*attribute_space)(hid_t), (*attribute_open)(hid_t, const char *, hid_t);
static herr_t (*attribute_read)(hid_t, hid_t, void *);
static herr_t (*attribute_close)(hid_t);
static size_t (*type_size)(hid_t);
static hid_t (*native_type)(hid_t, int);
static herr_t (*type_close)(hid_t);
static long long (*space_points)(hid_t);
static herr_t (*space_close)(hid_t);
static herr_t (*link_iterate)(hid_t, int, int, hsize_t *, void *, void *);
static herr_t (*attribute_iterate)(hid_t, int, int, hsize_t *, void *, void *);

static void *buffer;
static size_t buffer_size;
static uint64_t datasets, attributes, bytes, sum;

static void *scratch(size_t size) {
    if (size > buffer_size) {
        free(buffer);
        buffer = malloc(size);
        buffer_size = size;
    }
    return buffer;
}

static void count(const unsigned char *data, size_t size) {
    bytes += size;
    for (size_t i = 0; i < size; i++) sum += data[i];
}

static herr_t on_attribute(hid_t object, const char *name, const void *info, void *data) {
    (void)info, (void)data;
    hid_t attribute = attribute_open(object, name, 0);
    hid_t stored = attribute_type(attribute), space = attribute_space(attribute);
    hid_t type = native_type(stored, 0);
    size_t size = type_size(type) * (size_t)space_points(space);
    if (attribute < 0) exit(3);
    if (attribute_read(attribute, type, scratch(size)) < 0) exit(3);
    count(buffer, size);
    attributes++;
    type_close(type), type_close(stored), space_close(space), attribute_close(attribute);
    return 0;
}

static herr_t on_link(hid_t group, const char *name, const void *info, void *data) {
    (void)info, (void)data;
    hid_t dataset = dataset_open(group, name, 0);
    if (dataset < 0) exit(3);
    hid_t stored = dataset_type(dataset), space = dataset_space(dataset);
    hid_t type = native_type(stored, 0);
    size_t size = type_size(type) * (size_t)space_points(space);
    if (dataset_read(dataset, type, 0, 0, 0, scratch(size)) < 0) exit(3);
    count(buffer, size);
    datasets++;
    hsize_t position = 0;
    attribute_iterate(dataset, 0, 2, &position, (void *)on_attribute, NULL);
    type_close(type), type_close(stored), space_close(space), dataset_close(dataset);
    return 0;
}

static void *library;

static void *symbol(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "no %s in the library\n", name);
        exit(2);
    }
    return found;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    open_library = symbol("H5open");
    file_open = symbol("H5Fopen"), file_close = symbol("H5Fclose");
    dataset_open = symbol("H5Dopen2"), dataset_type = symbol("H5Dget_type"), dataset_space = symbol("H5Dget_space");
    dataset_read = symbol("H5Dread"), dataset_close = symbol("H5Dclose");
    attribute_open = symbol("H5Aopen"), attribute_type = symbol("H5Aget_type"), attribute_space = symbol("H5Aget_space");
    attribute_read = symbol("H5Aread"), attribute_close = symbol("H5Aclose");
    type_size = symbol("H5Tget_size"), native_type = symbol("H5Tget_native_type"), type_close = symbol("H5Tclose");
    space_points = symbol("H5Sget_simple_extent_npoints"), space_close = symbol("H5Sclose");
    link_iterate = symbol("H5Literate2"), attribute_iterate = symbol("H5Aiterate2");
    open_library();
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        datasets = attributes = bytes = sum = 0;
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        hid_t file = file_open(argv[2], 0, 0);
        if (file < 0) return 3;
        hsize_t position = 0;
        if (link_iterate(file, 0, 2, &position, (void *)on_link, NULL) < 0) return 3;
        file_close(file);
        clock_gettime(CLOCK_MONOTONIC, &to);
        printf("%.6f %llu %llu %llu %llu\n",
               (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9,
               (unsigned long long)datasets, (unsigned long long)attributes, (unsigned long long)bytes,
               (unsigned long long)sum);
        fflush(stdout);
    }
    return 0;
}
