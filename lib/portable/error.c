/*
 * error.c - a phrase for every error code.
 */
#include "include/ecube/ecube.h"

const char *ecube_error_text(int error)
{
    switch (error) {
    case ECUBE_OK: return "ok";
    case ECUBE_E_FULL: return "no room now";
    case ECUBE_E_ARGUMENT: return "impossible argument";
    case ECUBE_E_LINK_DEAD: return "link is dead";
    case ECUBE_E_TRUNCATED: return "message longer than the buffer";
    case ECUBE_E_MISMATCH: return "nodes disagree on the collective";
    case ECUBE_E_PEER_GONE: return "the peer's program has ended";
    case ECUBE_E_BUSY: return "busy";
    case ECUBE_E_REFUSED: return "circuit refused";
    case ECUBE_E_FORMAT: return "malformed bytes";
    case ECUBE_E_NO_ROOM: return "does not fit the program region";
    case ECUBE_E_FAULT: return "pointer outside the program's memory, or to constants";
    case ECUBE_E_CANCELLED: return "cancelled";
    case ECUBE_E_VERSION: return "protocol versions differ";
    case ECUBE_E_TIMEOUT: return "timed out";
    case ECUBE_E_SYSCALL: return "no such system call";
    case ECUBE_E_NETWORK: return "no schedule for this network";
    case ECUBE_E_ELSEWHERE: return "the collective failed at another node";
    case ECUBE_E_UNATTENDED: return "no 'ecube scatter' or 'ecube gather' reaches this run";
    default: return "unknown status";
    }
}
