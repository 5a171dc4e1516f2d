"""What the tests stand on. Servers of ours load gRPC before a probe could have it be silent, so it is here."""

from catalog_probe.probes.wire.quiet_logs import silence_libraries

silence_libraries()
