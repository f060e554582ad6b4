/*
 * placement.h - which processor of this computer a node's QEMU runs on, and how it waits there.
 *
 * A bell wakes two threads of a QEMU one after the other. When the system moves them about, each
 * wakes on another processor than the last one, which must be interrupted for it; on one processor
 * an exchange of 64 KiB takes 16 nodes two thirds of the time (two processors). So where nodes
 * outnumber processors each stays on one. The numbers of nodes that share a processor have no
 * common pattern: half of a machine, every second node or a subcube, if it is all that computes,
 * has its part of every processor.
 *
 * A node that has a processor to itself spins before it sleeps, about as long as a wake-up takes:
 * what comes meanwhile costs neither a bell nor a wake-up. Where nodes share a processor, spinning
 * would keep it from the one that is waited for.
 *
 * Source   M. Morse, Recurrent geodesics (1921): the sum of digits, modulo the base, is balanced in
 *          every aligned block
 *          A. Karlin, K. Li, M. Manasse, S. Owicki, Empirical studies of competitive spinning
 *          (1991): who spins as long as a sleep costs never pays more than twice the least
 */
#pragma once

#include <stdint.h>

/* The processor, from 0 to processors - 1, that this node is for. */
unsigned placement_of(uint32_t node, unsigned processors);

/* Binds this process, and what it executes, to a processor that it may use. Does nothing where
 * there are as many of them as nodes, or where the system does not let it. */
void placement_bind(uint32_t node, uint32_t nodes);

/* How long each of so many nodes looks for news before it sleeps, us; 0: it sleeps at once. */
uint32_t placement_spin_us(uint32_t nodes);
