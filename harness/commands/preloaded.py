"""Importing this module, as the server of a launch does, loads what stages need."""

from harness.commands.launch_server import load

load()
