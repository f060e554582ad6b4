#!/bin/sh
# shares_test.sh BUILD - checks the model of messages over several paths with Spin: shares that try and release all arrive,
# or end with a name when a link dies; without a rule the checker must find what it prevents.
. tests/models/spin.sh

check shares delivered "shares that release what they hold all arrive" -DMESSAGES=2
check shares delivered "so they do when they try their own paths twice" -DTRIES=2 -DMESSAGES=2
check shares delivered "so they do in dimension order from the first try on" -DTRIES=0 -DMESSAGES=3
check_long shares delivered "shares of three messages all arrive" -DMESSAGES=3
check_long shares delivered "so they do when they try their own paths twice" -DTRIES=2 -DMESSAGES=3
check_long shares delivered "those of four do in dimension order from the first try on" -DTRIES=0 -DMESSAGES=4
check shares delivered "both ends come to an end when a link dies" -DMESSAGES=2 -DDIES=1
check shares deadlock "shares that wait on their own paths wait for each other" -DRELEASE=0 -DORDER=0 -DMESSAGES=4
check shares deadlock "shares that hold links for each other wait for each other" -DHOLD=1 -DMESSAGES=4
check shares deadlock "a receiver that is told nothing of a dead path waits for its share" -DMESSAGES=1 -DDIES=1 -DTELL=0

checks_done
