"""A command that is forked says, leaves and ends as one that is started; and nothing of one fork is in another."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.harness import fork_server
from tests.harness.command import CHECKOUT, OF_OUR_DEPENDENCIES, Ran, child_environ, ran

PROBES = ("pytest", "-p", "xdist", "-p", "no:cacheprovider", "probes", "--out", "{out}")
FILE = ("pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "{file}")
"""A file of tests, which may do what it likes to its process."""

SAME = [
    ("reports", "--help"),
    ("reports", "show", "{out}"),
    ("reports", "no-such-command"),
    ("catalog", "check"),
    ("catalog", "find", "pa", "429"),
    ("catalog", "--no-such-option"),
    ("probes", "check"),
    ("probes", "no-such-command"),
    (*PROBES, "--plan", "--provider", "pa"),
    (*PROBES, "--co", "-q", "--provider", "pd", "-k", "models"),
    (*PROBES, "--provider", "pa", "-k", "429", "-p", "no:randomly"),
    (*PROBES, "--provider", "pa", "-k", "models", "-n", "2"),
    (*PROBES, "-k", "no_such_record_anywhere"),
    (*PROBES, "--target", "no-such-target"),
    (*PROBES, "--no-such-option"),
]

ENDS = {
    "os._exit(7)": 7,
    "os.kill(os.getpid(), signal.SIGTERM)": -15,
    "os.kill(os.getpid(), signal.SIGKILL)": -9,
    "os.kill(os.getpid(), signal.SIGINT); signal.pause()": 2,
    "pytest.exit('enough', 5)": 5,
    "os.close(1); os.close(2)": None,
    "raise KeyboardInterrupt": 2,
}
"""What a command may do that ends it, and how; where that is left open, alike."""

FINDS = """
def test_the_end_of_its_input():
    assert os.read(0, 1) == b""

def test_no_such_file():
    assert not os.path.exists("no-such-file"), sys.argv

def test_that_an_interrupt_is_heard():
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN

def test_no_signal_blocked():
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()

def test_its_time_zone():
    assert time.tzname == ("here", "here")

def test_its_folder():
    assert (__name__, os.getcwd()) == ("written", sys.path[1]), (os.getcwd(), sys.path)

def test_what_else_it_has():
    raise AssertionError(sorted(os.listdir("/proc/self/fd")), sorted(os.environ), sys.argv, sys.flags, sys.path)

def test_at_exit():
    atexit.register(print, "at exit"); atexit.register(os.write, 2, b"first")

def test_a_thread_that_outlives_it():
    threading.Thread(target=lambda: (time.sleep(0.1), os.write(1, b"a thread"))).start()
"""
"""What a command finds, as it says it itself, and leaves for its end."""

SCRIPT = """
import os, sys
print(sys.argv, sys.path, __name__, os.getcwd(), sorted(os.environ), sys.flags)
with open("parents", "a") as file:
    print(os.getppid(), file=file)
sys.stdin.read()
sys.exit(len(sys.argv))
"""

IMPORTS = """
import atexit, os, signal, sys, threading, time
import pytest
"""

TEST = f"""{IMPORTS}
def test_something():
    {{body}}
"""

LEAVES = """
import os, random, signal, sys, warnings
import catalog

def test_first_or_second():
    seen = [getattr(catalog, "LEFT", None), os.environ.get("LEFT"), "left" in sys.path, random.seed.__name__]
    print(*seen, os.umask(0o22), os.getcwd(), signal.getsignal(signal.SIGUSR1), file=open({seen!r}, "a"))
    print(random.random(), os.getpid(), os.getppid(), file=open({chance!r}, "a"))
    catalog.LEFT = os.environ["LEFT"] = "left"
    sys.path.append("left")
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    os.chdir("/")
"""


@pytest.fixture(autouse=True)
def _hears_interrupts() -> Iterator[None]:
    """What is started hears SIGINT: behind a shell's `&` it is ignored, and whoever is started inherits that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def both(command: tuple[str, ...], folder: Path, environ: Mapping[str, str]) -> tuple[Ran, Ran]:
    """A command forked, and started: each with a folder of its own to write to, by one name."""
    given = {**OF_OUR_DEPENDENCIES, **environ}
    done = []
    for may_fork in (True, False):
        out = folder / "out"
        words = [word.format(out=out, file=folder / "written.py") for word in command]
        with pytest.MonkeyPatch.context() as patch:
            whole = child_environ({"COLUMNS": "100", "NO_COLOR": "1", **given})
            assert fork_server.may_fork([sys.executable, "-m", *words], given, whole, CHECKOUT)
            if not may_fork:
                patch.setattr(fork_server, "may_fork", lambda *_: False)
            seen = ran(out, [sys.executable, "-m", *words], given)
        left = folder / ("forked" if may_fork else "started")
        done.append(replace(seen, out=out.rename(left) if out.exists() else left))
    return done[0], done[1]


def plain(said: str) -> str:
    """What is said, without times, what a run is called by them, and the lines that fill up what they leave."""
    said = re.sub(r"=+|\(\d+:\d\d:\d\d\)|\s+", " ", said)
    said = re.sub(r"\d{8}T\d{6}Z-mock-\w+", "RUN", said)
    return re.sub(r"\b\d+(\.\d+)? ?m?s\b|0x[0-9a-f]+", "TIME", said)


def left(out: Path) -> list[str]:
    """The files below a folder."""
    return sorted(plain(str(path.relative_to(out))) for path in out.rglob("*") if path.is_file())


@pytest.mark.parametrize("command", SAME, ids=lambda words: " ".join(words[:2] + words[7:]))
def test_a_fork_says_what_a_process_does(command: tuple[str, ...], tmp_path: Path) -> None:
    forked, started = both(command, tmp_path, {})
    assert (forked.status, plain(forked.output), plain(forked.errors)) == (
        started.status,
        plain(started.output),
        plain(started.errors),
    )
    assert left(forked.out) == left(started.out)
    if "no:randomly" in command:
        assert [(each.record, each.outcome) for each in forked.lines] == [
            (each.record, each.outcome) for each in started.lines
        ]


@pytest.mark.parametrize("body", ENDS)
def test_a_fork_ends_as_a_process_does(body: str, tmp_path: Path) -> None:
    (tmp_path / "written.py").write_text(TEST.format(body=body))
    forked, started = both(FILE, tmp_path, {"TZ": "here0"})
    assert forked.status == started.status
    assert ENDS[body] in (None, forked.status), forked.said
    assert (plain(forked.output), plain(forked.errors)) == (plain(started.output), plain(started.errors))


def test_a_fork_finds_what_a_process_does(tmp_path: Path) -> None:
    (tmp_path / "written.py").write_text(IMPORTS + FINDS)
    forked, started = both(FILE, tmp_path, {"TZ": "here0"})
    assert (forked.status, plain(forked.output), plain(forked.errors)) == (
        started.status,
        plain(started.output),
        plain(started.errors),
    )
    failed = set(re.findall(r"^_+ test_(\w+) _+$", forked.output, re.MULTILINE))
    assert failed - {"its_folder"} == {"what_else_it_has"}, "both are only compared"
    assert "a thread" in forked.output


def test_nothing_of_one_fork_is_in_another(tmp_path: Path) -> None:
    seen, chance = tmp_path / "seen", tmp_path / "chance"
    (tmp_path / "written.py").write_text(LEAVES.format(seen=str(seen), chance=str(chance)))
    for _ in range(2):
        forked, started = both(FILE, tmp_path, {})
        assert (forked.status, started.status) == (0, 0), forked.said + started.said
    assert len(set(seen.read_text().splitlines())) == 1
    first, started_first, second, _ = (line.split() for line in chance.read_text().splitlines())
    assert len({first[0], started_first[0], second[0]}) == 3
    assert first[2] == second[2] != str(os.getpid()), "both by the server"
    assert started_first[2] == str(os.getpid())


def test_the_workers_of_a_fork_are_forked_as_it_is(tmp_path: Path) -> None:
    parents = tmp_path / "parents"
    note = f"print(os.getppid(), 'xdist' in sys.modules, file=open({str(parents)!r}, 'a'))"
    (tmp_path / "written.py").write_text(TEST.format(body=note))
    words = [sys.executable, "-m", *(word.format(file=tmp_path / "written.py") for word in FILE), "-p", "xdist"]
    for options in ([], ["-n", "2"]):
        assert ran(tmp_path, [*words, *options], OF_OUR_DEPENDENCIES).status == 0
    by_command, by_worker = parents.read_text().splitlines()
    assert by_command == by_worker != f"{os.getpid()} True"


def test_the_python_of_a_script_is_forked_as_well(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    script = tmp_path / "code" / "script.py"
    script.write_text(SCRIPT)
    given = child_environ({**OF_OUR_DEPENDENCIES, "PYTHONPATH": str(CHECKOUT), "COLUMNS": "100"})
    commands = f"python {script} a b <&-; echo $? | python {script}; echo $?; python -c 'print(1)'; python -m reports x"
    server = fork_server.Server(given, tmp_path, [str(CHECKOUT)])
    said = []
    for path in (f"{server.tools}{os.pathsep}{given['PATH']}", given["PATH"]):
        environ, command = {**given, "PATH": path}, ["bash", "-c", commands]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
        said.append((done.returncode, done.stdout, done.stderr))
    server.stop()
    assert said[0] == said[1]
    without_input, forked, *_ = (tmp_path / "parents").read_text().split()
    assert without_input != forked != str(os.getpid()), "what has no streams to hand over is started"
    assert not server.tools.exists()


def test_what_nobody_waits_for_any_more_is_killed(tmp_path: Path) -> None:
    (tmp_path / "written.py").write_text(TEST.format(body="os.write(2, b'up'); threading.Event().wait()"))
    given = child_environ(OF_OUR_DEPENDENCIES)
    words = [sys.executable, "-m", *(word.format(file=tmp_path / "written.py") for word in FILE), "-s"]
    assert fork_server.may_fork(words, {}, given, CHECKOUT)
    command = fork_server.forked(words, given)
    with subprocess.Popen(
        command, cwd=CHECKOUT, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as asking:
        assert asking.stderr is not None
        assert asking.stderr.read(2) == b"up"
        asking.kill()
        assert asking.stderr.read() == b"", "it ends when the fork does, which had it as well"


def test_what_does_not_end_is_killed(tmp_path: Path) -> None:
    (tmp_path / "written.py").write_text(TEST.format(body="threading.Event().wait()"))
    words = [sys.executable, "-m", *(word.format(file=tmp_path / "written.py") for word in FILE)]
    for deadline_s in (1.0, 2.0):
        with pytest.raises(subprocess.TimeoutExpired):
            ran(tmp_path, words, deadline_s=deadline_s)
    assert ran(tmp_path, [sys.executable, "-m", "catalog", "check"]).status == 0, "the server forks on"


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "PYTHONOPTIMIZE", "LC_ALL", "LD_PRELOAD", "HOME"])
def test_what_is_read_at_the_start_needs_a_start(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "catalog", "check"]
    assert fork_server.may_fork(command, {}, child_environ({}), CHECKOUT)
    assert not fork_server.may_fork(command, {name: "0"}, child_environ({name: "0"}), CHECKOUT)
    monkeypatch.setenv(name, "0")
    assert not fork_server.may_fork(command, {}, child_environ({}), CHECKOUT)


def test_a_fork_finds_plugins_where_it_is_told(tmp_path: Path) -> None:
    told = "def pytest_configure():\n    import sys; print(sys.path, __name__)\n"
    (tmp_path / "a_plugin_of_ours.py").write_text(told)
    (tmp_path / "written.py").write_text(TEST.format(body="assert 'a_plugin_of_ours' in sys.modules"))
    forked, started = both((*FILE, "-p", "a_plugin_of_ours"), tmp_path, {"PYTHONPATH": str(tmp_path)})
    assert (forked.status, plain(forked.said)) == (0, plain(started.said))
    assert str(tmp_path) in forked.output


@pytest.mark.parametrize("name", ["sitecustomize.py", "probes/", "httpx.py", "json.cpython-311-x86_64-linux-gnu.so"])
def test_what_would_be_imported_in_the_place_of_another_module_needs_a_start(name: str, tmp_path: Path) -> None:
    given = {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "catalog", "check"]
    (tmp_path / "__pycache__").mkdir()
    assert fork_server.may_fork(command, given, child_environ(given), CHECKOUT)
    (tmp_path / name).mkdir() if name.endswith("/") else (tmp_path / name).touch()
    assert not fork_server.may_fork(command, given, child_environ(given), CHECKOUT)


def test_so_does_another_folder_interpreter_or_command(tmp_path: Path) -> None:
    environ = child_environ({})
    assert not fork_server.may_fork([sys.executable, "-m", "catalog"], {}, environ, tmp_path)
    assert not fork_server.may_fork(["python", "-m", "catalog"], {}, environ, CHECKOUT)
    assert not fork_server.may_fork([sys.executable, "-m", "mockserver"], {}, environ, CHECKOUT)
    assert not fork_server.may_fork([sys.executable, "-c", "catalog"], {}, environ, CHECKOUT)
    assert not fork_server.may_fork([sys.executable, "-m", "pytest"], {}, environ, CHECKOUT), "with any plugin"


PRELOADS = """
import os, sys

kept, read = type(os.environ), set()

class Noted(kept):
    def __getitem__(self, name):
        read.add(name)
        return super().__getitem__(name)

    def __iter__(self):
        read.add("all")
        return super().__iter__()

os.environ.__class__ = Noted
started = set(os.listdir("/proc/self/fd"))
from tests.harness import fork_server
fork_server.preload()
assert set(os.listdir("/proc/self/fd")) == started
assert len(os.listdir("/proc/self/task")) == 1
assert "grpc" not in sys.modules
assert not {"probes.suite.plugin", "conftest", "xdist"} & sys.modules.keys()
print(*(name for name in read if not name.startswith(fork_server.AT_START)))
"""


def test_python_is_the_one_that_runs_the_tests_also_where_no_environment_is_activated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\necho another\n")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    of_ours = ["python", "-c", "import sys; print(sys.executable)"]
    assert Path(ran(tmp_path, of_ours).output.strip()).samefile(sys.executable)
    assert ran(tmp_path, of_ours, {"PATH": str(tmp_path)}).output == "another\n", "a test's own is before ours"


def test_what_is_imported_beforehand_reads_nothing_of_a_command_and_starts_nothing(tmp_path: Path) -> None:
    done = ran(tmp_path, [sys.executable, "-c", PRELOADS])
    assert (done.status, done.output) == (0, "\n"), done.errors
