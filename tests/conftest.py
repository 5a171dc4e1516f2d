"""Makes what the tests share importable from every folder of tests."""
