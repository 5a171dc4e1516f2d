"""code_execution and its bash and text-editor forms, where the code asked for decides what goes wrong (2:7.3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from catalog_probe.mockserver.pa.generation.tool_uses import Directive, Failure, Use

MAX_SECONDS = 60
"""Ours: the documents name execution_time_exceeded and no time."""

_SLEEP = re.compile(r"\bsleep[ (]\s*(\d+)")
_ENDLESS = re.compile(r"\bwhile\s+(True|true)\b")
_GIGABYTES = re.compile(r"\b\d+G\b")


def takes_too_long(use: Use) -> bool:
    """Whether the code sleeps for longer than it may run, or loops for ever."""
    slept = _SLEEP.search(use.argument)
    return bool(_ENDLESS.search(use.argument)) or (slept is not None and int(slept[1]) > MAX_SECONDS)


NO_INPUT = Failure("invalid_tool_input", lambda use: not use.argument)

RUN_FAILURES = (NO_INPUT, Failure("execution_time_exceeded", takes_too_long))
BASH_FAILURES = (
    Failure("output_file_too_large", lambda use: bool(_GIGABYTES.search(use.argument))),
    NO_INPUT,
    Failure("execution_time_exceeded", takes_too_long),
)
VIEW_FAILURES = (NO_INPUT, Failure("file_not_found", lambda use: True))  # there is no file in the container


def _executed(block: str) -> Callable[[Use], dict[str, Any]]:
    return lambda use: {"type": f"{block}_result", "stdout": "", "stderr": "", "return_code": 0, "content": []}


RUN = Directive(
    "code_execution",
    "code_execution",
    RUN_FAILURES,
    lambda use: {"code": use.argument},
    _executed("code_execution"),
)
BASH = Directive(
    "code_execution",
    "bash_code_execution",
    BASH_FAILURES,
    lambda use: {"command": use.argument},
    _executed("bash_code_execution"),
)
VIEW = Directive(
    "code_execution",
    "text_editor_code_execution",
    VIEW_FAILURES,
    lambda use: {"command": "view", "path": use.argument},
    _executed("text_editor_code_execution"),
)
