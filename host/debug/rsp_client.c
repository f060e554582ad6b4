#include "host/debug/rsp_client.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "drivers/check.h"

/* ecube-jtag waits ten seconds for an emulator before it refuses, and its words say more than that
 * no answer has come: so the wait here is longer. */
enum {
    ANSWER_MS = 15000,
    PACKET_BYTES_DEFAULT = 1024,
    ASK_MAX = 128,
    DESCRIPTION_MAX = 1 << 18,
    FILES_MAX = 16
};

static int no_answer(struct message *message)
{
    return message_set(message, "the node's GDB server does not answer");
}

static int send_packet(struct rsp_client *client, const char *text)
{
    char packet[2 * ASK_MAX + RSP_FRAME_BYTES];
    size_t bytes = rsp_make(packet, text, strlen(text));

    return send(client->fd, packet, bytes, MSG_NOSIGNAL) == (ssize_t)bytes ? 0 : -1;
}

/* An answer is there, and it is none to the question: a refusal is "E." and words for people. */
static int bad_answer(const struct rsp_client *client, struct message *message)
{
    return strncmp(client->answer, "E.", 2) == 0
               ? message_set(message, "%.200s", client->answer + 2)
               : message_set(message, "the node's GDB server answers otherwise than it should");
}

/* The next packet that is an answer: the node's stop may be told at any time before. */
static int receive(struct rsp_client *client, struct message *message)
{
    struct pollfd end = {.fd = client->fd, .events = POLLIN};
    uint8_t bytes[4096];
    ssize_t count;

    for (;;) {
        if (poll(&end, 1, ANSWER_MS) <= 0) {
            return no_answer(message);
        }
        count = recv(client->fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count <= 0) {
            return message_set(message, "the node's GDB server has closed the connection");
        }
        for (ssize_t i = 0; i < count; i++) {
            if (rsp_feed(&client->reader, bytes[i]) != RSP_PACKET ||
                strchr("TS", client->reader.packet[0])) {
                continue;
            }
            int length = rsp_expand(client->reader.packet, client->reader.bytes, client->answer,
                                    RSP_PACKET_MAX);
            if (length < 0) {
                client->answer[0] = '\0';
                return bad_answer(client, message);
            }
            client->answer[length] = '\0';
            return length;
        }
    }
}

/* The length of the answer, which lies in client->answer, or -1. One question has one answer. */
__attribute__((format(printf, 3, 4))) static int ask(struct rsp_client *client,
                                                     struct message *message, const char *format,
                                                     ...)
{
    char text[ASK_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return send_packet(client, text) != 0 ? no_answer(message) : receive(client, message);
}

/* One file of the target description, in pieces: "m..." goes on, "l..." is the last. */
static char *read_file(struct rsp_client *client, const char *name, struct message *message)
{
    char *text = malloc(DESCRIPTION_MAX);
    size_t bytes = 0;
    bool more = true;

    CHECK(text);
    while (more) {
        int length = ask(client, message, "qXfer:features:read:%s:%zx,%x", name, bytes,
                         client->packet_bytes / 2);

        if (length < 1 || !strchr("ml", client->answer[0]) ||
            bytes + (size_t)length >= DESCRIPTION_MAX) {
            if (length >= 0) {
                bad_answer(client, message);
            }
            free(text);
            return NULL;
        }
        memcpy(text + bytes, client->answer + 1, (size_t)length - 1);
        bytes += (size_t)length - 1;
        more = client->answer[0] == 'm' && length > 1;
    }
    text[bytes] = '\0';
    return text;
}

/* The value of name="..." in a tag that ends at `end`; false when there is none. */
static bool attribute(const char *tag, const char *end, const char *name, char *value, size_t room)
{
    char key[16];
    size_t key_bytes = (size_t)snprintf(key, sizeof key, " %s=\"", name), count = 0;
    const char *p = tag;

    while (p + key_bytes < end && strncmp(p, key, key_bytes) != 0) {
        p++;
    }
    if (p + key_bytes >= end) {
        return false;
    }
    for (p += key_bytes; p < end && *p != '"' && count + 1 < room; p++) {
        value[count++] = *p;
    }
    value[count] = '\0';
    return true;
}

void rsp_client_describe(struct rsp_client *client, const char *xml)
{
    char number[RSP_NAME_MAX];
    const char *end;

    while ((xml = strstr(xml, "<reg ")) != NULL && (end = strchr(xml, '>')) != NULL) {
        struct rsp_register *next = &client->registers[client->register_count];

        if (client->register_count == RSP_REGISTERS_MAX) {
            return;
        }
        if (attribute(xml, end, "regnum", number, sizeof number)) {
            client->register_next = (unsigned)strtoul(number, NULL, 10);
        }
        if (attribute(xml, end, "name", next->name, sizeof next->name)) {
            next->number = client->register_next++;
            client->register_count++;
        }
        xml = end;
    }
}

/* target.xml names the files that it consists of. */
static int read_description(struct rsp_client *client, struct message *message)
{
    char *main_file = read_file(client, "target.xml", message), name[64];
    const char *end, *at = main_file;

    if (!main_file) {
        return -1;
    }
    rsp_client_describe(client, main_file);
    for (unsigned i = 0; i < FILES_MAX && (at = strstr(at, "<xi:include ")) != NULL; i++) {
        char *part;

        end = strchr(at, '>');
        if (!end || !attribute(at, end, "href", name, sizeof name)) {
            client->answer[0] = '\0';
            bad_answer(client, message);
            part = NULL;
        } else {
            part = read_file(client, name, message);
        }
        if (!part) {
            free(main_file);
            return -1;
        }
        rsp_client_describe(client, part);
        free(part);
        at = end;
    }
    free(main_file);
    return 0;
}

static int begin(struct rsp_client *client, struct message *message)
{
    const char *size;

    if (ask(client, message, "qSupported:xmlRegisters=arm") < 0) {
        return -1;
    }
    size = strstr(client->answer, "PacketSize=");
    client->packet_bytes =
        size ? (unsigned)strtoul(size + sizeof "PacketSize=" - 1, NULL, 16) : PACKET_BYTES_DEFAULT;
    if (client->packet_bytes < ASK_MAX || client->packet_bytes > RSP_PACKET_MAX) {
        client->packet_bytes = PACKET_BYTES_DEFAULT;
    }
    if (read_description(client, message) != 0 || ask(client, message, "Qqemu.PhyMemMode:1") < 0) {
        return -1;
    }
    return strcmp(client->answer, "OK") == 0
               ? 0
               : message_set(message, "the node's GDB server does not read physical memory");
}

int rsp_client_open(struct rsp_client *client, const char *path, struct message *message)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memset(client, 0, sizeof *client);
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (client->fd < 0 || connect(client->fd, (struct sockaddr *)&address, sizeof address) != 0) {
        message_set(message, "cannot connect to %s: %s", path, strerror(errno));
    } else if (begin(client, message) == 0) {
        return 0;
    }
    close(client->fd);
    return -1;
}

int rsp_client_register(struct rsp_client *client, const char *name, void *bytes, unsigned room,
                        struct message *message)
{
    unsigned i = 0;
    int length;

    while (i < client->register_count && strcmp(client->registers[i].name, name) != 0) {
        i++;
    }
    if (i == client->register_count) {
        return message_set(message, "the node has no register %s", name);
    }
    length = ask(client, message, "p%x", client->registers[i].number);
    if (length < 2 || (unsigned)length > 2 * room ||
        !rsp_from_hex(bytes, (size_t)length / 2, client->answer)) {
        return length < 0 ? -1 : message_set(message, "the register %s cannot be read", name);
    }
    return length / 2;
}

int rsp_client_memory(struct rsp_client *client, uint32_t address, void *bytes, uint32_t count,
                      struct message *message)
{
    uint32_t most = (client->packet_bytes - RSP_FRAME_BYTES) / 2;

    for (uint32_t done = 0; done < count;) {
        uint32_t part = count - done < most ? count - done : most;
        int length = ask(client, message, "m%x,%x", address + done, part);

        if (length < 0) {
            return -1;
        }
        if ((uint32_t)length != 2 * part ||
            !rsp_from_hex((uint8_t *)bytes + done, part, client->answer)) {
            return message_set(message, "the memory at 0x%08x cannot be read",
                               (unsigned)(address + done));
        }
        done += part;
    }
    return 0;
}

void rsp_client_leave(struct rsp_client *client, bool go_on)
{
    struct message message;

    ask(client, &message, "Qqemu.PhyMemMode:0");
    if (go_on) {
        ask(client, &message, "D;1"); /* QEMU refuses a bare D once a GDB has been there */
    }
    close(client->fd);
}
