#include "host/report/tables.h"

#include <stdlib.h>
#include <string.h>

#include "host/report/escape.h"

static void put_string(FILE *file, const char *text)
{
    escape_text(file, text, strlen(text));
}

void table_put_value(FILE *file, const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_NULL: fputs("&#8211;", file); break;
    case JSON_TRUE: fputs("yes", file); break;
    case JSON_FALSE: fputs("no", file); break;
    case JSON_STRING: escape_text(file, json_string_value(value), json_string_length(value)); break;
    case JSON_INTEGER: fprintf(file, "%" JSON_INTEGER_FORMAT, json_integer_value(value)); break;
    case JSON_REAL: fprintf(file, "%.3f", json_real_value(value)); break;
    default:
        for (size_t i = 0; i < json_array_size(value); i++) {
            fputs(i ? ", " : "", file);
            table_put_value(file, json_array_get(value, i));
        }
    }
}

static void put_row(FILE *file, const struct table *table, const json_t *row)
{
    fputs("<tr>", file);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        const json_t *value =
            column->key ? json_object_get(row, column->key) : json_array_get(row, column->index);
        fputs(json_is_number(value) ? "<td class=\"number\">" : "<td>", file);
        table_put_value(file, value);
        fputs("</td>", file);
    }
    fputs("</tr>\n", file);
}

void table_put(FILE *file, const struct table *table, const json_t *rows)
{
    if (json_array_size(rows) == 0) {
        return;
    }
    fprintf(file, "<div class=\"rows\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n",
            table->caption);
    fprintf(file, "<table id=\"%s\">\n<caption>%s</caption>\n<thead><tr>", table->id,
            table->caption);
    for (size_t i = 0; i < table->column_count; i++) {
        fputs("<th scope=\"col\">", file);
        put_string(file, table->columns[i].title);
        fputs("</th>", file);
    }
    fputs("</tr></thead>\n<tbody>\n", file);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        put_row(file, table, json_array_get(rows, i));
    }
    fputs("</tbody>\n</table>\n</div>\n", file);
}

void table_put_fact(FILE *file, const char *name, const json_t *value)
{
    if (!value || json_is_null(value)) {
        return;
    }
    fprintf(file, "<tr><th scope=\"row\">%s</th><td>", name);
    table_put_value(file, value);
    fputs("</td></tr>\n", file);
}
