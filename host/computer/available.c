#include "host/computer/available.h"

#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number that `format` finds in a line of a file; UINT64_MAX when it finds none: what cannot be
 * read counts as no limit, for a wrong refusal is worse than a late one. */
static uint64_t number_in(const char *path, const char *format)
{
    FILE *file = fopen(path, "r");
    char line[128];
    unsigned long long number = 0;
    uint64_t found = UINT64_MAX;

    while (file && found == UINT64_MAX && fgets(line, sizeof line, file)) {
        if (sscanf(line, format, &number) == 1) {
            found = number;
        }
    }
    if (file) {
        fclose(file);
    }
    return found;
}

static uint64_t left(uint64_t limit, uint64_t used)
{
    return limit == UINT64_MAX || used == UINT64_MAX ? UINT64_MAX : limit > used ? limit - used : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t machine_bytes(void)
{
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable: %llu kB");

    return kib != UINT64_MAX
               ? kib * 1024
               : (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t process_bytes(void)
{
    struct rlimit limit;
    uint64_t pages = number_in("/proc/self/statm", "%llu");

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        pages == UINT64_MAX) {
        return UINT64_MAX;
    }
    return left(limit.rlim_cur, pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

static uint64_t group_bytes(void)
{
    return left(number_in("/sys/fs/cgroup/memory.max", "%llu"),
                number_in("/sys/fs/cgroup/memory.current", "%llu"));
}

uint64_t available_bytes(void)
{
    return least(machine_bytes(), least(process_bytes(), group_bytes()));
}

unsigned available_share_permille(void)
{
    uint64_t ready = number_in("/proc/loadavg", "%*f %*f %*f %llu");
    unsigned processors = 1;
    cpu_set_t usable;

    if (sched_getaffinity(0, sizeof usable, &usable) == 0) {
        processors = (unsigned)CPU_COUNT(&usable);
    }
    ready -= ready != UINT64_MAX && ready > 0; /* this process asks, and then sleeps */
    return ready == UINT64_MAX || ready <= processors ? 1000
                                                      : (unsigned)(processors * 1000 / ready);
}
