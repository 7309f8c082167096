/* A client that writes until it is killed, and one that checks what it flushed. */
#include "check.h"
#include "hyperslab_durability.h"

#include <string.h>

/* The numbers that one round appends. */
#define STEP 1000

/* Creates the file with a dataset of rounds, which grows. */
static void start(const char *name, hid_t fapl)
{
    hsize_t none = 0, most = H5S_UNLIMITED, chunk = 4096;
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl), space = H5Screate_simple(1, &none, &most);
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(file >= 0 && H5Pset_chunk(dcpl, 1, &chunk) >= 0 && H5Pset_deflate(dcpl, 1) >= 0);
    hid_t dset = H5Dcreate2(file, "rounds", H5T_NATIVE_LLONG, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    CHECK(dset >= 0 && H5Dclose(dset) >= 0 && H5Pclose(dcpl) >= 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
}

/* Appends the numbers of a round, and adds and removes groups, attributes and links. */
static void change(hid_t file, long long round)
{
    hsize_t size = (hsize_t)(round + 1) * STEP, first = (hsize_t)round * STEP, step = STEP, one = 1;
    long long values[STEP];
    char name[32];
    for (int i = 0; i < STEP; i++)
        values[i] = round * STEP + i;
    hid_t dset = H5Dopen2(file, "rounds", H5P_DEFAULT);
    CHECK(dset >= 0 && H5Dset_extent(dset, &size) >= 0);
    hid_t space = H5Dget_space(dset), memory = H5Screate_simple(1, &step, NULL);
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &step, NULL) >= 0);
    CHECK(H5Dwrite(dset, H5T_NATIVE_LLONG, memory, space, H5P_DEFAULT, values) >= 0);
    CHECK(H5Sclose(space) >= 0 && H5Sclose(memory) >= 0 && H5Dclose(dset) >= 0);
    snprintf(name, sizeof name, "group %lld", round);
    hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t scalar = H5Screate_simple(1, &one, NULL);
    hid_t attr = H5Acreate2(group, "round", H5T_NATIVE_LLONG, scalar, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(group >= 0 && attr >= 0 && H5Awrite(attr, H5T_NATIVE_LLONG, &round) >= 0);
    CHECK(H5Aclose(attr) >= 0 && H5Sclose(scalar) >= 0 && H5Gclose(group) >= 0);
    if (round >= 20) {
        snprintf(name, sizeof name, "group %lld", round - 20);
        CHECK(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    }
}

/* Writes round after round. Prints the number of each round whose flush returned. */
static void write_rounds(const char *name, hid_t fapl, long long first)
{
    hid_t file = H5Fopen(name, H5F_ACC_RDWR, fapl);
    CHECK(file >= 0);
    for (long long round = first;; round++) {
        change(file, round);
        CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
        printf("%lld\n", round);
        fflush(stdout);
    }
}

/* Checks that the file has all rounds up to the last flushed one, and prints the number of rounds.
 * Opens the file for writing, as the next program would. */
static void check_rounds(const char *name, hid_t fapl, long long flushed)
{
    hsize_t size = 0;
    long long value = -1;
    char path[32];
    hid_t file = H5Fopen(name, H5F_ACC_RDWR, fapl);
    CHECK(file >= 0);
    hid_t dset = H5Dopen2(file, "rounds", H5P_DEFAULT), space = H5Dget_space(dset);
    CHECK(dset >= 0 && H5Sget_simple_extent_dims(space, &size, NULL) == 1);
    CHECK(size % STEP == 0 && size >= (hsize_t)(flushed + 1) * STEP);
    long long rounds = (long long)(size / STEP), *values = malloc(size * sizeof *values + 1);
    CHECK(H5Dread(dset, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    for (hsize_t i = 0; i < size; i++)
        CHECK(values[i] == (long long)i);
    free(values);
    for (long long round = 0; round < rounds; round++) {
        snprintf(path, sizeof path, "group %lld", round);
        CHECK(H5Lexists(file, path, H5P_DEFAULT) == (round >= rounds - 20));
        if (round < rounds - 20)
            continue;
        hid_t attr = H5Aopen_by_name(file, path, "round", H5P_DEFAULT, H5P_DEFAULT);
        CHECK(attr >= 0 && H5Aread(attr, H5T_NATIVE_LLONG, &value) >= 0 && value == round && H5Aclose(attr) >= 0);
    }
    CHECK(H5Sclose(space) >= 0 && H5Dclose(dset) >= 0 && H5Fclose(file) >= 0);
    printf("%lld\n", rounds);
}

/* Arguments: `start FILE`, `write FILE FIRST_ROUND`, `check FILE LAST_FLUSHED_ROUND`. */
int main(int argc, char **argv)
{
    H5F_durability_t durability = H5F_DURABILITY_NONE;
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5E_BEGIN_TRY
    CHECK(H5Pset_fapl_durability(fapl, (H5F_durability_t)3) < 0);
    H5E_END_TRY
    if (getenv("HYPERSLAB_DURABILITY") == NULL) {
        CHECK(H5Pget_fapl_durability(fapl, &durability) >= 0 && durability == H5F_DURABILITY_NONE);
        CHECK(H5Pset_fapl_durability(fapl, H5F_DURABILITY_ORDERED) >= 0);
    }
    CHECK(H5Pget_fapl_durability(fapl, &durability) >= 0 && durability == H5F_DURABILITY_ORDERED);
    CHECK(argc >= 3);
    if (strcmp(argv[1], "start") == 0)
        start(argv[2], fapl);
    else if (strcmp(argv[1], "write") == 0)
        write_rounds(argv[2], fapl, atoll(argv[3]));
    else
        check_rounds(argv[2], fapl, atoll(argv[3]));
    return 0;
}
