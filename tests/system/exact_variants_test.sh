# exact_variants_test.sh BUILD - the variants of every algorithm on nodes in QEMU: right bytes, and the predicted model time to the
# nanosecond.
# class: busy
. tests/system/testing.sh
. tests/system/exact.sh
limit_seconds=600

for network in cube:2 ring:5; do
    check "every algorithm's variants are exact on $network" variants_are_exact $network
done
for network in cube:3 mesh:2x3 torus:3x3 cube:4 ring:6 mesh:3x4 torus:4x4 torus:3x3x2; do
    check_long "every algorithm's variants are exact on $network" variants_are_exact $network
done
cases_done
