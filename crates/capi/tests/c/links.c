/* Links of classes of the program, files that are mounted, and filters of groups. */
#include "check.h"
#include <string.h>

#define CLASS 187

static struct {
    int created, moved, copied, followed, deleted, queried;
    char name[32];
} calls;

static herr_t link_create(const char *name, hid_t group, const void *value, size_t size, hid_t lcpl)
{
    (void)group, (void)lcpl;
    calls.created++;
    snprintf(calls.name, sizeof calls.name, "%s", name);
    return size > 0 && ((const char *)value)[size - 1] == 0 ? 0 : -1;
}

static herr_t link_move(const char *name, hid_t group, const void *value, size_t size)
{
    (void)name, (void)group, (void)value, (void)size;
    calls.moved++;
    return 0;
}

static herr_t link_copy(const char *name, hid_t group, const void *value, size_t size)
{
    (void)name, (void)group, (void)value, (void)size;
    calls.copied++;
    return 0;
}

/* The value of a link is the path of its target in the same file. */
static hid_t link_follow(const char *name, hid_t group, const void *value, size_t size, hid_t lapl, hid_t dxpl)
{
    (void)name, (void)size, (void)dxpl;
    calls.followed++;
    return H5Oopen(group, value, lapl);
}

static herr_t link_delete(const char *name, hid_t group, const void *value, size_t size)
{
    (void)name, (void)group, (void)value, (void)size;
    calls.deleted++;
    return 0;
}

static ssize_t link_query(const char *name, const void *value, size_t size, void *buffer, size_t buffer_size)
{
    (void)name;
    calls.queried++;
    if (buffer != NULL)
        memcpy(buffer, value, size < buffer_size ? size : buffer_size);
    return (ssize_t)size;
}

static const H5L_class_t link_class = {
    H5L_LINK_CLASS_T_VERS, (H5L_type_t)CLASS, "path", link_create, link_move, link_copy, link_follow, link_delete, link_query};

static void own_links(void)
{
    H5L_info2_t info;
    char value[16];
    H5O_info2_t object;
    hid_t file = H5Fcreate("links.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), group, target;
    hid_t lcpl = H5Pcreate(H5P_LINK_CREATE);
    CHECK(H5Pset_create_intermediate_group(lcpl, 1) >= 0);
    CHECK(H5Lis_registered((H5L_type_t)CLASS) == 0);
    H5E_BEGIN_TRY
    CHECK(H5Lcreate_ud(file, "unknown", (H5L_type_t)CLASS, "/a", 3, H5P_DEFAULT, H5P_DEFAULT) < 0);
    H5E_END_TRY
    CHECK(H5Lregister(&link_class) >= 0 && H5Lis_registered((H5L_type_t)CLASS) > 0);
    CHECK(H5Gclose(group = H5Gcreate2(file, "a/b", lcpl, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
    CHECK(H5Lcreate_ud(file, "links/short", (H5L_type_t)CLASS, "/a/b", 5, lcpl, H5P_DEFAULT) >= 0);
    CHECK(calls.created == 1 && strcmp(calls.name, "short") == 0);
    /* The function may refuse a link. */
    H5E_BEGIN_TRY
    CHECK(H5Lcreate_ud(file, "links/bad", (H5L_type_t)CLASS, "abc", 3, lcpl, H5P_DEFAULT) < 0);
    H5E_END_TRY
    CHECK(calls.created == 2);
    CHECK(H5Lget_info2(file, "links/short", &info, H5P_DEFAULT) >= 0 && info.type == (H5L_type_t)CLASS);
    CHECK(info.u.val_size == 5 && calls.queried > 0);
    CHECK(H5Lget_val(file, "links/short", value, sizeof value, H5P_DEFAULT) >= 0 && strcmp(value, "/a/b") == 0);
    CHECK((group = H5Gopen2(file, "links/short", H5P_DEFAULT)) >= 0 && calls.followed > 0);
    CHECK((target = H5Gcreate2(file, "links/short/inside", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
    CHECK(H5Gclose(target) >= 0 && H5Lexists(group, "inside", H5P_DEFAULT) > 0 && H5Gclose(group) >= 0);
    CHECK(H5Lexists(file, "/a/b/inside", H5P_DEFAULT) > 0);
    CHECK(H5Oget_info_by_name3(file, "links/short/inside", &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0);
    CHECK(object.type == H5O_TYPE_GROUP);
    CHECK(H5Lmove(file, "links/short", file, "links/moved", H5P_DEFAULT, H5P_DEFAULT) >= 0 && calls.moved == 1);
    CHECK(H5Lcopy(file, "links/moved", file, "links/copied", H5P_DEFAULT, H5P_DEFAULT) >= 0 && calls.copied == 1);
    CHECK((group = H5Oopen(file, "links/copied", H5P_DEFAULT)) >= 0 && H5Oclose(group) >= 0);
    CHECK(H5Ldelete(file, "links/moved", H5P_DEFAULT) >= 0 && calls.deleted > 0);
    CHECK(H5Fclose(file) >= 0);
    /* Without the class, the link stays and cannot be followed. */
    CHECK(H5Lunregister((H5L_type_t)CLASS) >= 0 && H5Lis_registered((H5L_type_t)CLASS) == 0);
    CHECK((file = H5Fopen("links.h5", H5F_ACC_RDONLY, H5P_DEFAULT)) >= 0);
    CHECK(H5Lexists(file, "links/copied", H5P_DEFAULT) > 0);
    H5E_BEGIN_TRY
    CHECK(H5Oopen(file, "links/copied", H5P_DEFAULT) < 0);
    H5E_END_TRY
    CHECK(H5Fclose(file) >= 0 && H5Pclose(lcpl) >= 0);
}

static hid_t group_in(hid_t file, const char *name)
{
    hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(group >= 0);
    return group;
}

static void mounts(void)
{
    char name[32];
    hid_t parent = H5Fcreate("parent.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), group;
    hid_t child = H5Fcreate("child.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t third = H5Fcreate("third.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Gclose(group_in(parent, "point")) >= 0 && H5Gclose(group_in(parent, "point/hidden")) >= 0);
    CHECK(H5Gclose(group_in(child, "shown")) >= 0 && H5Gclose(group_in(child, "deep")) >= 0);
    CHECK(H5Gclose(group_in(third, "last")) >= 0);
    CHECK(H5Fmount(parent, "point", child, H5P_DEFAULT) >= 0);
    CHECK(H5Lexists(parent, "point/shown", H5P_DEFAULT) > 0);
    CHECK(H5Lexists(parent, "point/hidden", H5P_DEFAULT) == 0);
    CHECK((group = H5Gopen2(parent, "/point/shown", H5P_DEFAULT)) >= 0);
    CHECK(H5Iget_name(group, name, sizeof name) == 12 && strcmp(name, "/point/shown") == 0);
    hid_t owner = H5Iget_file_id(group);
    CHECK(H5Fget_name(owner, name, sizeof name) > 0 && strcmp(name, "child.h5") == 0 && H5Fclose(owner) >= 0);
    CHECK(H5Gclose(group) >= 0);
    /* A file in itself, a cycle, and a group that does not exist fail. */
    H5E_BEGIN_TRY
    CHECK(H5Fmount(child, "deep", parent, H5P_DEFAULT) < 0);
    CHECK(H5Fmount(parent, "point", parent, H5P_DEFAULT) < 0);
    CHECK(H5Fmount(parent, "missing", third, H5P_DEFAULT) < 0);
    H5E_END_TRY
    /* A file in a mounted file. */
    CHECK(H5Fmount(parent, "point/deep", third, H5P_DEFAULT) >= 0);
    CHECK(H5Lexists(parent, "point/deep/last", H5P_DEFAULT) > 0);
    CHECK(H5Funmount(parent, "point/deep") >= 0 && H5Lexists(parent, "point/deep/last", H5P_DEFAULT) == 0);
    CHECK(H5Funmount(parent, "/point") >= 0 && H5Lexists(parent, "point/hidden", H5P_DEFAULT) > 0);
    H5E_BEGIN_TRY
    CHECK(H5Funmount(parent, "point") < 0);
    H5E_END_TRY
    /* A mounted file stays open until its parent closes. */
    CHECK(H5Fmount(parent, "point", child, H5P_DEFAULT) >= 0 && H5Fclose(child) >= 0);
    CHECK(H5Lexists(parent, "point/shown", H5P_DEFAULT) > 0);
    CHECK(H5Fclose(parent) >= 0 && H5Fclose(third) >= 0);
    CHECK(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
    CHECK((child = H5Fcreate("child.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) >= 0 && H5Fclose(child) >= 0);
}

/* Links of a group in a fractal heap with filters. */
static void filters_of_groups(void)
{
    char name[64];
    unsigned flags = 0, level = 0, config = 0;
    size_t count = 1;
    hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE), fapl = H5Pcreate(H5P_FILE_ACCESS), list;
    CHECK(H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
    CHECK(H5Pget_nfilters(gcpl) == 0);
    CHECK(H5Pset_deflate(gcpl, 9) >= 0 && H5Pset_fletcher32(gcpl) >= 0 && H5Pget_nfilters(gcpl) == 2);
    CHECK(H5Pget_filter2(gcpl, 0, &flags, &count, &level, sizeof name, name, &config) == H5Z_FILTER_DEFLATE);
    CHECK(level == 9 && H5Pall_filters_avail(gcpl) > 0);
    CHECK(H5Premove_filter(gcpl, H5Z_FILTER_FLETCHER32) >= 0 && H5Pget_nfilters(gcpl) == 1);
    CHECK(H5Pset_link_phase_change(gcpl, 4, 2) >= 0);
    hid_t file = H5Fcreate("filters.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, gcpl, H5P_DEFAULT);
    CHECK(group >= 0);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "a link with a long name that is compressed %d", i);
        CHECK(H5Lcreate_soft("/nowhere", group, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    }
    CHECK(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
    CHECK((file = H5Fopen("filters.h5", H5F_ACC_RDWR, fapl)) >= 0);
    CHECK((group = H5Gopen2(file, "group", H5P_DEFAULT)) >= 0);
    CHECK((list = H5Gget_create_plist(group)) >= 0 && H5Pget_nfilters(list) == 1 && H5Pclose(list) >= 0);
    CHECK(H5Lexists(group, "a link with a long name that is compressed 150", H5P_DEFAULT) > 0);
    CHECK(H5Ldelete(group, "a link with a long name that is compressed 150", H5P_DEFAULT) >= 0);
    CHECK(H5Gclose(group) >= 0 && H5Fclose(file) >= 0 && H5Pclose(gcpl) >= 0 && H5Pclose(fapl) >= 0);
}

int main(void)
{
    own_links();
    puts("links");
    mounts();
    puts("mounts");
    filters_of_groups();
    puts("all parts passed");
    return 0;
}
