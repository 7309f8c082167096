/* Data transforms, conversions of files to old formats, and sizes of indexes and heaps. */
#include "check.h"
#include <string.h>

#define COUNT 100

/* Creates a dataset of numbers from 0 on, in chunks of 10. */
static hid_t dataset_of_numbers(hid_t file, const char *name, hid_t type)
{
    const hsize_t shape[1] = {COUNT}, chunk[1] = {10};
    double values[COUNT];
    hid_t space = H5Screate_simple(1, shape, NULL), list = H5Pcreate(H5P_DATASET_CREATE), dataset;
    for (int i = 0; i < COUNT; i++)
        values[i] = i;
    CHECK(H5Pset_chunk(list, 1, chunk) >= 0 && H5Pset_deflate(list, 3) >= 0);
    dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    CHECK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    CHECK(H5Pclose(list) >= 0 && H5Sclose(space) >= 0);
    return dataset;
}

static void transforms_apply_in_memory(void)
{
    hid_t file = H5Fcreate("transform.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t dataset = dataset_of_numbers(file, "a", H5T_STD_I32BE), list = H5Pcreate(H5P_DATASET_XFER);
    const hsize_t start[1] = {30}, stride[1] = {20}, count[1] = {3}, three[1] = {3};
    hid_t some = H5Dget_space(dataset), memory = H5Screate_simple(1, three, NULL);
    int integers[COUNT];
    double floats[COUNT];
    char text[40];

    CHECK(H5Pset_data_transform(list, "(5/9.0)*(x-32)") >= 0);
    CHECK(H5Pget_data_transform(list, text, sizeof text) == 14 && strcmp(text, "(5/9.0)*(x-32)") == 0);
    /* The datatype in memory decides the arithmetic. */
    CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, list, floats) >= 0);
    CHECK(floats[32] == 0 && floats[41] == 5 && floats[33] > 0.55 && floats[33] < 0.56);
    CHECK(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, list, integers) >= 0);
    CHECK(integers[0] == -17 && integers[33] == 0 && integers[99] == 37);
    /* Only the selected elements change, and a write leaves the buffer of the program. */
    CHECK(H5Sselect_hyperslab(some, H5S_SELECT_SET, start, stride, count, NULL) >= 0);
    CHECK(H5Pset_data_transform(list, "x*2+1") >= 0);
    integers[0] = 1, integers[1] = 2, integers[2] = 3;
    CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, memory, some, list, integers) >= 0);
    CHECK(integers[0] == 1 && integers[1] == 2 && integers[2] == 3);
    CHECK(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, integers) >= 0);
    CHECK(integers[30] == 3 && integers[50] == 5 && integers[70] == 7 && integers[31] == 31);
    /* Expressions that are none, and datatypes that are no numbers of this machine. */
    H5E_BEGIN_TRY
    {
        CHECK(H5Pset_data_transform(list, "x+") < 0 && H5Pset_data_transform(list, "(x") < 0);
        CHECK(H5Dread(dataset, H5T_STD_I32BE, H5S_ALL, H5S_ALL, list, integers) < 0);
    }
    H5E_END_TRY
    CHECK(H5Sclose(some) >= 0 && H5Sclose(memory) >= 0 && H5Pclose(list) >= 0);
    CHECK(H5Dclose(dataset) >= 0 && H5Fclose(file) >= 0);
}

/* Creates a file in the newest format and converts it to the format of HDF5 1.8. */
static void files_become_old(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file, dataset;
    H5D_chunk_index_t index;
    H5F_info2_t info;
    haddr_t before, after;
    hsize_t size;
    int integers[COUNT];

    CHECK(H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0);
    file = H5Fcreate("old.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    dataset = dataset_of_numbers(file, "a", H5T_STD_I32LE);
    CHECK(H5Dget_chunk_index_type(dataset, &index) >= 0 && index == H5D_CHUNK_IDX_FARRAY);
    CHECK(H5Dget_chunk_info(dataset, H5S_ALL, 3, NULL, NULL, &before, &size) >= 0);
    CHECK(H5Fget_info2(file, &info) >= 0 && info.super.version == 3);
    CHECK(H5Dformat_convert(dataset) >= 0 && H5Fformat_convert(file) >= 0);
    CHECK(H5Dget_chunk_index_type(dataset, &index) >= 0 && index == H5D_CHUNK_IDX_BTREE);
    CHECK(H5Dget_chunk_info(dataset, H5S_ALL, 3, NULL, NULL, &after, &size) >= 0 && before == after);
    CHECK(H5Fget_info2(file, &info) >= 0 && info.super.version == 2);
    /* The same handle reads and writes. */
    CHECK(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, integers) >= 0);
    for (int i = 0; i < COUNT; i++)
        CHECK(integers[i] == i);
    integers[99] = 1000;
    CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, integers) >= 0);
    CHECK(H5Dformat_convert(dataset) >= 0);
    CHECK(H5Dclose(dataset) >= 0 && H5Fclose(file) >= 0 && H5Pclose(fapl) >= 0);
}

/* Objects state the sizes of their indexes and heaps. */
static void objects_have_sizes(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file, dataset, scalar = H5Screate(H5S_SCALAR), attribute;
    H5O_native_info_t info;
    char name[8];

    /* The root group has a symbol table. */
    CHECK(H5Pset_libver_bounds(fapl, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST) >= 0);
    file = H5Fcreate("sizes.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    dataset = dataset_of_numbers(file, "a", H5T_STD_I32LE);
    for (int i = 0; i < 20; i++) {
        sprintf(name, "%d", i);
        attribute = H5Acreate2(dataset, name, H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
        CHECK(attribute >= 0 && H5Aclose(attribute) >= 0);
    }
    CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    CHECK(H5Oget_native_info(dataset, &info, H5O_NATIVE_INFO_ALL) >= 0);
    CHECK(info.meta_size.obj.index_size > 0 && info.meta_size.obj.heap_size == 0);
    CHECK(H5Oget_native_info(file, &info, H5O_NATIVE_INFO_ALL) >= 0);
    CHECK(info.meta_size.obj.index_size > 0 && info.meta_size.obj.heap_size > 0);
    CHECK(H5Sclose(scalar) >= 0 && H5Dclose(dataset) >= 0 && H5Fclose(file) >= 0 && H5Pclose(fapl) >= 0);
}

int main(void)
{
    transforms_apply_in_memory();
    files_become_old();
    objects_have_sizes();
    puts("done");
    return 0;
}
