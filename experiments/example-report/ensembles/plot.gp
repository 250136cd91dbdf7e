# Draws the curves again: gnuplot plot.gp makes curves-gnuplot.svg.
set datafile separator ','
set terminal svg size 900,420
set output 'curves-gnuplot.svg'
set key outside
set xlabel 'epoch'
set ylabel 'test accuracy'
set grid
plot \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175630-703-cnn-ens1-bcec' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'cnn-ens1-bcec', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175641-980-cnn-ens8-493c' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'cnn-ens8-493c', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175802-557-cnn-ens2-218c' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'cnn-ens2-218c', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175823-275-cnn-ens4-298f' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'cnn-ens4-298f', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175905-324-cnn-3408' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'cnn-3408'
