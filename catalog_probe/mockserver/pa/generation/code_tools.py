"""code_execution and its bash and text-editor forms, where the code asked for decides what goes wrong (2:7.3).

| what the request does | error_code |
|---|---|
| `run:`, `bash:`, `view:` or `create:` with nothing after it | invalid_tool_input |
| `run:` or `bash:` of `sleep N` or `sleep(N)` over 60 s, or of `while True` | execution_time_exceeded |
| `bash:` writing a file of gigabytes (`truncate -s 10G out.bin`) | bash output_file_too_large |
| `view:` of a path that no `create:` of the session has made | text editor file_not_found |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from catalog_probe.mockserver.pa.generation.tool_outcome import Outcome, Setting, ToolFailure

MAX_SECONDS = 60

_SLEEP = re.compile(r"\bsleep[ (]\s*(\d+)")
_ENDLESS = re.compile(r"\bwhile\s+(True|true)\b")
_GIGABYTES = re.compile(r"\b\d+G\b")


@dataclass
class Container:
    """The files that this session's code has made."""

    files: dict[str, str] = field(default_factory=dict)


def run(setting: Setting, code: str) -> Outcome:
    """Run Python, in the tool's first form."""
    return _execute("code_execution", {"code": code}, code)


def bash(setting: Setting, command: str) -> Outcome:
    """Run a shell command."""
    if _GIGABYTES.search(command):
        return ToolFailure("output_file_too_large", {"command": command})
    return _execute("bash_code_execution", {"command": command}, command)


def view(setting: Setting, path: str) -> Outcome:
    """Show a file of the container."""
    asked = {"command": "view", "path": path}
    if not path:
        return ToolFailure("invalid_tool_input", asked)
    text = setting.call.session.state(Container).files.get(path)
    if text is None:
        return ToolFailure("file_not_found", asked)
    lines = text.count("\n") + 1
    shown = {"file_type": "text", "content": text, "num_lines": lines, "start_line": 1, "total_lines": lines}
    return Outcome(asked, {"type": "text_editor_code_execution_view_result", **shown})


def create(setting: Setting, argument: str) -> Outcome:
    """Make a file in the container."""
    path, _, text = argument.partition(" ")
    asked = {"command": "create", "path": path, "file_text": text}
    if not path:
        return ToolFailure("invalid_tool_input", asked)
    files = setting.call.session.state(Container).files
    is_update = path in files
    files[path] = text
    return Outcome(asked, {"type": "text_editor_code_execution_create_result", "is_file_update": is_update})


def _execute(block: str, asked: dict[str, Any], code: str) -> Outcome:
    if not code:
        return ToolFailure("invalid_tool_input", asked)
    slept = _SLEEP.search(code)
    if _ENDLESS.search(code) or (slept and int(slept[1]) > MAX_SECONDS):
        return ToolFailure("execution_time_exceeded", asked)
    return Outcome(asked, {"type": f"{block}_result", "stdout": "", "stderr": "", "return_code": 0, "content": []})
