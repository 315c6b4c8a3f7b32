"""What `sentbench check` measures: the first steps of runs, and encoders whose scores theory knows."""
