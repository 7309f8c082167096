/* Files that are open at the same time, and files that are empty: behaviour that clients rely on. */
#include "check.h"
#include <string.h>

/* A virtual dataset shows elements that another open file holds in memory. */
static void dirty_elements_show_in_a_virtual_dataset(void)
{
    hsize_t shape[1] = {4};
    int written[4] = {1, 2, 3, 4}, read[4] = {0};
    hid_t space = H5Screate_simple(1, shape, NULL);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), file, view, source, dataset;
    CHECK(H5Pset_virtual(list, space, "source.h5", "a", space) >= 0);
    file = H5Fcreate("view.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    view = H5Dcreate2(file, "v", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    CHECK(view >= 0);
    CHECK(H5Dclose(view) >= 0 && H5Fclose(file) >= 0);

    source = H5Fcreate("source.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    dataset = H5Dcreate2(source, "a", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, written) >= 0);
    file = H5Fopen("view.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    view = H5Dopen2(file, "v", H5P_DEFAULT);
    CHECK(H5Dread(view, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
    CHECK(memcmp(written, read, sizeof read) == 0);
    /* A second write shows in the same handle. */
    written[2] = 33;
    CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, written) >= 0);
    CHECK(H5Dread(view, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
    CHECK(read[2] == 33);
    CHECK(H5Dclose(view) >= 0 && H5Dclose(dataset) >= 0 && H5Sclose(space) >= 0 && H5Pclose(list) >= 0);
    CHECK(H5Fclose(file) >= 0 && H5Fclose(source) >= 0);
}

/* A dataspace without a choice of elements selects its own extent, also after the dataset has grown. */
static void a_dataspace_of_before_selects_its_extent(void)
{
    hsize_t shape[1] = {2}, unlimited[1] = {H5S_UNLIMITED}, chunk[1] = {2}, larger[1] = {4};
    int written[2] = {5, 6}, read[4] = {0}, expected[4] = {5, 6, 9, 9}, fill = 9;
    hid_t file = H5Fcreate("grown.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, shape, unlimited), list = H5Pcreate(H5P_DATASET_CREATE), dataset;
    CHECK(H5Pset_chunk(list, 1, chunk) >= 0 && H5Pset_fill_value(list, H5T_NATIVE_INT, &fill) >= 0);
    dataset = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    CHECK(H5Dset_extent(dataset, larger) >= 0);
    CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, space, space, H5P_DEFAULT, written) >= 0);
    CHECK(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
    CHECK(memcmp(read, expected, sizeof read) == 0);
    /* The dataset is smaller now. */
    CHECK(H5Sset_extent_simple(space, 1, larger, unlimited) >= 0);
    shape[0] = 1;
    CHECK(H5Dset_extent(dataset, shape) >= 0);
    H5E_BEGIN_TRY
    {
        CHECK(H5Dread(dataset, H5T_NATIVE_INT, space, space, H5P_DEFAULT, read) < 0);
    }
    H5E_END_TRY
    CHECK(H5Dclose(dataset) >= 0 && H5Sclose(space) >= 0 && H5Pclose(list) >= 0 && H5Fclose(file) >= 0);
}

/* An attribute without elements is written and read without a conversion, whatever the datatypes. */
static void an_attribute_without_elements_has_no_conversion(void)
{
    hid_t file = H5Fcreate("null.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate(H5S_NULL);
    hid_t attribute = H5Acreate2(file, "a", H5T_C_S1, space, H5P_DEFAULT, H5P_DEFAULT);
    float value = 1;
    CHECK(H5Awrite(attribute, H5T_NATIVE_FLOAT, &value) >= 0);
    CHECK(H5Aread(attribute, H5T_NATIVE_FLOAT, &value) >= 0 && value == 1);
    CHECK(H5Aclose(attribute) >= 0 && H5Aexists(file, "a") > 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
}

/* An empty file that is opened for writing becomes an HDF5 file; for reading, it is an error. */
static void an_empty_file_becomes_a_file(void)
{
    FILE *empty = fopen("empty.h5", "wb");
    hid_t file, group;
    CHECK(empty != NULL && fclose(empty) == 0);
    H5E_BEGIN_TRY { file = H5Fopen("empty.h5", H5F_ACC_RDONLY, H5P_DEFAULT); } H5E_END_TRY
    CHECK(file < 0);
    file = H5Fopen("empty.h5", H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0);
    group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(group >= 0 && H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
    file = H5Fopen("empty.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(file >= 0 && H5Lexists(file, "g", H5P_DEFAULT) > 0 && H5Fclose(file) >= 0);
}

/* A string that was never written, and a string that was written as a null pointer, are null
   pointers after a read. An empty string is an empty string. */
static void null_strings_stay_null(void)
{
    hsize_t shape[1] = {4}, start[1] = {1}, count[1] = {3};
    const char *texts[3] = {"text", NULL, ""};
    char *read[4] = {NULL, NULL, NULL, NULL};
    hid_t file = H5Fcreate("strings.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, shape, NULL);
    hid_t part = H5Screate_simple(1, count, NULL), dataset;
    CHECK(H5Tset_size(type, H5T_VARIABLE) >= 0);
    dataset = H5Dcreate2(file, "s", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
    CHECK(H5Dwrite(dataset, type, part, space, H5P_DEFAULT, texts) >= 0);
    CHECK(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
    CHECK(read[0] == NULL && read[2] == NULL);
    CHECK(read[1] != NULL && strcmp(read[1], "text") == 0 && read[3] != NULL && read[3][0] == 0);
    CHECK(H5Sselect_all(space) >= 0 && H5Treclaim(type, space, H5P_DEFAULT, read) >= 0);
    CHECK(H5Dclose(dataset) >= 0 && H5Sclose(part) >= 0 && H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
    CHECK(H5Fclose(file) >= 0);
}

/* Blocks that the program's allocator of variable-length data has given out. */
static int blocks = 0;

/* The address of a block differs from the address that malloc returned. */
static void *give(size_t size, void *data)
{
    char *block = malloc(size + 16);
    (void)data;
    blocks++;
    return block + 16;
}

static void take(void *block, void *data)
{
    (void)data;
    if (block != NULL) {
        blocks--;
        free((char *)block - 16);
    }
}

/* Variable-length data goes back to the allocator that it comes from, in a write and in a read. */
static void the_allocator_of_the_program_gets_its_blocks_back(void)
{
    hsize_t shape[1] = {2};
    int one[1] = {7}, two[2] = {8, 9};
    hvl_t written[2] = {{1, one}, {2, two}}, read[2];
    hid_t file = H5Fcreate("blocks.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = H5Tvlen_create(H5T_NATIVE_INT), other = H5Tvlen_create(H5T_NATIVE_SHORT);
    hid_t space = H5Screate_simple(1, shape, NULL), transfer = H5Pcreate(H5P_DATASET_XFER);
    hid_t dataset = H5Dcreate2(file, "v", other, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Pset_vlen_mem_manager(transfer, give, NULL, take, NULL) >= 0);
    CHECK(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, transfer, written) >= 0);
    CHECK(blocks == 0);
    CHECK(H5Dread(dataset, type, H5S_ALL, H5S_ALL, transfer, read) >= 0);
    CHECK(read[1].len == 2 && ((int *)read[1].p)[1] == 9);
    CHECK(blocks == 2);
    CHECK(H5Treclaim(type, space, transfer, read) >= 0);
    CHECK(blocks == 0);
    CHECK(H5Dclose(dataset) >= 0 && H5Pclose(transfer) >= 0 && H5Sclose(space) >= 0);
    CHECK(H5Tclose(type) >= 0 && H5Tclose(other) >= 0 && H5Fclose(file) >= 0);
}

/* One call reads or writes datasets of one file only. */
static void one_call_uses_one_file(void)
{
    hsize_t shape[1] = {2};
    int values[2] = {1, 2}, others[2] = {3, 4};
    hid_t space = H5Screate_simple(1, shape, NULL), files[2], sets[2], again;
    hid_t types[2], spaces[2] = {H5S_ALL, H5S_ALL};
    const void *written[2];
    void *read[2];
    files[0] = H5Fcreate("one.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    files[1] = H5Fcreate("two.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < 2; i++) {
        types[i] = H5T_NATIVE_INT;
        sets[i] = H5Dcreate2(files[i], "d", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        CHECK(sets[i] >= 0);
    }
    written[0] = read[0] = values;
    written[1] = read[1] = others;
    H5E_BEGIN_TRY {
        CHECK(H5Dwrite_multi(2, sets, types, spaces, spaces, H5P_DEFAULT, written) < 0);
        CHECK(H5Dread_multi(2, sets, types, spaces, spaces, H5P_DEFAULT, read) < 0);
    } H5E_END_TRY
    CHECK(values[0] == 1 && others[1] == 4);
    again = H5Dcreate2(files[0], "e", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(again >= 0 && H5Dclose(sets[1]) >= 0);
    sets[1] = again;
    CHECK(H5Dwrite_multi(2, sets, types, spaces, spaces, H5P_DEFAULT, written) >= 0);
    values[0] = others[1] = 0;
    CHECK(H5Dread_multi(2, sets, types, spaces, spaces, H5P_DEFAULT, read) >= 0);
    CHECK(values[0] == 1 && others[1] == 4);
    CHECK(H5Dclose(sets[0]) >= 0 && H5Dclose(sets[1]) >= 0 && H5Sclose(space) >= 0);
    CHECK(H5Fclose(files[0]) >= 0 && H5Fclose(files[1]) >= 0);
}

int main(void)
{
    one_call_uses_one_file();
    the_allocator_of_the_program_gets_its_blocks_back();
    dirty_elements_show_in_a_virtual_dataset();
    a_dataspace_of_before_selects_its_extent();
    an_attribute_without_elements_has_no_conversion();
    an_empty_file_becomes_a_file();
    null_strings_stay_null();
    puts("done");
    return 0;
}
