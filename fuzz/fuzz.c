#include <stdio.h>
#include <stdlib.h>

#include "drivers/check.h"

_Noreturn void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "CHECK failed: %s:%d: %s\n", file, line, what);
    abort();
}
