/*
 * status.h - the one list of status codes.
 *
 * A function that can fail returns an int: a count or E_OK, or one of these negatives. The codes
 * travel between nodes, to the host and to programs, so the list is only ever appended to.
 */
#pragma once

enum status {
    E_OK = 0,
    E_FULL = -1, /* a bounded queue or table has no room now; try again after progress */
    /* a system call or request names something that cannot be (rank, length, pointer) */
    E_ARGUMENT = -2,
    E_LINK_DEAD = -3, /* the path needs a link that has been declared dead */
    /* the message is longer than the buffer posted for it; nothing was written past its end */
    E_TRUNCATED = -4,
    E_MISMATCH = -5,  /* nodes disagree on the collective they are in (operation, size or root) */
    E_PEER_GONE = -6, /* the program at the other end has exited or crashed */
    E_BUSY = -7,      /* a hop is still in a collective before the message: try again soon */
    /* a circuit met a busy hop where it may not wait, or a node that does not expect it now */
    E_REFUSED = -8,
    E_FORMAT = -9,   /* bytes from outside break the format: image, packet, frame */
    E_NO_ROOM = -10, /* an image or block does not fit the program region */
    /* a program's pointer lies outside its memory, or its code or constants would be written */
    E_FAULT = -11,
    E_CANCELLED = -12, /* the program has given the receive up, or ended while it was under way */
    E_VERSION = -13,   /* the two ends of a link speak different protocol versions */
    E_TIMEOUT = -14,   /* a bounded wait ran out */
    E_SYSCALL = -15,   /* no such system call */
    E_NETWORK = -16,   /* the collective has no schedule for this network */
    E_STORED = -17,    /* the receiver knows of the message and asks for it later; for nodes only */
    E_ELSEWHERE = -18, /* the collective has failed at another node, which knows why */
    E_UNATTENDED = -19 /* the program waits at a region where no host scatters or gathers */
};

/* One short English phrase for a code, for reports; "unknown status" for anything else. */
const char *status_text(int status);
