#!/bin/sh
# shared_ring_test.sh BUILD - checks the model of sleep numbers and bells with Spin: no wake-up is lost and no sleep is
# rung for twice; when one part is left out the checker must find the fault.
. tests/models/spin.sh

check shared_ring delivered "bytes both ways arrive, and no sleep is rung for twice"
check shared_ring delivered "so they do when both send as much" -DSENDS_0=2 -DSENDS_1=2
check shared_ring delivered "so they do when more bytes are waited for" -DWANTED=2
check shared_ring delivered "so they do when a whole ring is waited for" -DSENDS_0=4 -DSENDS_1=0 -DRING=3 -DWANTED=3
check shared_ring delivered "so they do through a ring of one byte" -DSENDS_0=2 -DSENDS_1=1 -DRING=1
check_long shared_ring delivered "so do more of them" -DSENDS_0=3 -DSENDS_1=2 -DRING=1
check shared_ring deadlock "without the barrier behind the counts a wake-up is lost" -DBARRIER_PUBLISH=0
check shared_ring deadlock "without the barrier behind the sleep a wake-up is lost" -DBARRIER_SLEEP=0
check shared_ring deadlock "without the second look a wake-up is lost" -DSECOND_LOOK=0
check shared_ring deadlock "a sleep without a number of its own is not rung for" -DNEW_NUMBER=0
check shared_ring assertion "who does not note the number rings twice" -DONCE=0
check shared_ring deadlock "a neighbour that is made known beside the running node is rung in vain" -DKNOWN_FIRST=0
check shared_ring deadlock "a node that sleeps before its device is on is rung in vain" -DON_FIRST=0
checks_done
