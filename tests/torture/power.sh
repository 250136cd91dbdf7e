# Power cuts: what a program wrote and did not sync is lost in part, and in any order. tests/torture/power.c says what
# must hold, tests/torture/outage.h what counts as synced. A story (a run that is stopped and resumed, a sweep, a queue;
# mostly from nothing, else from what a power cut left) is written down once, and power is cut at 200 places of it.
. tests/torture/lib.sh

scenarios=3
torture_program run power run
torture_program sweep power sweep
torture_program queue power queue
finish
