/*
 * message.h - one clear line that says what is wrong.
 *
 * Errors   a function that can fail takes a struct message, fills it and returns -1
 */
#pragma once

/* The longest name every limit of a collective that nobody can plan. */
enum { MESSAGE_MAX = 2048 };

/* What the tool exits with, beside the status of the worst node's program (0 to 255). */
enum exit_status {
    STATUS_BAD_INPUT = 2, /* the command line, an image or the installation */
    STATUS_MACHINE = 3,   /* a node, a link or the download failed */
    STATUS_TIMEOUT = 124,
    STATUS_UNDEFINED = 132,  /* a program's undefined instruction, as a shell shows SIGILL */
    STATUS_BREAKPOINT = 133, /* a program's breakpoint instruction, as SIGTRAP */
    STATUS_CHECK = 134,      /* the kernel of a node failed */
    STATUS_FINDING = 135,    /* what the checking library has found in a program, as SIGBUS */
    STATUS_DIVIDE = 136,     /* division by zero, as SIGFPE */
    STATUS_MEMORY = 139,     /* a data or fetch abort, as SIGSEGV */
    STATUS_CALL = 159        /* an error of a call of ecube.h, as SIGSYS */
};

struct message {
    char text[MESSAGE_MAX];
};

/* Fills the message; returns -1, so that a failing function can return it. */
int message_set(struct message *message, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "ecube: ..." to stderr and returns STATUS_BAD_INPUT. */
int message_print(const struct message *message);
