/*
 * What is scattered into a region or gathered from it: the request that crosses a socket, whose
 * part is what, what has no room, what came damaged, and the file.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/job/region_job.h"

enum { NODES = 4, FILE_BYTES = 100 };

static char folder[] = "/tmp/ecube-region.XXXXXX";
static struct network network;

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 && network_make(&network, NETWORK_CUBE, NULL, 2)
               ? 0
               : -1;
}

static int remove_folder(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

TEST_GROUP(make_folder, remove_folder);

/* Byte i of a file is i + 1. */
static void make_file(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (unsigned i = 0; i < FILE_BYTES; i++) {
        fputc((int)(i + 1), file);
    }
    assert_int_equal(fclose(file), 0);
}

static struct region_request scatter_of(uint32_t kind)
{
    return (struct region_request){
        .way = ECUBE_SCATTERED,
        .region = "in",
        .data = {.kind = kind, .path = "in", .name = "in", .window = 30, .stride = 20, .pad = true},
        .timeout_ms = 5000};
}

static const struct region_request gather_request = {
    .way = ECUBE_GATHERED, .region = "out", .output = "made", .timeout_ms = 7};

TEST(a_request_crosses_a_socket)
{
    struct region_request request = scatter_of(BLOCK_INPUT), back;
    json_t *json;

    make_file("in");
    json = region_request_to_json(&request);
    assert_true(region_request_from_json(json, &back));
    assert_int_equal(back.way, ECUBE_SCATTERED);
    assert_string_equal(back.region, "in");
    assert_int_equal(back.data.window, 30);
    assert_int_equal(back.data.path[0], '/'); /* for a process in another directory */
    assert_int_equal(back.timeout_ms, 5000);
    json_object_del(json, "data");
    assert_false(region_request_from_json(json, &back));
    json_decref(json);
    json = region_request_to_json(&gather_request);
    assert_true(region_request_from_json(json, &back));
    assert_int_equal(back.way, ECUBE_GATHERED);
    assert_int_equal(back.output[0], '/');
    json_object_set_new(json, "region", json_string("a/b"));
    assert_false(region_request_from_json(json, &back));
    json_object_set_new(json, "region", json_string("out"));
    json_object_del(json, "output");
    assert_false(region_request_from_json(json, &back));
    json_decref(json);
}

TEST(a_region_has_a_short_name)
{
    struct message message;

    assert_int_equal(region_name_check("twenty-three-characters", &message), 0);
    assert_int_equal(region_name_check("twenty-four-characters--", &message), -1);
    assert_int_equal(region_name_check("", &message), -1);
    assert_int_equal(region_name_check("a/b", &message), -1);
}

TEST(each_node_has_its_part_and_what_has_no_room_is_told)
{
    struct region_request request = scatter_of(BLOCK_INPUT);
    struct region_job job;
    struct message message;

    make_file("in");
    assert_int_equal(region_job_make(&job, &request, &network, &message), 0);
    assert_int_equal(region_job_fill(&job, NULL, &message), 0);
    assert_int_equal(job.bytes, 4 * 30);
    for (uint32_t rank = 0; rank < NODES; rank++) {
        assert_true(job.parts[rank].wanted);
        assert_int_equal(job.parts[rank].bytes, 30);
        assert_int_equal(job.parts[rank].data[0], rank * 20 + 1);
        job.parts[rank].region_bytes = 30;
    }
    assert_memory_not_equal(job.parts[0].digest, job.parts[1].digest, DIGEST_BYTES);
    assert_int_equal(region_job_fits(&job, &message), 0);
    job.parts[2].region_bytes = 29;
    assert_int_equal(region_job_fits(&job, &message), -1);
    assert_string_equal(message.text,
                        "30 bytes have no room in region in of node 2 (rank 2), which "
                        "has 29");
    region_job_free(&job);
}

TEST(what_all_get_has_one_digest)
{
    struct region_request request = scatter_of(BLOCK_COMMON);
    struct region_job job;
    struct message message;

    make_file("in");
    assert_int_equal(region_job_make(&job, &request, &network, &message), 0);
    assert_int_equal(region_job_fill(&job, NULL, &message), 0);
    for (uint32_t rank = 0; rank < NODES; rank++) {
        assert_int_equal(job.parts[rank].bytes, FILE_BYTES);
        assert_memory_equal(job.parts[rank].digest, job.parts[0].digest, DIGEST_BYTES);
    }
    region_job_free(&job);
}

/* As nodes send it. */
static struct region_job gathered(void)
{
    struct region_job job;
    struct message message;

    assert_int_equal(region_job_make(&job, &gather_request, &network, &message), 0);
    for (uint32_t rank = 0; rank < NODES; rank++) {
        job.parts[rank].region_bytes = 3 + rank;
    }
    assert_int_equal(region_job_give(&job, &message), 0);
    assert_int_equal(job.bytes, 3 + 4 + 5 + 6);
    memset(job.memory, 'x', job.bytes);
    return job;
}

TEST(damaged_parts_are_wanted_again_where_they_were)
{
    struct region_job job = gathered();
    struct message message;
    uint8_t *at = job.parts[1].data;

    assert_int_equal(region_job_compare(&job), NODES); /* no digests have come */
    assert_int_equal(region_job_give(&job, &message), 0);
    assert_ptr_equal(job.parts[1].data, at);
    assert_int_equal(at - job.memory, 3);
    region_job_free(&job);
}

TEST(the_file_has_all_parts_or_is_not_there)
{
    struct region_job job = gathered();
    struct message message;
    char text[32] = "";
    FILE *file;

    memcpy(job.parts[3].data, "ABCDEF", 6);
    assert_int_equal(region_job_write(&job, NULL, &message), 0);
    file = fopen("made", "r");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text, file), 18);
    fclose(file);
    assert_string_equal(text, "xxxxxxxxxxxxABCDEF");
    free(job.output);
    job.output = strdup("none/made");
    assert_int_equal(region_job_write(&job, NULL, &message), -1);
    assert_string_equal(message.text, "cannot write none/made: No such file or directory");
    region_job_free(&job);
}
