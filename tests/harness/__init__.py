"""What the tests share. gRPC is silenced here, because test servers load it before any probe does."""

from catalog_probe.probes.wire.quiet_logs import silence_libraries

silence_libraries()
