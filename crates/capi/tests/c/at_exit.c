/* Functions of the library that run at the exit of the program, as those of C++ destructors do: before the library closes
   all files, and afterwards. */
#include "hdf5.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static hid_t file, dataset, list;

static void
at_exit(void)
{
    int value = 7;
    int status = H5Iget_type(file) == H5I_FILE ? 0 : 1;
    if (H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0)
        status = 2;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (H5Dclose(file) >= 0 || H5Eget_num(H5E_DEFAULT) != 0)
        status = 3;
    if (H5Pclose(list) < 0 || H5Dclose(dataset) < 0 || H5Fclose(file) < 0)
        status = 4;
    fflush(stdout);
    if (status != 0)
        _exit(status);
}

static void
after_exit(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (H5Iget_type(file) == H5I_FILE || H5Dclose(dataset) >= 0)
        _exit(5);
}

int
main(int count, char **arguments)
{
    hid_t space;
    if (count != 2)
        return 10;
    atexit(after_exit);
    list  = H5Pcreate(H5P_DATASET_CREATE);
    file  = H5Fcreate(arguments[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    space = H5Screate(H5S_SCALAR);
    dataset =
        H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    atexit(at_exit);
    return file < 0 || dataset < 0 || H5Sclose(space) < 0 ? 11 : 0;
}
