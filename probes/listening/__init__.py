"""Live traffic: between any client and its provider, each exchange judged from a copy, failures rehearsed on demand."""
