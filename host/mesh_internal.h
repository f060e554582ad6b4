/*
 * mesh_internal.h - what the mesh's own files share.
 */
#pragma once

#include "host/mesh.h"
#include "host/symbols.h"

enum { PLACE_TEXT_MAX = 5 * (SYMBOL_TEXT_MAX + 20) }; /* five calls */

/* mesh.c */
void mesh_enter_phase(struct mesh *mesh, enum mesh_phase phase);
void mesh_emit(struct mesh *mesh, json_t *event);
/* Text for a JSON string, at most MESSAGE_MAX bytes: where it is no UTF-8, its bytes above 127
 * become question marks. */
json_t *mesh_text(const char *text, size_t bytes);
void mesh_emit_progress(struct mesh *mesh, const char *phase, unsigned done, unsigned total);
/* Tells what went wrong: in words, and as members for programs, of which "kind" and "nodes" are
 * always there (doc/json.md lists them). Takes over the members. */
void mesh_emit_trouble(struct mesh *mesh, json_t *members, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void mesh_send(struct mesh *mesh, uint8_t kind, uint32_t node, const void *body, uint32_t bytes);

/* mesh_failure.c: the mesh is broken; the phase ends soon */
void mesh_fail(struct mesh *mesh, json_t *members, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same without a word: what has been noted is told at the end of the phase. */
void mesh_break(struct mesh *mesh);
/* "boot", "idle", "download" or "run". */
const char *mesh_phase_name(enum mesh_phase phase);
void mesh_node_died(void *context, uint32_t node);
void mesh_link_died(struct mesh *mesh, uint32_t node, uint32_t peer, uint8_t reason);
void mesh_on_failure_timer(uv_timer_t *timer);

/* mesh_time.c */
uint64_t mesh_patience_us(const struct mesh *mesh);
/* Begins to count silence: boot or download are asked every now and then by mesh_boot_tick or
 * mesh_load_tick, with the time that has passed. */
void mesh_patience_begin(struct mesh *mesh);
void mesh_patience_tick(struct mesh *mesh);
/* --timeout begins, or has ended. */
void mesh_bound(struct mesh *mesh, uint32_t timeout_ms);
void mesh_unbound(struct mesh *mesh);
/* The members of the trouble that it has ended a phase. */
json_t *mesh_timeout_members(const struct mesh *mesh, uint32_t limit_ms);

/* --timeout stands still, and goes on. */
void mesh_bound_hold(struct mesh *mesh);
void mesh_bound_go_on(struct mesh *mesh);

/* mesh_debug.c */
/* Starts ecube-jtag, if the mesh has one. */
int mesh_debug_start(struct mesh *mesh, const struct rundir *rundir, struct message *message);
/* What that tells (struct jtag_owner); context: the mesh. */
void mesh_debug_changed(void *context, uint32_t rank, enum jtag_state state, const char *holder);

/* mesh_reset.c */
/* A node was reset through a debugger (struct jtag_owner); context: the mesh. */
void mesh_was_reset(void *context, uint32_t rank);
/* Tells of those that nobody has been told of. */
void mesh_tell_reset(struct mesh *mesh);
/* Whether the mesh boots anew when all are reset: no node is dead and no cable cut. */
bool mesh_reset_mends(const struct mesh *mesh);
/* "nodes 0, 2 were reset through a debugger (openocd (process 12))"; false: none was. */
enum { MESH_RESET_TEXT_MAX = 240 };
bool mesh_describe_reset(const struct mesh *mesh, char text[MESH_RESET_TEXT_MAX]);

/* mesh_boot.c */
/* The boot is over when all links are right and debuggers can connect. */
void mesh_boot_check(struct mesh *mesh);
void mesh_boot_begin(struct mesh *mesh);
/* What a node has told of its links is so no more. */
void mesh_boot_forget(struct mesh *mesh, uint32_t rank);
void mesh_boot_tick(struct mesh *mesh, uint64_t passed_us);
void mesh_boot_timeout(struct mesh *mesh);
/* A node has told of its links. */
void mesh_boot_links(struct mesh *mesh, uint32_t rank, const struct links_body *links);

/* mesh_load.c */
/* Answers to an offer: CTS, or RETRY or CANCEL; and a receipt. */
void mesh_load_ready(struct mesh *mesh, uint32_t rank, const struct cts_body *ready);
void mesh_load_word(struct mesh *mesh, uint32_t rank, uint8_t kind,
                    const struct rts_reply_body *word);
void mesh_load_receipt(struct mesh *mesh, uint32_t rank, const struct receipt_body *receipt);
void mesh_load_notice(struct mesh *mesh, const struct notice *notice);
void mesh_load_advance(struct mesh *mesh);
void mesh_load_tick(struct mesh *mesh, uint64_t passed_us);
void mesh_load_timeout(struct mesh *mesh);
/* Frees what jobs hold, when nothing is sent any more. */
void mesh_job_free(struct mesh *mesh);

/* mesh_run.c */
void mesh_run_begin(struct mesh *mesh);
/* What nodes tell of their programs. */
void mesh_run_packet(struct mesh *mesh, const struct notice *notice);
void mesh_run_timeout(struct mesh *mesh);
void mesh_job_end(struct mesh *mesh, int status);
void mesh_tell_exits(struct mesh *mesh);

/* mesh_console.c */
void mesh_take_console(struct mesh *mesh, uint32_t rank, const struct console_body *told);
/* Before a program starts, and when its memory is to be freed. */
void mesh_console_begin(struct mesh *mesh, uint32_t rank);
/* The program is over: shows what it has begun to print. */
void mesh_console_end(struct mesh *mesh, uint32_t rank);

/* mesh_query.c */
/* Two neighbours have entered different collectives. */
void mesh_tell_disagreement(struct mesh *mesh, uint32_t rank, const struct disagree_body *told);
/* Asks one node for its STATE, if it lives and owes no answer. */
void mesh_ask(struct mesh *mesh, uint32_t rank);
/* A node has answered. */
void mesh_query_state(struct mesh *mesh, uint32_t rank, const struct state_body *state);
/* What each program does; when nothing moves (stands), also who waits in a circle. */
void mesh_tell_waits(struct mesh *mesh, bool stands);
/* Takes note of what the nodes have answered. False when one of them does not wait, else true and
 * stall_count is how often the same has been seen again. */
bool mesh_look(struct mesh *mesh);
/* Called so often while programs run: tells how they have ended, and ends a run that stands. */
enum { MESH_TICKS_PER_S = 5 };
void mesh_watch_tick(struct mesh *mesh);

/* mesh_state.c */
/* "broadcast of 4 bytes with root 1" */
void mesh_collective_text(char *text, size_t room, uint32_t operation, uint32_t bytes,
                          uint32_t root);
/* The rank that keeps a node from beginning a collective, as far as the answers tell: it has not
 * called it yet. The own rank when the node is not about to begin one. */
uint32_t mesh_missing(const struct mesh *mesh, uint32_t rank);
/* What a node does, in words; with_place: also where its program computes, as far as known. */
enum { DOING_TEXT_MAX = 220 + PLACE_TEXT_MAX };
void mesh_describe_doing(const struct mesh *mesh, uint32_t rank, bool with_place,
                         char text[DOING_TEXT_MAX]);

/* fault.c */
int fault_status(const struct fault_body *fault);
void mesh_tell_fault(struct mesh *mesh, uint32_t rank, const struct fault_body *fault);
/* " in f (a.c:3), called from g (b.c:4)", as far as that is known of the program's pc and lr. */
void mesh_describe_place(const struct mesh *mesh, uint32_t pc, uint32_t lr,
                         char text[PLACE_TEXT_MAX]);
