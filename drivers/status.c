#include "drivers/status.h"

const char *status_text(int status)
{
    switch (status) {
    case E_OK: return "ok";
    case E_FULL: return "no room now";
    case E_ARGUMENT: return "impossible argument";
    case E_LINK_DEAD: return "link is dead";
    case E_TRUNCATED: return "message longer than the buffer";
    case E_MISMATCH: return "nodes disagree on the collective";
    case E_PEER_GONE: return "the peer's program has ended";
    case E_BUSY: return "busy";
    case E_REFUSED: return "circuit refused";
    case E_FORMAT: return "malformed bytes";
    case E_NO_ROOM: return "does not fit the program region";
    case E_FAULT: return "pointer outside the program's memory, or to constants";
    case E_CANCELLED: return "cancelled";
    case E_VERSION: return "protocol versions differ";
    case E_TIMEOUT: return "timed out";
    case E_SYSCALL: return "no such system call";
    case E_NETWORK: return "no schedule for this network";
    case E_ELSEWHERE: return "the collective failed at another node";
    case E_UNATTENDED: return "no 'ecube scatter' or 'ecube gather' reaches this run";
    default: return "unknown status";
    }
}
