/*
 * version.h - which version of the interface a program was linked for; for lib/ and the tool, also
 * in assembly.
 *
 * It goes up when a program that was linked before would not run right any more: when a call of
 * abi.h or the private block (wire/run.h) means something else. A new call alone changes nothing.
 * A program's ELF file says its own in a note with the owner "ecube", of the type NOTE_VERSION.
 */
#pragma once

#define ECUBE_ABI_VERSION 6
