"""A pytest plugin that collects on another day, which reveals test ids made from the clock."""

from __future__ import annotations

import time_machine

time_machine.travel("2031-07-09T23:59:58Z").start()
