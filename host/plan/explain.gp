# explain.gp - model time over size, a line for each algorithm: $lines, `count` and `headline` come from ecube plan explain --svg.
#
# $lines has a block for each line: its name, then rows of bytes and us. The first is what is chosen, the second the bound, then
# there are `count` algorithms.

# Colours that people with red-green blindness tell apart; behind them they come again with another dash.
colours = "#0072B2 #E69F00 #009E73 #CC79A7 #56B4E9 #D55E00 #000000"
colour(i) = word(colours, 1 + (i - 1) % words(colours))
dash(i) = 1 + (i - 1) / words(colours)
set terminal svg size 1000, 560 font "DejaVu Sans,12" background "#ffffff" linewidth 1.3
set title headline . ": model time (us) over size (bytes)" font ",15" noenhanced
set grid xtics ytics linecolor "#d8d8d8" linewidth 0.7
set border 3 linecolor "#606060"
set tics nomirror
set logscale xy
set format xy "10^{%L}"
set key outside right top Left reverse samplen 3 noenhanced
plot $lines index 0 using 1:2 with lines linewidth 7 linecolor rgb "#d0d0d0" title columnheader(1), \
     for [i = 1:count] $lines index i + 1 using 1:2 with linespoints pointtype i pointsize 0.5 \
         linecolor rgb colour(i) dashtype dash(i) title columnheader(1), \
     $lines index 1 using 1:2 with lines linecolor rgb "#606060" dashtype (8, 6) title columnheader(1)
