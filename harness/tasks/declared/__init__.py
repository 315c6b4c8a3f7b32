"""Declarations of tasks: each file lists them as `TASKS`, and the registry finds the files.

A file imports readers and models only inside its functions, so that listing all tasks is fast.
"""
