# failure_test.sh with virtual serial lines as links between nodes.
# class: waits
# tier: long
export ECUBE_LINKS=serial
. tests/system/failure_test.sh
