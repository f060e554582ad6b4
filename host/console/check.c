#include "drivers/check.h"

#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "ecube: internal error at %s:%d: %s\n", file, line, what);
    abort();
}
