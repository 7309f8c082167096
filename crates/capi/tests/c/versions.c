/* Calls each name that has versions, with the arguments of the chosen version. The test compiles this
 * file for each release that the headers offer, as C and as C++. */
#include <hdf5.h>

#if !H5_VERSION_GE(2, 2, 0) || !H5_VERSION_LE(2, 2, 0) || H5_VERSION_GE(2, 2, 1) || \
    H5_VERSION_LE(2, 1, 9) || H5_VERSION_GE(3, 0, 0) || !H5_VERSION_LE(3, 0, 0)
#error "comparisons of versions"
#endif

/* The release that the test asks for, and one name for each release in which names changed. */
#ifdef EXPECT_ACREATE
#if H5Acreate_vers != EXPECT_ACREATE || H5Fget_info_vers != EXPECT_FGET_INFO || \
    H5Oget_info_vers != EXPECT_OGET_INFO || H5Tdecode_vers != EXPECT_TDECODE
#error "the versions are not those of the release"
#endif
#endif

int attributes(hid_t id);
int objects(hid_t id);
int links(hid_t id);
int errors(hid_t id);
int types(hid_t id);
int lists(hid_t id);

#if H5Aiterate_vers == 1
static herr_t on_attribute(hid_t id, const char *name, void *data)
{
    return id < 0 || name == NULL || data != NULL;
}
#else
static herr_t on_attribute(hid_t id, const char *name, const H5A_info_t *info, void *data)
{
    return id < 0 || name == NULL || info == NULL || data != NULL;
}
#endif

int attributes(hid_t id)
{
    H5A_operator_t operation = on_attribute;
#if H5Acreate_vers == 1
    hid_t made = H5Acreate(id, "a", H5T_NATIVE_INT, H5S_ALL, H5P_DEFAULT);
#else
    hid_t made = H5Acreate(id, "a", H5T_NATIVE_INT, H5S_ALL, H5P_DEFAULT, H5P_DEFAULT);
#endif
#if H5Aiterate_vers == 1
    unsigned at = 0;
    return made > 0 && H5Aiterate(id, &at, operation, NULL) >= 0;
#else
    hsize_t at = 0;
    return made > 0 && H5Aiterate(id, H5_INDEX_NAME, H5_ITER_INC, &at, operation, NULL) >= 0;
#endif
}

static herr_t on_object(hid_t id, const char *name, const H5O_info_t *info, void *data)
{
    H5O_info_t copy = *info;
#if H5O_info_t_vers == 1
    return id < 0 || name == NULL || copy.addr == HADDR_UNDEF || data != NULL;
#else
    return id < 0 || name == NULL || H5O_IS_TOKEN_UNDEF(copy.token) || data != NULL;
#endif
}

int objects(hid_t id)
{
    H5O_iterate_t operation = on_object;
    H5O_info_t info;
    H5F_info_t file;
    herr_t status = H5Fget_info(id, &file);
    hid_t made = 0;
    int is_unknown = 1;
    hobj_ref_t reference = 0;
    hsize_t offset = 0;
    uint32_t filters = 0;
    char buffer[8];
    size_t size = sizeof buffer;
#if H5Dcreate_vers == 1
    made += H5Dcreate(id, "d", H5T_NATIVE_INT, H5S_ALL, H5P_DEFAULT);
#else
    made += H5Dcreate(id, "d", H5T_NATIVE_INT, H5S_ALL, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
#endif
#if H5Dopen_vers == 1
    made += H5Dopen(id, "d");
#else
    made += H5Dopen(id, "d", H5P_DEFAULT);
#endif
#if H5Dread_chunk_vers == 1
    status += H5Dread_chunk(id, H5P_DEFAULT, &offset, &filters, buffer);
#else
    status += H5Dread_chunk(id, H5P_DEFAULT, &offset, &filters, buffer, &size);
#endif
#if H5Gcreate_vers == 1
    made += H5Gcreate(id, "g", 0);
#else
    made += H5Gcreate(id, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
#endif
#if H5Gopen_vers == 1
    made += H5Gopen(id, "g");
#else
    made += H5Gopen(id, "g", H5P_DEFAULT);
#endif
#if H5Oget_info_vers == 1
    status += H5Oget_info(id, &info);
#else
    status += H5Oget_info(id, &info, H5O_INFO_BASIC);
#endif
#if H5Oget_info_by_name_vers == 1
    status += H5Oget_info_by_name(id, "g", &info, H5P_DEFAULT);
#else
    status += H5Oget_info_by_name(id, "g", &info, H5O_INFO_BASIC, H5P_DEFAULT);
#endif
#if H5Oget_info_by_idx_vers == 1
    status += H5Oget_info_by_idx(id, ".", H5_INDEX_NAME, H5_ITER_INC, 0, &info, H5P_DEFAULT);
#else
    status += H5Oget_info_by_idx(id, ".", H5_INDEX_NAME, H5_ITER_INC, 0, &info, H5O_INFO_BASIC,
        H5P_DEFAULT);
#endif
#if H5Ovisit_vers == 1
    status += H5Ovisit(id, H5_INDEX_NAME, H5_ITER_INC, operation, NULL);
#else
    status += H5Ovisit(id, H5_INDEX_NAME, H5_ITER_INC, operation, NULL, H5O_INFO_ALL);
#endif
#if H5Ovisit_by_name_vers == 1
    status += H5Ovisit_by_name(id, ".", H5_INDEX_NAME, H5_ITER_INC, operation, NULL, H5P_DEFAULT);
#else
    status += H5Ovisit_by_name(id, ".", H5_INDEX_NAME, H5_ITER_INC, operation, NULL, H5O_INFO_ALL,
        H5P_DEFAULT);
#endif
#if H5Rdereference_vers == 1
    made += H5Rdereference(id, H5R_OBJECT, &reference);
#else
    made += H5Rdereference(id, H5P_DEFAULT, H5R_OBJECT, &reference);
#endif
#if H5Rget_obj_type_vers == 1
    is_unknown = H5Rget_obj_type(id, H5R_OBJECT, &reference) == H5G_UNKNOWN;
#else
    {
        H5O_type_t kind = H5O_TYPE_UNKNOWN;
        status += H5Rget_obj_type(id, H5R_OBJECT, &reference, &kind);
        is_unknown = kind == H5O_TYPE_UNKNOWN;
    }
#endif
    return status >= 0 && made > 0 && is_unknown && size;
}

static herr_t on_link(hid_t id, const char *name, const H5L_info_t *info, void *data)
{
#if H5Lget_info_vers == 1
    return id < 0 || name == NULL || info->u.address == HADDR_UNDEF || data != NULL;
#else
    return id < 0 || name == NULL || H5O_IS_TOKEN_UNDEF(info->u.token) || data != NULL;
#endif
}

int links(hid_t id)
{
    H5L_iterate_t operation = on_link;
    H5L_info_t info;
    hsize_t at = 0;
    herr_t status = H5Lget_info(id, "l", &info, H5P_DEFAULT);
    status += H5Lget_info_by_idx(id, ".", H5_INDEX_NAME, H5_ITER_INC, 0, &info, H5P_DEFAULT);
    status += H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, &at, operation, NULL);
    status += H5Literate_by_name(id, ".", H5_INDEX_NAME, H5_ITER_INC, &at, operation, NULL,
        H5P_DEFAULT);
    status += H5Lvisit(id, H5_INDEX_NAME, H5_ITER_INC, operation, NULL);
    status += H5Lvisit_by_name(id, ".", H5_INDEX_NAME, H5_ITER_INC, operation, NULL, H5P_DEFAULT);
    return status >= 0;
}

#if H5Ewalk_vers == 1
static herr_t on_error(int n, H5E_error_t *error, void *data)
#else
static herr_t on_error(unsigned n, const H5E_error_t *error, void *data)
#endif
{
    return n == 0 && error->desc != NULL && data == NULL;
}

int errors(hid_t id)
{
    H5E_walk_t operation = on_error;
    H5E_auto_t automatic = NULL;
    void *data = NULL;
    herr_t status = id < 0;
#if H5Eget_auto_vers == 1
    status += H5Eget_auto(&automatic, &data) + H5Eset_auto(automatic, data);
#else
    status += H5Eget_auto(H5E_DEFAULT, &automatic, &data);
    status += H5Eset_auto(H5E_DEFAULT, automatic, data);
#endif
#if H5Epush_vers == 1
    status += H5Epush("file", "function", 1, H5E_ARGS, H5E_BADVALUE, "text");
    status += H5Eprint(stderr) + H5Ewalk(H5E_WALK_UPWARD, operation, NULL) + H5Eclear();
#else
    status += H5Epush(H5E_DEFAULT, "file", "function", 1, H5E_ERR_CLS, H5E_ARGS, H5E_BADVALUE,
        "%s %d", "text", 1);
    status += H5Eprint(H5E_DEFAULT, stderr);
    status += H5Ewalk(H5E_DEFAULT, H5E_WALK_UPWARD, operation, NULL) + H5Eclear(H5E_DEFAULT);
#endif
    H5E_BEGIN_TRY
    {
        H5E_BEGIN_TRY
        {
            status += H5Epush_sim("function", H5E_ERR_CLS, H5E_ARGS, H5E_BADVALUE, "text");
        }
        H5E_END_TRY;
    }
    H5E_END_TRY
    return status >= 0;
}

int types(hid_t id)
{
    hsize_t dims[1] = {3};
    unsigned char buffer[8] = {0};
    size_t size = sizeof buffer;
    hid_t made = 0;
    herr_t status = 0;
    H5Z_class_t filter;
#if H5Tarray_create_vers == 1
    made += H5Tarray_create(H5T_NATIVE_INT, 1, dims, NULL);
#else
    made += H5Tarray_create(H5T_NATIVE_INT, 1, dims);
#endif
#if H5Tget_array_dims_vers == 1
    status += H5Tget_array_dims(made, dims, NULL);
#else
    status += H5Tget_array_dims(made, dims);
#endif
#if H5Tcommit_vers == 1
    status += H5Tcommit(id, "t", made);
#else
    status += H5Tcommit(id, "t", made, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
#endif
#if H5Topen_vers == 1
    made += H5Topen(id, "t");
#else
    made += H5Topen(id, "t", H5P_DEFAULT);
#endif
#if H5Tdecode_vers == 1
    made += H5Tdecode(buffer);
#else
    made += H5Tdecode(buffer, size);
#endif
#if H5Sencode_vers == 1
    status += H5Sencode(id, buffer, &size);
#else
    status += H5Sencode(id, buffer, &size, H5P_DEFAULT);
#endif
#if H5Z_class_t_vers == 2
    filter.version = H5Z_CLASS_T_VERS;
#endif
    filter.id = H5Z_FILTER_RESERVED;
    return status >= 0 && made > 0 && filter.id > 0;
}

int lists(hid_t id)
{
    unsigned flags = 0;
    unsigned config = 0;
    unsigned values[4];
    size_t count = 4;
    char name[16];
    herr_t status = 0;
    H5I_type_t type = H5I_BADID;
#if H5Pencode_vers == 1
    status += H5Pencode(id, name, &count);
#else
    status += H5Pencode(id, name, &count, H5P_DEFAULT);
#endif
#if H5Pget_filter_vers == 1
    status += H5Pget_filter(id, 0, &flags, &count, values, sizeof name, name);
#else
    status += H5Pget_filter(id, 0, &flags, &count, values, sizeof name, name, &config);
#endif
#if H5Pget_filter_by_id_vers == 1
    status += H5Pget_filter_by_id(id, 1, &flags, &count, values, sizeof name, name);
#else
    status += H5Pget_filter_by_id(id, 1, &flags, &count, values, sizeof name, name, &config);
#endif
#if H5Pinsert_vers == 1
    status += H5Pinsert(id, "p", 4, values, NULL, NULL, NULL, NULL, NULL);
#else
    status += H5Pinsert(id, "p", 4, values, NULL, NULL, NULL, NULL, NULL, NULL);
#endif
#if H5Pregister_vers == 1
    status += H5Pregister(id, "p", 4, values, NULL, NULL, NULL, NULL, NULL, NULL);
#else
    status += H5Pregister(id, "p", 4, values, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
#endif
#if H5Iregister_type_vers == 1
    type = H5Iregister_type(0, 0, NULL);
#else
    type = H5Iregister_type(0, NULL);
#endif
    return status >= 0 && type != H5I_BADID && config == 0;
}
