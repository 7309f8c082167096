/* Uses names whose version the test chooses one by one. */
#include <hdf5.h>

herr_t names(hid_t id);

herr_t names(hid_t id)
{
    H5O_info_t info;
#if H5Oget_info_vers == 1
    herr_t status = H5Oget_info(id, &info);
#else
    herr_t status = H5Oget_info(id, &info, H5O_INFO_BASIC);
#endif
#if H5Acreate_vers == 1
    return status + (H5Acreate(id, "a", H5T_NATIVE_INT, H5S_ALL, H5P_DEFAULT) < 0);
#else
    return status + (H5Acreate(id, "a", H5T_NATIVE_INT, H5S_ALL, H5P_DEFAULT, H5P_DEFAULT) < 0);
#endif
}
