"""What stops a PD generation before it starts (2:8.5)."""
