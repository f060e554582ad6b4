# openocd.tcl - how fast OpenOCD does things at a machine: prints lines "measured NAME VALUE" for bench/debugger.c.
#
# Read after the machine's openocd.cfg. BENCH_IMAGE is a file of BENCH_BYTES bytes that is put at BENCH_ADDRESS, where
# nothing else lies; BENCH_IMAGE.read gets what is read there. At the end the nodes stand.

proc spent_us {script} {
    set start [clock microseconds]
    uplevel #0 $script
    return [expr {double([clock microseconds] - $start)}]
}

# So often per second.
proc measured_rate {name count script} {
    echo "measured $name [expr {1e6 * $count / [spent_us "for {set i 0} {\$i < $count} {incr i} {$script}"]}]"
}

proc measured_ms {name script} {
    echo "measured $name [expr {[spent_us $script] / 1e3}]"
}

# Bytes per microsecond are megabytes per second.
proc measured_kbs {name bytes script} {
    echo "measured $name [expr {1e3 * $bytes / [spent_us $script]}]"
}

init
poll off
set last [lindex [nodes] end]
measured_rate scans 1000 "irscan $last.cpu 0xe; drscan $last.cpu 32 0"
measured_ms halt_all {all halt}
measured_ms resume_all {all resume}
targets $last.bus
measured_kbs load $BENCH_BYTES "load_image $BENCH_IMAGE $BENCH_ADDRESS bin"
measured_kbs read $BENCH_BYTES "dump_image $BENCH_IMAGE.read $BENCH_ADDRESS $BENCH_BYTES"
measured_ms program_all {
    foreach node [nodes] {
        targets $node.bus
        load_image $BENCH_IMAGE $BENCH_ADDRESS bin
    }
}
# After a reset the MMU is off, so that the processor reads the same memory.
measured_ms reset_halt {reset halt}
targets $last
measured_kbs verify $BENCH_BYTES "verify_image $BENCH_IMAGE $BENCH_ADDRESS bin"
shutdown
