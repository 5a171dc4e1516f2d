"""Follows a page of the documentation as a reader does: writes its files and runs its commands."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.harness.checkouts import install_into
from tests.harness.command import DEADLINE_S, NO_TEST_PLUGINS, child_environ
from tests.harness.processes import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]*)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)
_STATUS = re.compile(r"exit status (\d+)")
SECOND = "second terminal"
_COMMAND = """#!/usr/bin/env python
import sys
from catalog_probe.cli.main import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    title: str
    text: str


@dataclass
class CommandOutput:
    """A block of commands, its exit status, and its output, beside what the page shows."""

    commands: str
    status: int
    expected_status: int
    output: str
    shown_lines: list[str] = field(default_factory=list)
    """Lines that the page shows as their output."""


def read_blocks(page: Path) -> list[Block]:
    matches = _BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(match["language"], match["title"] or "", match["text"]) for match in matches]


def install_project(folder: Path) -> dict[str, str]:
    """Install the project as a wheel does, and return the environment that finds it."""
    install_into(folder / "site")
    command = folder / "bin" / "catalog-probe"
    command.parent.mkdir()
    command.write_text(_COMMAND, encoding="utf-8")
    command.chmod(0o755)
    paths = {"PATH": str(command.parent), "PYTHONPATH": str(folder / "site")}
    return child_environ({**NO_TEST_PLUGINS, **paths})


class Walk:
    """A reader who follows a page in a folder, with a second terminal for servers."""

    def __init__(self, folder: Path, environment: dict[str, str], port: int) -> None:
        self.folder, self.environment, self.port = folder, environment, port
        self.outputs: list[CommandOutput] = []
        self._served: subprocess.Popen[bytes] | None = None
        self._exports = ""

    def follow(self, page: Path) -> None:
        """Run, serve or write each block of a page."""
        for block in read_blocks(page):
            text = block.text.replace("8765", str(self.port))
            if block.title == SECOND:
                self.serve(text.split())
            elif block.language == "sh":
                self._run(text, block.title)
            elif "." in block.title:
                self._write(block.title, text)
            elif block.language == "text":
                self.outputs[-1].shown_lines += text.splitlines()

    def serve(self, command: list[str]) -> None:
        """End the current server, and start this one."""
        self.stop()
        self._served = served = subprocess.Popen(
            [sys.executable, *command[1:]], cwd=self.folder, env=self.environment, stderr=subprocess.DEVNULL
        )

        def listens() -> bool:
            assert served.poll() is None, f"{command} ended"
            with socket.socket() as client:
                return client.connect_ex(("127.0.0.1", self.port)) == 0

        wait_for(listens)

    def stop(self) -> None:
        if self._served is not None:
            self._served.terminate()
            self._served.wait()

    def run(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Run commands with all variables that the page exports."""
        return subprocess.run(
            ["bash", "-c", f"{self._exports}\n{commands}"],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=DEADLINE_S,
            check=False,
        )

    def _run(self, commands: str, title: str) -> None:
        self._exports += "".join(f"{line}\n" for line in commands.splitlines() if line.startswith("export "))
        done = self.run(commands)
        status = _STATUS.fullmatch(title)
        self.outputs.append(CommandOutput(commands, done.returncode, int(status[1]) if status else 0, done.stdout))

    def _write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def find_free_port() -> int:
    """Return a free port below those that the system hands out; test processes begin at different ones."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with socket.socket() as listening, suppress(OSError):
            listening.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def find_missing_lines(command: CommandOutput) -> Iterator[str]:
    """Yield the lines that a page shows of an output, and that the output does not have."""
    words = " ".join(command.output.split())
    yield from (line for line in command.shown_lines if " ".join(line.split()) not in words)
