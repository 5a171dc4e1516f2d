"""What the commands of `python -m probes` do."""
