/*
 * up.h - how the boot of a machine that stays is shown.
 */
#pragma once

#include "host/machine/serve.h"

#define UP_NAME_DEFAULT "machine"

/* Shows what serve_machine tells over its report_fd, until the boot is over; returns the exit
 * status that it tells. */
int up_show_boot(int fd, const struct serve_options *options);
