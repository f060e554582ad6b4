#include "host/job/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[] = {[BLOCK_INPUT] = "input",
                                    [BLOCK_COMMON] = "common",
                                    [BLOCK_PRIVATE] = "private",
                                    [BLOCK_FILE] = "file",
                                    [BLOCK_STDIN] = "stdin"};

const char *job_request_path(const struct job_request *request)
{
    for (unsigned i = 0; i < request->program_count; i++) {
        if (!request->programs[i].nodes) {
            return request->programs[i].path;
        }
    }
    return request->program_count ? request->programs[request->program_count - 1].path : NULL;
}

/* To JSON. ----------------------------------------------------------------------------------- */

json_t *job_whole_path(const char *path)
{
    char *whole = path ? realpath(path, NULL) : NULL, *text = NULL;
    json_t *string;

    if (!path) {
        return json_null();
    }

    if (!whole && path[0] != '/') {
        char *here = realpath(".", NULL);
        if (here && asprintf(&text, "%s/%s", here, path) >= 0) {
            path = text;
        }
        free(here);
    }
    string = json_string(whole ? whole : path);
    free(whole);
    free(text);
    return string;
}

static json_t *programs_to_json(const struct job_request *request)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < request->program_count; i++) {
        const struct job_program *program = &request->programs[i];
        json_t *path = job_whole_path(program->path);
        json_t *nodes = program->nodes ? json_string(program->nodes) : json_null();
        if (!path || !nodes) {
            json_decref(path);
            json_decref(nodes);
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, json_pack("{s:o, s:o}", "path", path, "nodes", nodes));
    }
    return list;
}

json_t *job_data_to_json(const struct job_data *data)
{
    json_t *path = job_whole_path(data->path), *name = json_string(data->name);

    if (!path || !name) {
        json_decref(path);
        json_decref(name);
        return NULL;
    }
    return json_pack("{s:i, s:o, s:o, s:I, s:I, s:b}", "kind", (int)data->kind, "path", path,
                     "name", name, "window", (json_int_t)data->window, "stride",
                     (json_int_t)data->stride, "pad", data->pad);
}

static json_t *data_to_json(const struct job_request *request)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < request->data_count; i++) {
        if (json_array_append_new(list, job_data_to_json(&request->data[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *arguments_to_json(const struct job_request *request)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < request->argument_count; i++) {
        if (json_array_append_new(list, json_string(request->arguments[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* A file has its whole path; a word that is none stays as it is. */
static json_t *map_to_json(const struct map_wanted *wanted)
{
    bool file = map_is_file(wanted) && access(wanted->map, F_OK) == 0;
    json_t *map = file          ? job_whole_path(wanted->map)
                  : wanted->map ? json_string(wanted->map)
                                : json_null();
    json_t *as = wanted->as ? json_string(wanted->as) : json_null();

    if (!map || !as) {
        json_decref(map);
        json_decref(as);
        return NULL;
    }
    return json_pack("{s:o, s:o}", "map", map, "as", as);
}

int job_request_to_json(const struct job_request *request, json_t **json, struct message *message)
{
    json_t *programs = programs_to_json(request), *data = data_to_json(request);
    json_t *arguments = arguments_to_json(request);
    json_t *output = job_whole_path(request->outputs.output),
           *files = job_whole_path(request->outputs.files), *map = map_to_json(&request->map),
           *trace = job_whole_path(request->trace);

    *json = json_pack("{s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:s, s:i, s:b, s:b, s:i}",
                      "programs", programs, "data", data, "arguments", arguments, "output", output,
                      "files_to", files, "map", map, "trace", trace, "strategy",
                      download_strategy_name(request->strategy), "x", request->x, "explain",
                      request->explain, "counts", request->counts, "timeout_ms",
                      (int)request->timeout_ms);
    if (programs && data && arguments && output && files && map && trace && *json) {
        return 0;
    }
    json_decref(*json);
    *json = NULL;
    return message_set(message, "the program's path, its data and its arguments must be UTF-8 "
                                "text: 'ecube run' takes any bytes");
}

/* From JSON. --------------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static uint64_t number_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static bool take_programs(const json_t *list, struct job_request *request)
{
    size_t count = json_array_size(list);

    if (count == 0 || count > JOB_PROGRAMS_MAX) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(list, i);
        struct job_program *program = &request->programs[i];

        *program = (struct job_program){text_of(one, "path"), text_of(one, "nodes")};
        if (!program->path) {
            return false;
        }
    }
    request->program_count = (unsigned)count;
    return true;
}

bool job_data_from_json(const json_t *json, struct job_data *data)
{
    *data = (struct job_data){.kind = (uint32_t)number_of(json, "kind"),
                              .path = text_of(json, "path"),
                              .name = text_of(json, "name"),
                              .window = number_of(json, "window"),
                              .stride = number_of(json, "stride"),
                              .pad = json_is_true(json_object_get(json, "pad"))};
    return data->path && data->name && data->kind >= BLOCK_INPUT && data->kind <= BLOCK_FILE &&
           (data->kind != BLOCK_FILE || block_name_is_good(data->name));
}

static bool take_data(const json_t *list, struct job_request *request)
{
    size_t count = json_array_size(list);

    if (count > JOB_DATA_MAX) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!job_data_from_json(json_array_get(list, i), &request->data[i])) {
            return false;
        }
    }
    request->data_count = (unsigned)count;
    return true;
}

static bool take_arguments(const json_t *list, struct job_request *request)
{
    size_t count = json_array_size(list);
    const char **arguments = calloc(count + 1, sizeof *arguments);

    if (!arguments) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        arguments[i] = text ? text : "";
    }
    request->arguments = arguments;
    request->argument_count = (unsigned)count;
    return true;
}

bool job_request_from_json(const json_t *json, struct job_request *request)
{
    const char *strategy = text_of(json, "strategy");

    *request = (struct job_request){
        .x = (int)json_integer_value(json_object_get(json, "x")),
        .explain = json_is_true(json_object_get(json, "explain")),
        .counts = json_is_true(json_object_get(json, "counts")),
        .timeout_ms = (uint32_t)number_of(json, "timeout_ms"),
        .outputs = {text_of(json, "output"), text_of(json, "files_to")},
        .trace = text_of(json, "trace"),
        .map = {text_of(json_object_get(json, "map"), "map"),
                text_of(json_object_get(json, "map"), "as")},
    };
    return strategy && download_parse_strategy(strategy, &request->strategy) &&
           take_programs(json_object_get(json, "programs"), request) &&
           take_data(json_object_get(json, "data"), request) &&
           take_arguments(json_object_get(json, "arguments"), request);
}

void job_request_free(struct job_request *request)
{
    free((void *)(uintptr_t)request->arguments);
    request->arguments = NULL;
}

/* For people's results. ---------------------------------------------------------------------- */

/* Null: it is no UTF-8. */
static json_t *word(const char *text)
{
    json_t *string = json_string(text);

    return string ? string : json_null();
}

json_t *job_request_describe_data(const struct job_request *request)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < request->data_count; i++) {
        const struct job_data *data = &request->data[i];
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o}", "kind", kinds[data->kind], "file", word(data->path),
                            "name", data->kind == BLOCK_FILE ? word(data->name) : json_null()));
    }
    return list;
}
