# exact_grid_test.sh BUILD - every algorithm of every operation on nodes in QEMU, meshes and tori: right bytes, and the predicted
# model time to the nanosecond.
# class: busy
. tests/system/testing.sh
. tests/system/exact.sh
limit_seconds=600

check "every algorithm is exact on mesh:2x3, with three roots" machine_is_exact mesh:2x3 0,7,1001 3
check_long "so it is on torus:3x3" machine_is_exact torus:3x3 0,7,1001 3
for network in mesh:3x4 torus:4x4 torus:3x3x2; do
    check_long "every algorithm is exact on $network, with every root" machine_is_exact $network 0,7,1001,4100 1000
done
cases_done
