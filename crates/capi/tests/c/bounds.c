/* Prints the version bounds of a new file access list in the library at a path. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (!library)
        return 2;
    int (*bounds)(int64_t, int *, int *) = (int (*)(int64_t, int *, int *))dlsym(library, "H5Pget_libver_bounds");
    int64_t (*create)(int64_t) = (int64_t(*)(int64_t))dlsym(library, "H5Pcreate");
    const int64_t *kind = (const int64_t *)dlsym(library, "H5P_CLS_FILE_ACCESS_ID_g");
    int (*start)(void) = (int (*)(void))dlsym(library, "H5open");
    int low, high;
    if (!bounds || !create || !kind || !start || start() < 0 || bounds(create(*kind), &low, &high) < 0)
        return 3;
    printf("%d %d\n", low, high);
    return 0;
}
