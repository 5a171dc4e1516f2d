"""Starts our commands for tests as forks of a process that has imported what they import, and that has run none.

To start Python and to import what `pytest probes` does is half of what most of these commands take. A fork has the
arguments, the environment and the streams that it is given, and Python ends it as it ends any process. It has nothing
of other forks, for each is made of the server as it was before the first.

Who asks starts a `python` that hands over what it was given (`asking_to_fork.py`): a test, a script that a test runs,
and a run in a fork that starts workers. What cannot be forked it starts.

What is read before any command could run needs a process of its own (`may_fork`). In a fork nothing shows that: all
modules of PRELOADED are there, and what they warn of was said before; hash seed, umask and limits are the server's.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import marshal
import os
import runpy
import selectors
import shutil
import signal
import site
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tests.harness.loopback import sitecustomize as loopback
from tests.harness.scripts import write_script

if TYPE_CHECKING:
    from execnet.xspec import XSpec

CHECKOUT = Path(__file__).parent.parent.parent
GUARD = str(Path(loopback.__file__).parent)

COMMANDS = ("pytest", "catalog", "probes", "reports")
"""Modules that are run with `python -m`."""

PRELOADED = (
    *("pytest", "execnet", "pdb", "jsonschema", "anyio._backends._asyncio", "catalog.writeback.update"),
    *("probes.suite.controller", "probes.suite.items", "probes.suite.catalog_check", "probes.suite.installed"),
    *("probes.suite.options", "probes.suite.selectors", "probes.suite.blocked_plugins", "probes.suite.full_stdout"),
    *("probes.suite.ending", "probes.wire.http", "reports.compiled", "reports.elements", "reports.html"),
    *("reports.terminal", "catalog.__main__", "probes.__main__", "reports.__main__"),
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

WORKER = ("-u", "-c", "import sys;exec(eval(sys.stdin.readline()))")
"""What xdist starts a worker with."""

SERVE = """
import sys
checkout, listening, python = sys.argv[1:]
sys.path.insert(0, checkout)
from tests.harness.fork_server import main
del sys.path[0], sys.argv[1:]
main(int(listening), python)
"""

LONGEST = 200_000
"""Bytes of a request: arguments and environment."""


@dataclass(frozen=True)
class Start:
    """What a server was started with: its folder, what was read, and where it looks for what is imported."""

    folder: str
    read: Mapping[str, str]
    path: Sequence[str]

    def serves(self, arguments: Sequence[str], environ: Mapping[str, str], folder: str) -> bool:
        """Whether a fork does as `python ARGUMENTS` would in this folder. It follows a path that takes no place."""
        if not arguments or _read_at_start(environ) != self.read:
            return False
        script = [] if arguments[0].startswith("-") else [str(Path(folder, arguments[0]).parent)]
        of_module = arguments[0] == "-m" and len(arguments) > 1 and arguments[1] in COMMANDS
        if not script and (folder != self.folder or not (of_module or tuple(arguments) == WORKER)):
            return False
        if (not of_module or arguments[1] == "pytest") and AUTOLOAD_OFF not in environ:
            return False
        known = [*self.path, self.folder]
        return all(_adds_only(each, known) for each in {*script, *_path(environ)} - set(known))


def may_fork(command: Sequence[str], given: Mapping[str, str], environ: Mapping[str, str], cwd: Path) -> bool:
    """Whether a fork does as a process would that starts with `environ`, of which a test has given `given`.

    A test that gives what is read at the start means a process of its own, whatever the value (PYTHONHASHSEED at
    random changes nothing else). Starts the server, if there is none yet.
    """
    ours = tuple(command[:2]) == (sys.executable, "-m") and len(command) > 2 and command[2] in COMMANDS
    read = any(name.startswith(AT_START) and name != PATH for name in given)
    if sys.platform != "linux" or not ours or cwd != CHECKOUT or read:
        return False
    return _server(environ).start.serves(command[1:], environ, str(cwd))


def forked(command: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """The command that has this one forked."""
    return [str(_server(environ).python), *command[1:]]


class Server:
    """The process that forks, seen from that which started it. It ends with it."""

    def __init__(self, environ: Mapping[str, str], folder: Path = CHECKOUT, path: Sequence[str] = ()) -> None:
        """Start one in a folder; what is imported lies there, or on this path."""
        self.start = Start(str(folder), _read_at_start(environ), list(dict.fromkeys([GUARD, *path])))
        self.tools = Path(tempfile.mkdtemp(prefix="forks-"))
        """The folder of a `python` that asks this server, to stand before others in PATH."""
        self.python = self.tools / "python"
        address = str(self.tools / "asked")
        asking = (Path(__file__).parent / "asking_to_fork.py").read_text(encoding="utf-8")
        write_script(self.python, "-ISs", f"{asking}\nmain({address!r})\n")
        self._started_by = os.getpid()
        self._process = self._started(address) if sys.platform == "linux" else None
        atexit.register(self.stop)

    def _started(self, address: str) -> subprocess.Popen[bytes]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(address)
            listening.listen()
            process = subprocess.Popen(
                [sys.executable, "-c", SERVE, str(CHECKOUT), str(listening.fileno()), str(self.python)],
                cwd=self.start.folder,
                env={**self.start.read, PATH: os.pathsep.join(self.start.path)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[listening.fileno()],
            )
        assert process.stdout is not None
        assert process.stdout.readline(), "it has imported all: what it was started in may change now"
        return process

    def stop(self) -> None:
        """End the process: at the end of the one that started it, and not of a copy of that, which has this as well."""
        if os.getpid() != self._started_by:
            return
        atexit.unregister(self.stop)
        if self._process is not None:
            self._process.communicate()
        shutil.rmtree(self.tools)


_servers: dict[int, Server] = {}
_starting = threading.Lock()


def _server(environ: Mapping[str, str]) -> Server:
    """That of this process; started when it is first asked."""
    with _starting:
        if os.getpid() not in _servers:
            # The checkout is the folder it runs in; named here, it would not be there once more where it is installed.
            path = [each for each in _path(os.environ) if each != str(CHECKOUT)]
            _servers[os.getpid()] = Server(environ, path=path)
        return _servers[os.getpid()]


def _read_at_start(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith(AT_START) and name != PATH}


def _path(environ: Mapping[str, str]) -> list[str]:
    return list(filter(None, environ.get(PATH, "").split(os.pathsep)))


def _adds_only(folder: str, path: Sequence[str]) -> bool:
    """Whether nothing in a folder has the name of a module that a server finds without it, on its path or installed.

    Not what this process finds: its tests have added to its path and its modules.
    """
    names = {each.name.partition(".")[0] for each in Path(folder).iterdir()} if Path(folder).is_dir() else set()
    places = [*path, *site.getsitepackages()]
    return not any(name in sys.stdlib_module_names or PathFinder.find_spec(name, places) for name in names - NO_MODULES)


def preload() -> None:
    """Import what forks need not import, of the packages that are there; commands themselves as they are run."""
    for name in PRELOADED:
        if find_spec(name.partition(".")[0]):
            importlib.import_module(name)
            if name.endswith(".__main__"):
                del sys.modules[name]


def _serve(listening: socket.socket, start: Start) -> tuple[list[str], dict[str, str], str]:
    """Fork for each that asks, and say how it ended. Returns in the forks only, with what is asked."""
    running: dict[int, tuple[int, socket.socket]] = {}
    with selectors.DefaultSelector() as waiting, listening:
        waiting.register(sys.stdin, selectors.EVENT_READ)
        waiting.register(listening, selectors.EVENT_READ)
        while True:
            (key, _), *_ = waiting.select()
            if key.fileobj is sys.stdin:
                sys.exit()
            if key.fileobj is not listening:
                ending = key.data
                pid, connection = running[ending]
                if key.fileobj is connection:  # who asked is gone, or gave it up
                    os.kill(pid, signal.SIGKILL)
                    waiting.unregister(connection)
                    continue
                _, status = os.waitpid(pid, 0)
                waiting.unregister(ending)
                if connection in waiting.get_map():
                    waiting.unregister(connection)
                with suppress(OSError):
                    connection.send(marshal.dumps(os.waitstatus_to_exitcode(status)))
                connection.close()
                os.close(ending)
                del running[ending]
                continue
            connection, _ = listening.accept()
            request, streams, _, _ = socket.recv_fds(connection, LONGEST, 3)
            asked: tuple[list[str], dict[str, str], str] = marshal.loads(request) if request else ([], {}, "")
            forks = len(streams) == 3 and start.serves(*asked)
            pid = os.fork() if forks else -1
            if pid == 0:
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                for other, (_, theirs) in running.items():
                    os.close(other)
                    theirs.close()
            for stream in streams:
                os.close(stream)
            if pid <= 0:
                connection.close()
                if pid == 0:
                    return asked
                continue
            ending = os.pidfd_open(pid)
            running[ending] = pid, connection
            waiting.register(ending, selectors.EVENT_READ, ending)
            waiting.register(connection, selectors.EVENT_READ, ending)
            with suppress(OSError):
                connection.send(b"forked")


def _start_workers_with(python: str) -> None:
    """Have xdist start its workers, which are Pythons as this one, by asking as well."""
    from execnet import gateway_io

    def arguments(spec: XSpec) -> list[str]:
        executable, *others = as_it_is(spec)
        return [executable if spec.python else python, *others]

    as_it_is, gateway_io.popen_args = gateway_io.popen_args, arguments


def main(listening: int, python: str) -> None:
    """Serve until nobody can ask any more; and what each fork does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's is for who asks, and for the forks
    before = dict(os.environ)
    preload()
    set_by_imports = dict(os.environ.items() - before.items())
    taken_by_imports = before.keys() - os.environ.keys()
    found_by_itself = [each for each in sys.path[1:] if each not in _path(before)]
    start = Start(str(Path.cwd()), _read_at_start(before), _path(before))
    gc.collect()
    gc.freeze()  # else a fork that looks for garbage copies all that is shared
    os.write(1, b"\n")
    arguments, environ, folder = _serve(socket.socket(fileno=listening), start)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where tests run behind a shell's `&`
    os.environ.clear()
    os.environ.update({name: each for name, each in environ.items() if name not in taken_by_imports} | set_by_imports)
    os.chdir(folder)
    loopback.lead()
    time.tzset()
    if find_spec("execnet"):
        _start_workers_with(python)
    first, *others = arguments
    sys.path[:] = [folder, *dict.fromkeys(_path(os.environ)), *found_by_itself]
    if first == "-m":
        sys.argv = others
        runpy.run_module(others[0], run_name="__main__", alter_sys=True)
    elif tuple(arguments) == WORKER:
        sys.argv, sys.path[0] = ["-c"], ""
        sys.modules["__main__"] = as_main = ModuleType("__main__")
        exec(WORKER[-1], vars(as_main))  # what xdist would have run
    else:
        sys.argv, sys.path[0] = arguments, str(Path(first).parent.absolute())
        runpy.run_path(first, run_name="__main__")
