/*
 * profile_file.h - a profile as a file, JSON:
 *
 *     {
 *       "name": "ipsc860",
 *       "xi_ns": 65425,           start-up of a message
 *       "tau_ns": 9575,           set-up of a hop
 *       "element_ns": 425,        an element over a link
 *       "element_bytes": 1,       an element; the last of a message may be filled in part
 *       "sigma": 1.5,             start-up to and from the host against that between nodes
 *       "ports": 1,               messages that a node sends, and receives, at a time
 *       "source": "...",          where the numbers are from; may be left out, as "note"
 *       "note": "..."             what of the machine they do not show
 *     }
 *
 * Units    ns, bytes
 * Errors   -1 and one line, which names the file and the key
 * Context  the tool
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "host/console/message.h"
#include "host/profile/profiles.h"

/* The most that a profile may have: beyond, sums of times would not be exact, or mean nothing. */
enum {
    PROFILE_START_MAX_NS = 1000 * 1000 * 1000, /* xi and tau */
    PROFILE_ELEMENT_MAX_NS = 100 * 1000,
    PROFILE_ELEMENT_MAX_BYTES = 256
};

int profile_file_read(const char *path, struct machine_profile *profile, struct message *message);

/* The object that such a file holds. */
json_t *profile_to_json(const struct machine_profile *profile);

/* Whether a text can be a profile's name: it goes to terminals and into JSON. */
bool profile_name_is_good(const char *name);
