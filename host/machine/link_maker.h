/*
 * link_maker.h - what the links between the nodes of a machine are made of: --links.
 *
 * `shared` is memory that two nodes share (shared_links.h), `serial` a virtual serial line over a
 * socketpair. `auto` takes shared memory if the board has such links, QEMU has the device and
 * this process may have the memory; with one line that says why, if only the last two fail, it
 * takes serial lines.
 */
#pragma once

#include "host/console/message.h"
#include "host/computer/target.h"
#include "host/machine/launcher.h"
#include "network/network.h"

/* Decides for a network and QEMU, which target_find has found, and checks that this process may
 * have what the links of its place (NULL: all of it) need. text: of --links; NULL: what ECUBE_LINKS
 * in the environment says, or auto. */
int link_maker_choose(const char *text, const struct network *network,
                      const struct launcher_place *place, struct target *target,
                      struct message *message);

/* What a machine's links are, as users write it. */
const char *link_maker_name(const struct target *target);
