#include "host/console/cell.h"

#include <stdio.h>

const char *cell_real(char cell[CELL_MAX], unsigned columns, double value)
{
    for (int decimals = 3; decimals >= 0; decimals--) {
        if (snprintf(cell, CELL_MAX, "%.*f", decimals, value) <= (int)columns) {
            return cell;
        }
    }
    for (int decimals = 3; decimals >= 0; decimals--) {
        if (snprintf(cell, CELL_MAX, "%.*e", decimals, value) <= (int)columns) {
            return cell;
        }
    }
    return cell;
}

const char *cell_count(char cell[CELL_MAX], unsigned columns, double count)
{
    static const char *const thousands[] = {"", "k", "M", "G", "T", "P", "E"};

    for (unsigned i = 0; i < sizeof thousands / sizeof thousands[0]; i++) {
        if (snprintf(cell, CELL_MAX, "%.0f%s", count, thousands[i]) <= (int)columns) {
            break;
        }
        count /= 1000;
    }
    return cell;
}
