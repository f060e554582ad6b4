#include "host/profile/profile_file.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "host/computer/input_file.h"
#include "host/console/choice.h"

enum { FILE_BYTES_MAX = 1 << 16 };

/* A file as it is read. */
struct reading {
    const char *path;
    json_t *object;
    struct machine_profile *profile;
    struct message *message;
};

/* A key: what takes its value, and where to. */
struct key {
    const char *name;
    int (*take)(const struct reading *r, const struct key *key, const json_t *value);
    int64_t low, high;
    const char *unit; /* for people, behind the numbers */
    size_t at;        /* the member of the profile that it sets */
    bool optional;
};

/* A value as it stands in the file, as much as there is room for. */
static void value_text(const json_t *value, char *text, size_t room)
{
    size_t bytes =
        json_dumpb(value, text, room - 1,
                   JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));

    text[bytes < room ? bytes : room - 1] = '\0';
    if (bytes >= room) {
        snprintf(text + room - 4, 4, "...");
    }
}

static int wrong(const struct reading *r, const char *key, const json_t *value, const char *use)
{
    char text[40];

    value_text(value, text, sizeof text);
    return message_set(r->message, "%.300s: %s: %s: use %s", r->path, key, text, use);
}

static int read_whole(const struct reading *r, const struct key *key, const json_t *value,
                      uint32_t *number)
{
    json_int_t given = json_integer_value(value);
    char use[80];

    if (!json_is_integer(value) || given < key->low || given > key->high) {
        snprintf(use, sizeof use, "a whole number from %d to %d (%s)", (int)key->low,
                 (int)key->high, key->unit);
        return wrong(r, key->name, value, use);
    }
    *number = (uint32_t)given;
    return 0;
}

/* A time: a uint32_t of the profile. */
static int take_ns(const struct reading *r, const struct key *key, const json_t *value)
{
    return read_whole(r, key, value, (uint32_t *)(void *)((char *)&r->profile->profile + key->at));
}

static int take_element_bytes(const struct reading *r, const struct key *key, const json_t *value)
{
    uint32_t bytes = 0;
    int status = read_whole(r, key, value, &bytes);

    r->profile->profile.element_bytes = (uint16_t)bytes;
    return status;
}

/* A thousandth is the least that a machine's nodes are told of. */
static int take_sigma(const struct reading *r, const struct key *key, const json_t *value)
{
    double sigma = json_number_value(value), permille = round(sigma * 1000);

    if (!json_is_number(value) || !(sigma >= 0 && sigma <= PROFILE_SIGMA_MAX) ||
        fabs(sigma * 1000 - permille) > 1e-6) {
        return wrong(r, key->name, value,
                     "a number from 0 to 60 with up to three decimals, for example 1.5");
    }
    r->profile->profile.sigma_permille = (uint16_t)permille;
    return 0;
}

static int take_ports(const struct reading *r, const struct key *key, const json_t *value)
{
    json_int_t ports = json_integer_value(value);
    bool all = json_is_string(value) && strcmp(json_string_value(value), "all") == 0;

    if (!all && !(json_is_integer(value) && ports >= 1 && ports <= CLOCK_PORTS_MAX)) {
        return wrong(r, key->name, value, "a whole number from 1 to 16, or \"all\"");
    }
    r->profile->profile.ports = all ? PORTS_ALL : (uint8_t)ports;
    return 0;
}

static int take_name(const struct reading *r, const struct key *key, const json_t *value)
{
    const char *name = json_string_value(value);

    if (!name || strlen(name) != json_string_length(value) || !profile_name_is_good(name)) {
        return wrong(r, key->name, value,
                     "a name of 1 to 63 letters, digits, '-', '_', '.' and '+'");
    }
    snprintf(r->profile->name, PROFILE_NAME_MAX, "%s", name);
    return 0;
}

static int take_words(const struct reading *r, const struct key *key, const json_t *value)
{
    char *to = strcmp(key->name, "source") == 0 ? r->profile->source : r->profile->note;
    const char *words = json_string_value(value);
    size_t bytes = words ? strlen(words) : 0;
    bool good = words && bytes == json_string_length(value) && bytes < PROFILE_WORDS_MAX;

    for (size_t i = 0; good && i < bytes; i++) {
        good = (unsigned char)words[i] >= ' ' && words[i] != 0x7f;
    }
    if (!good) {
        return wrong(r, key->name, value, "one line of up to 511 bytes");
    }
    memcpy(to, words, bytes + 1);
    return 0;
}

static const struct key keys[] = {
    {"name", take_name, .optional = false},
    {"xi_ns", take_ns, 0, PROFILE_START_MAX_NS, "ns", .at = offsetof(struct profile, xi_ns)},
    {"tau_ns", take_ns, 0, PROFILE_START_MAX_NS, "ns", .at = offsetof(struct profile, tau_ns)},
    {"element_ns", take_ns, 1, PROFILE_ELEMENT_MAX_NS, "ns",
     .at = offsetof(struct profile, element_ns)},
    {"element_bytes", take_element_bytes, 1, PROFILE_ELEMENT_MAX_BYTES, "bytes", .optional = false},
    {"sigma", take_sigma, .optional = false},
    {"ports", take_ports, .optional = false},
    {"source", take_words, .optional = true},
    {"note", take_words, .optional = true},
};

enum { KEYS = sizeof keys / sizeof keys[0] };

/* A key that there is not is most likely one that is spelt wrong. */
static int check_key(const struct reading *r, const char *name)
{
    struct message unknown;
    struct choice choice;

    choice_begin(&choice, name);
    for (unsigned i = 0; i < KEYS; i++) {
        if (choice_offer(&choice, keys[i].name)) {
            return 0;
        }
    }
    choice_refuse(&choice, "unknown key", &unknown);
    return message_set(r->message, "%.300s: %s", r->path, unknown.text);
}

static int take_all(const struct reading *r)
{
    const char *name;
    json_t *value;

    json_object_foreach(r->object, name, value)
    {
        if (check_key(r, name) != 0) {
            return -1;
        }
    }
    for (unsigned i = 0; i < KEYS; i++) {
        value = json_object_get(r->object, keys[i].name);
        if (!value && !keys[i].optional) {
            return message_set(r->message, "%.300s: %s is missing", r->path, keys[i].name);
        }
        if (value && keys[i].take(r, &keys[i], value) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The whole file; NULL: the message says why. */
static json_t *load(const char *path, struct message *message)
{
    char text[FILE_BYTES_MAX + 1];
    json_error_t error;
    json_t *object = NULL;
    FILE *file = input_file_open(path, "profile", message);

    if (!file) {
        return NULL;
    }
    size_t bytes = fread(text, 1, sizeof text, file);
    if (ferror(file)) {
        message_set(message, "cannot read the profile %.300s: %s", path, strerror(errno));
    } else if (bytes > FILE_BYTES_MAX) {
        message_set(message, "%.300s is no profile: it has more than %d bytes", path,
                    FILE_BYTES_MAX);
    } else {
        object = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
        if (!object) {
            message_set(message, "%.300s, line %d: this is no JSON: %s", path, error.line,
                        error.text);
        }
    }
    input_file_close(file);
    return object;
}

int profile_file_read(const char *path, struct machine_profile *profile, struct message *message)
{
    struct reading r = {.path = path, .profile = profile, .message = message};
    int status = -1;

    *profile = (struct machine_profile){.name = ""};
    r.object = load(path, message);
    if (!r.object) {
        return -1;
    }
    status = json_is_object(r.object)
                 ? take_all(&r)
                 : message_set(message, "%.300s is no profile: it is no JSON object", path);
    json_decref(r.object);
    return status;
}

bool profile_name_is_good(const char *name)
{
    size_t bytes = strlen(name);
    size_t good =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+");

    return bytes > 0 && bytes < PROFILE_NAME_MAX && good == bytes;
}

json_t *profile_to_json(const struct machine_profile *profile)
{
    const struct profile *p = &profile->profile;
    json_t *object = json_pack(
        "{s:s, s:I, s:I, s:I, s:i, s:f, s:o}", "name", profile->name, "xi_ns", (json_int_t)p->xi_ns,
        "tau_ns", (json_int_t)p->tau_ns, "element_ns", (json_int_t)p->element_ns, "element_bytes",
        (int)clock_element_bytes(p), "sigma", p->sigma_permille / 1e3, "ports",
        clock_all_ports(p) ? json_string("all") : json_integer(clock_ports(p)));

    if (*profile->source) {
        json_object_set_new(object, "source", json_string(profile->source));
    }
    if (*profile->note) {
        json_object_set_new(object, "note", json_string(profile->note));
    }
    return object;
}
