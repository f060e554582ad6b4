# failure_test.sh with virtual serial lines as links between nodes.
export ECUBE_LINKS=serial
. tests/system/failure_test.sh
