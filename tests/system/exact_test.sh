# exact_test.sh BUILD - every algorithm of every operation on nodes in QEMU, cubes and rings: right bytes, and the predicted model
# time to the nanosecond. exact_grid_test.sh does the same on meshes and tori, exact_variants_test.sh with each algorithm's
# variants, tests/sim/exact_test.sh in the simulator.
# class: busy
. tests/system/testing.sh
. tests/system/exact.sh
limit_seconds=600

for network in cube:3 ring:5; do
    check "every algorithm is exact on $network, with three roots" machine_is_exact $network 0,7,1001 3
done
# sim/roots_test takes every root: what only this finds is a fault of QEMU nodes at one root.
for network in cube:3 ring:5 ring:6; do
    check_long "every algorithm is exact on $network, with every root" machine_is_exact $network 0,1,7,100,1001,4100 1000
done
check_long "every algorithm is exact on cube:4, with every root" machine_is_exact cube:4 0,7,1001,4100 1000
cases_done
