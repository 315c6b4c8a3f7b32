"""Tables, statistics and figures from recorded scores; pure functions, no torch."""
