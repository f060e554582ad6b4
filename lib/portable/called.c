/*
 * called.c - what becomes of a call of ecube.h that fails.
 */
#include "include/ecube/ecube.h"
#include "lib/portable/call.h"

static enum ecube_errors_mode mode = ECUBE_ERRORS_FATAL;

enum ecube_errors_mode ecube_errors(enum ecube_errors_mode wanted)
{
    enum ecube_errors_mode before = mode;

    mode = wanted;
    return before;
}

int ecube_returns(const struct ecube_called *called, int status)
{
    if (status >= 0 || status == ECUBE_E_CANCELLED || mode == ECUBE_ERRORS_RETURN) {
        return status;
    }
    ecube_error_line_flush();
    ecube_error_trap(status, called->number, called);
}
