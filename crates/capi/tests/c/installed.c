/* A program that uses the installed library: it writes a compressed dataset and reads it again. */
#include <hdf5.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    int values[6] = {1, 2, 3, 4, 5, 6}, read[6] = {0};
    const hsize_t size[2] = {2, 3};
    if (count != 2)
        return 2;
    hid_t file = H5Fcreate(arguments[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (H5Pset_chunk(list, 2, size) < 0 || H5Pset_deflate(list, 4) < 0)
        return 3;
    hid_t dataset = H5Dcreate2(file, "x", H5T_STD_I32BE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        return 4;
    if (H5Dclose(dataset) < 0 || H5Pclose(list) < 0 || H5Sclose(space) < 0 || H5Fclose(file) < 0)
        return 5;
    file = H5Fopen(arguments[1], H5F_ACC_RDONLY, H5P_DEFAULT);
    dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    if (H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) < 0)
        return 6;
    for (int i = 0; i < 6; i++)
        if (read[i] != values[i])
            return 7;
    return H5Dclose(dataset) < 0 || H5Fclose(file) < 0 ? 8 : 0;
}
