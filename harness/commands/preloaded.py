"""Importing this module, as in the server of a launch, loads the imports of stages."""

from harness.commands.launch_server import load

load()
