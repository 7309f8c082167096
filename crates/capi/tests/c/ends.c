/* Programs that end without closing their files. The next program finds all data. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 1000000

static int values[COUNT], back[COUNT];

/* Writes compressed chunks, a group and an attribute, and closes nothing. */
static hid_t leave_open(const char *name)
{
    hsize_t size = COUNT, chunk = COUNT / 16;
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate_simple(1, &size, NULL);
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_chunk(dcpl, 1, &chunk) >= 0 && H5Pset_deflate(dcpl, 1) >= 0);
    hid_t dset = H5Dcreate2(file, "numbers", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    CHECK(H5Dwrite(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    CHECK(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    return file;
}

static herr_t end_now(hid_t group, const char *name, const H5L_info2_t *info, void *data)
{
    (void)group, (void)name, (void)info, (void)data;
    exit(0);
}

static void on_close(void *data)
{
    (void)data;
    FILE *file = fopen("closed", "w");
    fclose(file);
}

/* Ends like `kind` in a process of its own, and compares what is left. */
static void end(const char *program, const char *kind)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, kind, (char *)NULL);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    hid_t file = H5Fopen("left.h5", H5F_ACC_RDONLY, H5P_DEFAULT), dset;
    CHECK(file >= 0 && (dset = H5Dopen2(file, "numbers", H5P_DEFAULT)) >= 0);
    CHECK(H5Dread(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    CHECK(memcmp(values, back, sizeof values) == 0 && H5Lexists(file, "group", H5P_DEFAULT) > 0);
    CHECK(H5Dclose(dset) >= 0 && H5Fclose(file) >= 0);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = i / 7;
    if (argc == 2) {
        hid_t file = leave_open("left.h5");
        if (strcmp(argv[1], "exit") == 0)
            exit(0);
        if (strcmp(argv[1], "callback") == 0)
            H5Literate2(file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, end_now, NULL);
        if (strcmp(argv[1], "function") == 0)
            CHECK(H5atclose(on_close, NULL) >= 0);
        if (strcmp(argv[1], "fork") == 0) {
            /* The end of a fork leaves the file to its parent. */
            CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
            pid_t child = fork();
            if (child == 0)
                exit(0);
            CHECK(waitpid(child, NULL, 0) == child);
            CHECK(H5Gcreate2(file, "later", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
        }
        return 0;
    }
    end(argv[0], "return");
    end(argv[0], "exit");
    end(argv[0], "callback");
    end(argv[0], "fork");
    end(argv[0], "function");
    CHECK(access("closed", F_OK) == 0);
    puts("all parts passed");
    return 0;
}
