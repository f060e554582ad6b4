/*
 * messages.h - patterns of messages that are measured as collectives are: between which ranks, and
 * what they take.
 *
 *   latency        one message from rank 0 to the last rank and one back; half of that
 *   bandwidth      MESSAGES_WINDOW messages, or as many as are wanted, one behind the other, from
 *                  rank 0 to the last rank
 *   both_ways      the same in both directions at once
 *   message_rate   the same between neighbours, all pairs of ranks at once: of the first dimension
 *                  with more than one node, the even coordinates to the odd ones
 *   incast         a message from every rank to rank 0, all at once
 *
 * But for those of an incast no two of them meet on a link or at a receiver, so their model time is
 * known, and exact. W messages of k elements over i hops, one behind the other, take
 * xi + W (i tau + (i + k - 1) element): start-ups overlap, and each has the path to itself.
 *
 * Units    bytes, ns
 */
#pragma once

#include <stdint.h>

#include "include/ecube/ecube.h"

enum pattern { NO_PATTERN, LATENCY, BANDWIDTH, BOTH_WAYS, MESSAGE_RATE, INCAST };

/* Under way at a time, of one sender. */
enum { MESSAGES_WINDOW = 16 };

/* How many of those behind each other there are; without it MESSAGES_WINDOW. */
void messages_want(uint32_t count);

/* How many messages this rank sends in one run of a pattern. */
uint32_t messages_sent(enum pattern pattern);
/* How many blocks it sends or receives: one for each message, but of more than MESSAGES_WINDOW of
 * one sender the later ones are those blocks again. */
uint32_t messages_blocks(enum pattern pattern, int receives);
/* The rank that the number-th block here is from, and which of its sender's it is. */
uint32_t messages_source(enum pattern pattern, uint32_t number);
uint32_t messages_number(enum pattern pattern, uint32_t number);
/* How far this rank's messages go; 0: it sends none. */
uint32_t messages_hops(enum pattern pattern);

/* Sends and receives all; blocks of so many bytes lie behind each other in both buffers. */
void messages_run(enum pattern pattern, const unsigned char *send, unsigned char *receive,
                  uint32_t bytes);

/* What it takes, where the longest way of a message has so many hops: model_ns is 0 where that is
 * not known. The bound is that of the busiest node's ports. Rank 0 asks. */
void messages_predict(enum pattern pattern, uint32_t bytes, uint32_t hops_max,
                      struct ecube_prediction *prediction);
