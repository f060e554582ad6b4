#include "host/program/symbols.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbols {
    Dwfl *dwfl;
    uint32_t apart; /* in an address that is looked up: not where a symbol of the format stands */
    uint32_t own_code; /* the user's code begins here: program_own_code of linker/program.ld.S */
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static uint32_t find_own_code(Dwfl_Module *module)
{
    int count = dwfl_module_getsymtab(module);

    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);

        if (name && strcmp(name, "program_own_code") == 0) {
            return (uint32_t)address;
        }
    }
    return 0; /* a file without: all is the user's */
}

/* At a function's first address the ARM format has a symbol $t too. */
static uint32_t find_apart(Dwfl_Module *module)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    GElf_Ehdr header;

    return elf && gelf_getehdr(elf, &header) && header.e_machine == EM_ARM ? 1 : 0;
}

struct symbols *symbols_open(const char *elf_path)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    struct symbols *symbols = calloc(1, sizeof *symbols);
    Dwfl_Module *module = NULL;

    if (symbols && (symbols->dwfl = dwfl_begin(&callbacks))) {
        dwfl_report_begin(symbols->dwfl);
        /* Where it is linked to: a shared object is not moved, either. */
        module = dwfl_report_elf(symbols->dwfl, "", elf_path, -1, 0, true);
        dwfl_report_end(symbols->dwfl, NULL, NULL);
    }
    if (!module) {
        symbols_close(symbols);
        return NULL;
    }
    symbols->own_code = find_own_code(module);
    symbols->apart = find_apart(module);
    return symbols;
}

void symbols_close(struct symbols *symbols)
{
    if (symbols) {
        dwfl_end(symbols->dwfl);
        free(symbols);
    }
}

static void set_name(char name[SYMBOL_NAME_MAX], const char *text)
{
    snprintf(name, SYMBOL_NAME_MAX, "%s", text ? text : "");
}

/* Where the call of an inlined function stands. */
static void take_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct symbol_place *place)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Files *files;
    size_t count;

    place->line = 0;
    place->file[0] = '\0';
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0 &&
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) == 0 &&
        dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count) {
        const char *path = dwarf_filesrc(files, file, NULL, NULL);
        set_name(place->file, path ? last_part(path) : NULL);
        place->line = (int)line;
    }
}

/* Names the functions that are inlined at an address; the last place is that of the function in
 * which they are. */
static unsigned add_inlined(Dwfl_Module *module, uint32_t address, struct symbol_place *places,
                            unsigned room)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias), *scopes = NULL;
    int count = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
    unsigned used = 0;

    for (int i = 0; i < count && used + 1 < room; i++) {
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) {
            break;
        }
        if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine) {
            places[used + 1] = places[used];
            set_name(places[used].function, dwarf_diename(&scopes[i]));
            take_call(unit, &scopes[i], &places[used + 1]);
            used++;
        }
    }
    free(scopes);
    return used;
}

/* NULL where no code is: data has symbols, too, but is no function. */
static Dwfl_Module *code_at(struct symbols *symbols, uint32_t address)
{
    Dwfl_Module *module = dwfl_addrmodule(symbols->dwfl, address);
    Dwarf_Addr offset = address, bias;
    Elf_Scn *section = module ? dwfl_module_address_section(module, &offset, &bias) : NULL;
    GElf_Shdr header;

    return section && gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR ? module
                                                                                        : NULL;
}

unsigned symbols_places(struct symbols *symbols, uint32_t address, struct symbol_place *places,
                        unsigned room)
{
    Dwfl_Module *module = code_at(symbols, address);
    const char *function = module ? dwfl_module_addrname(module, address | symbols->apart) : NULL;
    Dwfl_Line *line = module ? dwfl_module_getsrc(module, address) : NULL;
    const char *file = NULL;
    int number = 0;

    if (line) {
        file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
    }
    if (room == 0 || (!function && !file)) {
        return 0;
    }
    places[0] = (struct symbol_place){.line = number, .library = address < symbols->own_code};
    set_name(places[0].function, function);
    places[0].function[strcspn(places[0].function, ".")] = '\0'; /* "f.part.0" is a piece of f */
    set_name(places[0].file, file ? last_part(file) : NULL);
    if (places[0].library) {
        return 1; /* what is inlined there is no concern of the user */
    }
    return add_inlined(module, address, places, room) + 1;
}

uint32_t symbols_function(struct symbols *symbols, uint32_t address)
{
    Dwfl_Module *module = code_at(symbols, address);
    GElf_Sym symbol;
    GElf_Off offset;

    if (!module || !dwfl_module_addrinfo(module, address | symbols->apart, &offset, &symbol, NULL,
                                         NULL, NULL)) {
        return 0;
    }
    return (address | symbols->apart) - (uint32_t)offset;
}

/* Of libdw's descriptions those that compilers and assemblers write for functions of C: cfa is a
 * register plus an offset. */
static bool take_cfa(Dwarf_Frame *rules, struct symbol_frame *frame)
{
    Dwarf_Op *operations;
    size_t count;

    if (dwarf_frame_cfa(rules, &operations, &count) != 0 || count != 1) {
        return false;
    }
    if (operations->atom == DW_OP_bregx && operations->number < PROCESSOR_REGISTERS) {
        frame->cfa_register = (uint8_t)operations->number;
        frame->cfa_offset = (int32_t)operations->number2;
        return true;
    }
    if (operations->atom >= DW_OP_breg0 && operations->atom < DW_OP_breg0 + PROCESSOR_REGISTERS) {
        frame->cfa_register = (uint8_t)(operations->atom - DW_OP_breg0);
        frame->cfa_offset = (int32_t)operations->number;
        return true;
    }
    return false;
}

static void take_register(Dwarf_Frame *rules, struct symbol_frame *frame, int number)
{
    Dwarf_Op memory[3], *operations;
    size_t count;

    frame->registers[number].kept = REGISTER_LOST;
    if (dwarf_frame_register(rules, number, memory, &operations, &count) != 0) {
        return;
    }
    if (count == 0) {
        /* What the table does not mention stays as it is. */
        frame->registers[number].kept = REGISTER_KEPT;
    } else if (operations[0].atom == DW_OP_call_frame_cfa &&
               (count == 1 || (count == 2 && operations[1].atom == DW_OP_plus_uconst))) {
        frame->registers[number].kept = REGISTER_SAVED;
        frame->registers[number].offset = count == 2 ? (int32_t)operations[1].number : 0;
    }
}

bool symbols_frame(struct symbols *symbols, uint32_t address, struct symbol_frame *frame)
{
    Dwfl_Module *module = dwfl_addrmodule(symbols->dwfl, address);
    Dwarf_Addr bias = 0;
    Dwarf_CFI *cfi = module ? dwfl_module_dwarf_cfi(module, &bias) : NULL;
    Dwarf_Frame *rules = NULL;

    if (!cfi || dwarf_cfi_addrframe(cfi, address - bias, &rules) != 0) {
        return false;
    }
    bool known = take_cfa(rules, frame);
    for (int i = 0; i < PROCESSOR_REGISTERS; i++) {
        take_register(rules, frame, i);
    }
    free(rules);
    return known;
}

void symbols_text(const struct symbol_place *place, char text[SYMBOL_TEXT_MAX])
{
    if (place->function[0] && place->file[0] && !place->library) {
        snprintf(text, SYMBOL_TEXT_MAX, "%s (%s:%d)", place->function, place->file, place->line);
    } else {
        snprintf(text, SYMBOL_TEXT_MAX, "%s", place->function[0] ? place->function : place->file);
    }
}
