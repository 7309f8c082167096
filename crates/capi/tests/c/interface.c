/* Parts of the interface that programs use besides calls: predefined identifiers, macros, callbacks and
 * structs of drivers, filters, links and conversions, asynchronous calls, and the sparse calls. */
#include <H5PLextern.h>
#include <hyperslab_sparse.h>

int identifiers(void);
int asynchronous(hid_t id, hid_t events);
hid_t driver(void);
herr_t classes(void);
herr_t sparse(hid_t list, hid_t dataset);

#if H5_SIZEOF_FLOAT_COMPLEX != 8 || H5_SIZEOF_DOUBLE_COMPLEX != 16 || H5_SIZEOF_LONG_DOUBLE < 8
#error "sizes for #if"
#endif

int identifiers(void)
{
    const hid_t ids[] = {H5T_NATIVE_INT, H5T_NATIVE_CHAR, H5T_NATIVE_FLOAT16, H5T_INTEL_I32,
        H5T_NATIVE_DOUBLE_COMPLEX, H5T_C_S1, H5P_FILE_CREATE, H5P_DATASET_XFER_DEFAULT,
        H5E_ERR_CLS, H5E_DATASET, H5E_CANTOPENFILE, H5FD_SEC2, H5FD_CORE, H5FD_ROS3, H5FD_MPIO,
        H5VL_NATIVE, H5VL_PASSTHRU, H5I_INVALID_HID};
    const H5O_token_t token = H5O_TOKEN_UNDEF;
    struct pair {
        int a;
        double b;
    };
    H5check();
    if (HOFFSET(struct pair, b) < sizeof(int) || H5OPEN H5_libterm_g)
        return 0;
    return ids[0] > 0 && H5O_IS_TOKEN_UNDEF(token) && sizeof H5_VERS_INFO > sizeof H5_VERS_STR;
}

int asynchronous(hid_t id, hid_t events)
{
    hid_t (*open)(const char *, const char *, unsigned, hid_t, const char *, hid_t, hid_t) =
        H5Dopen_async_wrap;
    hid_t dataset = H5Dopen_async(id, "d", H5P_DEFAULT, events);
    hid_t again = open(__FILE__, "asynchronous", 1, id, "d", H5P_DEFAULT, events);
    size_t left = 0;
    hbool_t failed = 0;
    return dataset == again && H5Fflush_async(id, H5F_SCOPE_LOCAL, events) >= 0 &&
        H5ESwait(events, H5ES_WAIT_FOREVER, &left, &failed) >= 0;
}

/* An open file of a driver of the application. */
typedef struct own_file_t {
    H5FD_t base;
    haddr_t end;
} own_file_t;

static haddr_t own_end(const H5FD_t *file, H5FD_mem_t type)
{
    return type == H5FD_MEM_DEFAULT ? ((const own_file_t *)file)->end : HADDR_UNDEF;
}

hid_t driver(void)
{
    static const H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    H5FD_class_t driver_class;
    memset(&driver_class, 0, sizeof driver_class);
    driver_class.version = H5FD_CLASS_VERSION;
    driver_class.value = H5_VFD_RESERVED;
    driver_class.name = "own";
    driver_class.maxaddr = HADDR_MAX;
    driver_class.fc_degree = H5F_CLOSE_WEAK;
    driver_class.get_eoa = own_end;
    driver_class.get_eof = own_end;
    memcpy(driver_class.fl_map, map, sizeof map);
    return H5FDregister(&driver_class);
}

static size_t own_filter(unsigned int flags, size_t cd_nelmts, const unsigned int cd_values[],
    size_t nbytes, size_t *buf_size, void **buf)
{
    (void)cd_values;
    return (flags & H5Z_FLAG_REVERSE) && cd_nelmts == 0 && *buf != NULL && *buf_size ? nbytes : 0;
}

static herr_t own_conversion(hid_t src_id, hid_t dst_id, H5T_cdata_t *cdata, size_t nelmts,
    size_t buf_stride, size_t bkg_stride, void *buf, void *bkg, hid_t dxpl_id)
{
    (void)buf;
    (void)bkg;
    cdata->need_bkg = H5T_BKG_NO;
    return src_id == dst_id && nelmts && buf_stride == bkg_stride && dxpl_id ? 0 : -1;
}

static hid_t own_traverse(const char *name, hid_t group, const void *data, size_t size,
    hid_t lapl_id, hid_t dxpl_id)
{
    return name && data && size && lapl_id == dxpl_id ? group : H5I_INVALID_HID;
}

herr_t classes(void)
{
    H5Z_class2_t filter;
    H5L_class_t link;
    memset(&filter, 0, sizeof filter);
    memset(&link, 0, sizeof link);
    filter.version = H5Z_CLASS_T_VERS;
    filter.id = H5Z_FILTER_RESERVED;
    filter.encoder_present = filter.decoder_present = 1;
    filter.filter = own_filter;
    link.version = H5L_LINK_CLASS_T_VERS;
    link.id = H5L_TYPE_MAX;
    link.trav_func = own_traverse;
    return H5Zregister(&filter) + H5Lregister(&link) +
        H5Tregister(H5T_PERS_SOFT, "own", H5T_NATIVE_INT, H5T_STD_I8LE, own_conversion);
}

H5PL_type_t H5PLget_plugin_type(void)
{
    return H5PL_TYPE_FILTER;
}

const void *H5PLget_plugin_info(void)
{
    static H5Z_class2_t filter;
    filter.version = H5Z_CLASS_T_VERS;
    return &filter;
}

static int on_chunk(const hsize_t *offset, H5D_struct_chunk_info_t *info, haddr_t *addr,
    hsize_t *size, void *data)
{
    return offset[0] == 0 && info->type == H5D_SPARSE_CHUNK && *addr != HADDR_UNDEF && *size &&
            data == NULL
        ? H5_ITER_CONT
        : H5_ITER_STOP;
}

herr_t sparse(hid_t list, hid_t dataset)
{
    const hsize_t dims[2] = {5, 9};
    herr_t status = H5Pset_layout(list, H5D_STRUCT_CHUNK);
    status += H5Pset_struct_chunk(list, 2, dims, H5D_SPARSE_CHUNK);
    status += H5Pset_filter2(list, H5_SECTION_FIXED, H5Z_FILTER_DEFLATE, 0, 0, NULL);
    status += H5Dstruct_chunk_iter(dataset, H5P_DEFAULT, on_chunk, NULL);
    status += H5Derase(dataset, H5S_ALL, H5P_DEFAULT);
    return H5Dget_defined(dataset, H5S_ALL, H5P_DEFAULT) > 0 ? status : -1;
}
