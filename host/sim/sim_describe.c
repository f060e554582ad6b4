/*
 * sim_describe.c - a run of ecube sim as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "controller/download.h"
#include "drivers/check.h"
#include "host/console/report.h"
#include "host/console/version.h"
#include "host/job/map_choice.h"
#include "host/sim/sim.h"
#include "network/network.h"
#include "sim/programs/plans.h"
#include "sim/programs/scenario.h"
#include "wire/load.h"

enum {
    BLOCK_BYTES = 16,
    LIST_BYTES = LOAD_LIST_HEADER_BYTES + LOAD_PROGRAM_BYTES + 3 * LOAD_SEGMENT_BYTES
};

/* An image for all, a private block each, and the map where there is one. Where they lie does not
 * matter for their time. */
static void make_list(struct load_list *list, uint8_t bytes[LIST_BYTES],
                      const struct network *network, uint32_t image_bytes)
{
    uint32_t nodes = network->nodes, segments = network->map ? 3 : 2;

    load_list_pack(bytes, nodes, 1, segments);
    load_program_pack(bytes, 0, &(struct load_program){.count = nodes});
    load_segment_pack(bytes, 0, &(struct load_segment){.count = nodes, .bytes = image_bytes});
    load_segment_pack(
        bytes, 1,
        &(struct load_segment){.count = nodes, .bytes = BLOCK_BYTES, .step = BLOCK_BYTES});
    if (network->map) {
        load_segment_pack(bytes, 2,
                          &(struct load_segment){.count = nodes, .bytes = load_map_bytes(nodes)});
    }
    CHECK(load_list_open(list, bytes, load_list_bytes(1, segments)));
}

struct sim_estimate sim_estimate(const struct sim_options *options, uint32_t image_bytes, int x)
{
    uint8_t bytes[LIST_BYTES];
    struct load_list list;
    struct download_plan plan;
    char error[DOWNLOAD_ERROR_MAX];

    make_list(&list, bytes, &options->network, image_bytes);
    struct download_costs costs = download_costs_of(&options->profile, &list);
    CHECK(download_make_plan(&plan, STRATEGY_DECREMENTAL, x, &options->network, &costs, error));
    return (struct sim_estimate){.x = plan.x,
                                 .predicted_ns = plan.predicted_ns,
                                 .bound_ns = download_bound_ns(&costs, &options->network)};
}

uint64_t sim_download_predicted_ns(const struct sim_run *run)
{
    const struct sim_options *options = &run->arguments.options;
    const struct sim_result *result = &run->result;
    bool own = options->scenario == SIM_LOAD && result->line_count > 0;

    return sim_estimate(options,
                        own ? result->lines[result->line_count - 1].bytes : options->image_bytes,
                        (int)options->download_x)
        .predicted_ns;
}

/* The lines, as report_print takes them. */
static json_t *sim_reports(const struct sim_run *run)
{
    const struct sim_options *options = &run->arguments.options;
    struct report reports[SIM_SIZES_MAX];
    struct report_table table = {.reports = reports};

    for (unsigned i = 0; i < run->result.line_count; i++) {
        const struct sim_line *line = &run->result.lines[i];
        struct report *report = &reports[i];
        if (line->nodes != run->arguments.network.nodes) {
            break;
        }
        *report =
            (struct report){.bytes = line->bytes,
                            .steps = line->steps,
                            .model_ns = line->model_ns,
                            .predicted_ns = line->predicted_ns,
                            .bound_ns = line->bound_ns,
                            .wall_ns = (run->begun_us[i + 1] - run->begun_us[i]) * 1000,
                            .wrong = line->wrong,
                            .unstepped = options->scenario > SIM_LOAD,
                            .unchecked = !run->result.checked && options->scenario != SIM_LOAD};
        if (options->scenario == SIM_LOAD) {
            struct sim_estimate estimate =
                sim_estimate(options, line->bytes, (int)options->download_x);
            report->predicted_ns = estimate.predicted_ns;
            report->bound_ns = estimate.bound_ns;
        }
        snprintf(report->name, sizeof report->name, "%s", sim_scenario_title(options->scenario));
        table.count++;
    }
    return report_to_json(&table);
}

void sim_trace_digest_text(const struct trace_result *trace, char text[65])
{
    for (unsigned i = 0; i < sizeof trace->digest; i++) {
        snprintf(text + (size_t)2 * i, 3, "%02x", trace->digest[i]);
    }
}

/* Null: none has been written. */
static json_t *describe_trace(const struct sim_run *run)
{
    char digest[65];

    if (!run->arguments.trace || run->trace.error) {
        return json_null();
    }
    sim_trace_digest_text(&run->trace, digest);
    return json_pack("{s:s, s:I, s:I, s:s}", "file", run->arguments.trace, "events",
                     (json_int_t)run->trace.events, "bytes", (json_int_t)run->trace.bytes, "sha256",
                     digest);
}

/* The last download; null: none has come to its end. */
static json_t *describe_download(const struct sim_run *run)
{
    const struct sim_result *r = &run->result;

    if (!r->receipts) {
        return json_null();
    }
    return json_pack(
        "{s:s, s:b, s:i, s:i, s:n, s:I, s:f, s:f, s:b, s:n, s:i, s:i, s:n}", "strategy",
        "decremental", "auto", false, "x", (int)run->arguments.options.download_x, "sends",
        (int)r->download_sends, "parcel_bytes", "bytes", (json_int_t)r->download_bytes, "model_us",
        (double)r->download_ns / 1e3, "predicted_us", (double)run->predicted_ns / 1e3, "contends",
        false, "wall_ms", "receipts", (int)r->receipts, "repaired", (int)r->repaired, "repair_us");
}

json_t *sim_describe_about(const struct sim_about *about)
{
    json_t *nodes = json_array();

    for (unsigned i = 0; i < about->node_count; i++) {
        json_array_append_new(nodes, json_integer(about->nodes[i]));
    }
    json_t *trouble =
        json_pack("{s:s, s:o}", "kind", sim_trouble_name(about->kind), "nodes", nodes);
    if (about->kind == SIM_TROUBLE_ABORTED) {
        json_object_set_new(trouble, "status", json_integer(SIM_ABORT_STATUS));
    }
    if (about->error) {
        json_object_set_new(trouble, "error", json_integer(about->error));
    }
    return trouble;
}

static json_t *describe_troubles(const struct sim_run *run)
{
    const struct sim_result *r = &run->result;
    json_t *troubles = json_array();

    for (unsigned i = 0; i < r->trouble_count && i < SIM_TROUBLES_MAX; i++) {
        json_t *trouble = sim_describe_about(&r->abouts[i]);

        json_object_set_new(trouble, "text", json_string(r->troubles[i]));
        json_array_append_new(troubles, trouble);
    }
    return troubles;
}

/* What is of the simulator. */
static json_t *describe_sim(const struct sim_run *run)
{
    const struct sim_options *options = &run->arguments.options;
    const struct sim_result *r = &run->result;
    double seconds = (double)(run->end_us - run->start_us) / 1e6;
    bool program = run->arguments.program != NULL;
    char digest[40];

    snprintf(digest, sizeof digest, "%016" PRIx64 "%016" PRIx64, r->digest[0], r->digest[1]);
    return json_pack("{s:s?, s:s?, s:s?, s:I, s:s, s:I, s:I, s:i, s:f, s:f, s:I, s:b, s:I, s:o}",
                     "scenario", program ? NULL : sim_scenario_name(options->scenario), "type",
                     program ? NULL : reduction_type_name(scenario_type(options)), "operator",
                     program ? NULL : reduction_operator_name(scenario_operator(options)), "seed",
                     (json_int_t)options->seed, "digest", digest, "events", (json_int_t)r->events,
                     "link_events", (json_int_t)r->link_events, "threads", (int)r->threads,
                     "seconds", seconds, "events_per_s",
                     seconds > 0 ? (double)r->events / seconds : 0, "node_bytes",
                     (json_int_t)r->node_bytes, "checked", (int)r->checked, "damaged",
                     (json_int_t)r->damaged, "trace", describe_trace(run));
}

/* What a scenario has come to; of a program what `ecube run` has. */
static void describe_scenario(const struct sim_run *run, json_t *result)
{
    json_object_set_new(result, "download", describe_download(run));
    json_object_set_new(result, "reports", sim_reports(run));
    json_object_set_new(result, "plans",
                        report_plans(run->plans->summaries, run->plans->preload.count));
    json_object_set_new(result, "troubles", describe_troubles(run));
}

static void describe_program(const struct sim_run *run, json_t *result)
{
    const struct sim_arguments *arguments = &run->arguments;
    const struct sim_program *program = &run->program;

    options_describe_job(&program->request, result);
    json_object_set_new(result, "download",
                        job_describe_download(&program->job, arguments->network.nodes));
    json_object_set_new(result, "exits", programs_describe_exits(&program->programs, true));
    json_object_set_new(result, "reports", report_to_json(&program->job.reports));
    json_object_set_new(result, "outputs", outputs_describe(&program->job.outputs));
    json_object_set_new(result, "plans", programs_describe_plans(program->cache));
    json_object_set_new(result, "troubles", json_copy(program->teller.troubles));
}

json_t *sim_describe(const struct sim_run *run, int status)
{
    const struct sim_arguments *arguments = &run->arguments;
    json_t *result =
        json_pack("{s:s, s:s, s:o, s:i, s:i, s:o, s:i, s:i}", "version", ECUBE_VERSION, "network",
                  arguments->network_name, "map", map_describe(&arguments->network), "host_links",
                  arguments->network.host_links, "nodes", (int)arguments->network.nodes, "profile",
                  report_profile(arguments->profile_name, &arguments->options.profile), "paths",
                  arguments->options.paths, "status", status);

    if (arguments->program) {
        describe_program(run, result);
    } else {
        describe_scenario(run, result);
    }
    json_object_set_new(result, "sim", describe_sim(run));
    return result;
}
