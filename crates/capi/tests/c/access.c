/* Access lists of datasets and files: folders of raw data and of sources, views and gaps of
 * virtual datasets, memory of file images, sizes of object headers. */
#include "check.h"
#include <string.h>
#include <sys/stat.h>

static const int values[4] = {1, 2, 3, 4};

/* Writes a dataset whose elements are in `raw/values`, and reads it with and without the folder. */
static void raw_folder(void)
{
    hsize_t size = 4;
    int read[4] = {0};
    struct stat status;
    hid_t file = H5Fcreate("raw.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), dapl = H5Pcreate(H5P_DATASET_ACCESS);
    CHECK(mkdir("raw", 0777) == 0);
    CHECK(H5Pset_external(dcpl, "values", 0, H5F_UNLIMITED) >= 0);
    CHECK(H5Pset_efile_prefix(dapl, "${ORIGIN}/raw") >= 0);
    hid_t dset = H5Dcreate2(file, "values", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, dapl);
    CHECK(H5Dwrite(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    CHECK(H5Dclose(dset) >= 0);
    CHECK(stat("raw/values", &status) == 0 && status.st_size == sizeof values);
    CHECK((dset = H5Dopen2(file, "values", dapl)) >= 0);
    CHECK(H5Dread(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
    CHECK(memcmp(read, values, sizeof values) == 0);
    CHECK(H5Dclose(dset) >= 0);
    /* Without the folder, the name starts at the current directory. */
    CHECK((dset = H5Dopen2(file, "values", H5P_DEFAULT)) >= 0);
    H5E_BEGIN_TRY
    CHECK(H5Dread(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) < 0);
    H5E_END_TRY
    CHECK(H5Dclose(dset) >= 0 && H5Pclose(dapl) >= 0 && H5Pclose(dcpl) >= 0);
    CHECK(H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
}

/* Creates the source `source_N` with one column. */
static void source(hid_t file, int number)
{
    char name[16];
    hsize_t size = 1;
    hid_t space = H5Screate_simple(1, &size, NULL);
    snprintf(name, sizeof name, "source_%d", number);
    hid_t dset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Dwrite(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &values[number]) >= 0);
    CHECK(H5Dclose(dset) >= 0 && H5Sclose(space) >= 0);
}

/* Returns the length of the virtual dataset with the given view and gap. */
static hsize_t length(hid_t file, H5D_vds_view_t view, hsize_t gap, const char *folder)
{
    hsize_t size = 0;
    hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
    CHECK(H5Pset_virtual_view(dapl, view) >= 0 && H5Pset_virtual_printf_gap(dapl, gap) >= 0);
    CHECK(folder == NULL || H5Pset_virtual_prefix(dapl, folder) >= 0);
    hid_t dset = H5Dopen2(file, "all", dapl);
    hid_t space = H5Dget_space(dset);
    CHECK(H5Sget_simple_extent_dims(space, &size, NULL) == 1);
    CHECK(H5Sclose(space) >= 0 && H5Dclose(dset) >= 0 && H5Pclose(dapl) >= 0);
    return size;
}

/* A virtual dataset with numbered sources in another folder, of which number 1 is missing. */
static void views(void)
{
    hsize_t size = 1, most = H5S_UNLIMITED, start = 0, stride = 1, count = H5S_UNLIMITED, block = 1;
    H5O_native_info_t info;
    CHECK(mkdir("sources", 0777) == 0);
    hid_t sources = H5Fcreate("sources/sources.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    source(sources, 0);
    source(sources, 2);
    CHECK(H5Fclose(sources) >= 0);
    hid_t file = H5Fcreate("virtual.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &size, &most), one = H5Screate_simple(1, &size, NULL);
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, &block) >= 0);
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_virtual(dcpl, space, "sources.h5", "source_%b", one) >= 0);
    hid_t dset = H5Dcreate2(file, "all", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    CHECK(H5Oget_native_info(dset, &info, H5O_NATIVE_INFO_ALL) >= 0);
    CHECK(info.hdr.space.total == info.hdr.space.meta + info.hdr.space.mesg + info.hdr.space.free);
    CHECK(info.hdr.space.total > 0 && info.meta_size.obj.heap_size > 0);
    CHECK(H5Dclose(dset) >= 0);
    CHECK(length(file, H5D_VDS_LAST_AVAILABLE, 1, "sources") == 3);
    CHECK(length(file, H5D_VDS_LAST_AVAILABLE, 0, "sources") == 1);
    CHECK(length(file, H5D_VDS_FIRST_MISSING, 1, "sources") == 1);
    CHECK(length(file, H5D_VDS_LAST_AVAILABLE, 1, NULL) == 0);
    CHECK(H5Pclose(dcpl) >= 0 && H5Sclose(one) >= 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
}

/* The memory of a file image that the program manages, and the calls of its functions. */
struct memory {
    void *block;
    size_t size;
    int opened, resized, closed;
};

static void *image_malloc(size_t size, H5FD_file_image_op_t op, void *data)
{
    struct memory *memory = data;
    memory->opened += op == H5FD_FILE_IMAGE_OP_FILE_OPEN;
    return malloc(size);
}

static void *image_realloc(void *block, size_t size, H5FD_file_image_op_t op, void *data)
{
    struct memory *memory = data;
    memory->resized += op == H5FD_FILE_IMAGE_OP_FILE_RESIZE;
    memory->size = size;
    return realloc(block, size);
}

static herr_t image_free(void *block, H5FD_file_image_op_t op, void *data)
{
    struct memory *memory = data;
    if (op == H5FD_FILE_IMAGE_OP_FILE_CLOSE) {
        memory->closed++;
        memory->block = block;
    } else
        free(block);
    return 0;
}

static void *same(void *data)
{
    return data;
}

static herr_t keep(void *data)
{
    (void)data;
    return 0;
}

/* Creates a file in memory of the program, and opens the image that remains. */
static void images(void)
{
    struct memory memory = {NULL, 0, 0, 0, 0};
    H5FD_file_image_callbacks_t functions = {image_malloc, NULL, image_realloc, image_free, same, keep, &memory};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_fapl_core(fapl, 1024, false) >= 0);
    CHECK(H5Pset_file_image_callbacks(fapl, &functions) >= 0);
    hid_t file = H5Fcreate("memory.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
    CHECK(memory.opened == 0 && memory.resized > 0 && memory.closed == 1 && memory.block != NULL);
    CHECK(H5Pset_file_image(fapl, memory.block, memory.size) >= 0);
    free(memory.block);
    CHECK((file = H5Fopen("memory.h5", H5F_ACC_RDONLY, fapl)) >= 0);
    CHECK(memory.opened == 1 && H5Lexists(file, "group", H5P_DEFAULT) > 0);
    CHECK(H5Fclose(file) >= 0 && memory.closed == 2);
    free(memory.block);
    CHECK(H5Pclose(fapl) >= 0);
}

/* The bytes of a chunk are in the file at the address that the library reports. */
static void chunk_addresses(void)
{
    hsize_t size = 4, bytes = 0;
    haddr_t address = HADDR_UNDEF;
    int found[4] = {0};
    hsize_t offset = 0;
    hid_t file = H5Fcreate("chunks.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &size, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_chunk(dcpl, 1, &size) >= 0);
    hid_t dset = H5Dcreate2(file, "values", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    CHECK(H5Dwrite(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    CHECK(H5Dget_chunk_info_by_coord(dset, &offset, NULL, &address, &bytes) >= 0);
    FILE *stream = fopen("chunks.h5", "rb");
    CHECK(stream != NULL && bytes == sizeof found && fseek(stream, (long)address, SEEK_SET) == 0);
    CHECK(fread(found, sizeof found, 1, stream) == 1 && memcmp(found, values, sizeof found) == 0);
    fclose(stream);
    CHECK(H5Dclose(dset) >= 0 && H5Pclose(dcpl) >= 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
}

int main(void)
{
    raw_folder();
    views();
    images();
    chunk_addresses();
    puts("all parts passed");
    return 0;
}
