"""Makes what the tests share importable from every folder of tests, and lets a busy machine take its time."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None, print_blob=True)
settings.load_profile("unhurried")
