"""Starts our commands for tests as forks of a process that has imported what they import, and that has run none.

To start Python and to import what `pytest probes` does is half of what most of these commands take. A fork has the
arguments, the environment and the streams that it is given, and Python ends it as it ends any process. It has nothing
of other forks, for each is made of the server as it was before the first.

What is read before any command could run needs a process of its own (`may_fork`). In a fork nothing shows that: all
modules of PRELOADED are there, and what they warn of was said before; hash seed, umask and limits are the server's.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import selectors
import signal
import site
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

from tests.harness.loopback import sitecustomize as loopback

CHECKOUT = Path(__file__).parent.parent.parent
GUARD = str(Path(loopback.__file__).parent)

COMMANDS = ("pytest", "catalog", "probes", "reports")
"""Modules that are run with `python -m`."""

PRELOADED = (
    *("pytest", "execnet", "pdb", "jsonschema", "anyio._backends._asyncio", "catalog.writeback.update"),
    *("probes.suite.controller", "probes.suite.items", "probes.suite.catalog_check", "probes.suite.installed"),
    *("probes.suite.options", "probes.suite.selectors", "probes.suite.blocked_plugins", "probes.suite.full_stdout"),
    *("probes.suite.ending", "probes.wire.http", "reports.compiled", "reports.elements", "reports.html"),
    "reports.terminal",
)
"""What a run imports, and what these import. Not the plugin and the tests, whose assertions pytest rewrites as it
imports them; not recipes, which are imported for the providers that are asked; not gRPC, which must not be forked."""

AT_START = ("PYTHON", "HOME", "LC_", "LANG", "LD_", "MALLOC_", "GLIBC_", "OPENSSL_", "SSL", "GRPC_", "EXECNET_")
"""How the variables begin that are read as Python starts, and as a module of PRELOADED is imported."""

PATH = "PYTHONPATH"
"""The one of these that a fork can follow: where it looks for what is not imported yet."""

AUTOLOAD_OFF = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
"""Without it pytest rewrites the assertions of all that is installed as a plugin, anyio for one, as it imports it."""

NO_MODULES = frozenset({"", "__pycache__"})
"""What files and folders are called that nobody imports."""

LONGEST = 200_000
"""Bytes of a request: arguments and environment."""


def may_fork(command: Sequence[str], given: Mapping[str, str], environ: Mapping[str, str], cwd: Path) -> bool:
    """Whether a fork does as a process would that starts with `environ`, of which a test has given `given`.

    A test that gives what is read at the start means a process of its own, whatever the value (PYTHONHASHSEED at
    random changes nothing else). A fork follows a path, if what lies there takes no other module's place. Starts the
    server, if there is none yet.
    """
    ours = tuple(command[:2]) == (sys.executable, "-m") and len(command) > 2 and command[2] in COMMANDS
    read = any(name.startswith(AT_START) and name != PATH for name in given)
    if sys.platform != "linux" or not ours or cwd != CHECKOUT or read:
        return False
    if command[2] == "pytest" and AUTOLOAD_OFF not in environ:
        return False
    if _read_at_start(environ) != _server(environ).started_with:
        return False
    path = _server(environ).path
    return all(_adds_only(folder, path) for folder in {*_path(environ)} - {*path, str(CHECKOUT)})


def run(command: Sequence[str], environ: Mapping[str, str], deadline_s: float) -> CompletedProcess[str]:
    """As `subprocess.run` does in the checkout, with the output captured: text, however it is encoded.

    Raises:
        TimeoutExpired: it did not end in time, and was killed.
    """
    return _server(environ).run(command, environ, deadline_s)


class _Server:
    """The process that forks, seen from that which asks. It ends with it."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.started_with = _read_at_start(environ)
        # The checkout is there as the folder it runs in; named here, it would not be once more where it is installed.
        self.path = [GUARD, *(each for each in _path(os.environ) if each != str(CHECKOUT))]
        self._asking = os.getpid()
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                cwd=CHECKOUT,
                env={**self.started_with, PATH: os.pathsep.join(self.path)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the process: at the end of the one that started it, and not of a copy of that, which has this as well."""
        if os.getpid() != self._asking:
            return
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
        self._process.wait()

    def run(self, command: Sequence[str], environ: Mapping[str, str], deadline_s: float) -> CompletedProcess[str]:
        """Have one command run, and wait for its end."""
        request = json.dumps([command[2:], dict(environ)]).encode()
        (output, its_output), (errors, its_errors) = os.pipe(), os.pipe()
        try:
            socket.send_fds(self._connection, [request], [0, its_output, its_errors])
        finally:
            os.close(its_output)
            os.close(its_errors)
        pid = int(self._connection.recv(LONGEST))
        said = {output: b"", errors: b"", self._connection.fileno(): b""}
        ends = time.monotonic() + deadline_s
        try:
            with selectors.DefaultSelector() as waiting:
                for each in said:
                    waiting.register(each, selectors.EVENT_READ)
                while waiting.get_map():
                    ready = waiting.select(max(0.0, ends - time.monotonic()))
                    if not ready:
                        raise TimeoutExpired(command, deadline_s, said[output], said[errors])
                    for key, _ in ready:
                        more = os.read(key.fd, 1 << 16)
                        said[key.fd] += more
                        if not more or key.fd == self._connection.fileno():
                            waiting.unregister(key.fd)
        finally:
            os.close(output)
            os.close(errors)
            if not said[self._connection.fileno()]:
                os.kill(pid, signal.SIGKILL)
                self._connection.recv(LONGEST)
        status = int(said[self._connection.fileno()])
        return CompletedProcess(command, status, _text(said[output]), _text(said[errors]))


_servers: dict[tuple[int, int], _Server] = {}


def _server(environ: Mapping[str, str]) -> _Server:
    """That of this thread and process, for each runs one command at a time; started when it is first asked."""
    who = (os.getpid(), threading.get_ident())
    if who not in _servers:
        _servers[who] = _Server(environ)
    return _servers[who]


def _read_at_start(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith(AT_START) and name != PATH}


def _path(environ: Mapping[str, str]) -> list[str]:
    return list(filter(None, environ.get(PATH, "").split(os.pathsep)))


def _adds_only(folder: str, path: Sequence[str]) -> bool:
    """Whether nothing in a folder has the name of a module that a server with this path finds without it.

    Not what this process finds: its tests have added to its path and its modules.
    """
    names = {each.name.partition(".")[0] for each in Path(folder).iterdir()} if Path(folder).is_dir() else set()
    places = [*path, str(CHECKOUT), *site.getsitepackages()]
    return not any(name in sys.stdlib_module_names or PathFinder.find_spec(name, places) for name in names - NO_MODULES)


def _text(said: bytes) -> str:
    return io.TextIOWrapper(io.BytesIO(said), errors="backslashreplace").read()


def preload() -> None:
    """Import what forks need not import."""
    for name in PRELOADED:
        importlib.import_module(name)


def _serve(connection: socket.socket) -> tuple[list[str], dict[str, str]]:
    """Fork for each request, and say how it ended. Returns in the forks only, with arguments and environment."""
    while True:
        request, streams, _, _ = socket.recv_fds(connection, LONGEST, 3)
        if not request:
            sys.exit()
        pid = os.fork()
        if pid == 0:
            connection.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
        for stream in streams:
            os.close(stream)
        if pid == 0:
            arguments, environ = json.loads(request)
            return arguments, environ
        connection.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def main(connection: int) -> None:
    """Serve until nobody can ask any more; and what each fork does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's is for who asks, and for the forks
    before = dict(os.environ)
    preload()
    set_by_imports = dict(os.environ.items() - before.items())
    taken_by_imports = before.keys() - os.environ.keys()
    gc.collect()
    gc.freeze()  # else a fork that looks for garbage copies all that is shared
    arguments, environ = _serve(socket.socket(fileno=connection))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where tests run behind a shell's `&`
    os.environ.clear()
    os.environ.update({name: each for name, each in environ.items() if name not in taken_by_imports} | set_by_imports)
    loopback.lead()
    time.tzset()
    path = dict.fromkeys(_path(os.environ))
    sys.path[1:] = [*path, *(each for each in sys.path[1:] if each not in {*path, *_path(before)})]
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
