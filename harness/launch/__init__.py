"""Room `launch`: the stages of the pipeline side by side, in processes here, on Ray or on Slurm.

`pipeline` is all that knows DVC, `scheduler` decides what runs when, and an executor runs one stage at a time
in each of its slots. DVC's own work is done in the scheduler alone: workers run bare commands and never call
DVC.
"""
