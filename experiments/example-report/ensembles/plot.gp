# Draws the figures again, from figures/NAME.csv: gnuplot plot.gp makes
# NAME-gnuplot.svg of each.

reset
set encoding utf8
set datafile separator ','
set terminal svg size 720,520
set output 'curves-gnuplot.svg'
set multiplot layout 1,2
set title 'loss' noenhanced
set xlabel 'epoch' noenhanced
set ylabel '' noenhanced
unset logscale y
set yrange [0.024522270239605057:0.5983159287229208]
set xrange [0:*]
set grid
set key below left Left reverse vertical samplen 2 noenhanced
plot \
  'figures/curves.csv' using (column('p0s0_x')):(column('p0s0_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 2 title 'members=1 train', \
  'figures/curves.csv' using (column('p0s1_x')):(column('p0s1_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 1 title 'members=1 test', \
  'figures/curves.csv' using (column('p0s2_x')):(column('p0s2_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 2 title 'members=8 train', \
  'figures/curves.csv' using (column('p0s3_x')):(column('p0s3_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 1 title 'members=8 test', \
  'figures/curves.csv' using (column('p0s4_x')):(column('p0s4_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 2 title 'members=2 train', \
  'figures/curves.csv' using (column('p0s5_x')):(column('p0s5_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 1 title 'members=2 test', \
  'figures/curves.csv' using (column('p0s6_x')):(column('p0s6_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 2 title 'members=4 train', \
  'figures/curves.csv' using (column('p0s7_x')):(column('p0s7_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 1 title 'members=4 test', \
  'figures/curves.csv' using (column('p0s8_x')):(column('p0s8_y')) with linespoints linecolor rgb '#6B4C00' pointtype 7 pointsize 0.5 dashtype 2 title 'cnn-9fe9 train', \
  'figures/curves.csv' using (column('p0s9_x')):(column('p0s9_y')) with linespoints linecolor rgb '#6B4C00' pointtype 7 pointsize 0.5 dashtype 1 title 'cnn-9fe9 test'
set title 'accuracy' noenhanced
set xlabel 'epoch' noenhanced
set ylabel '' noenhanced
unset logscale y
set yrange [0.8385400000000001:0.9256599999999999]
set xrange [0:*]
set grid
set key below left Left reverse vertical samplen 2 noenhanced
plot \
  'figures/curves.csv' using (column('p1s0_x')):(column('p1s0_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 1 title 'members=1 test', \
  'figures/curves.csv' using (column('p1s1_x')):(column('p1s1_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 1 title 'members=8 test', \
  'figures/curves.csv' using (column('p1s2_x')):(column('p1s2_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 1 title 'members=2 test', \
  'figures/curves.csv' using (column('p1s3_x')):(column('p1s3_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 1 title 'members=4 test', \
  'figures/curves.csv' using (column('p1s4_x')):(column('p1s4_y')) with linespoints linecolor rgb '#6B4C00' pointtype 7 pointsize 0.5 dashtype 1 title 'cnn-9fe9 test'
unset multiplot
unset output

reset
set encoding utf8
set datafile separator ','
set terminal svg size 480,320
set output 'board-gnuplot.svg'
set multiplot layout 1,1
set title 'test_acc' noenhanced
set xlabel 'mode' noenhanced
set ylabel 'members' noenhanced
unset logscale
unset key
unset grid
set xrange [-0.5:1.5]
set yrange [4.5:-0.5]
set xtics noenhanced scale 0 ('data-parallel' 0, 'ensemble' 1)
set ytics noenhanced scale 0 ('' 0, '1' 1, '2' 2, '4' 3, '8' 4)
set palette defined (0 '#F7FBE8', 1 '#D6EDD4', 2 '#B5DFC0', 3 '#88CABC', 4 '#5BB4B8', 5 '#4594AF', 6 '#2F74A6', 7 '#2A5289', 8 '#252F6B')
unset label
set cbrange [0.8905:0.9217]
set label '0.9217' at 0,0 center front noenhanced textcolor rgb 'white'
set label '' at 1,0 center front noenhanced textcolor rgb 'black'
set label '' at 0,1 center front noenhanced textcolor rgb 'black'
set label '0.8905' at 1,1 center front noenhanced textcolor rgb 'black'
set label '' at 0,2 center front noenhanced textcolor rgb 'black'
set label '0.8921' at 1,2 center front noenhanced textcolor rgb 'black'
set label '' at 0,3 center front noenhanced textcolor rgb 'black'
set label '0.8927' at 1,3 center front noenhanced textcolor rgb 'black'
set label '' at 0,4 center front noenhanced textcolor rgb 'black'
set label '0.8933' at 1,4 center front noenhanced textcolor rgb 'black'
plot 'figures/board.csv' using (column('p0_column')):(column('p0_row')):(column('p0_column') - 0.49):(column('p0_column') + 0.49):(column('p0_row') - 0.49):(column('p0_row') + 0.49):(column('p0_value')) with boxxyerror fillstyle solid noborder linecolor palette
unset multiplot
unset output

reset
set encoding utf8
set datafile separator ','
set terminal svg size 480,400
set output 'prefix-gnuplot.svg'
set multiplot layout 1,1
set title 'accuracy of k members' noenhanced
set xlabel 'members' noenhanced
set ylabel '' noenhanced
unset logscale y
set yrange [0.8875500000000001:0.89525]
set xrange [0:*]
set grid
set key below left Left reverse vertical samplen 2 noenhanced
plot \
  'figures/prefix.csv' using (column('p0b0_x')):(column('p0b0_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#0072B2' notitle, \
  'figures/prefix.csv' using (column('p0b1_x')):(column('p0b1_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#D55E00' notitle, \
  'figures/prefix.csv' using (column('p0b2_x')):(column('p0b2_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#009E73' notitle, \
  'figures/prefix.csv' using (column('p0b3_x')):(column('p0b3_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#B35A8C' notitle, \
  'figures/prefix.csv' using (column('p0s0_x')):(column('p0s0_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 1 title 'cnn-ens1-09b0', \
  'figures/prefix.csv' using (column('p0s1_x')):(column('p0s1_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 1 title 'cnn-ens8-0a5b', \
  'figures/prefix.csv' using (column('p0s2_x')):(column('p0s2_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 1 title 'cnn-ens2-41bb', \
  'figures/prefix.csv' using (column('p0s3_x')):(column('p0s3_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 1 title 'cnn-ens4-a8fd'
unset multiplot
unset output
