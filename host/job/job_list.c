#include "host/job/job_list.h"

#include <stdlib.h>
#include <string.h>

#include "host/computer/target.h"
#include "host/job/digest.h"
#include "host/job/pages.h"

enum {
    BLOCK_ALIGN = 8,
    DATA_ALIGN = 64,
    BLOCK_BYTES_MAX = 1024 * 1024, /* of a node: nobody writes more arguments by mistake */
    RUNS_MAX = 2048                /* of pages; of more, images go whole */
};

static uint32_t rank_at(const struct job_contents *contents, uint32_t node)
{
    return network_rank(contents->network, node);
}

static uint64_t align(uint64_t address, uint64_t unit)
{
    return (address + unit - 1) / unit * unit;
}

/* Blocks. ------------------------------------------------------------------------------------ */

static const char *name_of(const char *path)
{
    const char *name = strrchr(path, '/');

    return name ? name + 1 : path;
}

static size_t block_bytes_of(const struct job_request *request, const char *path)
{
    size_t bytes = BLOCK_HEADER_BYTES + (size_t)request->data_count * BLOCK_ENTRY_BYTES +
                   strlen(name_of(path)) + 1;

    for (unsigned i = 0; i < request->argument_count; i++) {
        bytes += strlen(request->arguments[i]) + 1;
    }
    for (unsigned i = 0; i < request->data_count; i++) {
        bytes += strlen(request->data[i].name) + 1;
    }
    return align(bytes, BLOCK_ALIGN);
}

static int check_block(size_t bytes, struct message *message)
{
    return bytes <= BLOCK_BYTES_MAX
               ? 0
               : message_set(message,
                             "the arguments are too long: %zu bytes, a program has room for %d",
                             bytes, BLOCK_BYTES_MAX);
}

int job_list_check_arguments(const struct job_request *request, struct message *message)
{
    return check_block(block_bytes_of(request, job_request_path(request)), message);
}

static uint8_t *add_text(uint8_t *to, const char *text)
{
    size_t bytes = strlen(text) + 1;

    memcpy(to, text, bytes);
    return to + bytes;
}

/* A node's private block: rank, size, its data, argv with the program's name first, the names of
 * its data. */
static void fill_block(uint8_t *block, uint32_t rank, const char *path,
                       const struct job_place *place, const struct job_contents *contents)
{
    const struct job_request *request = contents->request;
    struct block_header header = {.rank = rank,
                                  .size = contents->network->nodes,
                                  .argument_count = request->argument_count + 1,
                                  .entry_count = request->data_count};
    uint8_t *text = block + block_strings(&header);

    block_pack(block, &header);
    for (unsigned i = 0; i < request->data_count; i++) {
        const struct data_file *file = &contents->files[i];

        block_entry_pack(block, i,
                         &(struct block_entry){.kind = file->kind,
                                               .address = place->data[i],
                                               .bytes = data_bytes(file, rank)});
    }
    text = add_text(text, name_of(path));
    for (unsigned i = 0; i < request->argument_count; i++) {
        text = add_text(text, request->arguments[i]);
    }
    for (unsigned i = 0; i < request->data_count; i++) {
        text = add_text(text, contents->files[i].name);
    }
}

/* Places. ------------------------------------------------------------------------------------ */

/* The room that a file takes at all nodes with a program: of private ones the largest. */
static uint64_t largest(const struct job_contents *contents, unsigned program,
                        const struct data_file *file)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < contents->records->count; i++) {
        const struct record *record = &contents->records->records[i];

        for (uint32_t n = 0; record->program == program && n < record->count; n++) {
            uint64_t its = data_bytes(file, rank_at(contents, record->first + n));
            bytes = its > bytes ? its : bytes;
        }
    }
    return bytes;
}

/* Files of the one kind or the others, one behind the other; returns their end. */
static uint64_t place_files(struct job_place *place, const struct job_contents *contents,
                            unsigned program, bool private, uint64_t at)
{
    for (unsigned i = 0; i < contents->request->data_count; i++) {
        const struct data_file *file = &contents->files[i];

        if ((file->kind == BLOCK_PRIVATE) == private) {
            at = align(at, DATA_ALIGN);
            place->data[i] = (uint32_t)at;
            at += largest(contents, program, file);
        }
    }
    return at;
}

static int reject_size(const char *path, uint64_t need, uint64_t room, bool data,
                       struct message *message)
{
    return message_set(message,
                       data ? "the data has no room beside %.200s: together %.1f MiB, and a node "
                              "has %.1f MiB"
                            : "%.200s and its arguments have no room: %.1f MiB, and a node has "
                              "%.1f MiB",
                       path, (double)need / (1 << 20), (double)room / (1 << 20));
}

static int place(struct job_place *to, const struct job_contents *contents, unsigned program,
                 struct message *message)
{
    const struct job_image *image = &contents->images[program];
    const struct board *board = target_board();
    size_t block_bytes = block_bytes_of(contents->request, image->path);

    if (check_block(block_bytes, message) != 0) {
        return -1;
    }
    to->data_start = (uint32_t)align(image->image.bss_end, PROTECTED_PAGE_BYTES);
    to->block = to->data_start;
    to->block_bytes = (uint32_t)block_bytes;
    uint64_t block_end = (uint64_t)to->block + block_bytes;
    if (contents->network->map) {
        to->map = (uint32_t)align(block_end, DATA_ALIGN);
        block_end = (uint64_t)to->map + load_map_bytes(contents->network->nodes);
    }
    uint64_t end =
        align(place_files(to, contents, program, false, block_end), PROTECTED_PAGE_BYTES);
    uint64_t top = align(place_files(to, contents, program, true, end), PROTECTED_PAGE_BYTES);
    to->data_end = (uint32_t)end;
    to->top = (uint32_t)top;
    return top <= board->image_end ? 0
                                   : reject_size(image->path, top - board->image_base,
                                                 board->image_end - board->image_base,
                                                 contents->request->data_count > 0, message);
}

/* Parts. ------------------------------------------------------------------------------------- */

static int add_part(struct job_list *list, const struct job_part *part, struct message *message)
{
    if (list->part_count == LOAD_SEGMENTS_MAX) {
        return message_set(message,
                           "the load has more than %d parts: use fewer programs, or private files "
                           "of one size",
                           LOAD_SEGMENTS_MAX);
    }
    if (list->part_count == list->part_room) {
        unsigned room = list->part_room ? 2 * list->part_room : 16;
        struct job_part *parts = realloc(list->parts, room * sizeof *parts);

        if (!parts) {
            return message_set(message, "out of memory");
        }
        list->parts = parts;
        list->part_room = room;
    }
    list->parts[list->part_count++] = *part;
    return 0;
}

/* A run of an image's pages, for all nodes that have the image. */
static int add_run(struct job_list *list, const struct job_contents *contents,
                   const struct page_run *run, struct message *message)
{
    const struct image *image = &contents->images[run->image].image;
    struct job_part part = {.string = image->data + run->from};
    bool same = run->same;

    for (unsigned i = 0; i < contents->records->count; i++) {
        const struct record *record = &contents->records->records[i];

        if (record->program != run->image) {
            continue;
        }
        part.segment = (struct load_segment){.first = record->first,
                                             .count = record->count,
                                             .address = image->base + run->from,
                                             .bytes = run->bytes,
                                             .flags = same ? LOAD_SAME : 0};
        if (add_part(list, &part, message) != 0) {
            return -1;
        }
        same = true;
    }
    return 0;
}

static int add_images(struct job_list *list, const struct job_contents *contents,
                      struct message *message)
{
    struct page_image images[JOB_PROGRAMS_MAX];
    unsigned count = contents->records->path_count, run_count = 0;
    struct page_run *runs = NULL;
    int status = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct image *image = &contents->images[i].image;
        images[i] = (struct page_image){image->data, image->bytes};
    }
    if (count > 1 && !(runs = pages_find(images, count, &run_count))) {
        return message_set(message, "out of memory");
    }
    if (run_count > 0 && run_count <= RUNS_MAX) {
        for (unsigned i = 0; i < run_count && status == 0; i++) {
            status = add_run(list, contents, &runs[i], message);
        }
    } else {
        for (unsigned i = 0; i < count && status == 0; i++) {
            struct page_run whole = {i, 0, images[i].bytes, false};
            status = add_run(list, contents, &whole, message);
        }
    }
    free(runs);
    return status;
}

static int add_blocks(struct job_list *list, const struct job_contents *contents,
                      const struct job_place *places, struct message *message)
{
    const struct records *records = contents->records;
    size_t bytes = 0;

    for (unsigned i = 0; i < records->count; i++) {
        bytes +=
            (size_t)places[records->records[i].program].block_bytes * records->records[i].count;
    }
    uint8_t *at = list->blocks = calloc(1, bytes);
    if (!at) {
        return message_set(message, "out of memory");
    }
    for (unsigned i = 0; i < records->count; i++) {
        const struct record *record = &records->records[i];
        const struct job_place *its = &places[record->program];
        struct job_part part = {.segment = {.first = record->first,
                                            .count = record->count,
                                            .address = its->block,
                                            .bytes = its->block_bytes,
                                            .step = its->block_bytes,
                                            .flags = LOAD_BLOCK},
                                .string = at};

        if (add_part(list, &part, message) != 0) {
            return -1;
        }
        for (uint32_t n = 0; n < record->count; n++) {
            fill_block(at, rank_at(contents, record->first + n),
                       contents->images[record->program].path, its, contents);
            at += its->block_bytes;
        }
    }
    return 0;
}

/* The nodes from `first` on, up to `end`, that have as many bytes of a file, one behind the
 * other's: one segment. */
static uint32_t equal_nodes(const struct job_contents *contents, const struct data_file *file,
                            uint32_t first, uint32_t end)
{
    uint32_t rank = rank_at(contents, first), next = first + 1;

    while (next < end && rank_at(contents, next) == rank + (next - first) &&
           data_bytes(file, rank + (next - first)) == data_bytes(file, rank)) {
        next++;
    }
    return next - first;
}

/* What nodes get of a file, for those of one record. What all get is there once. */
static int add_file(struct job_list *list, const struct job_contents *contents,
                    const struct data_file *file, const struct record *record, uint32_t address,
                    struct message *message)
{
    uint32_t end = record->first + record->count, count;
    bool common = file->kind != BLOCK_INPUT && !file->starts;

    for (uint32_t first = record->first; first < end; first += count) {
        uint32_t rank = rank_at(contents, first), bytes = data_bytes(file, rank);
        struct job_part part = {.file = file, .from = data_from(file, rank)};

        count = common ? record->count : equal_nodes(contents, file, first, end);
        if (bytes == 0) {
            continue;
        }
        part.segment = (struct load_segment){.first = first,
                                             .count = count,
                                             .address = address,
                                             .bytes = bytes,
                                             .step = common         ? 0
                                                     : file->starts ? bytes
                                                                    : file->step,
                                             .flags = common && record->first > 0 ? LOAD_SAME : 0};
        if (add_part(list, &part, message) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The map, once, for all programs. */
static int add_map(struct job_list *list, const struct job_contents *contents,
                   const struct job_place *places, struct message *message)
{
    const struct network *network = contents->network;

    if (!network->map) {
        return 0;
    }
    list->map = calloc(1, load_map_bytes(network->nodes));
    if (!list->map) {
        return message_set(message, "out of memory");
    }
    download_write_map(list->map, network);
    for (unsigned i = 0; i < contents->records->count; i++) {
        const struct record *record = &contents->records->records[i];
        struct job_part part = {
            .segment = {.first = record->first,
                        .count = record->count,
                        .address = places[record->program].map,
                        .bytes = load_map_bytes(network->nodes),
                        .flags = (uint8_t)(LOAD_MAP | (record->first > 0 ? LOAD_SAME : 0))},
            .string = list->map};

        if (add_part(list, &part, message) != 0) {
            return -1;
        }
    }
    return 0;
}

static int add_files(struct job_list *list, const struct job_contents *contents,
                     const struct job_place *places, struct message *message)
{
    const struct records *records = contents->records;

    for (unsigned i = 0; i < contents->request->data_count; i++) {
        for (unsigned n = 0; n < records->count; n++) {
            const struct record *record = &records->records[n];

            if (add_file(list, contents, &contents->files[i], record,
                         places[record->program].data[i], message) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* The list. ---------------------------------------------------------------------------------- */

static int pack(struct job_list *list, const struct job_contents *contents,
                const struct job_place *places, struct message *message)
{
    const struct records *records = contents->records;

    list->byte_count = load_list_bytes(records->count, list->part_count);
    list->bytes = calloc(1, list->byte_count);
    if (!list->bytes) {
        return message_set(message, "out of memory");
    }
    load_list_pack(list->bytes, contents->network->nodes, records->count, list->part_count);
    for (unsigned i = 0; i < records->count; i++) {
        const struct record *record = &records->records[i];
        const struct image *image = &contents->images[record->program].image;
        const struct job_place *its = &places[record->program];

        load_program_pack(list->bytes, i,
                          &(struct load_program){.first = record->first,
                                                 .count = record->count,
                                                 .entry = image->entry,
                                                 .bss_end = image->bss_end,
                                                 .code_end = image->code_end,
                                                 .constants_end = image->constants_end,
                                                 .data_start = its->data_start,
                                                 .data_end = its->data_end,
                                                 .top = its->top});
    }
    for (unsigned i = 0; i < list->part_count; i++) {
        load_segment_pack(list->bytes, i, &list->parts[i].segment);
    }
    (void)digest_of(list->bytes, list->byte_count, NULL, list->digest);
    /* Nodes refuse what this does. */
    if (list->byte_count > LOAD_LIST_BYTES_MAX ||
        !load_list_open(&list->list, list->bytes, list->byte_count)) {
        return message_set(message, "the load has too many parts: use fewer programs");
    }
    return 0;
}

int job_list_make(struct job_list *list, const struct job_contents *contents,
                  struct message *message)
{
    struct job_place *places = calloc(contents->records->path_count, sizeof *places);
    int status = places ? 0 : message_set(message, "out of memory");

    *list = (struct job_list){0};
    for (unsigned i = 0; i < contents->records->path_count && status == 0; i++) {
        status = place(&places[i], contents, i, message);
    }
    if (status == 0) {
        status = add_images(list, contents, message) != 0 ||
                         add_blocks(list, contents, places, message) != 0 ||
                         add_map(list, contents, places, message) != 0 ||
                         add_files(list, contents, places, message) != 0 ||
                         pack(list, contents, places, message) != 0
                     ? -1
                     : 0;
    }
    free(places);
    if (status != 0) {
        job_list_free(list);
    }
    return status;
}

/* Of common data one for all: it is hashed once, however many nodes there are. */
static size_t digest_count(const struct load_segment *segment)
{
    return segment->flags & LOAD_SAME ? 0 : segment->step > 0 ? segment->count : 1;
}

int job_list_fill(struct job_list *list, const atomic_bool *stop, struct message *message)
{
    size_t count = 0;

    for (unsigned i = 0; i < list->part_count; i++) {
        count += digest_count(&list->parts[i].segment);
    }
    list->strings = calloc(list->part_count, sizeof *list->strings);
    list->digests = calloc(list->part_count, sizeof *list->digests);
    list->digest_memory = calloc(count, sizeof *list->digest_memory);
    if (!list->strings || !list->digests || !list->digest_memory) {
        return message_set(message, "out of memory");
    }
    uint8_t(*next)[DIGEST_BYTES] = list->digest_memory;
    for (unsigned i = 0; i < list->part_count; i++) {
        const struct job_part *part = &list->parts[i];
        const struct load_segment *segment = &part->segment;

        if (segment->flags & LOAD_SAME) {
            continue;
        }
        list->strings[i] = part->file ? part->file->string + part->from : part->string;
        list->digests[i] = (const uint8_t(*)[DIGEST_BYTES])next;
        for (size_t n = 0; n < digest_count(segment); n++) {
            if (!digest_of(list->strings[i] + n * segment->step, segment->bytes, stop, *next++)) {
                return message_set(message, "the data are not wanted any more");
            }
        }
    }
    return 0;
}

void job_list_free(struct job_list *list)
{
    free(list->bytes);
    free(list->parts);
    free(list->blocks);
    free(list->map);
    free((void *)list->strings);
    free((void *)list->digests);
    free(list->digest_memory);
    *list = (struct job_list){0};
}
