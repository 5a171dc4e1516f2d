"""What pytest and xdist see: options, items, the controller, progress."""
