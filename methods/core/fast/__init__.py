"""The same values with more speed on a CPU: who wants to know what is computed may skip this room."""
