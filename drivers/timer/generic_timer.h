/*
 * generic_timer.h - the CPU's virtual counter and its one compare register: a clock and an alarm,
 * no tick.
 *
 * The clock is exact: us = counter * up / down, rounded down, with up/down the lowest terms of 10^6
 * / frequency (2/125 at 62.5 MHz). Dividing a 64-bit counter at each look would cost more than the
 * look, so the last answer is kept as a base, only the 32-bit distance from it is scaled, and the
 * base moves by whole multiples of `down` ticks.
 *
 * Units    us since the counter's zero
 * Context  kernel, interrupts masked
 * Errors   none
 * Source   ARM DDI 0406C, B8.1 (Generic Timer), B4.1.21 and following (CNT registers)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct generic_timer {
    uint64_t base_ticks; /* a multiple of down */
    uint64_t base_us;    /* exactly the time at base_ticks */
    uint32_t up;
    uint32_t down;
    uint32_t reciprocal; /* 2^32 * up / down, rounded down */
    uint64_t alarm_us;   /* UINT64_MAX: the alarm is off */
};

/* Starts the clock at the frequency that the CPU's CNTFRQ register names; the alarm is off. */
void generic_timer_init(struct generic_timer *timer);

uint64_t generic_timer_now_us(struct generic_timer *timer);

/* Raises the interrupt at that time or before, or at once if the time has passed. An alarm later
 * than the present one changes nothing: its owner is woken early, looks at the time and sets it
 * again. */
void generic_timer_set_alarm(struct generic_timer *timer, uint64_t alarm_us);

/* Answers the interrupt: its line drops and the alarm is off. */
void generic_timer_interrupt(struct generic_timer *timer);

/* The pure part of the clock, for tests: terms of a frequency, and time at a counter value. */
void generic_timer_scale(struct generic_timer *timer, uint32_t frequency_hz);
uint64_t generic_timer_us(struct generic_timer *timer, uint64_t ticks);
