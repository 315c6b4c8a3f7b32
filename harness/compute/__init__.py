"""Computation of each stage, one file per stage, from plain values without plans, flags, logs or provenance.

A stage runs again when its file here changes, or a module that this file imports (see
`harness.plan.identity`). A change of `harness.stages`, which handles paths and flags, does not repeat
training or evaluation.
"""
