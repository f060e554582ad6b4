#include "drivers/timer/generic_timer.h"

#include "drivers/check.h"

enum {
    US_PER_SECOND = 1000000,
    CTL_ENABLE = 1,
    CTL_OFF = 0,
    DISTANCE_MAX =
        1
        << 26, /* ticks that the short path scales: distance * up stays within 32 bits up to 2^6 */
    UP_MAX = 64
};

static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void generic_timer_scale(struct generic_timer *timer, uint32_t frequency_hz)
{
    CHECK(frequency_hz >= US_PER_SECOND);
    uint32_t divisor = greatest_divisor(frequency_hz, US_PER_SECOND);
    timer->up = US_PER_SECOND / divisor;
    timer->down = frequency_hz / divisor;
    timer->reciprocal = (uint32_t)(((uint64_t)timer->up << 32) / timer->down - (timer->down == 1));
    timer->base_ticks = 0;
    timer->base_us = 0;
    timer->alarm_us = UINT64_MAX;
}

/*
 * 62.5 MHz, 1,000 ticks after the base: 1000 * 2 / 125 = 16 us. The estimate 1000 * reciprocal /
 * 2^32 is 15, never too large and at most one too small for distances below 2^26, so one correction
 * makes it exact.
 */
uint64_t generic_timer_us(struct generic_timer *timer, uint64_t ticks)
{
    uint64_t distance = ticks - timer->base_ticks;
    if (distance >= DISTANCE_MAX || timer->up > UP_MAX) {
        uint64_t periods = distance / timer->down;
        timer->base_ticks += periods * timer->down;
        timer->base_us += periods * timer->up;
        distance -= periods * timer->down;
        return timer->base_us + distance * timer->up / timer->down;
    }
    uint32_t us = (uint32_t)(distance * timer->reciprocal >> 32);
    uint32_t rest = (uint32_t)distance * timer->up - us * timer->down;
    while (rest >= timer->down) {
        us++;
        rest -= timer->down;
    }
    return timer->base_us + us;
}

#if defined(__arm__)

static uint64_t counter_read(void)
{
    uint32_t low;
    uint32_t high;
    /* Without the barrier the counter may be read before what precedes it in the program. */
    __asm__ volatile("isb\n\tmrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

static void control_write(uint32_t value)
{
    __asm__ volatile("mcr p15, 0, %0, c14, c3, 1\n\tisb" ::"r"(value) : "memory");
}

static void compare_write(uint64_t ticks)
{
    __asm__ volatile("mcrr p15, 3, %0, %1, c14" ::"r"((uint32_t)ticks), "r"((uint32_t)(ticks >> 32))
                     : "memory");
}

void generic_timer_init(struct generic_timer *timer)
{
    uint32_t frequency_hz;
    __asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency_hz));
    generic_timer_scale(timer, frequency_hz);
    control_write(CTL_OFF);
}

uint64_t generic_timer_now_us(struct generic_timer *timer)
{
    return generic_timer_us(timer, counter_read());
}

void generic_timer_set_alarm(struct generic_timer *timer, uint64_t alarm_us)
{
    if (alarm_us >= timer->alarm_us) {
        return; /* what rings early is looked at and set again; setting costs more than ringing */
    }
    uint64_t distance_us = alarm_us > timer->base_us ? alarm_us - timer->base_us : 0;
    if (distance_us > UINT32_MAX) {
        distance_us = UINT32_MAX; /* early, after an hour: the owner looks, and sets it again */
    }
    timer->alarm_us = timer->base_us + distance_us;
    uint64_t distance = (distance_us * timer->down + timer->up - 1) / timer->up;
    compare_write(timer->base_ticks + distance);
    control_write(CTL_ENABLE);
}

void generic_timer_interrupt(struct generic_timer *timer)
{
    control_write(CTL_OFF);
    timer->alarm_us = UINT64_MAX;
}

#endif
