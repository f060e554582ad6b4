#include "host/symbols.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <string.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool describe(Dwfl *dwfl, Dwarf_Addr address, char text[SYMBOL_TEXT_MAX])
{
    Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
    /* Not at its first address, where the ARM format has a symbol $t too. */
    const char *function = module ? dwfl_module_addrname(module, address | 1) : NULL;
    Dwfl_Line *line = module ? dwfl_module_getsrc(module, address) : NULL;
    const char *file = NULL;
    int number = 0;

    if (line) {
        file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
    }
    if (function && file) {
        snprintf(text, SYMBOL_TEXT_MAX, "%.90s (%.90s:%d)", function, last_part(file), number);
    } else if (function || file) {
        snprintf(text, SYMBOL_TEXT_MAX, "%.180s", function ? function : last_part(file));
    }
    return function || file;
}

bool symbols_describe(const char *elf_path, uint32_t address, char text[SYMBOL_TEXT_MAX])
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    Dwfl *dwfl = dwfl_begin(&callbacks);
    bool known = false;

    if (dwfl) {
        dwfl_report_begin(dwfl);
        if (dwfl_report_offline(dwfl, "", elf_path, -1)) {
            dwfl_report_end(dwfl, NULL, NULL);
            known = describe(dwfl, address, text);
        }
        dwfl_end(dwfl);
    }
    return known;
}
