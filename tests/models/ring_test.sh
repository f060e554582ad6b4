#!/bin/sh
# ring_test.sh BUILD - checks the models of packets and circuits on a ring with Spin: with the rules nothing deadlocks,
# without a rule the checker must find the deadlock.
. tests/models/spin.sh

check ring_packets delivered "packets that leave a free place when they enter a ring arrive" -DSENDS=4
check ring_packets delivered "so they do on ways of more hops" -DN=3 -DHOPS=3 -DSENDS=2
check_long ring_packets delivered "so do more of them" -DN=3 -DHOPS=3 -DSENDS=4
check ring_packets deadlock "packets that enter a ring as they go on fill it" -DSENDS=4 -DBUBBLE=0
check ring_packets deadlock "a free place that nobody is told of is none" -DN=3 -DHOPS=3 -DSENDS=4 -DTELL=0
check ring_circuits delivered "messages that release what they hold find their links"
check_long ring_circuits delivered "so they do on a ring of five" -DN=5
check_long ring_circuits delivered "so they do over three links" -DN=6 -DHOPS=3 -DCIRCUITS=1
check ring_circuits deadlock "messages that wait in a ring wait for each other" -DRELEASE=0
check ring_circuits delivered "circuits of a schedule wait in a ring, in their order" -DSCHEDULE=1
check ring_circuits delivered "so they do over three links, two steps" -DSCHEDULE=1 -DN=6 -DHOPS=3
check ring_circuits deadlock "circuits of a schedule without turns wait for each other" -DSCHEDULE=1 -DTURNS=0

checks_done
