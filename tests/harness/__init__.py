"""What the tests share. The gRPC library is silenced here, which test servers load."""

import os

from catalog_probe.probes.running.lane import silence_libraries

silence_libraries()
os.environ["GRPC_VERBOSITY"] = "NONE"
