/*
 * json_get.c - json_get FILE KEY...: prints the value that the keys lead to; a number among them is
 * an index, and `length` asks for the number of entries. Exits with 1 when there is none.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const json_t *step(const json_t *value, const char *key)
{
    if (json_is_array(value)) {
        return json_array_get(value, (size_t)strtoul(key, NULL, 10));
    }
    return json_object_get(value, key);
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *root = argc > 1 ? json_load_file(argv[1], 0, &error) : NULL;
    const json_t *value = root;

    if (!root) {
        fprintf(stderr, "json_get: %s\n", argc > 1 ? error.text : "usage: json_get FILE KEY...");
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "length") == 0 && json_is_array(value)) {
            printf("%zu\n", json_array_size(value));
            json_decref(root);
            return 0;
        }
        value = step(value, argv[i]);
    }
    if (!value) {
        json_decref(root);
        return 1;
    }
    if (json_is_string(value)) {
        puts(json_string_value(value));
    } else {
        json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
        puts("");
    }
    json_decref(root);
    return 0;
}
