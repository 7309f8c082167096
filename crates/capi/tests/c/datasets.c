/* The life of a dataset with the functions of HDF5 1.6: creation with and without a fill value,
   writing, reading, questions about the dataset, and extension. Prints one line for each step, and
   ends with a status that is not zero if a step fails. */

#define H5_USE_16_API
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);           \
            return 1;                                                         \
        }                                                                     \
    } while (0)

static int create(hid_t file)
{
    hsize_t dims[2] = {7, 8};
    hid_t space = H5Screate_simple(2, dims, NULL);
    hid_t type = H5Tcopy(H5T_NATIVE_INT);
    CHECK(space >= 0 && H5Tset_order(type, H5T_ORDER_LE) >= 0);
    hid_t dataset = H5Dcreate(file, "/plain", type, space, H5P_DEFAULT);
    CHECK(dataset >= 0 && H5Dclose(dataset) >= 0);

    int fill = -1;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(list >= 0 && H5Pset_fill_value(list, type, &fill) >= 0);
    dataset = H5Dcreate(file, "/filled", type, space, list);
    CHECK(dataset >= 0);
    int values[7][8];
    CHECK(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    CHECK(values[0][0] == -1 && values[6][7] == -1);
    printf("created, fill value %d\n", values[3][4]);
    CHECK(H5Dclose(dataset) >= 0 && H5Pclose(list) >= 0);
    CHECK(H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
    return 0;
}

static int write_and_read(hid_t file)
{
    int out[7][8], in[7][8];
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 8; j++)
            out[i][j] = i * 8 + j + 1;
    hid_t dataset = H5Dopen(file, "/plain");
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    CHECK(dataset >= 0 && H5Pset_buffer(list, 64 * 1024 * 1024, NULL, NULL) >= 0);
    CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, list, out) >= 0);
    memset(in, 0, sizeof in);
    CHECK(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0);
    CHECK(memcmp(in, out, sizeof in) == 0);

    /* Part of the dataset, as floating-point numbers. */
    hsize_t start[2] = {2, 1}, count[2] = {3, 2};
    float part[6];
    hsize_t length = 6;
    hid_t space = H5Dget_space(dataset);
    hid_t memory = H5Screate_simple(1, &length, NULL);
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
    CHECK(H5Dread(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, part) >= 0);
    CHECK(part[0] == 18.0F && part[5] == 35.0F);
    printf("written and read, part from %g to %g\n", part[0], part[5]);
    CHECK(H5Sclose(space) >= 0 && H5Sclose(memory) >= 0);
    CHECK(H5Pclose(list) >= 0 && H5Dclose(dataset) >= 0);
    return 0;
}

static int question(hid_t file)
{
    hid_t dataset = H5Dopen(file, "/filled");
    hid_t space = H5Dget_space(dataset);
    hid_t type = H5Dget_type(dataset);
    hid_t list = H5Dget_create_plist(dataset);
    hsize_t dims[2], max[2];
    int fill = 0;
    CHECK(H5Sget_simple_extent_dims(space, dims, max) == 2 && dims[0] == 7 && max[1] == 8);
    CHECK(H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == sizeof(int));
    CHECK(H5Pget_layout(list) == H5D_CONTIGUOUS && H5Pget_fill_value(list, type, &fill) >= 0);
    printf("%d by %d, fill value %d\n", (int)dims[0], (int)dims[1], fill);
    CHECK(H5Pclose(list) >= 0 && H5Tclose(type) >= 0);
    CHECK(H5Sclose(space) >= 0 && H5Dclose(dataset) >= 0);
    return 0;
}

static int extend(hid_t file)
{
    hsize_t dims[2] = {2, 3}, max[2] = {H5S_UNLIMITED, H5S_UNLIMITED}, chunk[2] = {2, 5}, grown[2] = {2, 7};
    hid_t space = H5Screate_simple(2, dims, max);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_chunk(list, 2, chunk) >= 0 && H5Pset_deflate(list, 6) >= 0);
    hid_t dataset = H5Dcreate(file, "/growing", H5T_NATIVE_DOUBLE, space, list);
    CHECK(dataset >= 0 && H5Dextend(dataset, grown) >= 0);
    CHECK(H5Sclose(space) >= 0);
    space = H5Dget_space(dataset);
    CHECK(H5Sget_simple_extent_dims(space, dims, NULL) == 2);
    printf("extended to %d by %d\n", (int)dims[0], (int)dims[1]);
    CHECK(dims[1] == 7 && H5Sclose(space) >= 0);
    CHECK(H5Pclose(list) >= 0 && H5Dclose(dataset) >= 0);
    return 0;
}

/* A dataset that does not exist: the call fails, and the error stack says why. */
static herr_t print_innermost(int n, H5E_error_t *error, void *data)
{
    if (n == 0)
        snprintf((char *)data, 200, "%s", error->desc);
    return 0;
}

static int fail(hid_t file)
{
    char text[200] = "";
    CHECK(H5Eset_auto(NULL, NULL) >= 0);
    CHECK(H5Dopen(file, "/missing") < 0);
    CHECK(H5Ewalk(H5E_WALK_UPWARD, print_innermost, text) >= 0 && text[0] != '\0');
    CHECK(H5Dread(-1, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0);
    printf("failed as it should: %s\n", text);
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(file >= 0 && create(file) == 0 && H5Fclose(file) >= 0);
    file = H5Fopen(argv[1], H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0 && write_and_read(file) == 0 && question(file) == 0);
    CHECK(extend(file) == 0 && fail(file) == 0 && H5Fclose(file) >= 0);
    return 0;
}
