# bench.gp - model time over size, a panel for each operation: $rows, `operations` and `headline` come from ecube bench.
#
# A row of $rows: operation, bytes, model, predicted and bound in us; a prediction below 0 is none.

# Colours that people with red-green blindness tell apart.
measured = "#0072B2"
expected = "#D55E00"
least = "#606060"

count = words(operations)
columns_ = count < 4 ? count : 4
lines_ = (count + columns_ - 1) / columns_
set terminal svg size 300 * columns_ + 60, 230 * lines_ + 90 font "DejaVu Sans,12" background "#ffffff" linewidth 1.2
set multiplot layout lines_, columns_ title headline . ": model time (us) over size (bytes)" font ",15"
set grid xtics ytics linecolor "#d8d8d8" linewidth 0.7
set border 3 linecolor "#606060"
set tics nomirror
set logscale xy
set format xy "10^{%L}"
set pointsize 0.7
set key top left Left reverse samplen 2 font ",9"
of(name, value) = strcol(1) eq name && value > 0 ? value : NaN
do for [i = 1:count] {
    name = word(operations, i)
    set title name noenhanced
    plot $rows using 2:(of(name, $3)) with points linecolor rgb measured pointtype 7 title "measured", \
         $rows using 2:(of(name, $4)) with lines linecolor rgb expected title "predicted", \
         $rows using 2:(of(name, $5)) with lines linecolor rgb least dashtype (8, 6) title "bound"
}
unset multiplot
