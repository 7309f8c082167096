/*
 * Threads that read different datasets of one file at once.
 *
 *     threads write FILE     writes 8 gzip datasets of 16 MiB
 *     threads read FILE N    reads the 8 datasets with N threads, each into memory of its own
 *
 * The program holds no lock: a library that is safe for threads serves them. `read` prints the time in seconds,
 * the processor time in seconds, and a sum over all values.
 */
#include <hdf5.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DATASETS = 8, ROWS = 2048, COLUMNS = 2048, CHUNK = 256 };

static hid_t file;
static int next_dataset;
static int failures;
static uint64_t sums[DATASETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void name_of(int number, char *name, size_t size) { snprintf(name, size, "dataset %d", number); }

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int write_all(const char *path)
{
    const hsize_t shape[2] = {ROWS, COLUMNS}, chunk[2] = {CHUNK, CHUNK};
    uint32_t *values = malloc(sizeof(uint32_t) * ROWS * COLUMNS);
    hid_t out = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, shape, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    int failed = !values || out < 0 || H5Pset_chunk(list, 2, chunk) < 0 || H5Pset_deflate(list, 4) < 0;
    uint32_t state = 1;

    for (int number = 0; number < DATASETS && !failed; number++) {
        char name[32];
        name_of(number, name, sizeof name);
        for (size_t at = 0; at < (size_t)ROWS * COLUMNS; at++) {
            state = state * 1664525u + 1013904223u;
            values[at] = (uint32_t)at / 16 + (state >> 24) + (uint32_t)number;
        }
        hid_t dataset = H5Dcreate2(out, name, H5T_NATIVE_UINT32, space, H5P_DEFAULT, list, H5P_DEFAULT);
        failed = H5Dwrite(dataset, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;
        failed |= H5Dclose(dataset) < 0;
    }
    free(values);
    H5Pclose(list);
    H5Sclose(space);
    return failed || H5Fclose(out) < 0;
}

static void read_one(int number)
{
    char name[32];
    uint32_t *values = malloc(sizeof(uint32_t) * ROWS * COLUMNS);
    name_of(number, name, sizeof name);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    int failed = !values || H5Dread(dataset, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;
    failed |= H5Dclose(dataset) < 0;
    uint64_t sum = 0;
    for (size_t at = 0; !failed && at < (size_t)ROWS * COLUMNS; at++)
        sum = sum * 31 + values[at];
    free(values);
    sums[number] = sum;
    if (failed) {
        pthread_mutex_lock(&lock);
        failures++;
        pthread_mutex_unlock(&lock);
    }
}

static void *work(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        int number = next_dataset++;
        pthread_mutex_unlock(&lock);
        if (number >= DATASETS)
            return NULL;
        read_one(number);
    }
}

static int read_all(const char *path, int count)
{
    pthread_t threads[64];
    uint64_t sum = 0;
    double wall = now(CLOCK_MONOTONIC), processor = now(CLOCK_PROCESS_CPUTIME_ID);

    if (count < 1 || count > 64 || (file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)) < 0)
        return 1;
    for (int at = 0; at < count; at++)
        if (pthread_create(&threads[at], NULL, work, NULL) != 0)
            return 1;
    for (int at = 0; at < count; at++)
        pthread_join(threads[at], NULL);
    H5Fclose(file);
    wall = now(CLOCK_MONOTONIC) - wall;
    processor = now(CLOCK_PROCESS_CPUTIME_ID) - processor;
    for (int number = 0; number < DATASETS; number++)
        sum = sum * 1000003 + sums[number];
    printf("%.4f %.4f %llu\n", wall, processor, (unsigned long long)sum);
    return failures != 0;
}

int main(int count, char **words)
{
    if (count == 3 && strcmp(words[1], "write") == 0)
        return write_all(words[2]);
    if (count == 4 && strcmp(words[1], "read") == 0)
        return read_all(words[2], atoi(words[3]));
    fprintf(stderr, "threads write FILE | threads read FILE N\n");
    return 2;
}
