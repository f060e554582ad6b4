#include "sim/core/several.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "sim/core/actor.h"
#include "sim/core/host.h"
#include "sim/core/loop.h"
#include "sim/core/partition.h"
#include "sim/core/state.h"
#include "sim/observe/waits.h"
#include "sim/parallel/ranks.h"
#include "sim/programs/native.h"
#include "sim/programs/program.h"
#include "sim/programs/scenario_program.h"
#include "sim/simulation.h"

/* A parcel is sections: what a partition has for another, for the host, or news for rank 0. */
struct section {
    uint32_t from, to; /* to: a partition; the number of them: the host; one more: news */
    uint64_t bytes;    /* which follow */
};

enum news_kind { NEWS_ENDED, NEWS_STOPPED_AT, NEWS_LINE };

/* What rank 0 is to know of a node or of a line; the rest follows. */
struct news {
    uint32_t kind, bytes; /* of the record, this included */
    uint32_t number;      /* of the node, or the size */
    int32_t value;        /* status, or how many addresses follow */
};

enum heard_kind {
    HEARD_GO,      /* that is all */
    HEARD_GIVE_UP, /* programs that have not ended are given up */
    HEARD_QUESTION /* that is answered where its node is, or by all */
};

/* What rank 0 tells after the host has acted. */
struct heard {
    uint8_t kind, phase, verdict;
    bool asked;
    uint32_t running;
    uint64_t got_on_ns, progress_ns;
    uint64_t parcels; /* a bit for each rank to which one comes */
    struct wait_question question;
};

static struct ranks *ranks_of(const struct sim *sim)
{
    return sim->options.ranks;
}

uint64_t ranks_least(struct ranks *ranks, uint64_t number)
{
    uint64_t words[RANKS_WORDS] = {[WORD_LEAST] = ~number};

    ranks->exchange(ranks, words, NULL, 0);
    return ~words[WORD_LEAST];
}

bool several_any(const struct sim *sim, bool own)
{
    return ranks_least(ranks_of(sim), own ? 0 : 1) == 0;
}

/* The partition that stands for all others. */
static struct partition *others(const struct sim *sim)
{
    return &sim->partitions[ranks_of(sim)->own == 0 ? sim->own_count : 0];
}

/* Parcels ------------------------------------------------------------------------------------ */

static void add_section(struct sim *sim, struct mailbag *parcel, struct section section,
                        struct mailbag *bag)
{
    section.bytes = bag->bytes;
    struct section *place = mailbag_add(parcel, sizeof section + bag->bytes);
    if (!place) {
        sim->partitions[sim->own_first].no_memory = true;
        return;
    }
    *place = section;
    memcpy(place + 1, bag->records, bag->bytes);
    bag->bytes = 0;
}

/* The lines of which a partition has measured something. */
static void add_lines(struct partition *partition)
{
    const struct sim *sim = partition->sim;

    for (unsigned size = 0; partition->measured && size < sim->options.size_count; size++) {
        const struct sim_line *line = &partition->lines[size];
        struct news head = {.kind = NEWS_LINE, .bytes = sizeof head + sizeof *line, .number = size};
        struct news *news = line->nodes ? mailbag_add(&partition->news, head.bytes) : NULL;
        if (news) {
            *news = head;
            memcpy(news + 1, line, sizeof *line);
        }
        partition->no_memory |= line->nodes && !news;
    }
}

/* All that this rank has for another one. */
static void fill_parcel(struct sim *sim, unsigned rank, struct mailbag *parcel)
{
    parcel->bytes = 0;
    for (unsigned i = sim->own_first; i < sim->own_first + sim->own_count; i++) {
        struct partition *partition = &sim->partitions[i];
        uint32_t first = rank * sim->own_count;
        for (uint32_t to = first; to < first + sim->own_count; to++) {
            if (partition->out[to].bytes) {
                add_section(sim, parcel, (struct section){.from = i, .to = to},
                            &partition->out[to]);
            }
        }
        struct mailbag *host = &partition->out[sim->partition_count];
        if (rank == 0 && host->bytes) {
            add_section(sim, parcel, (struct section){.from = i, .to = sim->partition_count}, host);
        }
        if (rank == 0 && partition->news.bytes) {
            add_section(sim, parcel, (struct section){.from = i, .to = sim->partition_count + 1},
                        &partition->news);
        }
    }
}

/* The parcels for all other ranks; how many there are. */
static unsigned fill_parcels(struct sim *sim, struct parcel parcels[RANKS_MAX])
{
    const struct ranks *ranks = ranks_of(sim);
    unsigned count = 0;

    for (unsigned rank = 0; rank < ranks->count; rank++) {
        struct mailbag *parcel = &sim->parcels[rank];
        if (rank == ranks->own) {
            continue;
        }
        fill_parcel(sim, rank, parcel);
        if (parcel->bytes) {
            parcels[count++] = (struct parcel){rank, parcel->records, parcel->bytes};
        }
    }
    return count;
}

/* The next section of a parcel; NULL: there is none. */
static const struct section *next_section(const struct parcel *parcel, size_t *at)
{
    const struct section *section = (const void *)((const uint8_t *)parcel->data + *at);

    if (*at >= parcel->bytes) {
        return NULL;
    }
    *at += mailbag_record(sizeof *section + section->bytes);
    return section;
}

void several_meet(struct partition *partition)
{
    const struct sim *sim = partition->sim;
    const struct ranks *ranks = ranks_of(sim);

    for (unsigned i = 0; i < ranks->in_count; i++) {
        const struct section *section;
        for (size_t at = 0; (section = next_section(&ranks->in[i], &at)) != NULL;) {
            bool host = section->to == sim->partition_count && partition->number == 0;
            if (section->to == partition->number || host) {
                partition_take(partition, (const uint8_t *)(section + 1), section->bytes);
            }
        }
    }
}

/* News --------------------------------------------------------------------------------------- */

static void add_news(struct partition *partition, struct news head, const void *rest)
{
    struct news *news = mailbag_add(&partition->news, head.bytes);

    if (news) {
        *news = head;
        memcpy(news + 1, rest, head.bytes - sizeof head);
    }
    partition->no_memory |= !news;
}

static bool is_far(const struct partition *partition)
{
    const struct ranks *ranks = ranks_of(partition->sim);

    return ranks && ranks->own != 0;
}

void several_ended(struct partition *partition, uint32_t node, int32_t status)
{
    if (is_far(partition)) {
        struct news head = {
            .kind = NEWS_ENDED, .bytes = sizeof head, .number = node, .value = status};
        add_news(partition, head, "");
    }
}

void several_stopped_at(struct partition *partition, uint32_t node)
{
    uint32_t calls[NATIVE_CALLS_MAX];

    if (is_far(partition)) {
        unsigned count = native_calls(partition->sim, node, calls, NATIVE_CALLS_MAX);
        struct news head = {.kind = NEWS_STOPPED_AT,
                            .bytes = (uint32_t)(sizeof head + count * sizeof calls[0]),
                            .number = node,
                            .value = (int32_t)count};
        add_news(partition, head, calls);
    }
}

static void take_one(struct sim *sim, uint32_t from, const struct news *news)
{
    switch ((enum news_kind)news->kind) {
    case NEWS_ENDED:
        sim->tasks[news->number].state = TASK_ENDED;
        sim->tasks[news->number].status = news->value;
        break;
    case NEWS_STOPPED_AT:
        native_note_calls(sim, news->number, (const uint32_t *)(news + 1), (unsigned)news->value);
        break;
    default:
        memcpy(&sim->partitions[from].lines[news->number], news + 1, sizeof(struct sim_line));
        break;
    }
}

static void take_news(struct sim *sim)
{
    const struct ranks *ranks = ranks_of(sim);

    for (unsigned i = 0; i < ranks->in_count; i++) {
        const struct section *section;
        for (size_t at = 0; (section = next_section(&ranks->in[i], &at)) != NULL;) {
            const uint8_t *bytes = (const uint8_t *)(section + 1);
            for (size_t n = 0; section->to == sim->partition_count + 1 && n < section->bytes;) {
                const struct news *news = (const void *)(bytes + n);
                take_one(sim, section->from, news);
                n += mailbag_record(news->bytes);
            }
        }
    }
}

/* Rounds ------------------------------------------------------------------------------------- */

void several_begin(struct sim *sim)
{
    sim->works = sim->host_ready;
    for (unsigned i = sim->own_first; i < sim->own_first + sim->own_count; i++) {
        const struct partition *partition = &sim->partitions[i];
        sim->works |= partition->ready_count > 0 || partition->model_ns <= sim->now_ns ||
                      partition->wall_ns <= sim->wall_ns;
    }
}

static void add_words(const struct partition *partition, uint64_t words[RANKS_WORDS])
{
    uint64_t model = ~partition->model_ns, wall = ~partition->wall_ns;

    words[WORD_MODEL] = model > words[WORD_MODEL] ? model : words[WORD_MODEL];
    words[WORD_WALL] = wall > words[WORD_WALL] ? wall : words[WORD_WALL];
    words[WORD_READY] += partition->ready_count;
    words[WORD_SENT] += partition->sent;
    words[WORD_WITHHELD] += partition->withheld[0];
    words[WORD_WITHHELD1] += partition->withheld[1];
    words[WORD_EVENTS] += partition->events;
    words[WORD_ACTED] += partition->acted;
    words[WORD_ENDED] += partition->ended;
    words[WORD_MOVED] += partition->moved;
    words[WORD_GOT_ON] += partition->got_on;
    words[WORD_MEASURED] += partition->measured;
    words[WORD_NO_MEMORY] += partition->no_memory;
    words[WORD_BYTES] += partition->pool.bytes;
}

/* What all have told, without what this rank has. */
static void take_words(struct sim *sim, const uint64_t all[RANKS_WORDS],
                       const uint64_t own[RANKS_WORDS])
{
    struct partition *partition = others(sim);

    partition->model_ns = ~all[WORD_MODEL];
    partition->wall_ns = ~all[WORD_WALL];
    partition->ready_count = (uint32_t)(all[WORD_READY] - own[WORD_READY]);
    partition->withheld[0] = (uint32_t)(all[WORD_WITHHELD] - own[WORD_WITHHELD]);
    partition->withheld[1] = (uint32_t)(all[WORD_WITHHELD1] - own[WORD_WITHHELD1]);
    partition->events = all[WORD_EVENTS] - own[WORD_EVENTS];
    partition->acted = all[WORD_ACTED] - own[WORD_ACTED];
    partition->ended = (uint32_t)(all[WORD_ENDED] - own[WORD_ENDED]);
    partition->moved = all[WORD_MOVED] > own[WORD_MOVED];
    partition->got_on = all[WORD_GOT_ON] > own[WORD_GOT_ON];
    partition->measured = all[WORD_MEASURED] > own[WORD_MEASURED];
    partition->no_memory = all[WORD_NO_MEMORY] > own[WORD_NO_MEMORY];
    partition->pool.bytes = (size_t)(all[WORD_BYTES] - own[WORD_BYTES]);
    sim->host_ready |= all[WORD_HOST] > 0;
    sim->unsure = all[WORD_SENT] > 0;
    sim->idle = all[WORD_WORKED] == 0;
}

bool several_exchange(struct sim *sim)
{
    struct ranks *ranks = ranks_of(sim);
    uint64_t own[RANKS_WORDS] = {0}, all[RANKS_WORDS];
    struct parcel parcels[RANKS_MAX];

    if (sim->host_due) {
        sim->host_due = false;
        sim_wake(sim, sim->count);
    }
    for (unsigned i = sim->own_first; i < sim->own_first + sim->own_count; i++) {
        add_words(&sim->partitions[i], own);
        if (ranks->own != 0) {
            add_lines(&sim->partitions[i]);
        }
    }
    own[WORD_HOST] = sim->host_ready;
    own[WORD_WORKED] = sim->works || sim->host_ready;
    own[WORD_OVER] = sim->over;
    unsigned count = fill_parcels(sim, parcels);
    for (unsigned i = 0; i < count; i++) {
        own[WORD_PARCELS + parcels[i].rank] = 1;
    }
    memcpy(all, own, sizeof all);
    ranks->exchange(ranks, all, parcels, count);
    sim->all_rounds++;
    take_words(sim, all, own);
    if (ranks->own == 0) {
        take_news(sim);
    }
    sim->over |= all[WORD_OVER] > 0;
    return !sim->over;
}

/* The host ----------------------------------------------------------------------------------- */

static struct heard heard_now(const struct sim *sim, enum heard_kind kind)
{
    return (struct heard){.kind = (uint8_t)kind,
                          .phase = sim->phase,
                          .verdict = sim->verdict,
                          .asked = sim->asked,
                          .running = sim->running,
                          .got_on_ns = sim->got_on_ns,
                          .progress_ns = sim->progress_ns};
}

void several_tell(struct sim *sim)
{
    struct ranks *ranks = ranks_of(sim);
    struct heard heard = heard_now(sim, HEARD_GO);
    struct parcel parcels[RANKS_MAX];
    unsigned count = fill_parcels(sim, parcels);

    for (unsigned i = 0; i < count; i++) {
        heard.parcels |= UINT64_C(1) << parcels[i].rank;
    }
    ranks->broadcast(ranks, &heard, sizeof heard);
    ranks->deliver(ranks, parcels, count, 0);
    sim->unsure = true;
}

void several_give_up(struct sim *sim)
{
    struct ranks *ranks = ranks_of(sim);
    struct heard heard = heard_now(sim, HEARD_GIVE_UP);

    ranks->broadcast(ranks, &heard, sizeof heard);
}

/* Those of this rank that have not ended. */
static void give_up(struct sim *sim)
{
    for (uint32_t rank = sim_own(sim, 0)->first; rank < sim_own(sim, sim->own_count - 1)->end;
         rank++) {
        sim->actors[rank].given_up |= sim->tasks[rank].state != TASK_ENDED;
        program_over(sim, rank, E_LINK_DEAD);
    }
}

/* The rank that answers; the number of ranks: all. */
static unsigned asked_rank(const struct sim *sim, const struct wait_question *question)
{
    return question->kind == ASKED_NEXT ? ranks_of(sim)->count
                                        : sim->actors[question->actor].partition / sim->own_count;
}

static void answer_rank_0(const struct sim *sim, const struct wait_question *question)
{
    struct ranks *ranks = ranks_of(sim);
    unsigned asked = asked_rank(sim, question);
    bool answers = asked == ranks->own || asked == ranks->count;
    struct wait_answer answer;

    if (answers) {
        wait_answer(sim, question, &answer);
    }
    ranks->deliver(ranks, &(struct parcel){0, &answer, sizeof answer}, answers, 0);
}

void several_ask(const struct sim *sim, const struct wait_question *question,
                 struct wait_answer *answer)
{
    struct ranks *ranks = ranks_of(sim);
    unsigned asked = asked_rank(sim, question), before = ranks->in_count;
    struct heard heard = heard_now(sim, HEARD_QUESTION);

    heard.question = *question;
    ranks->broadcast(ranks, &heard, sizeof heard);
    ranks->deliver(ranks, NULL, 0, asked == ranks->count ? ranks->count - 1 : 1);
    if (asked < ranks->count) {
        memcpy(answer, ranks->in[before].data, sizeof *answer);
    } else {
        wait_answer(sim, question, answer);
        for (unsigned i = before; answer->next.src == ID_HOST && i < ranks->in_count; i++) {
            memcpy(answer, ranks->in[i].data, sizeof *answer);
        }
    }
    ranks->in_count = before;
}

static void take_heard(struct sim *sim, const struct heard *heard)
{
    bool runs = sim->phase != SIM_RUN && heard->phase == SIM_RUN;

    sim->phase = heard->phase;
    sim->asked = heard->asked;
    sim->running = heard->running;
    sim->got_on_ns = heard->got_on_ns;
    sim->progress_ns = heard->progress_ns;
    sim_end(sim, (enum sim_verdict)heard->verdict);
    if (runs && scenario_sends(sim->options.scenario)) {
        messages_prepare(sim);
    }
}

void several_hear(struct sim *sim)
{
    struct ranks *ranks = ranks_of(sim);
    struct heard heard;

    do {
        ranks->broadcast(ranks, &heard, sizeof heard);
        if (heard.kind == HEARD_GIVE_UP) {
            give_up(sim);
        } else if (heard.kind == HEARD_QUESTION) {
            answer_rank_0(sim, &heard.question);
        }
    } while (heard.kind != HEARD_GO);
    take_heard(sim, &heard);
    ranks->deliver(ranks, NULL, 0, heard.parcels >> ranks->own & 1);
    sim->unsure = true;
}

/* The end ------------------------------------------------------------------------------------ */

bool several_make(struct sim *sim)
{
    const struct ranks *ranks = ranks_of(sim);
    size_t ports = sim_network(sim)->ports + 1u;

    sim->host.controller.config.network = sim_network(sim); /* what words are made with */
    sim->parcels = calloc(ranks->count, sizeof *sim->parcels);
    sim->ended = calloc(ranks->count, sizeof *sim->ended);
    if (ranks->own == 0 && sim->options.links) {
        sim->far_links = calloc(sim->count * ports, sizeof *sim->far_links);
        sim->far_clocks = calloc(sim->count, sizeof *sim->far_clocks);
    }
    return sim->parcels && sim->ended &&
           (ranks->own != 0 || !sim->options.links || (sim->far_links && sim->far_clocks));
}

void several_free(struct sim *sim)
{
    for (unsigned i = 0; sim->parcels && i < ranks_of(sim)->count; i++) {
        mailbag_free(&sim->parcels[i]);
    }
    free(sim->parcels);
    free(sim->ended);
    free(sim->far_links);
    free(sim->far_clocks);
}

/* What a rank has counted: the result, and what it has come to; clocks and ports of its nodes
 * follow. */
struct total {
    struct sim_rank rank;
    uint64_t events, link_events, steps, requests, late, digest[2], pool_bytes;
};

static struct sim_rank rank_now(const struct sim *sim)
{
    const struct ranks *ranks = ranks_of(sim);
    uint32_t first = sim_own(sim, 0)->first;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (struct sim_rank){.first = first,
                             .nodes = sim_own(sim, sim->own_count - 1)->end - first,
                             .rounds = sim->all_rounds,
                             .resident_bytes = (uint64_t)usage.ru_maxrss * 1024,
                             .host_bytes = ranks->own == 0 ? host_bytes(sim) : 0,
                             .waited_ns = ranks->spent_ns(ranks),
                             .passed_ns = ranks->passed_ns(ranks)};
}

static struct total total_now(const struct sim *sim)
{
    struct total total = {.rank = rank_now(sim)};

    for (unsigned i = 0; i < sim->own_count; i++) {
        const struct partition *partition = sim_own(sim, i);
        total.events += partition->events;
        total.link_events += partition->link_events;
        total.steps += partition->steps;
        total.requests += partition->requests;
        total.late += partition->late;
        total.digest[0] += partition->digest[0];
        total.digest[1] += partition->digest[1];
        total.pool_bytes +=
            partition->pool.bytes +
            (uint64_t)(partition->model.room + partition->wall.room) * sizeof(struct event);
    }
    return total;
}

static void take_total(struct sim *sim, unsigned rank, const struct total *total)
{
    struct partition *partition = &sim->partitions[rank * sim->own_count];

    sim->ended[rank] = total->rank;
    partition->events = total->events;
    partition->link_events = total->link_events;
    partition->steps = total->steps;
    partition->requests = total->requests;
    partition->late = total->late;
    partition->digest[0] = total->digest[0];
    partition->digest[1] = total->digest[1];
    partition->pool.bytes = (size_t)total->pool_bytes;
}

/* Bytes of the clock and the ports of a node. */
static size_t link_bytes(const struct sim *sim)
{
    size_t ports = sim_network(sim)->ports + 1u;

    return sim->options.links ? sizeof(uint64_t) + ports * sizeof(struct traffic_port) : 0;
}

static void write_links(const struct sim *sim, uint32_t node, uint8_t *at)
{
    uint64_t clock_ns = sim_node_clock_ns(sim, node);

    memcpy(at, &clock_ns, sizeof clock_ns);
    at += sizeof clock_ns;
    for (unsigned port = 0; port < sim_node_ports(sim, node); port++) {
        struct traffic_port known = sim_traffic(sim, node, port);
        memcpy(at + port * sizeof known, &known, sizeof known);
    }
}

static void read_links(struct sim *sim, uint32_t node, const uint8_t *at)
{
    size_t ports = sim_network(sim)->ports + 1u;

    memcpy(&sim->far_clocks[node], at, sizeof sim->far_clocks[node]);
    memcpy(&sim->far_links[node * ports], at + sizeof sim->far_clocks[node],
           ports * sizeof *sim->far_links);
}

static void send_total(struct sim *sim)
{
    struct ranks *ranks = ranks_of(sim);
    struct total total = total_now(sim);
    struct mailbag *parcel = &sim->parcels[0];
    size_t each = link_bytes(sim);

    parcel->bytes = 0;
    uint8_t *at = mailbag_add(parcel, sizeof total + total.rank.nodes * each);
    CHECK(at);
    memset(at, 0, sizeof total + total.rank.nodes * each);
    memcpy(at, &total, sizeof total);
    for (uint32_t i = 0; each && i < total.rank.nodes; i++) {
        write_links(sim, total.rank.first + i, at + sizeof total + i * each);
    }
    ranks->deliver(ranks, &(struct parcel){0, parcel->records, parcel->bytes}, 1, 0);
}

static void take_totals(struct sim *sim)
{
    struct ranks *ranks = ranks_of(sim);
    size_t each = link_bytes(sim);

    ranks->in_count = 0;
    ranks->deliver(ranks, NULL, 0, ranks->count - 1);
    sim->ended[0] = rank_now(sim);
    for (unsigned i = sim->own_count; i < sim->partition_count; i++) {
        sim->partitions[i].events = 0; /* what stood for all others */
    }
    for (unsigned i = 0; i < ranks->in_count; i++) {
        const struct total *total = ranks->in[i].data;
        take_total(sim, ranks->in[i].rank, total);
        for (uint32_t n = 0; each && n < total->rank.nodes; n++) {
            read_links(sim, total->rank.first + n, (const uint8_t *)(total + 1) + n * each);
        }
    }
}

void several_leave(struct sim *sim)
{
    sim->left = true;
    if (sim->verdict == SIM_RUNS) {
        sim->over = true;
        several_exchange(sim);
    }
    if (ranks_of(sim)->own == 0) {
        take_totals(sim);
    } else {
        send_total(sim);
    }
}
