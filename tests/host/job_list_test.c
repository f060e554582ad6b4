/*
 * What a job loads: whose program is whose, where everything lies, and that each node gets its own
 * bytes of it, each with its digest.
 */
#include "tests/testing.h"

#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "host/job/job_list.h"

enum { PAGE = 4096, BASE = 0x20b00000, NODES = 8, IMAGE_BYTES = 3 * PAGE + 100, FILES = 5 };

static struct network network_of(enum network_kind kind, unsigned count)
{
    struct network network;
    const uint32_t size = count;

    assert_true(network_make(&network, kind, kind == NETWORK_CUBE ? NULL : &size,
                             kind == NETWORK_CUBE ? count : 1));
    return network;
}

/* Records. */

static void expect_records(const struct job_request *request, const char *words)
{
    struct network network = network_of(NETWORK_RING, 16);
    struct records records;
    struct message message;
    char text[200] = "";
    int used = 0;

    assert_int_equal(records_make(&records, request, &network, &message), 0);
    for (unsigned i = 0; i < records.count; i++) {
        const struct record *record = &records.records[i];
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s %u-%u", i ? ", " : "",
                         records.paths[record->program], (unsigned)record->first,
                         (unsigned)(record->first + record->count - 1));
        assert_int_equal(records_program(&records, record->first), record->program);
        assert_int_equal(records_program(&records, record->first + record->count - 1),
                         record->program);
    }
    assert_string_equal(text, words);
    records_free(&records);
}

TEST(nodes_get_the_programs_that_they_are_listed_for)
{
    struct job_request request = {
        .programs = {{"other", "3,8-15"}, {"root", "0"}, {"worker", NULL}}, .program_count = 3};

    expect_records(&request, "root 0-0, worker 1-2, other 3-3, worker 4-7, other 8-15");
    request = (struct job_request){.programs = {{"a", NULL}}, .program_count = 1};
    expect_records(&request, "a 0-15");
    /* one file is one program, however often it is named */
    request = (struct job_request){.programs = {{"a", "0-3"}, {"a", "5"}, {"a", NULL}},
                                   .program_count = 3};
    expect_records(&request, "a 0-15");
}

/* Lists. */

struct made {
    struct records records;
    struct job_image images[2];
    struct data_file files[FILES];
    struct job_request request;
    struct job_list list;
};

/* Images whose pages are all different, but for one in the middle. */
static void make_image(struct job_image *image, unsigned number, const char *path)
{
    image->path = strdup(path);
    image->image = (struct image){.base = BASE,
                                  .bytes = IMAGE_BYTES,
                                  .bss_end = BASE + IMAGE_BYTES + number * 5 * PAGE,
                                  .entry = BASE,
                                  .code_end = BASE + PAGE,
                                  .constants_end = BASE + 2 * PAGE,
                                  .data = malloc(IMAGE_BYTES)};
    memset(image->image.data, 'a' + (int)number, IMAGE_BYTES);
    memset(image->image.data + PAGE, '=', PAGE);
    for (unsigned page = 0; page < 4; page += page ? 1 : 2) {
        image->image.data[(size_t)page * PAGE] = (uint8_t)page;
    }
}

static void make_file(struct data_file *file, struct job_data *data, uint32_t kind, uint32_t window,
                      uint32_t step, uint64_t bytes)
{
    *data = (struct job_data){.kind = kind, .path = "p", .name = "name"};
    *file = (struct data_file){.kind = kind,
                               .path = strdup("p"),
                               .name = strdup("name"),
                               .window = window,
                               .step = step,
                               .bytes = bytes,
                               .string = malloc(bytes)};
    for (uint64_t i = 0; i < bytes; i++) {
        file->string[i] = (uint8_t)(i * 7 + kind);
    }
}

/* Two programs on eight nodes, the second on 2, 3 and 6, and data of each kind. */
static struct made *make(void)
{
    struct made *made = calloc(1, sizeof *made);
    struct network network = network_of(NETWORK_CUBE, 3);
    static const char *const arguments[] = {"x", "yz"};
    struct message message;

    made->request = (struct job_request){.programs = {{"b.elf", "2-3,6"}, {"dir/a.elf", NULL}},
                                         .program_count = 2,
                                         .arguments = arguments,
                                         .argument_count = 2,
                                         .data_count = FILES};
    assert_int_equal(records_make(&made->records, &made->request, &network, &message), 0);
    for (unsigned i = 0; i < 2; i++) {
        make_image(&made->images[i], i, made->records.paths[i]);
    }
    struct job_data *data = made->request.data;
    make_file(&made->files[0], &data[0], BLOCK_COMMON, 100, 0, 100);
    make_file(&made->files[1], &data[1], BLOCK_INPUT, 50, 20, 7 * 20 + 50);
    make_file(&made->files[2], &data[2], BLOCK_PRIVATE, 0, 0, 8 * 400);
    make_file(&made->files[3], &data[3], BLOCK_FILE, 70, 0, 70);
    make_file(&made->files[4], &data[4], BLOCK_PRIVATE, 0, 0, 8 * 10);
    made->files[2].starts = calloc(NODES + 1, sizeof *made->files[2].starts);
    made->files[4].starts = calloc(NODES + 1, sizeof *made->files[4].starts);
    for (uint32_t i = 1; i <= NODES;
         i++) { /* 400 bytes each, but for node 1 with 300, 2 with 500 */
        made->files[2].starts[i] = i * UINT64_C(400) - (i == 2 ? 100 : 0);
        made->files[4].starts[i] = i * UINT64_C(10);
    }
    const struct job_contents contents = {.request = &made->request,
                                          .network = &network,
                                          .records = &made->records,
                                          .images = made->images,
                                          .files = made->files};
    assert_int_equal(job_list_make(&made->list, &contents, &message), 0);
    assert_int_equal(job_list_fill(&made->list, NULL, &message), 0);
    return made;
}

static void unmake(struct made *made)
{
    job_list_free(&made->list);
    records_free(&made->records);
    for (unsigned i = 0; i < 2; i++) {
        free(made->images[i].path);
        free(made->images[i].image.data);
    }
    for (unsigned i = 0; i < FILES; i++) {
        data_close(&made->files[i]);
    }
    free(made);
}

/* A node's memory from BASE on, as the list fills it; each byte once. */
static uint8_t *memory_of(const struct made *made, uint32_t rank)
{
    const struct load_list *list = &made->list.list;
    uint32_t room = load_program_of(list, rank).top - BASE;
    uint8_t *memory = calloc(1, room), *written = calloc(1, room);
    const uint8_t *string = NULL, (*digests)[DIGEST_BYTES] = NULL;

    for (uint32_t i = 0; i < list->segments; i++) {
        struct load_segment segment = load_segment_at(list, i);
        uint32_t number = rank - segment.first, at = segment.address - BASE;
        struct sha256_ctx sha;
        uint8_t digest[DIGEST_BYTES];

        string = made->list.strings[i] ? made->list.strings[i] : string;
        digests = made->list.digests[i] ? made->list.digests[i] : digests;
        assert_int_equal(made->list.strings[i] == NULL, segment.flags & LOAD_SAME);
        assert_int_equal(made->list.digests[i] == NULL, segment.flags & LOAD_SAME);
        if (number >= segment.count) {
            continue;
        }
        assert_true(at <= room && segment.bytes <= room - at);
        memcpy(memory + at, string + (size_t)number * segment.step, segment.bytes);
        sha256_init(&sha);
        sha256_update(&sha, segment.bytes, memory + at);
        sha256_digest(&sha, sizeof digest, digest);
        assert_memory_equal(digest, digests[segment.step ? number : 0], DIGEST_BYTES);
        for (uint32_t b = 0; b < segment.bytes; b++) {
            assert_int_equal(written[at + b]++, 0);
        }
    }
    free(written);
    return memory;
}

static void check_entry(const struct made *made, uint32_t rank, unsigned number,
                        const uint8_t *memory)
{
    const struct load_program program = load_program_of(&made->list.list, rank);
    const struct data_file *file = &made->files[number];
    const uint8_t *block = memory + (program.data_start - BASE);
    struct block_entry entry = block_entry_at(block, number);

    assert_int_equal(entry.kind, file->kind);
    assert_int_equal(entry.bytes, data_bytes(file, rank));
    assert_int_equal(entry.address % 64, 0);
    bool private = file->kind == BLOCK_PRIVATE;
    assert_true(private ? entry.address >= program.data_end
                        : entry.address + entry.bytes <= program.data_end);
    assert_memory_equal(memory + (entry.address - BASE), file->string + data_from(file, rank),
                        entry.bytes);
}

TEST(every_node_gets_its_program_its_block_and_its_data)
{
    struct made *made = make();

    for (uint32_t rank = 0; rank < NODES; rank++) {
        bool second = rank == 2 || rank == 3 || rank == 6; /* b.elf */
        unsigned number = records_program(&made->records, rank);
        const struct image *image = &made->images[number].image;
        struct load_program program = load_program_of(&made->list.list, rank);
        uint8_t *memory = memory_of(made, rank);
        const uint8_t *block = memory + (program.data_start - BASE);
        struct block_header header;

        assert_string_equal(made->images[number].path, second ? "b.elf" : "dir/a.elf");
        assert_memory_equal(memory, image->data, IMAGE_BYTES);
        assert_true(program.bss_end <= program.data_start && program.data_start % PAGE == 0 &&
                    program.data_end % PAGE == 0 && program.top % PAGE == 0);
        assert_true(block_unpack(block, program.data_end - program.data_start, &header));
        assert_int_equal(header.rank, rank);
        assert_int_equal(header.size, NODES);
        assert_int_equal(header.argument_count, 3);
        assert_int_equal(header.entry_count, FILES);
        const char *text = (const char *)block + BLOCK_HEADER_BYTES + FILES * BLOCK_ENTRY_BYTES;
        assert_string_equal(text, second ? "b.elf" : "a.elf");
        assert_string_equal(text + 6, "x");
        assert_string_equal(text + 8, "yz");
        assert_string_equal(text + 11, "name");
        for (unsigned i = 0; i < FILES; i++) {
            check_entry(made, rank, i, memory);
        }
        free(memory);
    }
    unmake(made);
}

/* The page that both have goes once; so does a common file, to two programs at two addresses. */
TEST(what_programs_have_in_common_is_sent_once)
{
    struct made *made = make();
    uint64_t all = load_data_bytes(&made->list.list, 0, made->list.list.segments, 0, NODES);
    uint64_t blocks = 0;

    for (uint32_t rank = 0; rank < NODES; rank++) {
        for (uint32_t i = 0; i < made->list.list.segments; i++) {
            struct load_segment segment = load_segment_at(&made->list.list, i);
            blocks += rank - segment.first < segment.count && segment.flags & LOAD_BLOCK
                          ? segment.bytes
                          : 0;
        }
    }
    /* windows of five runs of nodes, 0-1, 2-3, 4-5, 6, 7 */
    uint64_t windows = 3 * (20 + 50) + 2 * 50;
    assert_int_equal(all, 2 * IMAGE_BYTES - PAGE + blocks + 100 + windows + 8 * 400 + 70 + 8 * 10);
    unmake(made);
}
