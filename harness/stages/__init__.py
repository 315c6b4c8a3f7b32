"""The stages of dvc.yaml that decide numbers: one file each, with one function `run` that performs it.

A stage knows its inputs (`harness.stages.inputs`) and nothing else: no plan, no options, no locks.
`harness.commands.stage` is the only door to it. Its file and all that it imports are its identity
(`harness.plan.identity`), so a changed line here makes its results stale.
"""
