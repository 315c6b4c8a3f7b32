"""Methods of the benchmark: `core` has their shared code, `registry` finds them by name.

Without code, because importing any method runs this file: a new method must not change the others.
"""
