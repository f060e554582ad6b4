/*
 * Reports of programs as JSON and as a table: what nobody has said is null there, and "-".
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/console/report.h"

/* Times of one report as a node sends it. */
static json_t *reported(uint64_t model_ns, uint64_t predicted_ns, uint64_t bound_ns)
{
    const struct report_body told = {.name = "something",
                                     .bytes = 100,
                                     .steps = 3,
                                     .model_ns = model_ns,
                                     .predicted_ns = predicted_ns,
                                     .bound_ns = bound_ns,
                                     .wall_ns = 5000000};
    struct report_table table = {0};

    assert_true(report_add(&table, 0, &told));
    json_t *list = report_to_json(&table);
    report_free(&table);
    return list;
}

/* Prints a list as a table, and frees it. */
static void expect_line(json_t *list, const char *line)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    report_print(file, list);
    fclose(file);
    json_decref(list);
    assert_string_equal(strchr(strchr(text + 1, '\n') + 1, '\n') + 1, line); /* below its heading */
    free(text);
}

TEST(a_report_without_a_prediction_has_none)
{
    json_t *list = reported(1500, 0, 0), *report = json_array_get(list, 0);

    assert_true(json_is_null(json_object_get(report, "predicted_us")));
    assert_true(json_is_null(json_object_get(report, "bound_us")));
    assert_true(json_is_real(json_object_get(report, "model_us")));
    expect_line(list, "       100     3        1.500            -            -      -"
                      "      5.000      0\n");
}

TEST(a_report_with_a_prediction_has_it)
{
    expect_line(reported(1500, 1500, 1000),
                "       100     3        1.500        1.500        1.000  1.500"
                "      5.000      0\n");
}

/* As an exchange of one node. */
TEST(what_takes_no_time_is_predicted_so)
{
    expect_line(reported(0, 0, 0), "       100     3        0.000        0.000        0.000      -"
                                   "      5.000      0\n");
}

TEST(a_plan_for_all_larger_sizes_has_no_end)
{
    static const struct plan_summary summaries[] = {
        {.operation = ECUBE_EXCHANGE, .bytes_min = 9, .bytes_max = 12, .algorithm = "AAP"},
        {.operation = ECUBE_SHIFT, .root = 3, .bytes_max = UINT32_MAX, .algorithm = "by \xff"}};
    json_t *list = report_plans(summaries, 2);
    char *text = json_dumps(list, JSON_COMPACT);

    assert_string_equal(text, "[{\"operation\":\"alltoall\",\"root\":0,\"bytes_min\":9,"
                              "\"bytes_max\":12,\"algorithm\":\"AAP\"},"
                              "{\"operation\":\"shift\",\"root\":3,\"bytes_min\":0,"
                              "\"bytes_max\":null,\"algorithm\":null}]");
    free(text);
    json_decref(list);
}
