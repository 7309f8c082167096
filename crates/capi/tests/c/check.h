/* The check of the C tests: a condition that must hold. */
#include "hdf5.h"

#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the line, the condition and the error stack of the library if a condition does
 * not hold. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            H5Eprint2(H5E_DEFAULT, stderr);                                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
