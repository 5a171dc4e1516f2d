"""PD's gRPC front door."""
