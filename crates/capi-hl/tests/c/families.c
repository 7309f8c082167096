/* Calls functions of each family of the high-level interface, also with wrong arguments. */
#include <hdf5_hl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s\n", __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

typedef struct {
    int number;
    double value;
    char text[8];
} record;

static herr_t
count(hid_t dataset, unsigned dimension, hid_t scale, void *data)
{
    (void)dataset, (void)dimension, (void)scale;
    return ++*(int *)data == 2;
}

static herr_t
flushed(hid_t object, void *data)
{
    ++*(int *)data;
    return object < 0 ? -1 : 0;
}

static void
lite(hid_t file)
{
    hsize_t dims[2] = {3, 4}, found[2];
    int data[12], rank, i;
    H5T_class_t class;
    size_t size;
    char text[16];

    for (i = 0; i < 12; i++)
        data[i] = i;
    CHECK(H5LTmake_dataset_int(file, "data", 2, dims, data) == 0);
    CHECK(H5LTmake_dataset_int(file, "data", 2, dims, data) < 0);
    CHECK(H5LTmake_dataset_int(file, NULL, 2, dims, data) < 0);
    CHECK(H5LTmake_dataset_int(file, "negative", -1, dims, data) < 0);
    memset(data, 0, sizeof data);
    CHECK(H5LTread_dataset_int(file, "data", data) == 0 && data[11] == 11);
    CHECK(H5LTget_dataset_ndims(file, "data", &rank) == 0 && rank == 2);
    CHECK(H5LTget_dataset_info(file, "data", found, &class, &size) == 0);
    CHECK(found[1] == 4 && class == H5T_INTEGER && size == 4);
    CHECK(H5LTset_attribute_string(file, "data", "unit", "metre") == 0);
    CHECK(H5LTset_attribute_string(file, "data", "unit", "km") == 0);
    CHECK(H5LTget_attribute_string(file, "data", "unit", text) == 0 && strcmp(text, "km") == 0);
    CHECK(H5LTset_attribute_double(file, "/", "none", NULL, 1) < 0);
    CHECK(H5LTfind_dataset(file, "data") == 1 && H5LTfind_dataset(file, "/data") == 0);
    CHECK(H5LTpath_valid(file, "/data", 1) == 1 && H5LTpath_valid(file, "x/y", 0) == 0);
    CHECK(H5Lcreate_soft("nowhere", file, "soft", H5P_DEFAULT, H5P_DEFAULT) == 0);
    CHECK(H5LTpath_valid(file, "soft", 0) == 1 && H5LTpath_valid(file, "soft", 1) == 0);
}

static void
descriptions(void)
{
    const char *wrong[] = {"", "H5T_COMPOUND {", "H5T_STD_I32LE x", "H5T_ARRAY { H5T_STD_I8LE }", "H5T_NONE",
        "H5T_ENUM { H5T_STD_I8LE; \"x\" 99999999999999999999999999999999999999999; }", "\"", "-"};
    char deep[4096] = "", text[256];
    size_t size = 0, i;
    hid_t type = H5LTtext_to_dtype(
        "H5T_COMPOUND { H5T_STD_I16BE \"a\" : 2; H5T_ENUM { H5T_STD_I8LE; \"low\" -5; } \"e\" : 9; }", H5LT_DDL);

    CHECK(type >= 0 && H5Tget_size(type) == 10);
    CHECK(H5LTdtype_to_text(type, NULL, H5LT_DDL, &size) == 0 && size < sizeof text);
    CHECK(H5LTdtype_to_text(type, text, H5LT_DDL, &size) == 0 && strlen(text) + 1 == size);
    CHECK(strstr(text, "\"low\"              -5;") != NULL);
    CHECK(H5Tclose(type) == 0);
    type = H5LTtext_to_dtype(text, H5LT_DDL);
    CHECK(type >= 0 && H5Tget_member_offset(type, 1) == 9 && H5Tclose(type) == 0);
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(H5LTtext_to_dtype(wrong[i], H5LT_DDL) < 0);
    for (i = 0; i < 200; i++)
        strcat(deep, "H5T_VLEN { ");
    CHECK(H5LTtext_to_dtype(deep, H5LT_DDL) < 0);
    CHECK(H5LTtext_to_dtype("H5T_STD_I8LE", H5LT_C) < 0);
}

static void
scales(hid_t file)
{
    hsize_t dims[1] = {3};
    hid_t data = H5Dopen2(file, "data", H5P_DEFAULT), first, second;
    char text[8];
    int calls = 0, from = 0;

    CHECK(H5LTmake_dataset_int(file, "first", 1, dims, NULL) == 0);
    CHECK(H5LTmake_dataset_int(file, "second", 1, dims, NULL) == 0);
    first = H5Dopen2(file, "first", H5P_DEFAULT), second = H5Dopen2(file, "second", H5P_DEFAULT);
    CHECK(H5DSset_scale(first, "a name") == 0 && H5DSis_scale(first) == 1 && H5DSis_scale(data) == 0);
    CHECK(H5DSget_scale_name(first, text, 4) == 6 && strcmp(text, "a n") == 0);
    CHECK(H5DSattach_scale(data, first, 0) == 0 && H5DSattach_scale(data, first, 0) == 0);
    CHECK(H5DSattach_scale(data, second, 0) == 0 && H5DSget_num_scales(data, 0) == 2);
    CHECK(H5DSattach_scale(data, first, 2) < 0 && H5DSattach_scale(data, data, 0) < 0);
    CHECK(H5DSattach_scale(first, second, 0) < 0 && H5DSattach_scale(file, second, 0) < 0);
    CHECK(H5DSis_attached(data, second, 0) == 1 && H5DSis_attached(data, second, 1) == 0);
    CHECK(H5DSiterate_scales(data, 0, &from, count, &calls) == 1 && calls == 2 && from == 1);
    CHECK(H5DSset_label(data, 1, "label") == 0 && H5DSget_label(data, 1, text, sizeof text) == 5);
    CHECK(strcmp(text, "label") == 0 && H5DSget_label(data, 0, NULL, 0) == 0);
    CHECK(H5DSdetach_scale(data, first, 0) == 0 && H5DSdetach_scale(data, first, 0) < 0);
    CHECK(H5DSget_num_scales(data, 0) == 1 && H5Aexists(first, "REFERENCE_LIST") == 0);
    CHECK(H5Dclose(data) == 0 && H5Dclose(first) == 0 && H5Dclose(second) == 0);
}

static void
images(hid_t file)
{
    unsigned char pixels[36] = {1, 2, 3};
    hsize_t colors[2] = {2, 3}, width, height, planes;
    hssize_t palettes;
    char interlace[32] = "";

    CHECK(H5IMmake_image_24bit(file, "image", 4, 3, "INTERLACE_PLANE", pixels) == 0);
    CHECK(H5IMmake_image_24bit(file, "wrong", 4, 3, "OTHER", pixels) < 0 && H5LTfind_dataset(file, "wrong") == 0);
    CHECK(H5IMmake_palette(file, "palette", colors, pixels) == 0);
    CHECK(H5IMlink_palette(file, "image", "palette") == 0);
    CHECK(H5IMget_image_info(file, "image", &width, &height, &planes, interlace, &palettes) == 0);
    CHECK(width == 4 && height == 3 && planes == 3 && palettes == 1);
    CHECK(strcmp(interlace, "INTERLACE_PLANE") == 0);
    CHECK(H5IMis_image(file, "image") == 1 && H5IMis_image(file, "palette") == 0);
    CHECK(H5IMget_palette_info(file, "image", 0, colors) == 0 && H5IMget_palette_info(file, "image", 1, colors) < 0);
    CHECK(H5IMunlink_palette(file, "image", "palette") == 0 && H5IMunlink_palette(file, "image", "palette") < 0);
}

static void
tables(hid_t file)
{
    const char *names[] = {"number", "value", "text"};
    size_t offsets[] = {HOFFSET(record, number), HOFFSET(record, value), HOFFSET(record, text)};
    size_t sizes[] = {sizeof(int), sizeof(double), 8}, zero = 0;
    hid_t types[] = {H5T_NATIVE_INT, H5T_NATIVE_DOUBLE, H5Tcopy(H5T_C_S1)};
    record records[4] = {{0, 0.5, "r0"}, {1, 1.5, "r1"}, {2, 2.5, "r2"}, {3, 3.5, "r3"}}, back[8], fill = {7, 8, "f"};
    hsize_t fields, count;
    int numbers[8], i;

    CHECK(H5Tset_size(types[2], 8) == 0);
    CHECK(H5TBmake_table("title", file, "table", 3, 4, sizeof(record), names, offsets, types, 2, &fill, 1, records) == 0);
    CHECK(H5TBappend_records(file, "table", 2, sizeof(record), offsets, sizes, records) == 0);
    CHECK(H5TBinsert_record(file, "table", 1, 1, sizeof(record), offsets, sizes, records + 3) == 0);
    CHECK(H5TBdelete_record(file, "table", 2, 2) == 0 && H5TBdelete_record(file, "table", 2, 9) < 0);
    CHECK(H5TBread_table(file, "table", sizeof(record), offsets, sizes, back) == 0);
    /* 0, 3, 3, 0, 1 */
    CHECK(back[1].number == 3 && back[2].number == 3 && back[4].value == 1.5 && strcmp(back[0].text, "r0") == 0);
    CHECK(H5TBget_table_info(file, "table", &fields, &count) == 0 && fields == 3 && count == 5);
    for (i = 0; i < 5; i++)
        numbers[i] = 10 + i;
    CHECK(H5TBwrite_fields_name(file, "table", "number", 0, 5, sizeof(int), &zero, sizes, numbers) == 0);
    CHECK(H5TBread_records(file, "table", 4, 1, sizeof(record), offsets, sizes, back) == 0);
    CHECK(back[0].number == 14 && back[0].value == 1.5);
    CHECK(H5TBread_records(file, "table", 4, 2, sizeof(record), offsets, sizes, back) < 0);
    CHECK(H5TBinsert_field(file, "table", "more", H5T_NATIVE_INT, 1, numbers, NULL) == 0);
    CHECK(H5TBread_fields_name(file, "table", "more", 0, 5, sizeof(int), &zero, sizes, numbers) == 0);
    CHECK(numbers[0] == 10 && numbers[4] == 10);
    CHECK(H5TBdelete_field(file, "table", "text") == 0 && H5TBdelete_field(file, "table", "text") < 0);
    CHECK(H5TBget_table_info(file, "table", &fields, NULL) == 0 && fields == 3);
    CHECK(H5TBread_table(file, "data", sizeof(record), offsets, sizes, back) < 0);
    CHECK(H5Tclose(types[2]) == 0);
}

static void
packets(hid_t file)
{
    int numbers[4] = {1, 2, 3, 4}, back[4] = {0};
    hsize_t count;
    hid_t table = H5PTcreate_fl(file, "packets", H5T_NATIVE_INT, 2, 5);

    CHECK(table >= 0 && H5PTis_valid(table) == 0 && H5PTis_valid(file) < 0);
    CHECK(H5PTappend(table, 3, numbers) == 0 && H5PTappend(table, 1, numbers + 3) == 0);
    CHECK(H5PTget_num_packets(table, &count) == 0 && count == 4);
    CHECK(H5PTget_next(table, 3, back) == 0 && back[2] == 3 && H5PTget_next(table, 2, back) < 0);
    CHECK(H5PTget_next(table, 1, back) == 0 && back[0] == 4);
    CHECK(H5PTset_index(table, 4) < 0 && H5PTis_varlen(table) == 0);
    CHECK(H5PTclose(table) == 0 && H5PTclose(table) < 0 && H5PTget_num_packets(table, &count) < 0);
    CHECK((table = H5PTopen(file, "packets")) >= 0 && H5PTread_packets(table, 1, 2, back) == 0 && back[0] == 2);
    /* The end of the program closes the table. */
}

static void
growth(hid_t file)
{
    hsize_t dims[2] = {2, 0}, most[2] = {2, H5S_UNLIMITED}, chunk[2] = {2, 2}, now[2] = {2, 2};
    int numbers[4] = {1, 2, 3, 4}, back[4] = {0};
    hid_t space = H5Screate_simple(2, dims, most), list = H5Pcreate(H5P_DATASET_CREATE), set;

    CHECK(H5Pset_chunk(list, 2, chunk) == 0);
    set = H5Dcreate2(file, "growing", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    CHECK(H5DOappend(set, H5P_DEFAULT, 1, 2, H5T_NATIVE_INT, numbers) == 0);
    CHECK(H5DOappend(set, H5P_DEFAULT, 2, 2, H5T_NATIVE_INT, numbers) < 0);
    CHECK(H5DOappend(set, H5P_DEFAULT, 1, (size_t)-1, H5T_NATIVE_INT, numbers) < 0);
    CHECK(H5LDget_dset_type_size(set, NULL) == 4 && H5LDget_dset_type_size(set, "x") == 0);
    CHECK(H5LDget_dset_elmts(set, dims, now, NULL, back) == 0 && back[3] == 4);
    CHECK(H5LDget_dset_elmts(set, now, now, NULL, back) < 0);
    CHECK(H5Dclose(set) == 0 && H5Pclose(list) == 0 && H5Sclose(space) == 0);
}

static void
image_of_file(void)
{
    FILE *stream = fopen("families.h5", "rb");
    size_t size;
    char *bytes;
    hid_t file;

    CHECK(stream && fseek(stream, 0, SEEK_END) == 0);
    size = (size_t)ftell(stream);
    rewind(stream);
    bytes = malloc(size);
    CHECK(bytes && fread(bytes, 1, size, stream) == size && fclose(stream) == 0);
    file = H5LTopen_file_image(bytes, size, 0);
    CHECK(file >= 0 && H5LTfind_dataset(file, "data") == 1 && H5Fclose(file) == 0);
    file = H5LTopen_file_image(bytes, size, H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_OPEN_RW);
    CHECK(file >= 0 && H5Ldelete(file, "data", H5P_DEFAULT) == 0 && H5Fclose(file) == 0);
    CHECK(H5LTopen_file_image(NULL, 0, 0) < 0 && H5LTopen_file_image(&size, sizeof size, 8) < 0);
}

int
main(void)
{
    hid_t file, list = H5Pcreate(H5P_FILE_ACCESS), data;
    int flushes = 0;

    CHECK(H5Pset_object_flush_cb(list, flushed, &flushes) == 0);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    file = H5Fcreate("families.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list);
    CHECK(file >= 0);
    lite(file);
    descriptions();
    scales(file);
    images(file);
    tables(file);
    packets(file);
    growth(file);
    data = H5Dopen2(file, "data", H5P_DEFAULT);
    CHECK(flushes == 0 && H5Dflush(data) == 0 && flushes == 1 && H5Oflush(data) == 0 && flushes == 2);
    CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) == 0 && flushes == 2);
    CHECK(H5Dclose(data) == 0 && H5Pclose(list) == 0);
    image_of_file();
    CHECK(H5Fclose(file) == 0);
    puts("done");
    return 0;
}
