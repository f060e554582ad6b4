/*
 * error.h - what a call of ecube.h returns when it fails.
 *
 * The numbers travel between nodes and to the host: they are the kernel's, and are never changed.
 */
#pragma once

enum ecube_error {
    ECUBE_OK = 0,
    ECUBE_E_FULL =
        -1, /* more than ECUBE_REQUESTS_MAX requests are open, or no memory for a working buffer */
    ECUBE_E_ARGUMENT = -2,  /* no such rank, root, tag, size or request */
    ECUBE_E_LINK_DEAD = -3, /* the path needs a link that has been declared dead */
    ECUBE_E_TRUNCATED =
        -4, /* the message is longer than the buffer; nothing was written past its end */
    ECUBE_E_MISMATCH = -5,  /* the nodes disagree on the collective: size, root, type, operator */
    ECUBE_E_PEER_GONE = -6, /* the other program, or one of a collective's programs, has ended */
    ECUBE_E_BUSY = -7,      /* not seen by programs: a node is still in a collective */
    ECUBE_E_REFUSED = -8,   /* a circuit was refused */
    ECUBE_E_FORMAT = -9,    /* bytes from another node made no sense */
    ECUBE_E_NO_ROOM = -10,  /* not seen by programs: an image does not fit */
    /* a pointer lies outside the program's memory, or something would be written to its constants
     * or code */
    ECUBE_E_FAULT = -11,
    ECUBE_E_CANCELLED = -12, /* the receive was given up, or ended with its program */
    ECUBE_E_VERSION = -13,   /* not seen by programs: a link's ends speak different versions */
    ECUBE_E_TIMEOUT = -14,   /* a bounded wait ran out */
    ECUBE_E_SYSCALL = -15,   /* the kernel knows no such call: another version */
    ECUBE_E_NETWORK = -16,   /* not on this network; a collective: no plan for it */
    ECUBE_E_ELSEWHERE = -18, /* another node could not go on with the collective */
    /* nobody can scatter or gather: the program runs by `ecube run` or `ecube sim` */
    ECUBE_E_UNATTENDED = -19
};

#ifdef __cplusplus
extern "C" {
#endif

/* One short English phrase for an error code; "unknown status" for anything else. */
const char *ecube_error_text(int error);

#ifdef __cplusplus
}
#endif
