/* Names that the tests of HDF5's high-level library expect, over the public headers only. */
#ifndef H5HLTEST_H
#define H5HLTEST_H

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hdf5.h"
#include "hdf5_hl.h"

#define HL_TESTING2(text) (printf("Testing %-62s", text), fflush(stdout))
#define HL_TESTING3(text) HL_TESTING2(text)
#define TESTING(text) HL_TESTING2(text)
#define TESTING_2(text) (printf("  Testing %-60s", text), fflush(stdout))
#define PASSED() (puts(" PASSED"), fflush(stdout))
#define SKIPPED() (puts(" -SKIP-"), fflush(stdout))
#define H5_FAILED() (puts("*FAILED*"), printf("   at %s:%d\n", __FILE__, __LINE__), fflush(stdout))
#define AT() printf("   at %s:%d\n", __FILE__, __LINE__)

#define TEST_ERROR do { H5_FAILED(); goto error; } while (0)
#define FAIL_STACK_ERROR do { H5_FAILED(); H5Eprint2(H5E_DEFAULT, stdout); goto error; } while (0)
#define FAIL_PUTS_ERROR(text) do { H5_FAILED(); puts(text); goto error; } while (0)
#define PUTS_ERROR(text) do { puts(text); AT(); goto error; } while (0)
#define VERIFY(condition, text) do { if (!(condition)) FAIL_PUTS_ERROR(text); } while (0)

#define H5_DBL_ABS_EQUAL(a, b) (fabs((a) - (b)) < DBL_EPSILON)
#define H5_FLT_ABS_EQUAL(a, b) (fabsf((a) - (b)) < FLT_EPSILON)
#define H5_ATTR_UNUSED __attribute__((unused))
#define TRUE true
#define FALSE false
#define SUCCEED 0
#define FAIL (-1)
#define HDremove(path) remove(path)
#define HDfseek(file, offset, from) fseek(file, offset, from)
#define HDstat(path, state) stat(path, state)
typedef struct stat h5_stat_t;

/* Prints a failure that does not end the test. */
#define TestErrPrintf(...) printf("*FAILED* " __VA_ARGS__)

int test_packet_table_with_varlen(void);

/* Returns the path of a file beside the sources of the tests. */
static inline const char *
H5_get_srcdir_filename(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/%s", SOURCES, name);
    return path;
}

static inline const char *
H5_get_srcdir(void)
{
    return SOURCES "/";
}

/* Copies a file beside the sources into the current folder. */
static inline int
h5_make_local_copy(const char *from, const char *to)
{
    FILE *input = fopen(H5_get_srcdir_filename(from), "rb");
    FILE *output = fopen(to, "wb");
    int byte, done = input && output ? 0 : -1;

    while (done == 0 && (byte = fgetc(input)) != EOF)
        if (fputc(byte, output) == EOF)
            done = -1;
    if (input)
        fclose(input);
    if (output && fclose(output) != 0)
        done = -1;
    return done;
}

#endif
