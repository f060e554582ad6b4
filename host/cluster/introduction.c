#include "host/cluster/introduction.h"

#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/cluster/connection.h"
#include "host/computer/available.h"
#include "host/console/version.h"

/* Of a file's bytes; empty: it cannot be read. */
static void digest_file(const char *path, char hex[DIGEST_HEX])
{
    static unsigned char block[1 << 16];
    unsigned char digest[32];
    gnutls_hash_hd_t hash;
    FILE *file = fopen(path, "rbe");
    size_t bytes;

    hex[0] = '\0';
    if (!file || gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) != 0) {
        if (file) {
            fclose(file);
        }
        return;
    }
    while ((bytes = fread(block, 1, sizeof block, file)) > 0) {
        gnutls_hash(hash, block, bytes);
    }
    fclose(file);
    gnutls_hash_deinit(hash, digest);
    for (unsigned i = 0; i < sizeof digest; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
}

static void read_word(const char *path, char *word, size_t room)
{
    FILE *file = fopen(path, "re");

    word[0] = '\0';
    if (file && fgets(word, (int)room, file)) {
        word[strcspn(word, "\n")] = '\0';
    }
    if (file) {
        fclose(file);
    }
}

void introduction_name(unsigned rank, char computer[COMPUTER_NAME_MAX])
{
    if (gethostname(computer, COMPUTER_NAME_MAX) != 0 || computer[0] == '\0') {
        snprintf(computer, COMPUTER_NAME_MAX, "of rank %u", rank);
    }
    computer[COMPUTER_NAME_MAX - 1] = '\0';
}

void introduction_make(struct introduction *self, unsigned rank, const struct target *target,
                       const char *refusal)
{
    *self = (struct introduction){.rank = rank, .memory_bytes = available_bytes()};
    introduction_name(rank, self->computer);
    read_word("/proc/sys/kernel/random/boot_id", self->boot, sizeof self->boot);
    snprintf(self->version, sizeof self->version, "%s", ECUBE_VERSION);
    digest_file("/proc/self/exe", self->tool);
    if (target) {
        digest_file(target->kernel, self->kernel);
    }
    snprintf(self->refusal, sizeof self->refusal, "%s", refusal ? refusal : "");
}

json_t *introduction_to_json(const struct introduction *self)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:I, s:s}", "role", "control", "rank",
                     (int)self->rank, "computer", self->computer, "boot", self->boot, "version",
                     self->version, "tool", self->tool, "kernel", self->kernel, "memory",
                     (json_int_t)self->memory_bytes, "refusal", self->refusal);
}

bool introduction_from_json(struct introduction *other, const json_t *line)
{
    const char *computer, *version, *boot = "", *tool = "", *kernel = "", *refusal = "";
    json_int_t memory = 0;
    int rank;

    /* another version says at least the first three */
    if (json_unpack((json_t *)(uintptr_t)line, "{s:i, s:s, s:s, s?s, s?s, s?s, s?I, s?s}", "rank",
                    &rank, "computer", &computer, "version", &version, "boot", &boot, "tool", &tool,
                    "kernel", &kernel, "memory", &memory, "refusal", &refusal) != 0 ||
        rank < 0 || memory < 0) {
        return false;
    }
    *other = (struct introduction){.rank = (unsigned)rank, .memory_bytes = (uint64_t)memory};
    connection_words(other->computer, sizeof other->computer, computer);
    connection_words(other->boot, sizeof other->boot, boot);
    connection_words(other->version, sizeof other->version, version);
    connection_words(other->tool, sizeof other->tool, tool);
    connection_words(other->kernel, sizeof other->kernel, kernel);
    connection_words(other->refusal, sizeof other->refusal, refusal);
    return true;
}

int introduction_compare(const struct introduction *self, const struct introduction *other,
                         struct message *message)
{
    if (strcmp(self->version, other->version) != 0) {
        return message_set(message, "computer %s (rank %u) has ecube %s, and %s has %s",
                           other->computer, other->rank, other->version, self->computer,
                           self->version);
    }
    if (other->refusal[0] != '\0') {
        return message_set(message, "computer %s (rank %u): %s", other->computer, other->rank,
                           other->refusal);
    }
    if (strcmp(self->tool, other->tool) != 0 || strcmp(self->kernel, other->kernel) != 0) {
        return message_set(message,
                           "computer %s (rank %u) has another build of the %s than %s: use the "
                           "same files on all",
                           other->computer, other->rank,
                           strcmp(self->tool, other->tool) != 0 ? "tool" : "kernel image",
                           self->computer);
    }
    return 0;
}
