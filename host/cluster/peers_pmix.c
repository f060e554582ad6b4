/*
 * peers_pmix.c - the maker of peers that asks PMIx, which mpirun and srun serve.
 *
 * Rank 0 publishes one text, "KEY PORT ADDRESS,ADDRESS,...", before the one fence; the others get
 * it behind that. The library is left at once: nothing else is asked of it.
 */
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "host/cluster/division.h"
#include "host/cluster/peers.h"

#define ROOT_NAME "ecube.root"

enum { ROOT_TEXT_MAX = PEERS_ADDRESSES_MAX + PEERS_PORT_MAX + KEY_HEX_MAX + 4 };

bool peers_pmix_told(void)
{
    return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK");
}

static int refuse(const char *what, pmix_status_t status, struct message *message)
{
    return message_set(message, "%s (PMIx): %s", what, PMIx_Error_string(status));
}

/* Addresses of this computer: those that others can reach before those that only it can. */
static void list_addresses(char text[PEERS_ADDRESSES_MAX])
{
    struct ifaddrs *all = NULL;

    text[0] = '\0';
    if (getifaddrs(&all) != 0) {
        return;
    }
    for (int loopback = 0; loopback < 2; loopback++) {
        for (struct ifaddrs *at = all; at; at = at->ifa_next) {
            char host[INET_ADDRSTRLEN];
            bool is_loopback = (at->ifa_flags & IFF_LOOPBACK) != 0;
            size_t used = strlen(text);

            if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET ||
                (at->ifa_flags & IFF_UP) == 0 || is_loopback != (loopback == 1) ||
                getnameinfo(at->ifa_addr, sizeof(struct sockaddr_in), host, sizeof host, NULL, 0,
                            NI_NUMERICHOST) != 0 ||
                used + strlen(host) + 2 > PEERS_ADDRESSES_MAX) {
                continue;
            }
            snprintf(text + used, PEERS_ADDRESSES_MAX - used, "%s%s", used ? "," : "", host);
        }
    }
    freeifaddrs(all);
}

static int publish(struct peers *peers, bool given, struct message *message)
{
    char text[ROOT_TEXT_MAX];
    pmix_value_t value;
    pmix_status_t status;

    if (!given && key_make(&peers->key, message) != 0) {
        return -1;
    }
    peers->listener = peers_listen(NULL, NULL, message);
    if (peers->listener < 0) {
        return -1;
    }
    list_addresses(peers->addresses);
    snprintf(peers->port, sizeof peers->port, "%u", (unsigned)peers_port_of(peers->listener));
    /* of a key in a file nothing is told */
    snprintf(text, sizeof text, "%s %s %s", given ? "-" : peers->key.hex, peers->port,
             peers->addresses);
    PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
    status = PMIx_Put(PMIX_GLOBAL, ROOT_NAME, &value);
    PMIX_VALUE_DESTRUCT(&value);
    return status == PMIX_SUCCESS ? 0 : refuse("cannot publish rank 0's address", status, message);
}

/* Behind the fence. */
static int learn(struct peers *peers, bool given, const pmix_proc_t *self, struct message *message)
{
    char key[KEY_HEX_MAX];
    pmix_proc_t root;
    pmix_value_t *value = NULL;
    pmix_status_t status;

    PMIX_LOAD_PROCID(&root, self->nspace, 0);
    status = PMIx_Get(&root, ROOT_NAME, NULL, 0, &value);
    if (status != PMIX_SUCCESS || value->type != PMIX_STRING) {
        return refuse("cannot learn rank 0's address", status, message);
    }
    int count = sscanf(value->data.string, "%128s %7s %511s", key, peers->port, peers->addresses);
    PMIX_VALUE_RELEASE(value);
    if (count != 3) {
        return message_set(message, "rank 0 has published no address: it has ended");
    }
    if (given != (strcmp(key, "-") == 0)) {
        return message_set(message, "--key-file: give it to all agents, or to none");
    }
    if (!given) {
        memcpy(peers->key.hex, key, sizeof key);
    }
    return 0;
}

static int ask_size(struct peers *peers, const pmix_proc_t *self, struct message *message)
{
    pmix_proc_t job;
    pmix_value_t *value = NULL;
    pmix_status_t status;

    PMIX_LOAD_PROCID(&job, self->nspace, PMIX_RANK_WILDCARD);
    status = PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value);
    if (status != PMIX_SUCCESS) {
        return refuse("cannot learn how many agents there are", status, message);
    }
    peers->size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return peers->size <= DIVISION_COMPUTERS_MAX
               ? 0
               : message_set(message, "%u agents: at most %d can share a machine", peers->size,
                             DIVISION_COMPUTERS_MAX);
}

static int exchange(struct peers *peers, const pmix_proc_t *self, struct message *message)
{
    bool given = peers->key.hex[0] != '\0', collect = true;
    pmix_status_t status;
    pmix_proc_t all;
    pmix_info_t info;

    peers->rank = self->rank;
    peers->wired = true;
    if (ask_size(peers, self, message) != 0 ||
        (peers->rank == 0 && publish(peers, given, message) != 0)) {
        return -1;
    }
    status = PMIx_Commit();
    PMIX_LOAD_PROCID(&all, self->nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    status = status == PMIX_SUCCESS ? PMIx_Fence(&all, 1, &info, 1) : status;
    PMIX_INFO_DESTRUCT(&info);
    if (status != PMIX_SUCCESS) {
        return refuse("the agents cannot meet", status, message);
    }
    return peers->rank == 0 ? 0 : learn(peers, given, self, message);
}

/* The library is left, so the end of the launcher must show otherwise. */
static void end_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) { /* it died before the line above */
        raise(SIGTERM);
    }
}

int peers_pmix_find(struct peers *peers, struct message *message)
{
    pid_t parent = getppid();
    pmix_proc_t self;
    pmix_status_t status = PMIx_Init(&self, NULL, 0);

    if (status != PMIX_SUCCESS) {
        return refuse("the launcher does not answer", status, message);
    }
    int result = exchange(peers, &self, message);
    PMIx_Finalize(NULL, 0);
    end_with_parent(parent);
    return result;
}
