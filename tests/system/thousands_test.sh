# thousands_test.sh BUILD - native programs of 4,096 ranks, each with memory of its own.
# class: busy
. tests/system/testing.sh
needs_native

ring_of_thousands() {
    tool_succeeds sim --network cube:12 "$examples/ring.so"
    grep -qx '\[ *0\] token 8386560, expected 8386560, 4096 messages, 321126400 ns model time' out || { cat out err; fail "another token"; }
}

primes_of_thousands() {
    tool_succeeds sim --network mesh:64x64 "$examples/primes.so"
    sed 's/^\[ *[0-9]*\] //' out | sort >lines
    cat >wanted <<'END'
1229 primes below 10000; the largest gap is 36, from 9551
prime number 1000 is 7919
END
    cmp -s wanted lines || { cat out err; fail "other primes"; }
}

# Seconds of both cores and most of a gigabyte; only so many ranks find what grows with their square.
check_long "4,096 ranks send a token once round" ring_of_thousands
check_long "4,096 ranks count primes by scans and reductions" primes_of_thousands
cases_done
