"""Provider PD: HTTP, regional host, management API, gRPC (1:4.4, 2:7.6)."""
