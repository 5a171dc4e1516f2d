"""From observations to the outcome of an attempt, and of a record over all attempts."""
