"""The methods of this benchmark: `core` is what they share, `registry` has them by name.

Empty of code, so that a new method in the registry is no change of the others: importing one runs this file.
"""
