/* The cost of a case: wall-clock time and processor time, or bytes of memory in place of the wall-clock time. */
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct {
    double wall, cpu;
} Time;

/* 1 if memory is measured in place of time, and the bytes of memory at the start. */
static int measures_memory;
static double memory_before;

static double clock_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the memory of this process, in bytes, that Linux reports under a heading. */
static double memory_of(const char *heading) {
    char line[256];
    double kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status) return 0;
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, heading, strlen(heading))) sscanf(line + strlen(heading), "%lf", &kib);
    fclose(status);
    return kib * 1024;
}

static Time begin(void) {
    if (measures_memory) {
        /* Resets the peak memory of the process to its current memory. */
        FILE *refs = fopen("/proc/self/clear_refs", "w");
        if (refs) fputs("5", refs), fclose(refs);
        memory_before = memory_of("VmRSS:");
    }
    Time t = {clock_of(CLOCK_MONOTONIC), clock_of(CLOCK_PROCESS_CPUTIME_ID)};
    return t;
}

static Time since(Time start) {
    Time t = {clock_of(CLOCK_MONOTONIC) - start.wall, clock_of(CLOCK_PROCESS_CPUTIME_ID) - start.cpu};
    if (measures_memory) {
        t.wall = memory_of("VmHWM:") - memory_before, t.cpu = 0;
        if (t.wall < 0) t.wall = 0;
    }
    return t;
}

/* Removes the word "peak" from a request, and measures memory if the request begins with it. */
static char *without_peak(char *line) {
    measures_memory = !strncmp(line, "peak ", 5) && strncmp(line, "peak now", 8);
    return measures_memory ? line + 5 : line;
}
