# exact_ports_test.sh BUILD - nodes in QEMU with one port, with two and with all: what is chosen for each operation, and an algorithm
# of each family that is made for several ports: right bytes, and the predicted model time to the nanosecond, from rank 0 and from
# the one that is farthest from it.
# class: busy
. tests/system/testing.sh
. tests/system/exact.sh
limit_seconds=600

check "nodes with one port, two and all are exact on cube:2" all_ports_are_exact cube:2 3 8,1001
check_long "nodes with one port, two and all are exact on cube:3" all_ports_are_exact cube:3 7 0,8,1001,20000
check_long "nodes with one port, two and all are exact on ring:6" all_ports_are_exact ring:6 3 0,8,1001,20000
check_long "nodes with one port, two and all are exact on mesh:3x4" all_ports_are_exact mesh:3x4 11 0,8,1001,20000
check_long "nodes with one port, two and all are exact on torus:3x3x2" all_ports_are_exact torus:3x3x2 9 0,8,1001,20000
cases_done
