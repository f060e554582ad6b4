# gnuplot -c scale.gp DATA SVG - draws what bench/scale measured: times, events per second, memory.
#
# DATA holds a block of rows for each operation, named by a comment; an operation without rows is not drawn.
data = ARG1
operations = "exchange scatter download broadcast"
title_of(i) = i == 1 ? "complete exchange" : word(operations, i)
bound_of(i) = i <= 2 ? "bound: exchange, scatter" : "bound: " . title_of(i)

# Colours that people with red-green blindness tell apart.
array colour[4] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]
array mark[4] = [7, 5, 9, 13]

# Which operations have rows, and the dimensions at both ends.
present = ""
low = 99
high = 0
do for [i = 1:4] {
    rows = system(sprintf("awk -v name=%s '/^# / { on = $2 == name || (on && $2 == \"d\") } /^[0-9]/ && on { print $1 }' '%s'", word(operations, i), data))
    if (words(rows) > 0) {
        present = present . " " . i
        low = word(rows, 1) < low ? int(word(rows, 1)) : low
        high = word(rows, words(rows)) > high ? int(word(rows, words(rows))) : high
    }
}
# Exchange and scatter have one bound: it is drawn as far as the longer of the two goes.
bounds = ""
do for [i in present] {
    bounds = i == 1 && words(present) > 1 && word(present, 2) eq "2" ? bounds : bounds . " " . i
}

set terminal svg size 940,1180 font "DejaVu Sans,14" background "#ffffff" linewidth 1.2
set output ARG2
set multiplot layout 3,1 title "Collectives and download on hypercubes, 1000 bytes, iPSC/860 profile" font ",17" \
    margins 0.1,0.7,0.055,0.93 spacing 0.085
set grid xtics ytics linecolor "#d8d8d8" linewidth 0.7
set border 3 linecolor "#606060"
set tics nomirror
set xrange [low - 0.3:high + 0.3]
set xtics 1
set key at graph 1.03,0.98 left top vertical Left reverse samplen 2.5 spacing 1.25
set pointsize 0.7
set logscale y
set format y "10^{%L}"

set ylabel "model time (µs)"
set title "Model time (points: simulated) and lower bound (dashed)" offset 0,-0.4
plot for [i in present] data index word(operations, i + 0) using 1:2 with linespoints \
        linecolor rgb colour[i + 0] linewidth 1.5 pointtype mark[i + 0] title title_of(i + 0), \
     for [i in bounds] data index word(operations, i + 0) using 1:4 with lines \
        linecolor rgb i <= 2 ? "#202020" : colour[i + 0] linewidth 1.3 dashtype (8, 6) title bound_of(i + 0)

unset logscale y
set format y "%g"
set yrange [0:*]
set ylabel "million events per second"
set title "Speed of the simulator"
plot for [i in present] data index word(operations, i + 0) using 1:($6 / 1e6) with linespoints \
        linecolor rgb colour[i + 0] linewidth 1.5 pointtype mark[i + 0] title title_of(i + 0)

set ylabel "kB per node"
set xlabel "dimension d of the cube (number of nodes: 2^d)"
set title "Memory of the simulator per node"
plot for [i in present] data index word(operations, i + 0) using 1:($7 / 1e3) with linespoints \
        linecolor rgb colour[i + 0] linewidth 1.5 pointtype mark[i + 0] title title_of(i + 0)
unset multiplot
