"""Data, tasks, results, reports and the pipeline of the benchmark."""
