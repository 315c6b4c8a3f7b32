"""What decides a number, one file a stage, from plain values: no plan, no flag, no log and no provenance.

A stage runs again when its file here changes, or a module that this file imports (see `harness.identity`). A
change of `harness.stages`, which handles paths and flags, makes no training and no evaluation run again.
"""
