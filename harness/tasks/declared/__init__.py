"""What tasks there are: each file lists declarations as `TASKS`, and the registry finds the files.

A file imports readers and models inside its functions only, so that listing all tasks loads none of them.
"""
