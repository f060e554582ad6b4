/*
 * Written plans: what is exported is read back as the same plan, plans by hand do what they say,
 * and what is wrong in one is told with its line, its nodes and its block.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "planner/algorithms/candidates.h"
#include "host/plan/plan.h"
#include "host/plan/plan_list.h"
#include "tests/planner/plan_machine.h"
#include "wire/plan.h"

enum { BYTES = 104, PATH_ROOM = 40, TEXT_ROOM = 4096, MACHINE_NODES = 12 };

static const struct profile ipsc = {.xi_ns = 65425, .tau_ns = 9575, .element_ns = 425};

/* A file in memory, and its path. */
static int make_file(char path[PATH_ROOM])
{
    int fd = memfd_create("plan", 0);

    assert_true(fd >= 0);
    snprintf(path, PATH_ROOM, "/proc/self/fd/%d", fd);
    return fd;
}

static void export_to(const char *path, const struct plan *plan, const struct plan_command *command)
{
    struct output output;
    struct message message;

    assert_int_equal(output_open(&output, path, &message), 0);
    assert_int_equal(plan_export(plan, command, &output, &message), 0);
}

/* A file's text without the line that names the algorithm. */
static char *text_of(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);

    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)size, 0), size);
    char *behind = strchr(text, '\n');
    assert_non_null(behind);
    memmove(text, behind, strlen(behind) + 1);
    return text;
}

/* Where it is said whose contributions come, it is left to the reader when they are combined. */
static void forget_combining(char *text)
{
    static const char yes[] = "\"combine\":true", no[] = "\"combine\":fals";

    for (char *at = text; (at = strstr(at, yes)) != NULL;) {
        memcpy(at, no, strlen(no));
    }
    for (char *at = text, *to = text;; at++) { /* "false" is a letter longer */
        if (at > text && *at == 'e' && to - text >= 14 && memcmp(to - 14, no, 14) == 0) {
            continue;
        }
        *to++ = *at;
        if (!*at) {
            break;
        }
    }
}

/* The plan, exported, read and exported once more. */
static void read_back(const struct plan *plan, const struct plan_command *command)
{
    char path[PATH_ROOM], again_path[PATH_ROOM];
    int fd = make_file(path), again_fd = make_file(again_path);
    struct plan_file file;
    struct message message = {""};
    struct plan *again = NULL;

    export_to(path, plan, command);
    if (plan_file_read(&file, path, &message) == 0) {
        again = plan_file_prove(&file, command->request.bytes, command->element_bytes, &message);
        plan_file_free(&file);
    }
    if (!again) {
        fail_msg("%s by %s on %s: %s", operation_name(plan->operation), plan_algorithm(plan),
                 command->network_name, message.text);
    }
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
    if (!plan_exports_alike(all ? all : plan, again)) {
        fail_msg("%s by %s %u on %s", operation_name(plan->operation), plan_algorithm(plan),
                 plan->variant, command->network_name);
    }
    plan_free(all);
    export_to(again_path, again, command);
    char *text = text_of(fd), *again_text = text_of(again_fd);
    if (operation_of(plan->operation)->prefix) {
        forget_combining(text);
        forget_combining(again_text);
    }
    assert_string_equal(text, again_text);
    if (plan->network.nodes <= MACHINE_NODES) {
        const char *fault = machine_tries(again, BYTES);
        if (fault) {
            fail_msg("%s by %s on %s: %s", operation_name(plan->operation), plan_algorithm(plan),
                     command->network_name, fault);
        }
    }
    free(text);
    free(again_text);
    plan_free(again);
    close(fd);
    close(again_fd);
}

/* Every candidate with its first variants, from its first and last root, distance or mask. */
static void read_all_back(const struct network *network, struct plan_command *command)
{
    const struct candidate *candidate;

    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
            uint32_t roots = operation_roots(operation_of(operation), network);
            bool reduces = operation_of(operation)->reduces;
            command->request =
                (struct plan_request){.operation = operation,
                                      .bytes = BYTES,
                                      .ports = candidate->wants_ports ? PORTS_ALL : 1};
            command->request.type = reduces ? ECUBE_INT32 : 0;
            command->element_bytes = reduces ? 4 : 1;
            for (unsigned v = 0; candidate->possible(network) && v < 8; v++) {
                if (v > 0 && (!candidate->variants ||
                              v >= candidate->variants(network, &command->request))) {
                    break;
                }
                command->request.variant = v;
                for (uint32_t last = 0; last <= (roots > 1); last++) {
                    struct plan_fault fault;
                    struct message message;
                    command->request.root = last ? roots - 1 : 0;
                    struct plan *plan = candidate->plan(network, &command->request);
                    plan->algorithm = (uint8_t)i;
                    plan->variant = v;
                    bool proved = plan_prove(plan, &fault);
                    assert_true(!plan->sums_apart || plan_export_check(plan, &message) != 0);
                    if (proved && !plan->sums_apart) {
                        read_back(plan, command);
                    }
                    plan_free(plan);
                }
            }
        }
    }
}

TEST(what_is_exported_is_read_back_as_the_same_plan)
{
    static const char *const names[] = {"cube:0",   "cube:1",   "cube:3",     "cube:4",
                                        "ring:2",   "ring:5",   "ring:6",     "mesh:1x7",
                                        "mesh:3x4", "mesh:2x5", "torus:3x3x2"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        static const struct network_limits limits = {NETWORK_NODES_MAX, "here"};
        struct plan_command command = {.profile = ipsc, .profile_name = "ipsc860"};
        char error[NETWORK_ERROR_MAX];
        assert_true(network_parse(&command.network, names[i], &limits, error));
        network_name(&command.network, command.network_name);
        read_all_back(&command.network, &command);
    }
}

/* Reads and proves a text; NULL, and the message says why. */
static struct plan *plan_of(const char *text, struct message *message)
{
    char path[PATH_ROOM];
    int fd = make_file(path);
    struct plan_file file;
    struct plan *plan = NULL;

    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    message->text[0] = '\0';
    if (plan_file_read(&file, path, message) == 0) {
        plan = plan_file_prove(&file, file.has_bytes ? file.bytes : BYTES,
                               plan_file_element_bytes(&file), message);
        plan_file_free(&file);
    }
    close(fd);
    return plan;
}

TEST(a_plan_by_hand_does_what_it_promises)
{
    static const char *const texts[] = {
        /* blocks that node 1 passes on have no slots of their own */
        "{\"network\":\"mesh:1x3\",\"operation\":\"alltoall\",\"circuits\":["
        "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[\"0.1-2\"]},"
        "{\"step\":0,\"from\":1,\"to\":0,\"blocks\":[\"1.0\"]},"
        "{\"step\":1,\"from\":1,\"to\":2,\"blocks\":[\"1.2\",\"0.2\"]},"
        "{\"step\":1,\"from\":2,\"to\":1,\"blocks\":[\"2.0-1\"]},"
        "{\"step\":2,\"from\":1,\"to\":0,\"blocks\":[\"2.0\"]}]}",
        /* a sum is sent while it grows */
        "{\"network\":\"cube:2\",\"operation\":\"allreduce\",\"circuits\":["
        "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0],\"combine\":true},"
        "{\"step\":0,\"from\":1,\"to\":0,\"blocks\":[0],\"combine\":true},"
        "{\"step\":0,\"from\":2,\"to\":3,\"blocks\":[0],\"combine\":true},"
        "{\"step\":0,\"from\":3,\"to\":2,\"blocks\":[0],\"combine\":true},"
        "{\"step\":1,\"from\":0,\"to\":2,\"blocks\":[0],\"combine\":true},"
        "{\"step\":1,\"from\":2,\"to\":0,\"blocks\":[0],\"combine\":true},"
        "{\"step\":1,\"from\":1,\"to\":3,\"blocks\":[0],\"combine\":true},"
        "{\"step\":1,\"from\":3,\"to\":1,\"blocks\":[0],\"combine\":true}]}",
        /* a contribution is passed on beside the node's own */
        "{\"network\":\"mesh:1x4\",\"operation\":\"reduce\",\"root\":3,\"circuits\":["
        "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0],\"of\":\"0\"},"
        "{\"step\":1,\"from\":1,\"to\":2,\"blocks\":[0],\"of\":\"0\"},"
        "{\"step\":2,\"from\":1,\"to\":2,\"blocks\":[0],\"of\":\"1\",\"combine\":true},"
        "{\"step\":3,\"from\":2,\"to\":3,\"blocks\":[0],\"of\":\"0-2\",\"combine\":true}]}",
        "{\"network\":\"mesh:1x4\",\"operation\":\"scan\",\"circuits\":["
        "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0],\"of\":\"0\",\"combine\":true},"
        "{\"step\":0,\"from\":2,\"to\":3,\"blocks\":[0],\"of\":\"2\",\"combine\":true},"
        "{\"step\":1,\"from\":1,\"to\":2,\"blocks\":[0],\"of\":\"0-1\"},"
        "{\"step\":2,\"from\":2,\"to\":3,\"blocks\":[0],\"of\":\"0-1\"}]}",
        /* two segments, the second behind the first */
        "{\"network\":\"mesh:1x3\",\"operation\":\"broadcast\",\"segments\":2,\"circuits\":["
        "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0]},"
        "{\"step\":1,\"from\":0,\"to\":1,\"blocks\":[1]},"
        "{\"step\":1,\"from\":1,\"to\":2,\"blocks\":[0]},"
        "{\"step\":2,\"from\":1,\"to\":2,\"blocks\":[1]}]}",
        "{\"operation\":\"barrier\",\"circuits\":[{\"to\":0,\"from\":1,\"step\":0},"
        "{\"to\":1,\"from\":0,\"step\":1,\"note\":[{\"x\":-1e3},\"\\u00e4\"]}],"
        "\"network\":\"cube:1\"}"};
    struct message message;

    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct plan *plan = plan_of(texts[i], &message);
        if (!plan) {
            fail_msg("%s", message.text);
        }
        const char *fault = machine_tries(plan, BYTES);
        if (fault) {
            fail_msg("plan %u: %s", i, fault);
        }
        plan_free(plan);
    }
}

#define HEAD "{\"network\":\"ring:4\",\"operation\":\"broadcast\",\n\"circuits\":[\n"
#define GOOD                                                                                       \
    "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0]},\n"                                           \
    "{\"step\":1,\"from\":0,\"to\":3,\"blocks\":[0]},\n"
#define LAST  "{\"step\":1,\"from\":1,\"to\":2,\"blocks\":[0]}\n"
#define PAIRS "{\"network\":\"cube:1\",\"operation\":\"exchange\",\"circuits\":[\n"
#define CUBE  "{\"network\":\"cube:4\",\"operation\":\"barrier\",\"circuits\":[\n"
#define SUM   "{\"network\":\"mesh:1x3\",\"operation\":\"reduce\",\"circuits\":[\n"

static const struct {
    const char *text, *words;
} wrong[] = {
    {"", "line 1: the file is cut off"},
    {"[]", "line 1: '[' where '{'"},
    {HEAD GOOD, "line 5: the file is cut off"},
    {HEAD GOOD "{\"step\":1,\"fr", "line 5: the file is cut off in a text"},
    {HEAD GOOD LAST "]", "line 6: the file is cut off: ',' or '}'"},
    {HEAD GOOD LAST "]} x", "line 6: 'x' where the end of the file"},
    {HEAD "{\"step\":-1,", "line 3: '-' where a whole number"},
    {HEAD "{\"step\":70000,", "line 3: a number of more than 65535"},
    {HEAD "{\"step\":1.5,", "line 3: '.' where the end of a whole number"},
    {HEAD "{\"step\":0,\"step\":0", "\"step\" comes twice"},
    {HEAD "{\"step\":0,\"to\":1}", "line 3: the circuit that ends here has no \"from\""},
    {HEAD "{\"blocks\":[\"a\"]", "\"a\" is no block"},
    {HEAD "{\"blocks\":[\"3-1\"]", "\"3-1\" is no block"},
    {HEAD "{\"combine\":1", "'1' where true or false"},
    {HEAD "\x01", "a byte of 0x01"},
    {"{\"circuits\":[],\"network\":\"ring:4\"}", "has no \"operation\""},
    {"{\"operation\":\"sort\"", "line 1: unknown operation \"sort\""},
    {"{\"operation\":\"align\"", "unknown operation"},
    {"{\"network\":\"ring:99999\"", "line 1: "},
    {"{\"network\":\"star:4\"", "unknown network 'star:4'"},
    {"{\"type\":\"real\"", "unknown type \"real\""},
    {"{\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "more than 32 brackets"},
    {"{\"network\":\"ring:4\",\"operation\":\"gather\",\"root\":4,\"circuits\":[]}",
     "4 cannot be the root of gather on ring:4"},
    {"{\"network\":\"ring:4\",\"operation\":\"shift\",\"root\":4,\"circuits\":[]}",
     "4 cannot be the distance of shift on ring:4"},
    {"{\"network\":\"mesh:2x2\",\"operation\":\"reverse\",\"root\":4,\"circuits\":[]}",
     "4 cannot be the dimensions of reverse on mesh:2x2"},
    {"{\"network\":\"ring:4\",\"operation\":\"barrier\",\"root\":1,\"circuits\":[]}",
     "1 cannot be the root of barrier"},
    {"{\"network\":\"ring:4\",\"nodes\":5,\"operation\":\"barrier\",\"circuits\":[]}",
     "ring:4 has 4 nodes, not 5"},
    {"{\"network\":\"ring:4\",\"ports\":0,\"operation\":\"barrier\",\"circuits\":[]}",
     "nodes with 0 ports"},
    {"{\"network\":\"ring:4\",\"ports\":\"some\",\"operation\":\"barrier\",\"circuits\":[]}",
     "ports are a number"},
    {"{\"network\":\"ring:4\",\"operation\":\"alltoall\",\"segments\":2,\"circuits\":[]}",
     "no 2 segments"},
    {"{\"network\":\"ring:4\",\"operation\":\"gather\",\"type\":\"int32\",\"circuits\":[]}",
     "combines nothing"},
    {HEAD GOOD "{\"step\":1,\"from\":9,\"to\":2,\"blocks\":[0]}]}",
     "line 5, circuit 2: step 1, 9 to 2: these are no two nodes"},
    {HEAD GOOD "{\"step\":1,\"from\":1,\"to\":2,\"blocks\":[1]}]}",
     "line 5, circuit 2: step 1, 1 to 2: broadcast has no block 1"},
    {HEAD GOOD "{\"step\":1,\"from\":1,\"to\":2,\"blocks\":[\"1.2\"]}]}",
     "step 1, 1 to 2: block 1.2: blocks are named by one number"},
    {HEAD GOOD "{\"step\":2,\"from\":3,\"to\":0,\"blocks\":[0]}]}",
     "node 2 has not got block 0 at the end"},
    {HEAD "{\"step\":0,\"from\":1,\"to\":2,\"blocks\":[0]}]}",
     "line 3, circuit 0: step 0, 1 to 2: node 1 has not got block 0 by then"},
    {HEAD "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0]},{\"step\":0,\"from\":1,\"to\":2,"
          "\"blocks\":[0]}]}",
     "circuit 1: step 0, 1 to 2: node 1 has not got block 0 by then"},
    {HEAD GOOD LAST ",{\"step\":1,\"from\":0,\"to\":2,\"blocks\":[0]}]}",
     "sends or receives twice in a step"},
    {HEAD GOOD LAST ",{\"step\":2,\"from\":2,\"to\":3,\"blocks\":[0],\"combine\":true}]}",
     "combines nothing"},
    {HEAD "{\"step\":0,\"from\":0,\"to\":2,\"path\":[0,2],\"blocks\":[0]}]}",
     "line 3, circuit 0: step 0, 0 to 2: its path goes from 0 to 2, where there is no link"},
    {HEAD "{\"step\":0,\"from\":0,\"to\":2,\"path\":[0,1],\"blocks\":[0]}]}",
     "does not lead from its sender"},
    {HEAD GOOD "{\"step\":1,\"from\":1,\"to\":2,\"path\":[1,2,1,2],\"blocks\":[0]}]}",
     "line 5, circuit 2: step 1, 1 to 2: its path comes to node 1 twice"},
    {CUBE "{\"step\":0,\"from\":4,\"to\":0,\"path\":[4,0,1,3,2,0]}]}",
     "line 2, circuit 0: step 0, 4 to 0: its path comes to node 0 twice"},
    {CUBE "{\"step\":0,\"from\":0,\"to\":9,\"path\":[0,1,3,7,5,1,9]}]}",
     "line 2, circuit 0: step 0, 0 to 9: its path comes to node 1 twice"},
    {CUBE "{\"step\":0,\"from\":0,\"to\":1,\"path\":[0,2,0,1]}]}",
     "line 2, circuit 0: step 0, 0 to 1: its path comes to node 0 twice"},
    {HEAD "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0],\"of\":\"0\"}]}", "\"of\" is for"},
    {PAIRS "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0]}]}",
     "circuit 0: step 0, 0 to 1: block 0: blocks are named by source and destination"},
    {PAIRS "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[\"0.2\"]}]}",
     "step 0, 0 to 1: block 0.2 is of no node: there is no node 2"},
    {PAIRS "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[\"1.0\"]}]}",
     "node 0 has not got block 1.0 by then"},
    {PAIRS "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[\"0.1\"]}]}",
     "node 0 has not got block 1.0 at the end"},
    {SUM "{\"step\":0,\"from\":1,\"to\":0,\"blocks\":[0],\"combine\":true}]}",
     "node 0: block 0 lacks contributions at the end: those of 2"},
    {SUM "{\"step\":0,\"from\":1,\"to\":0,\"blocks\":[0],\"combine\":true},\n"
         "{\"step\":1,\"from\":1,\"to\":0,\"blocks\":[0],\"combine\":true}]}",
     "line 3, circuit 1: step 1, 1 to 0: block 0 at node 0 gets a contribution twice"},
    /* 2 comes to 1 and takes the place of what 1 has: 0 gets it alone */
    {SUM "{\"step\":0,\"from\":2,\"to\":1,\"blocks\":[0]},\n"
         "{\"step\":1,\"from\":1,\"to\":0,\"blocks\":[0],\"combine\":true}]}",
     "line 2, circuit 0: node 0: block 0 lacks contributions at the end: those of 1; step 0, 2 to "
     "1 "
     "has no \"combine\", so it replaces what node 1 has of it"},
    {"{\"network\":\"ring:3\",\"operation\":\"reduce_scatter\",\"circuits\":[\n"
     "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[1,2],\"combine\":true},\n"
     "{\"step\":1,\"from\":1,\"to\":2,\"blocks\":[2,0]},\n"
     "{\"step\":2,\"from\":2,\"to\":0,\"blocks\":[0],\"combine\":true},\n"
     "{\"step\":3,\"from\":2,\"to\":1,\"blocks\":[1],\"combine\":true}]}",
     "line 3, circuit 1: node 0: block 0 lacks contributions at the end: those of 2; step 1, 1 to "
     "2 "
     "has no \"combine\""},
    {SUM "{\"step\":0,\"from\":1,\"to\":0,\"blocks\":[0],\"of\":\"1-2\"}]}",
     "node 1 cannot make the sum of 1-2 of block 0"},
    {SUM "{\"step\":0,\"from\":1,\"to\":0,\"blocks\":[0],\"of\":\"1 7\"}]}",
     "line 2, circuit 0: step 0, 1 to 0: \"of\" names node 7, which there is not"},
    {SUM "{\"step\":0,\"from\":1,\"to\":0,\"blocks\":[0],\"of\":[\"1\",\"1\"]}]}", "said once"},
    {SUM "{\"step\":0,\"from\":1,\"to\":0,\"blocks\":[0],\"of\":\"1,2\"}]}", "is no set of nodes"},
    {HEAD "{\"step\":0,\"order\":1,\"from\":0,\"to\":1,\"blocks\":[0]},\n"
          "{\"step\":1,\"order\":0,\"from\":0,\"to\":1,\"blocks\":[0]}]}",
     "a circle of waits: order 1 (step 0, 0 to 1) waits at link 0-1 for order 0 (step 1, 0 to 1) "
     "waits at node 0 for order 1 (step 0, 0 to 1)"},
    {HEAD "{\"step\":0,\"order\":1,\"from\":0,\"to\":2,\"path\":[0,1,2],\"blocks\":[0]},\n"
          "{\"step\":1,\"order\":0,\"from\":1,\"to\":3,\"path\":[1,2,3],\"blocks\":[0]}]}",
     "a link serves order 0 (step 1, 1 to 3) before order 1 (step 0, 0 to 2)"},
    {HEAD "{\"step\":0,\"order\":1,\"from\":0,\"to\":1,\"blocks\":[0]},\n" LAST "]}",
     "step 1, 1 to 2: an order is said of some circuits"},
    {HEAD "{\"step\":0,\"order\":1,\"from\":0,\"to\":1,\"blocks\":[0]},\n"
          "{\"step\":1,\"order\":1,\"from\":0,\"to\":3,\"blocks\":[0]}]}",
     "step 1, 0 to 3: another circuit has order 1, too"},
    {"{\"bytes\":100,\"network\":\"cube:1\",\"operation\":\"broadcast\",\"circuits\":["
     "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0],\"bytes\":99}]}",
     "it carries 100 bytes, not 99"},
    {"{\"profile\":{\"xi_ns\":65425,\"tau_ns\":9575,\"element_ns\":425},\"predicted_us\":117.501,"
     "\"bytes\":100,\"network\":\"cube:1\",\"operation\":\"broadcast\",\"circuits\":["
     "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0]}]}",
     "it takes 117.500 us, not 117.501"},
    {"{\"profile\":{\"xi_ns\":65425},", "a profile has xi_ns, tau_ns and element_ns"},
};

TEST(what_is_wrong_is_told_in_one_line)
{
    struct message message;
    unsigned others = 0;

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct plan *plan = plan_of(wrong[i].text, &message);
        if (plan || !strstr(message.text, wrong[i].words) || strchr(message.text, '\n')) {
            print_error("%s\nis told as '%s', not '%s'\n", wrong[i].text, message.text,
                        wrong[i].words);
            others++;
        }
        plan_free(plan);
    }
    assert_int_equal(others, 0);
}

/* Right, but of no use: it is said where a block comes that is there. */
TEST(a_block_that_comes_where_it_is_is_remarked)
{
    static const char twice[] = HEAD GOOD LAST ",{\"step\":2,\"from\":2,\"to\":3,\"blocks\":[0]}]}";
    static const char home[] =
        HEAD GOOD LAST ",\n{\"step\":2,\"from\":2,\"to\":3,\"blocks\":[0]},\n"
                       "{\"step\":3,\"from\":3,\"to\":0,\"blocks\":[0]}]}";
    struct message message;
    struct plan *plan = plan_of(HEAD GOOD LAST "]}", &message);

    assert_non_null(plan);
    assert_string_equal(message.text, "");
    plan_free(plan);
    plan = plan_of(twice, &message);
    assert_non_null(plan);
    assert_non_null(strstr(message.text, "circuit 3: step 2, 2 to 3: node 3 has block 0 already"));
    assert_null(strstr(message.text, "more"));
    plan_free(plan);
    plan = plan_of(home, &message);
    assert_non_null(plan);
    assert_non_null(strstr(message.text, "line 7, circuit 3: step 2, 2 to 3: node 3 has block 0 "
                                         "already, and so it is 1 time more"));
    plan_free(plan);
}

/* The plan that a cache has for a size, by its digest; and the sizes that it is for. */
static uint32_t asked(struct plan_cache *cache, uint32_t bytes, const char *algorithm,
                      uint32_t *steps)
{
    struct plan_request request = {
        .operation = ECUBE_ALLREDUCE, .bytes = bytes, .type = ECUBE_DOUBLE, .algorithm = algorithm};
    struct plan_time time;
    uint32_t part_bytes;
    int status;
    const char *words;
    const uint8_t *part = plan_cache_part(cache, &request, 1, &part_bytes, &status, &words);

    assert_non_null(part);
    assert_true(plan_cache_predict(cache, &request, &time, steps, &status));
    struct plan_header header;
    assert_true(plan_header_unpack(part, part_bytes, &header));
    assert_in_range(bytes, header.bytes_min, header.bytes_max);
    if (bytes != 800) { /* or a node that has it would never ask for the written one */
        assert_true(header.bytes_max < 800 || header.bytes_min > 800);
    }
    return header.digest;
}

TEST(a_cache_gives_a_written_plan_for_its_sizes_alone)
{
    static const char sum[] = "{\"network\":\"cube:1\",\"operation\":\"allreduce\",\"circuits\":["
                              "{\"step\":0,\"from\":0,\"to\":1,\"blocks\":[0],\"combine\":true},"
                              "{\"step\":0,\"from\":1,\"to\":0,\"blocks\":[0],\"combine\":true}]}";
    struct message message;
    struct plan *plan = plan_of(sum, &message);
    uint32_t steps;

    assert_non_null(plan);
    plan->bytes_min = plan->bytes_max = 800;
    struct plan_cache *cache = plan_cache_make(&plan->network, &ipsc);
    plan_cache_put(cache, plan);
    assert_false(plan_cache_used(cache, plan));
    assert_int_not_equal(asked(cache, 8, NULL, &steps), plan->digest);
    assert_int_not_equal(asked(cache, 80000, NULL, &steps), plan->digest);
    assert_false(plan_cache_used(cache, plan));
    assert_int_equal(asked(cache, 800, NULL, &steps), plan->digest);
    assert_int_equal(steps, 1);
    assert_true(plan_cache_used(cache, plan));
    assert_int_not_equal(asked(cache, 800, "reduce and broadcast", &steps), plan->digest);
    plan_cache_free(cache);
    plan_free(plan);
}

/* Round a ring by turns: each set-up but the first goes ahead, for a port serves one at a time.
 * With all ports it is taken all the same, and its ports count. */
TEST(what_rests_on_one_port_is_taken_by_machines_with_all)
{
    static const struct network_limits limits = {NETWORK_NODES_MAX, "here"};
    struct plan_command command = {.profile = ipsc, .profile_name = "ipsc860", .element_bytes = 8};
    struct profile all = ipsc;
    struct plan_fault fault;
    struct message message;
    char error[NETWORK_ERROR_MAX], path[PATH_ROOM];
    int fd = make_file(path);
    uint32_t steps;

    all.ports = PORTS_ALL;
    assert_true(network_parse(&command.network, "ring:5", &limits, error));
    network_name(&command.network, command.network_name);
    command.request = (struct plan_request){.operation = ECUBE_ALLREDUCE,
                                            .bytes = 800,
                                            .type = ECUBE_DOUBLE,
                                            .algorithm = "cycle both ways"};
    struct plan *plan = plan_make(&command.network, &command.request, &fault);
    assert_non_null(plan);
    assert_true(plan->one_port);
    export_to(path, plan, &command);
    plan_free(plan);
    struct plan_list list = {.paths = {path}, .count = 1};
    assert_int_equal(plan_list_read(&list, &command.network, &all, &message), 0);
    assert_int_equal(list.plans[0]->node_ports, 1);
    plan_list_free(&list);
    list = (struct plan_list){.paths = {path}, .count = 1};
    assert_int_equal(plan_list_read(&list, &command.network, &ipsc, &message), 0);
    struct plan_cache *cache = plan_cache_make(&command.network, &ipsc);
    plan_cache_put(cache, list.plans[0]);
    (void)asked(cache, 800, NULL, &steps);
    assert_true(plan_cache_used(cache, list.plans[0]));
    plan_cache_free(cache);
    cache = plan_cache_make(&command.network, &all);
    plan_cache_put(cache, list.plans[0]);
    (void)asked(cache, 800, NULL, &steps);
    assert_true(plan_cache_used(cache, list.plans[0]));
    plan_cache_free(cache);
    plan_list_free(&list);
    close(fd);
}

TEST(what_cannot_be_read_is_told)
{
    struct plan_file file;
    struct message message;

    assert_int_equal(plan_file_read(&file, "no/such", &message), -1);
    assert_non_null(strstr(message.text, "cannot read the plan no/such: No such file"));
    assert_int_equal(plan_file_read(&file, "/proc", &message), -1);
    assert_non_null(strstr(message.text, "Is a directory"));
    assert_int_equal(plan_file_read(&file, "/dev/zero", &message), -1);
    assert_non_null(strstr(message.text, "line 1: a zero byte"));
}
