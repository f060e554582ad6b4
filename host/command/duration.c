#include "host/command/duration.h"

#include <stdlib.h>
#include <string.h>

/* What one of a unit is in ns; 0 when there is none of that name. */
static double unit_ns(const char *name, uint64_t plain_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(name, units[i].name) == 0) {
            return units[i].ns;
        }
    }
    return *name == '\0' ? (double)plain_ns : 0;
}

bool duration_parse(const char *text, uint64_t plain_ns, uint64_t low_ns, uint64_t high_ns,
                    uint64_t *ns)
{
    bool begins = (*text >= '0' && *text <= '9') || *text == '.'; /* no sign, space, inf or nan */
    char *end;
    double value = strtod(text, &end), unit = begins && end != text ? unit_ns(end, plain_ns) : 0;

    if (unit == 0 || !(value * unit >= (double)low_ns && value * unit <= (double)high_ns)) {
        return false;
    }
    *ns = (uint64_t)(value * unit + 0.5);
    return true;
}
