/* The status codes that programs see are those of drivers/status.h, with the same words. */
#include "tests/testing.h"

#include "drivers/status.h"
#include "include/ecube/ecube.h"

_Static_assert(ECUBE_OK == (int)E_OK, "ok");
_Static_assert(ECUBE_E_FULL == (int)E_FULL, "full");
_Static_assert(ECUBE_E_ARGUMENT == (int)E_ARGUMENT, "argument");
_Static_assert(ECUBE_E_LINK_DEAD == (int)E_LINK_DEAD, "link dead");
_Static_assert(ECUBE_E_TRUNCATED == (int)E_TRUNCATED, "truncated");
_Static_assert(ECUBE_E_MISMATCH == (int)E_MISMATCH, "mismatch");
_Static_assert(ECUBE_E_PEER_GONE == (int)E_PEER_GONE, "peer gone");
_Static_assert(ECUBE_E_BUSY == (int)E_BUSY, "busy");
_Static_assert(ECUBE_E_REFUSED == (int)E_REFUSED, "refused");
_Static_assert(ECUBE_E_FORMAT == (int)E_FORMAT, "format");
_Static_assert(ECUBE_E_NO_ROOM == (int)E_NO_ROOM, "no room");
_Static_assert(ECUBE_E_FAULT == (int)E_FAULT, "fault");
_Static_assert(ECUBE_E_CANCELLED == (int)E_CANCELLED, "cancelled");
_Static_assert(ECUBE_E_VERSION == (int)E_VERSION, "version");
_Static_assert(ECUBE_E_TIMEOUT == (int)E_TIMEOUT, "timeout");
_Static_assert(ECUBE_E_SYSCALL == (int)E_SYSCALL, "system call");
_Static_assert(ECUBE_E_NETWORK == (int)E_NETWORK, "network");
_Static_assert(ECUBE_E_ELSEWHERE == (int)E_ELSEWHERE, "elsewhere");
_Static_assert(ECUBE_E_UNATTENDED == (int)E_UNATTENDED, "unattended");

TEST(programs_and_kernel_use_the_same_words)
{
    for (int status = 1; status > -40; status--) {
        assert_string_equal(ecube_error_text(status), status_text(status));
    }
}
