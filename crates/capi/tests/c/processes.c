/* Forks of a process that uses threads, and files that another program changes. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT 2000000

static int values[COUNT], back[COUNT];

/* Writes a compressed dataset with several large chunks. */
static void write_chunks(const char *name)
{
    hsize_t size = COUNT, chunk = COUNT / 16;
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate_simple(1, &size, NULL);
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_chunk(dcpl, 1, &chunk) >= 0 && H5Pset_deflate(dcpl, 1) >= 0);
    hid_t dset = H5Dcreate2(file, "numbers", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    CHECK(H5Dwrite(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    CHECK(H5Dclose(dset) >= 0 && H5Pclose(dcpl) >= 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
}

static void read_chunks(hid_t file)
{
    hid_t dset = H5Dopen2(file, "numbers", H5P_DEFAULT);
    memset(back, 0, sizeof back);
    CHECK(H5Dread(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    CHECK(memcmp(values, back, sizeof values) == 0 && H5Dclose(dset) >= 0);
}

/* Waits for a child. Fails if the child fails or hangs. */
static void await(pid_t child)
{
    const struct timespec tenth = {0, 100000000};
    int status = 0;
    for (int i = 0; i < 600; i++) {
        if (waitpid(child, &status, WNOHANG) == child) {
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            return;
        }
        nanosleep(&tenth, NULL);
    }
    fprintf(stderr, "the child hangs\n");
    exit(1);
}

/* A fork reads the inherited file, opens it again, and writes a file of its own. */
static void forks(void)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = i / 3;
    write_chunks("forks.h5");
    hid_t file = H5Fopen("forks.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    read_chunks(file);
    pid_t child = fork();
    if (child == 0) {
        read_chunks(file);
        hid_t again = H5Fopen("forks.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
        read_chunks(again);
        CHECK(H5Fclose(again) >= 0);
        write_chunks("child.h5");
        CHECK((again = H5Fopen("child.h5", H5F_ACC_RDONLY, H5P_DEFAULT)) >= 0);
        read_chunks(again);
        CHECK(H5Fclose(again) >= 0 && H5Fclose(file) >= 0);
        exit(0);
    }
    await(child);
    read_chunks(file);
    CHECK(H5Fclose(file) >= 0);
}

static void add_group(const char *name)
{
    hid_t file = H5Fopen("changed.h5", H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0);
    CHECK(H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0 && H5Fclose(file) >= 0);
}

/* Another program changes a file that is open for reading. A new opening shows the new content. */
static void changes(const char *program)
{
    hid_t file = H5Fcreate("changed.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), again;
    CHECK(file >= 0 && H5Fclose(file) >= 0);
    CHECK((file = H5Fopen("changed.h5", H5F_ACC_RDONLY, H5P_DEFAULT)) >= 0);
    CHECK(H5Lexists(file, "new", H5P_DEFAULT) == 0);
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "add", "new", (char *)NULL);
        _exit(1);
    }
    await(child);
    CHECK((again = H5Fopen("changed.h5", H5F_ACC_RDONLY, H5P_DEFAULT)) >= 0);
    CHECK(H5Lexists(again, "new", H5P_DEFAULT) > 0);
    CHECK(H5Fclose(again) >= 0 && H5Fclose(file) >= 0);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "add") == 0) {
        add_group(argv[2]);
        return 0;
    }
    CHECK(setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1) == 0);
    forks();
    puts("forks");
    changes(argv[0]);
    puts("all parts passed");
    return 0;
}
