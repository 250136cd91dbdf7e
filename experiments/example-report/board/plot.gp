# Draws the curves again: gnuplot plot.gp makes curves-gnuplot.svg.
set datafile separator ','
set terminal svg size 900,420
set output 'curves-gnuplot.svg'
set key outside
set xlabel 'epoch'
set ylabel 'test accuracy'
set grid
plot \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175202-784-lenet-9e59' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-9e59', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175205-717-lenet-dp2-d259' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-d259', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175208-398-lenet-dp2-2cb3' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-2cb3', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175211-475-lenet-dp2-4942' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-4942', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175214-483-lenet-dp2-5839' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-5839', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175216-899-lenet-b753' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-b753', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175219-946-lenet-b16d' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-b16d', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175222-708-lenet-7260' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-7260', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175225-400-lenet-30f7' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-30f7', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175228-289-lenet-dp2-0f6b' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-0f6b', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175231-268-lenet-83fa' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-83fa', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175234-369-lenet-dp2-c0b7' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-c0b7', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175236-942-lenet-dp2-694e' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-694e', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175239-843-lenet-dp2-43c6' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-43c6', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175242-868-lenet-dp2-940b' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-940b', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175245-682-lenet-c0fa' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-c0fa', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175248-422-lenet-3430' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-3430', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175251-233-lenet-8b80' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-8b80', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175253-716-lenet-8612' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-8612', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175256-302-lenet-dp2-5f16' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-5f16', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175258-884-lenet-ab51' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-ab51', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175301-557-lenet-dp2-f589' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-f589', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175304-138-lenet-dp2-43b7' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-43b7', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175306-816-lenet-4beb' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-4beb', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175309-310-lenet-4540' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-4540', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175312-059-lenet-dp2-9d17' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-9d17', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175314-539-lenet-dp2-1cd3' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-1cd3', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175317-256-lenet-dp2-f277' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-f277', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175320-172-lenet-dp2-8a36' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-8a36', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175322-737-lenet-3875' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-3875', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175325-614-lenet-f920' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-f920', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175328-369-lenet-6aac' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-6aac', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175330-940-lenet-0ef2' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-0ef2', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175333-879-lenet-dp2-4a43' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-4a43', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175336-524-lenet-dp2-1505' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-1505', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175339-548-lenet-dp2-4d9d' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-4d9d', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175342-583-lenet-dp2-4063' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-4063', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175345-153-lenet-1eb5' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-1eb5', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175348-282-lenet-785c' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-785c', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175350-889-lenet-c3b4' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-c3b4', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175353-692-lenet-d6d5' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-d6d5', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175356-430-lenet-dp2-4fde' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-4fde', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175359-443-lenet-e673' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-e673', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175402-727-lenet-dp2-9f72' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-9f72', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175405-406-lenet-dp2-c020' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-c020', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175408-351-lenet-dp2-f9ff' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-f9ff', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175411-600-lenet-dp2-36bc' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-36bc', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175414-531-lenet-fb31' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-fb31', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175417-536-lenet-3428' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-3428', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175420-376-lenet-a345' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-a345', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175423-053-lenet-c6e6' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-c6e6', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175425-839-lenet-dp2-d49a' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-d49a', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175428-647-lenet-4523' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-4523', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175431-519-lenet-dp2-88d2' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-88d2', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175434-246-lenet-dp2-7399' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-7399', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175437-169-lenet-7c91' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-7c91', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175440-148-lenet-7382' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-7382', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175443-299-lenet-dp2-7623' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-7623', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175445-917-lenet-dp2-69fd' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-69fd', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175448-609-lenet-dp2-04ec' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-04ec', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175451-697-lenet-dp2-cf69' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-cf69', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175454-428-lenet-a8c2' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-a8c2', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175457-235-lenet-1253' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-1253', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175500-009-lenet-1089' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-1089', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175502-706-lenet-fd48' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-fd48', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175505-940-lenet-dp2-7923' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-7923', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175508-551-lenet-dp2-674b' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-674b', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175511-585-lenet-dp2-62ca' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-62ca', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175514-599-lenet-dp2-9e9f' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-9e9f', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175517-280-lenet-67b4' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-67b4', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175520-320-lenet-33fb' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-33fb', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175522-875-lenet-d542' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-d542', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175525-362-lenet-e16c' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-e16c', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175528-029-lenet-dp2-2df9' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-2df9', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175530-739-lenet-4bc9' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-4bc9', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175533-681-lenet-dp2-0c25' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-0c25', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175536-154-lenet-dp2-beac' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-beac', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175538-887-lenet-dp2-fba9' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-fba9', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175541-865-lenet-dp2-2de1' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-2de1', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175544-609-lenet-d254' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-d254', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175547-369-lenet-023b' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-023b', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175550-048-lenet-a509' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-a509', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175552-549-lenet-81f7' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-81f7', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175555-091-lenet-dp2-331b' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-331b', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175557-600-lenet-3337' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-3337', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175600-293-lenet-dp2-d56a' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-d56a', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175602-861-lenet-dp2-da73' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-da73', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175605-691-lenet-0c45' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-0c45', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175608-345-lenet-3d94' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-3d94', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175611-344-lenet-dp2-bd7a' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-bd7a', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175613-956-lenet-dp2-1847' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-1847', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175616-652-lenet-dp2-cd6c' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-cd6c', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175619-725-lenet-dp2-ebec' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-dp2-ebec', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175622-553-lenet-a356' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-a356', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175625-231-lenet-59bb' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-59bb', \
  'epochs.csv' using (strcol('run') eq '2026-11-21-175627-888-lenet-b268' ? column('epoch') : 1/0):(column('test_acc')) with linespoints title 'lenet-b268'
