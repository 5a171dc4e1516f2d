"""What the tests of the probes stand on: servers, wrong providers, engines without pytest."""
