/*
 * check.h - CHECK(x): a promise that this code makes to itself.
 *
 * On in every build. When it fails, check_failed reports file and line and does not return: on a
 * node it stops the node with a fault report, in a host process it prints and aborts. Never use it
 * for bytes from outside.
 */
#pragma once

_Noreturn void check_failed(const char *file, int line, const char *what);

#define CHECK(x) ((x) ? (void)0 : check_failed(__FILE__, __LINE__, #x))
