"""`catalog-probe nightly`: one whole night, or the workflow that runs a night on GitHub."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, read_run
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import USUAL_ADDRESS, selected_providers, stand_ins_by_real_name
from catalog_probe.catalog.model.errors import CatalogError, Exit, display_path, select_exit
from catalog_probe.catalog.text.readable_text import escape_hidden_in_json, sanitize_row
from catalog_probe.cli import parser, probe, target_commands
from catalog_probe.cli.parser import Parser
from catalog_probe.installation import is_installed
from catalog_probe.probes.plugin.options import parse_names
from catalog_probe.probes.targets import target_file
from catalog_probe.reports import news
from catalog_probe.reports.history import load_history

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.probes.targets.target import Provider

# The folder, below the current one, that an installed copy writes the records into, unless `--catalog` names another.
OWN_RECORDS = "catalog"

# Where a run keeps its news, beside its report.
NEWS_FILE = "news.json"

WORKFLOW = Path(".github", "workflows", "catalog-probe.yml")
_TEMPLATE = Path(__file__).with_name("nightly_github.yml")

_DESCRIPTION = """\
Run one night: remove what earlier nights left on the accounts, probe, write the
result into the records, and make the report and the news.

  PA_API_KEY=… catalog-probe nightly --provider pa
  catalog-probe nightly --catalog company          a provider folder of your own
  catalog-probe nightly -- --depth full -k 429     options of `catalog-probe probe`
  catalog-probe nightly --init github              write a workflow for GitHub

Installed, the records are copied into ./catalog and written there. Accepted
differences are read from ./divergences.json. Keep both, and reports/history.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a night or write the workflow, and return the exit status."""
    return parser.run(build_parser(), arguments, find_problem=parser.find_first_problem)


def build_parser() -> Parser:
    """Build the parser of the command."""
    command = Parser(prog="catalog-probe nightly", description=_DESCRIPTION)
    command.add_argument(
        "--provider", action="append", default=[], metavar="NAME", help="only this provider; may be repeated"
    )
    command.add_argument("--target", default="live", metavar="NAME_OR_TOML", help="whom to ask (default: live)")
    command.add_argument("--catalog", metavar="DIR", help="the folder of the records, or a provider folder")
    command.add_argument("--no-update", action="store_true", help="leave the records alone: another job writes them")
    command.add_argument(
        "--init", choices=("github",), help=f"write {WORKFLOW} for these providers, and ask nobody anything"
    )
    command.add_argument(
        "options", nargs="*", metavar="-- OPTION", help="options of `catalog-probe probe`, after two hyphens"
    )
    command.set_defaults(run_command=_run)
    return command


def _run(args: argparse.Namespace) -> int:
    if args.init:
        return _write_workflow(args)
    if not args.no_update and not args.catalog and is_installed():
        args.catalog = OWN_RECORDS
    return run_night(args)


def run_night(args: argparse.Namespace) -> int:
    """Run one night with the parsed arguments of `build_parser`, and return its exit status.

    What earlier nights left on an account counts like a drift (1): somebody has to look. A status that is no member of
    `Exit` is pytest's own, and is returned as it is.

    Raises:
        UserError: the target or a provider is not known. Nothing is removed then, and nobody is asked anything.
    """
    _select_providers(args)
    catalog = ["--catalog", args.catalog] if args.catalog else []
    # A folder that the first night makes has no records yet; no record is needed to remove what a journal names.
    known_catalog = catalog if args.catalog and provider_folders.locate(args.catalog).is_dir() else []
    _print_step("removing what earlier nights left")
    clean_up = target_commands.main(["cleanup", "--target", args.target, *known_catalog])

    _print_step("probing")
    names = [word for name in args.provider for word in ("--provider", name)]
    update = [] if args.no_update else ["--update"]
    before = _find_latest_run()
    probed = probe.main(["--target", args.target, *names, *catalog, *update, *args.options])

    latest = _find_latest_run()
    if latest is not None and latest != before:
        _write_news(latest)
    statuses = {int(clean_up), int(probed)}
    unknown = statuses - {int(status) for status in Exit}
    return unknown.pop() if unknown else select_exit({Exit(status) for status in statuses})


def _print_step(text: str) -> None:
    print(f"nightly: {text}", flush=True)  # pytest writes next, past the buffer of this stream


def _find_latest_run() -> Path | None:
    """Return the folder of the latest run that has results, or None before the first one."""
    files = provider_folders.runs_folder().glob(f"*/{RESULTS_FILE}")
    # `latest` is a link to one of them, and a run's name begins with its time.
    return max((file.parent for file in files if not file.parent.is_symlink()), default=None)


def _write_news(folder: Path) -> None:
    """Write what is new in a run beside its report, and print it as one sentence."""
    run, _ = read_run(folder / RESULTS_FILE)
    rows = earlier_runs.parse_history_lines(load_history(provider_folders.history_folder(), run.target))
    if run.run not in {row.run for row in rows}:  # it ended early, or was a part: no night compares itself with it
        _print_step("no news: this run did not ask all that it selects, so the history leaves it out")
        return
    content = news.build_news(run.target, rows, run.run)
    file = folder / NEWS_FILE
    file.write_text(f"{json.dumps(escape_hidden_in_json(content), ensure_ascii=False, indent=2)}\n", encoding="utf-8")
    print(sanitize_row(f"nightly: {content['text']}  [{display_path(file)}]"))


def _write_workflow(args: argparse.Namespace) -> int:
    """Write the workflow into the repository of the current folder.

    Raises:
        UserError: a provider is not known or has no key, or another workflow is in the file's place.
    """
    selected = _select_providers(args)
    text = render_workflow(args.target, args.catalog or "", list(selected.values()))
    if WORKFLOW.exists() and WORKFLOW.read_text(encoding="utf-8") != text:
        raise CatalogError("is there already and differs", "move it away, then write it again", file=WORKFLOW)
    WORKFLOW.parent.mkdir(parents=True, exist_ok=True)
    WORKFLOW.write_text(text, encoding="utf-8")
    print(f"{WORKFLOW} written for {', '.join(selected)}. Its first lines say which settings and secrets it needs.")
    return Exit.FINE


def _select_providers(args: argparse.Namespace) -> dict[str, Provider]:
    """Return the providers of a night, by name: those that are named, or all of the target or the provider folder.

    Raises:
        UserError: the target or a provider is not known, or the target has no provider of the folder.
    """
    provider_folders.use(provider_folders.locate(args.catalog) if args.catalog else None)
    target = target_file.load(args.target, {})
    known = tuple(name for name in selected_providers() if name in target.providers)
    if not known:
        what = f"target {args.target} has none of these providers: {', '.join(selected_providers())}"
        raise CatalogError(what, "name a target that has one: --target NAME_OR_TOML")
    names = parse_names("--provider", args.provider, known, stand_ins_by_real_name()) or known
    return {name: target.providers[name] for name in names}


def render_workflow(target: str, catalog: str, workflow_providers: Sequence[Provider]) -> str:
    """Return the text of the workflow: a job for each provider, and one that proposes what changed.

    `catalog` is the folder of the records in the repository, or empty for the shipped records, which are then copied
    into OWN_RECORDS.

    Raises:
        CatalogError: a provider's key is named by no variable.
    """
    template = _TEMPLATE.read_text(encoding="utf-8")
    head, job, tail = re.split(r"^ *# -- .*\n", template, flags=re.MULTILINE)
    keys = {provider.name: _find_key(provider, target) for provider in workflow_providers}
    # A provider of one's own has no default address.
    addresses = {provider.name: provider.variables.unset.get(USUAL_ADDRESS) for provider in workflow_providers}
    variables = [variable for variable in addresses.values() if variable is not None]
    options = ["--target", target] if target != "live" else []
    options += ["--catalog", catalog] if catalog else []
    values = {
        "VERSION": _find_version(),
        "SECRETS": ", ".join(keys.values()),
        "VARIABLES": f"; and these variables: {', '.join(variables)}" if variables else "",
        "RECORDS": shlex.quote(catalog or OWN_RECORDS),
        "JOBS": ", ".join(keys),
        "OPTIONS": "".join(f" {shlex.quote(word)}" for word in options),
    }
    jobs = [
        _fill(job, {**values, "PROVIDER": name, "ENVIRONMENT": _render_environment(key, addresses[name])})
        for name, key in keys.items()
    ]
    return _fill(head, values) + "".join(jobs) + _fill(tail, values)


def _render_environment(key: str, address: str | None) -> str:
    """Return the lines of a step's `env`: the secret, and the variable of an address without a default."""
    lines = [f"{key}: ${{{{ secrets.{key} }}}}"]
    if address is not None:
        lines.append(f"{address}: ${{{{ vars.{address} }}}}")
    return f"\n{' ' * 10}".join(lines)


def _find_key(provider: Provider, target: str) -> str:
    """Return the variable of the key that most records need: the one secret that a night cannot do without.

    Raises:
        CatalogError: the target names none.
    """
    credential = provider.credentials.get("inference")
    if credential is None or credential.variable is None:
        what = f"target {target} names no variable for the key of {provider.name}"
        raise CatalogError(what, f'write `inference = "env:{provider.name.upper()}_API_KEY"` into it')
    return credential.variable


def _find_version() -> str:
    """Return the pin of the installed release, `==0.2.0`; empty in a checkout without an install."""
    try:
        return f"=={version('catalog-probe')}"
    except PackageNotFoundError:
        return ""


def _fill(text: str, values: dict[str, str]) -> str:
    """Replace each `@NAME@` by its value. GitHub's own `${{ … }}` stays."""
    return re.sub("@([A-Z]+)@", lambda match: values[match[1]], text)
