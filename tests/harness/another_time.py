"""A pytest plugin: collects as if on another day, so that ids made of the clock show."""

from __future__ import annotations

import time_machine

time_machine.travel("2031-07-09T23:59:58Z").start()
