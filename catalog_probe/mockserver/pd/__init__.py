"""Provider PD: a chat and responses API, its regional twin, its management API, and gRPC (1:4.4, 2:7.6)."""
