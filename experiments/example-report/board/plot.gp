# Draws the figures again, from figures/NAME.csv: gnuplot plot.gp makes
# NAME-gnuplot.svg of each.

reset
set encoding utf8
set datafile separator ','
set terminal svg size 480,1080
set output 'curves-gnuplot.svg'
set multiplot layout 1,1
set title 'accuracy' noenhanced
set xlabel 'epoch' noenhanced
set ylabel '' noenhanced
unset logscale y
set yrange [0.6713256589033816:0.8950102840827144]
set xrange [0:*]
set grid
set key below left Left reverse vertical samplen 2 noenhanced
plot \
  'figures/curves.csv' using (column('p0b0_x')):(column('p0b0_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#0072B2' notitle, \
  'figures/curves.csv' using (column('p0b1_x')):(column('p0b1_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#D55E00' notitle, \
  'figures/curves.csv' using (column('p0b2_x')):(column('p0b2_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#009E73' notitle, \
  'figures/curves.csv' using (column('p0b3_x')):(column('p0b3_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#B35A8C' notitle, \
  'figures/curves.csv' using (column('p0b4_x')):(column('p0b4_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#6B4C00' notitle, \
  'figures/curves.csv' using (column('p0b5_x')):(column('p0b5_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#332288' notitle, \
  'figures/curves.csv' using (column('p0b6_x')):(column('p0b6_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#0072B2' notitle, \
  'figures/curves.csv' using (column('p0b7_x')):(column('p0b7_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#D55E00' notitle, \
  'figures/curves.csv' using (column('p0b8_x')):(column('p0b8_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#009E73' notitle, \
  'figures/curves.csv' using (column('p0b9_x')):(column('p0b9_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#B35A8C' notitle, \
  'figures/curves.csv' using (column('p0b10_x')):(column('p0b10_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#6B4C00' notitle, \
  'figures/curves.csv' using (column('p0b11_x')):(column('p0b11_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#332288' notitle, \
  'figures/curves.csv' using (column('p0b12_x')):(column('p0b12_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#0072B2' notitle, \
  'figures/curves.csv' using (column('p0b13_x')):(column('p0b13_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#D55E00' notitle, \
  'figures/curves.csv' using (column('p0b14_x')):(column('p0b14_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#009E73' notitle, \
  'figures/curves.csv' using (column('p0b15_x')):(column('p0b15_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#B35A8C' notitle, \
  'figures/curves.csv' using (column('p0b16_x')):(column('p0b16_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#6B4C00' notitle, \
  'figures/curves.csv' using (column('p0b17_x')):(column('p0b17_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#332288' notitle, \
  'figures/curves.csv' using (column('p0b18_x')):(column('p0b18_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#0072B2' notitle, \
  'figures/curves.csv' using (column('p0b19_x')):(column('p0b19_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#D55E00' notitle, \
  'figures/curves.csv' using (column('p0b20_x')):(column('p0b20_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#009E73' notitle, \
  'figures/curves.csv' using (column('p0b21_x')):(column('p0b21_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#B35A8C' notitle, \
  'figures/curves.csv' using (column('p0b22_x')):(column('p0b22_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#6B4C00' notitle, \
  'figures/curves.csv' using (column('p0b23_x')):(column('p0b23_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#332288' notitle, \
  'figures/curves.csv' using (column('p0b24_x')):(column('p0b24_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#0072B2' notitle, \
  'figures/curves.csv' using (column('p0b25_x')):(column('p0b25_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#D55E00' notitle, \
  'figures/curves.csv' using (column('p0b26_x')):(column('p0b26_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#009E73' notitle, \
  'figures/curves.csv' using (column('p0b27_x')):(column('p0b27_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#B35A8C' notitle, \
  'figures/curves.csv' using (column('p0b28_x')):(column('p0b28_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#6B4C00' notitle, \
  'figures/curves.csv' using (column('p0b29_x')):(column('p0b29_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#332288' notitle, \
  'figures/curves.csv' using (column('p0b30_x')):(column('p0b30_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#0072B2' notitle, \
  'figures/curves.csv' using (column('p0b31_x')):(column('p0b31_y')) with filledcurves closed fillstyle transparent solid 0.18 noborder linecolor rgb '#D55E00' notitle, \
  'figures/curves.csv' using (column('p0s0_x')):(column('p0s0_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 1 title 'devices=1 batch=64 lr=0.05 test', \
  'figures/curves.csv' using (column('p0s1_x')):(column('p0s1_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 1 title 'devices=1 batch=64 lr=0.1 test', \
  'figures/curves.csv' using (column('p0s2_x')):(column('p0s2_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 1 title 'devices=1 batch=64 lr=0.2 test', \
  'figures/curves.csv' using (column('p0s3_x')):(column('p0s3_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 1 title 'devices=1 batch=64 lr=0.4 test', \
  'figures/curves.csv' using (column('p0s4_x')):(column('p0s4_y')) with linespoints linecolor rgb '#6B4C00' pointtype 7 pointsize 0.5 dashtype 1 title 'devices=1 batch=128 lr=0.05 test', \
  'figures/curves.csv' using (column('p0s5_x')):(column('p0s5_y')) with linespoints linecolor rgb '#332288' pointtype 9 pointsize 0.5 dashtype 1 title 'devices=1 batch=128 lr=0.1 test', \
  'figures/curves.csv' using (column('p0s6_x')):(column('p0s6_y')) with linespoints linecolor rgb '#0072B2' pointtype 5 pointsize 0.5 dashtype 1 title 'devices=1 batch=128 lr=0.2 test', \
  'figures/curves.csv' using (column('p0s7_x')):(column('p0s7_y')) with linespoints linecolor rgb '#D55E00' pointtype 13 pointsize 0.5 dashtype 1 title 'devices=1 batch=128 lr=0.4 test', \
  'figures/curves.csv' using (column('p0s8_x')):(column('p0s8_y')) with linespoints linecolor rgb '#009E73' pointtype 7 pointsize 0.5 dashtype 1 title 'devices=1 batch=256 lr=0.05 test', \
  'figures/curves.csv' using (column('p0s9_x')):(column('p0s9_y')) with linespoints linecolor rgb '#B35A8C' pointtype 9 pointsize 0.5 dashtype 1 title 'devices=1 batch=256 lr=0.1 test', \
  'figures/curves.csv' using (column('p0s10_x')):(column('p0s10_y')) with linespoints linecolor rgb '#6B4C00' pointtype 5 pointsize 0.5 dashtype 1 title 'devices=1 batch=256 lr=0.2 test', \
  'figures/curves.csv' using (column('p0s11_x')):(column('p0s11_y')) with linespoints linecolor rgb '#332288' pointtype 13 pointsize 0.5 dashtype 1 title 'devices=1 batch=256 lr=0.4 test', \
  'figures/curves.csv' using (column('p0s12_x')):(column('p0s12_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 1 title 'devices=1 batch=512 lr=0.05 test', \
  'figures/curves.csv' using (column('p0s13_x')):(column('p0s13_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 1 title 'devices=1 batch=512 lr=0.1 test', \
  'figures/curves.csv' using (column('p0s14_x')):(column('p0s14_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 1 title 'devices=1 batch=512 lr=0.2 test', \
  'figures/curves.csv' using (column('p0s15_x')):(column('p0s15_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 1 title 'devices=1 batch=512 lr=0.4 test', \
  'figures/curves.csv' using (column('p0s16_x')):(column('p0s16_y')) with linespoints linecolor rgb '#6B4C00' pointtype 7 pointsize 0.5 dashtype 1 title 'devices=2 batch=64 lr=0.05 test', \
  'figures/curves.csv' using (column('p0s17_x')):(column('p0s17_y')) with linespoints linecolor rgb '#332288' pointtype 9 pointsize 0.5 dashtype 1 title 'devices=2 batch=64 lr=0.1 test', \
  'figures/curves.csv' using (column('p0s18_x')):(column('p0s18_y')) with linespoints linecolor rgb '#0072B2' pointtype 5 pointsize 0.5 dashtype 1 title 'devices=2 batch=64 lr=0.2 test', \
  'figures/curves.csv' using (column('p0s19_x')):(column('p0s19_y')) with linespoints linecolor rgb '#D55E00' pointtype 13 pointsize 0.5 dashtype 1 title 'devices=2 batch=64 lr=0.4 test', \
  'figures/curves.csv' using (column('p0s20_x')):(column('p0s20_y')) with linespoints linecolor rgb '#009E73' pointtype 7 pointsize 0.5 dashtype 1 title 'devices=2 batch=128 lr=0.05 test', \
  'figures/curves.csv' using (column('p0s21_x')):(column('p0s21_y')) with linespoints linecolor rgb '#B35A8C' pointtype 9 pointsize 0.5 dashtype 1 title 'devices=2 batch=128 lr=0.1 test', \
  'figures/curves.csv' using (column('p0s22_x')):(column('p0s22_y')) with linespoints linecolor rgb '#6B4C00' pointtype 5 pointsize 0.5 dashtype 1 title 'devices=2 batch=128 lr=0.2 test', \
  'figures/curves.csv' using (column('p0s23_x')):(column('p0s23_y')) with linespoints linecolor rgb '#332288' pointtype 13 pointsize 0.5 dashtype 1 title 'devices=2 batch=128 lr=0.4 test', \
  'figures/curves.csv' using (column('p0s24_x')):(column('p0s24_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 1 title 'devices=2 batch=256 lr=0.05 test', \
  'figures/curves.csv' using (column('p0s25_x')):(column('p0s25_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 1 title 'devices=2 batch=256 lr=0.1 test', \
  'figures/curves.csv' using (column('p0s26_x')):(column('p0s26_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 1 title 'devices=2 batch=256 lr=0.2 test', \
  'figures/curves.csv' using (column('p0s27_x')):(column('p0s27_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 1 title 'devices=2 batch=256 lr=0.4 test', \
  'figures/curves.csv' using (column('p0s28_x')):(column('p0s28_y')) with linespoints linecolor rgb '#6B4C00' pointtype 7 pointsize 0.5 dashtype 1 title 'devices=2 batch=512 lr=0.05 test', \
  'figures/curves.csv' using (column('p0s29_x')):(column('p0s29_y')) with linespoints linecolor rgb '#332288' pointtype 9 pointsize 0.5 dashtype 1 title 'devices=2 batch=512 lr=0.1 test', \
  'figures/curves.csv' using (column('p0s30_x')):(column('p0s30_y')) with linespoints linecolor rgb '#0072B2' pointtype 5 pointsize 0.5 dashtype 1 title 'devices=2 batch=512 lr=0.2 test', \
  'figures/curves.csv' using (column('p0s31_x')):(column('p0s31_y')) with linespoints linecolor rgb '#D55E00' pointtype 13 pointsize 0.5 dashtype 1 title 'devices=2 batch=512 lr=0.4 test'
unset multiplot
unset output

reset
set encoding utf8
set datafile separator ','
set terminal svg size 480,320
set output 'board-gnuplot.svg'
set multiplot layout 1,1
set title 'test_acc' noenhanced
set xlabel 'batch' noenhanced
set ylabel 'lr' noenhanced
unset logscale
unset key
unset grid
set xrange [-0.5:3.5]
set yrange [3.5:-0.5]
set xtics noenhanced scale 0 ('64' 0, '128' 1, '256' 2, '512' 3)
set ytics noenhanced scale 0 ('0.05' 0, '0.1' 1, '0.2' 2, '0.4' 3)
set palette defined (0 '#F7FBE8', 1 '#D6EDD4', 2 '#B5DFC0', 3 '#88CABC', 4 '#5BB4B8', 5 '#4594AF', 6 '#2F74A6', 7 '#2A5289', 8 '#252F6B')
unset label
set cbrange [0.7492333333333333:0.8811999999999999]
set label '0.8412 ± 0.0005' at 0,0 center front noenhanced textcolor rgb 'white'
set label '0.8108 ± 0.0124' at 1,0 center front noenhanced textcolor rgb 'black'
set label '0.7830 ± 0.0023' at 2,0 center front noenhanced textcolor rgb 'black'
set label '0.7492 ± 0.0081' at 3,0 center front noenhanced textcolor rgb 'black'
set label '0.8541 ± 0.0031' at 0,1 center front noenhanced textcolor rgb 'white'
set label '0.8351 ± 0.0114' at 1,1 center front noenhanced textcolor rgb 'white'
set label '0.8086 ± 0.0019' at 2,1 center front noenhanced textcolor rgb 'black'
set label '0.7776 ± 0.0077' at 3,1 center front noenhanced textcolor rgb 'black'
set label '0.8689 ± 0.0040' at 0,2 center front noenhanced textcolor rgb 'white'
set label '0.8496 ± 0.0155' at 1,2 center front noenhanced textcolor rgb 'white'
set label '0.8281 ± 0.0125' at 2,2 center front noenhanced textcolor rgb 'white'
set label '0.8051 ± 0.0040' at 3,2 center front noenhanced textcolor rgb 'black'
set label '0.8812 ± 0.0036' at 0,3 center front noenhanced textcolor rgb 'white'
set label '0.8571 ± 0.0268' at 1,3 center front noenhanced textcolor rgb 'white'
set label '0.8413 ± 0.0135' at 2,3 center front noenhanced textcolor rgb 'white'
set label '0.8169 ± 0.0060' at 3,3 center front noenhanced textcolor rgb 'black'
plot 'figures/board.csv' using (column('p0_column')):(column('p0_row')):(column('p0_column') - 0.49):(column('p0_column') + 0.49):(column('p0_row') - 0.49):(column('p0_row') + 0.49):(column('p0_value')) with boxxyerror fillstyle solid noborder linecolor palette
unset multiplot
unset output

reset
set encoding utf8
set datafile separator ','
set terminal svg size 720,960
set output 'scaling-gnuplot.svg'
set multiplot layout 1,2
set title 'images per second' noenhanced
set xlabel 'devices' noenhanced
set ylabel '' noenhanced
unset logscale y
set yrange [0:48595.18690816008]
set xrange [0:*]
set grid
set key below left Left reverse vertical samplen 2 noenhanced
plot \
  'figures/scaling.csv' using (column('p0s0_x')):(column('p0s0_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 1 title 'batch=64 lr=0.05', \
  'figures/scaling.csv' using (column('p0s1_x')):(column('p0s1_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 2 title 'batch=64 lr=0.05, virtual', \
  'figures/scaling.csv' using (column('p0s2_x')):(column('p0s2_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 1 title 'batch=64 lr=0.1', \
  'figures/scaling.csv' using (column('p0s3_x')):(column('p0s3_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 2 title 'batch=64 lr=0.1, virtual', \
  'figures/scaling.csv' using (column('p0s4_x')):(column('p0s4_y')) with linespoints linecolor rgb '#6B4C00' pointtype 7 pointsize 0.5 dashtype 1 title 'batch=64 lr=0.2', \
  'figures/scaling.csv' using (column('p0s5_x')):(column('p0s5_y')) with linespoints linecolor rgb '#332288' pointtype 9 pointsize 0.5 dashtype 2 title 'batch=64 lr=0.2, virtual', \
  'figures/scaling.csv' using (column('p0s6_x')):(column('p0s6_y')) with linespoints linecolor rgb '#0072B2' pointtype 5 pointsize 0.5 dashtype 1 title 'batch=64 lr=0.4', \
  'figures/scaling.csv' using (column('p0s7_x')):(column('p0s7_y')) with linespoints linecolor rgb '#D55E00' pointtype 13 pointsize 0.5 dashtype 2 title 'batch=64 lr=0.4, virtual', \
  'figures/scaling.csv' using (column('p0s8_x')):(column('p0s8_y')) with linespoints linecolor rgb '#009E73' pointtype 7 pointsize 0.5 dashtype 1 title 'batch=128 lr=0.05', \
  'figures/scaling.csv' using (column('p0s9_x')):(column('p0s9_y')) with linespoints linecolor rgb '#B35A8C' pointtype 9 pointsize 0.5 dashtype 2 title 'batch=128 lr=0.05, virtual', \
  'figures/scaling.csv' using (column('p0s10_x')):(column('p0s10_y')) with linespoints linecolor rgb '#6B4C00' pointtype 5 pointsize 0.5 dashtype 1 title 'batch=128 lr=0.1', \
  'figures/scaling.csv' using (column('p0s11_x')):(column('p0s11_y')) with linespoints linecolor rgb '#332288' pointtype 13 pointsize 0.5 dashtype 2 title 'batch=128 lr=0.1, virtual', \
  'figures/scaling.csv' using (column('p0s12_x')):(column('p0s12_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 1 title 'batch=128 lr=0.2', \
  'figures/scaling.csv' using (column('p0s13_x')):(column('p0s13_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 2 title 'batch=128 lr=0.2, virtual', \
  'figures/scaling.csv' using (column('p0s14_x')):(column('p0s14_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 1 title 'batch=128 lr=0.4', \
  'figures/scaling.csv' using (column('p0s15_x')):(column('p0s15_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 2 title 'batch=128 lr=0.4, virtual', \
  'figures/scaling.csv' using (column('p0s16_x')):(column('p0s16_y')) with linespoints linecolor rgb '#6B4C00' pointtype 7 pointsize 0.5 dashtype 1 title 'batch=256 lr=0.05', \
  'figures/scaling.csv' using (column('p0s17_x')):(column('p0s17_y')) with linespoints linecolor rgb '#332288' pointtype 9 pointsize 0.5 dashtype 2 title 'batch=256 lr=0.05, virtual', \
  'figures/scaling.csv' using (column('p0s18_x')):(column('p0s18_y')) with linespoints linecolor rgb '#0072B2' pointtype 5 pointsize 0.5 dashtype 1 title 'batch=256 lr=0.1', \
  'figures/scaling.csv' using (column('p0s19_x')):(column('p0s19_y')) with linespoints linecolor rgb '#D55E00' pointtype 13 pointsize 0.5 dashtype 2 title 'batch=256 lr=0.1, virtual', \
  'figures/scaling.csv' using (column('p0s20_x')):(column('p0s20_y')) with linespoints linecolor rgb '#009E73' pointtype 7 pointsize 0.5 dashtype 1 title 'batch=256 lr=0.2', \
  'figures/scaling.csv' using (column('p0s21_x')):(column('p0s21_y')) with linespoints linecolor rgb '#B35A8C' pointtype 9 pointsize 0.5 dashtype 2 title 'batch=256 lr=0.2, virtual', \
  'figures/scaling.csv' using (column('p0s22_x')):(column('p0s22_y')) with linespoints linecolor rgb '#6B4C00' pointtype 5 pointsize 0.5 dashtype 1 title 'batch=256 lr=0.4', \
  'figures/scaling.csv' using (column('p0s23_x')):(column('p0s23_y')) with linespoints linecolor rgb '#332288' pointtype 13 pointsize 0.5 dashtype 2 title 'batch=256 lr=0.4, virtual', \
  'figures/scaling.csv' using (column('p0s24_x')):(column('p0s24_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 1 title 'batch=512 lr=0.05', \
  'figures/scaling.csv' using (column('p0s25_x')):(column('p0s25_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 2 title 'batch=512 lr=0.05, virtual', \
  'figures/scaling.csv' using (column('p0s26_x')):(column('p0s26_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 1 title 'batch=512 lr=0.1', \
  'figures/scaling.csv' using (column('p0s27_x')):(column('p0s27_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 2 title 'batch=512 lr=0.1, virtual', \
  'figures/scaling.csv' using (column('p0s28_x')):(column('p0s28_y')) with linespoints linecolor rgb '#6B4C00' pointtype 7 pointsize 0.5 dashtype 1 title 'batch=512 lr=0.2', \
  'figures/scaling.csv' using (column('p0s29_x')):(column('p0s29_y')) with linespoints linecolor rgb '#332288' pointtype 9 pointsize 0.5 dashtype 2 title 'batch=512 lr=0.2, virtual', \
  'figures/scaling.csv' using (column('p0s30_x')):(column('p0s30_y')) with linespoints linecolor rgb '#0072B2' pointtype 5 pointsize 0.5 dashtype 1 title 'batch=512 lr=0.4', \
  'figures/scaling.csv' using (column('p0s31_x')):(column('p0s31_y')) with linespoints linecolor rgb '#D55E00' pointtype 13 pointsize 0.5 dashtype 2 title 'batch=512 lr=0.4, virtual'
set title 'share of the devices'' time' noenhanced
set xlabel 'devices' noenhanced
set ylabel '' noenhanced
unset logscale y
set yrange [0:0.8449319225586858]
set xrange [0:*]
set grid
set key below left Left reverse vertical samplen 2 noenhanced
plot \
  'figures/scaling.csv' using (column('p1s0_x')):(column('p1s0_y')) with linespoints linecolor rgb '#0072B2' pointtype 7 pointsize 0.5 dashtype 1 title 'compute', \
  'figures/scaling.csv' using (column('p1s1_x')):(column('p1s1_y')) with linespoints linecolor rgb '#D55E00' pointtype 9 pointsize 0.5 dashtype 1 title 'reduce', \
  'figures/scaling.csv' using (column('p1s2_x')):(column('p1s2_y')) with linespoints linecolor rgb '#009E73' pointtype 5 pointsize 0.5 dashtype 1 title 'wait', \
  'figures/scaling.csv' using (column('p1s3_x')):(column('p1s3_y')) with linespoints linecolor rgb '#B35A8C' pointtype 13 pointsize 0.5 dashtype 1 title 'input'
unset multiplot
unset output
