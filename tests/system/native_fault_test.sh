#!/bin/sh
# native_fault_test.sh BUILD - native programs that go wrong, in the words in which those on nodes are told.
# class: waits
. tests/system/testing.sh

needs_native
kind=so
surely=2
overwritten='jump to address 0x4141414141414141, outside its memory in'
. tests/system/fault.sh
cases_done
