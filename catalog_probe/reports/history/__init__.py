"""What earlier runs ended with, and the drifts that last over several of them."""
