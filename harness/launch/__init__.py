"""Room `launch`: runs stages of the pipeline in parallel, in local processes, on Ray or on Slurm.

Only `pipeline` uses DVC, `scheduler` decides the order, and an executor runs one stage at a time in each
slot. Only the scheduler's process calls DVC; workers run plain commands.
"""
