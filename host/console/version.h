/*
 * version.h - what `ecube --version` says, and what every file of results begins with.
 */
#pragma once

#define ECUBE_VERSION "0.2.0"
