"""PD's gRPC server."""
