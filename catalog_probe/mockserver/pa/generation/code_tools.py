"""code_execution and its bash and text-editor forms, where the code asked for decides what goes wrong (2:7.3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from catalog_probe.mockserver.pa.generation.tool_uses import Directive, Failure, Use

EDITOR = "text_editor_code_execution"

MAX_SECONDS = 60
"""Ours: the documents name execution_time_exceeded and no time."""

_SLEEP = re.compile(r"\bsleep[ (]\s*(\d+)")
_ENDLESS = re.compile(r"\bwhile\s+(True|true)\b")
_GIGABYTES = re.compile(r"\b\d+G\b")


@dataclass
class Container:
    """The files that this session's code has made."""

    files: dict[str, str] = field(default_factory=dict)


def _files(use: Use) -> dict[str, str]:
    return use.call.session.state(Container).files


def _path(use: Use) -> str:
    return use.argument.partition(" ")[0]


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
VIEW_FAILURES = (NO_INPUT, Failure("file_not_found", lambda use: use.argument not in _files(use)))
CREATE_FAILURES = (NO_INPUT,)


def _executed(block: str) -> Callable[[Use], dict[str, Any]]:
    return lambda use: {"type": f"{block}_result", "stdout": "", "stderr": "", "return_code": 0, "content": []}


def _view(use: Use) -> dict[str, Any]:
    text = _files(use)[use.argument]
    lines = text.count("\n") + 1
    shown = {"file_type": "text", "content": text, "num_lines": lines, "start_line": 1, "total_lines": lines}
    return {"type": "text_editor_code_execution_view_result", **shown}


def _read_creation(use: Use) -> dict[str, Any]:
    return {"command": "create", "path": _path(use), "file_text": use.argument.partition(" ")[2]}


def _create(use: Use) -> dict[str, Any]:
    is_update = _path(use) in _files(use)
    _files(use)[_path(use)] = _read_creation(use)["file_text"]
    return {"type": "text_editor_code_execution_create_result", "is_file_update": is_update}


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
VIEW = Directive("code_execution", EDITOR, VIEW_FAILURES, lambda use: {"command": "view", "path": use.argument}, _view)
CREATE = Directive("code_execution", EDITOR, CREATE_FAILURES, _read_creation, _create)
