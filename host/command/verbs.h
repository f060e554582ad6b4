/*
 * verbs.h - the subcommands; each takes its own argc and argv and returns the exit status.
 */
#pragma once

int verb_run(int argc, char **argv);
int verb_up(int argc, char **argv);
int verb_load(int argc, char **argv);
int verb_list(int argc, char **argv);
int verb_ps(int argc, char **argv);
int verb_top(int argc, char **argv);
int verb_debug(int argc, char **argv);
int verb_core(int argc, char **argv);
int verb_openocd(int argc, char **argv);
int verb_agent(int argc, char **argv);
int verb_down(int argc, char **argv);
int verb_console(int argc, char **argv);
int verb_cut(int argc, char **argv);
int verb_kill(int argc, char **argv);
int verb_sim(int argc, char **argv);
int verb_scatter(int argc, char **argv);
int verb_gather(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_plan(int argc, char **argv);
int verb_map(int argc, char **argv);
int verb_bench(int argc, char **argv);
int verb_profile(int argc, char **argv);
