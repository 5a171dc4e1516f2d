"""The options of probes: declared, checked, and read before anything starts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from catalog_probe.catalog.evidence.results import Invocation
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers, selected_providers, stand_ins_by_real_name, with_stand_in
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import KINDS, Address
from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH, UserError, display_path, suggest_similar
from catalog_probe.catalog.search import find_unmatched_term, keywords_for_k, list_requests, parse_query, suggest_path
from catalog_probe.catalog.text.readable_text import sanitize_line
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.installation import is_installed
from catalog_probe.probes.planning.plan import Depth, Rotation, default_depth, make_plan
from catalog_probe.probes.planning.sharding import Shard, lead_address, select_addresses
from catalog_probe.probes.targets import target_file
from catalog_probe.probes.targets.dialect import collect_renamings
from catalog_probe.probes.targets.target import Cost, Target, select_revisions, usual_revision, with_revisions
from catalog_probe.probes.traffic import sources
from catalog_probe.reports.content.commands import build_nodeid
from catalog_probe.reports.views.ci_annotations import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pytest

    from catalog_probe.catalog.writeback.accepted_differences import AcceptedDifference
    from catalog_probe.probes.traffic.recordings import Recording
    from catalog_probe.probes.traffic.traffic import Traffic


# The folder of the probes.
PROBES = provider_folders.shipped_folder("probes")


class UsageError(UserError):
    """The command line cannot be used: one line saying why, and what to do."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option, for the parsers of pytest and of argparse."""

    flag: str
    help: str
    action: Literal["store", "store_true", "append", "extend"] = "store"
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    nargs: Literal["+"] | None = None

    @property
    def name(self) -> str:
        """The name under which pytest keeps its value."""
        return self.flag.removeprefix("--").replace("-", "_")

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of `addoption` and `add_argument` besides the flag."""
        default: list[str] | bool | None = []
        if self.action in ("store", "store_true"):
            default = False if self.action == "store_true" else None
        optional = {"metavar": self.metavar, "choices": self.choices, "nargs": self.nargs}
        settings = {name: value for name, value in optional.items() if value is not None}
        return {"help": self.help, "action": self.action, "default": default, **settings}


def list_options() -> tuple[Option, ...]:
    """Return the options of `pytest probes` and `catalog-probe probe`."""
    return (
        Option(
            "--target",
            "where to probe: a shipped target (mock, live) or the path of a TOML file; default: the embedded mock",
            metavar="NAME_OR_TOML",
        ),
        Option(
            "--provider",
            f"only this provider ({', '.join(providers())}); may be given again, or several with commas",
            action="append",
            metavar="NAME",
        ),
        Option(
            "--kind",
            f"only this kind of record ({', '.join(KINDS)}); may be given again",
            action="append",
            metavar="KIND",
        ),
        Option(
            "--allow",
            f"also send probes of these cost classes ({', '.join(Cost)}); default: what the target allows",
            action="append",
            metavar="COSTS",
        ),
        Option("--update", "write what was seen back into the records (live targets)", action="store_true"),
        Option(
            "--shard",
            "only this share of the lanes, as 2/3; with the same other options the shards make up the whole",
            metavar="I/N",
        ),
        Option(
            "--expect-all",
            "any selected record without a verdict makes the run blind (exit 10), unless its cost is not allowed",
            action="store_true",
        ),
        Option(
            "--depth",
            "on which of its endpoints an error is probed: quick (the first), rotate (also tonight's share of the "
            "others: all of them in four weeks) or full (all); default: rotate at a provider, else full",
            metavar="DEPTH",
        ),
        Option(
            "--revision",
            "ask for this revision in place of the usual one, and only of the providers that have it: VALUE or "
            "PROVIDER:VALUE; may be given again. Nothing of such a run goes into the records",
            action="append",
            metavar="REVISION",
        ),
        Option(
            "--cause",
            "only the records that a cause made drift, by its id in a report (pa-3f2a9c01); may be given again",
            action="append",
            metavar="ID",
        ),
        Option(
            "--traffic",
            "send nothing, and judge recorded exchanges: a HAR, JSON lines of exchanges, the folder of a run, or a "
            "folder of such; with --target, only exchanges with that target",
            action="extend",
            nargs="+",
            metavar="FILE",
        ),
        Option(
            "--upstream",
            "start the mock on this port, as the upstream of a compatible server that is configured so, and send the "
            "faults of an upstream through the server",
            metavar="PORT",
        ),
        Option(
            "--annotate",
            "also print what fails the run as annotations of this CI system, one for each cause",
            choices=FORMATS,
        ),
        Option("--plan", "print what would be sent, with upper bounds, and send nothing", action="store_true"),
        Option(
            "--catalog",
            "probe the records of this folder; also a provider folder, with recipes and targets beside its records",
            metavar="DIR",
        ),
        Option("--out", f"leave runs in this folder; default: {provider_folders.RUNS}", metavar="DIR"),
        Option("--today", "the observed date to write, as 2026-01-31", metavar="DATE"),
    )


def add_options(parser: pytest.Parser) -> None:
    """Declare the options to pytest."""
    group = parser.getgroup("catalog probe", "probing providers against the catalog (only with `pytest probes`)")
    for option in list_options():
        group.addoption(option.flag, **option.settings)


def refuse_without_probes(config: pytest.Config) -> None:
    """Refuse our options if no probe is selected: pytest would ignore them.

    Raises:
        UsageError: an option was given.
    """
    # `--traffic` takes several values, and so also the folder of probes if that comes after it.
    for recording in config.getoption("traffic"):
        if Path(recording).resolve() == PROBES:
            raise UsageError(f"--traffic takes {recording} for a recording", "write `pytest probes --traffic FILE…`")
    flags = [option.flag for option in list_options() if config.getoption(option.name)]
    if flags:
        raise UsageError(f"{flags[0]} is an option of probes only", f"write `pytest probes {' '.join(flags)} …`")


def refuse_empty_values(config: pytest.Config) -> None:
    """Refuse an empty value.

    A script's unset variable must not mean "all" or "the mock".
    """
    for option in list_options():
        value = config.getoption(option.name)
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and not text.strip(" ,"):
                raise UsageError(f"{option.flag}: its value is empty", "give one, or leave the option out")


_RECORD_NODEID = re.compile(r"(?P<test>[^\[]*::[^\[]*)\[(?P<record>[^\]]*)\]?$")
_WORD = re.compile(r"[\w./:-]+")
_OPERATORS = frozenset({"and", "or", "not"})
_PYTEST_WORD = re.compile(r"[\w:+.\[\]\\/-]+")  # what pytest takes for a word of an expression
_SEARCH_ADVICE = "`catalog-probe catalog find WORDS` looks through all that records say"


def require_records(arguments: Iterable[str], catalog: Catalog) -> None:
    """Refuse a node id without a record, or of another test than the record's.

    Raises:
        UsageError: with the nearest address, or with the right node id.
    """
    addresses = {str(record.address): record.address for record in catalog.records}
    for argument in arguments:
        match = _RECORD_NODEID.match(argument)
        if match is None:
            continue
        address = addresses.get(match["record"])
        if address is None:
            advice = suggest_similar(with_stand_in(match["record"]), addresses) or _SEARCH_ADVICE
            raise UsageError(f"{argument}: no record {match['record']!r}", advice)
        file, _, test = match["test"].partition("::")
        if f"{Path(file).name}::{test}" != build_nodeid(address).partition("[")[0].removeprefix("probes/"):
            raise UsageError(f"{argument}: not the probe of this record", f"write `pytest '{build_nodeid(address)}'`")


def refuse_addresses(arguments: Iterable[str], start: Path) -> None:
    """Refuse an address where pytest expects a file; reads no record.

    Raises:
        UsageError: with the option that selects just this.
    """
    first_parts = (*providers(), *stand_ins_by_real_name(), *KINDS)
    for argument in arguments:
        parts = argument.strip("/").lower().split("/")
        if parts[0] not in first_parts or (start / argument).exists():
            continue
        if parts[0] in KINDS:
            advice = f"write `--kind {parts[0]}`"
        elif len(parts) == 1:
            advice = f"write `--provider {parts[0]}`"
        else:
            advice = f"write `-k {'/'.join(parts)}`"
        raise UsageError(
            f"{sanitize_line(argument, MAX_MESSAGE_LENGTH)}: not a file, but the address of records", advice
        )


def is_query(expression: str) -> bool:
    """Whether the value of `-k` is a query, as `catalog-probe catalog find` takes it, and no expression of pytest.

    An expression is one word, or several with `and`, `or`, `not` or brackets. Example: `404 and pa` is an expression;
    `retry:no /v1/messages` is a query, because pytest could not read it.
    """
    words = expression.split()
    if not words or not _OPERATORS.isdisjoint(words) or not {"(", ")"}.isdisjoint(expression):
        return False
    return len(words) > 1 or _PYTEST_WORD.fullmatch(words[0]) is None


def explain_empty_query(query: str, catalog: Catalog) -> str:
    """Return which part of a query no record has, and the nearest that one has."""
    unmatched = find_unmatched_term(query, catalog.records)
    if unmatched is None:
        return f"-k '{query}': no record fits; ask for less"
    term, suggestion = unmatched
    return f"-k {term}: no record has it; {suggestion or _SEARCH_ADVICE}"


def list_unknown_words(expression: str, catalog: Catalog) -> list[str]:
    """Return a line for each word of a `-k` expression that no record has."""
    keywords: set[str] = set()
    addresses: set[str] = set()
    requests = list_requests(catalog.records)
    for record in catalog.records:
        address = str(record.address)
        addresses.add(address)
        parts = address.split("/")
        keywords.update(keywords_for_k(record, requests), parts, ("/".join(parts[:depth]) for depth in (2, 3)))
    searched = {keyword.lower() for keyword in keywords} | addresses
    words = [word for word in _WORD.findall(expression) if word not in _OPERATORS]
    unknown = [word for word in dict.fromkeys(words) if not any(word.lower() in text for text in searched)]
    suggestions = (
        suggest_path(word, requests.values()) if word.startswith("/") else suggest_similar(word, keywords)
        for word in unknown
    )
    return [
        f"-k {word}: no record has it; {suggestion or _SEARCH_ADVICE}"
        for word, suggestion in zip(unknown, suggestions, strict=True)
    ]


DEFAULT_TARGET = "mock"

# Runs in which a cause is looked for, from the newest.
MAX_SEARCHED_RUNS = 30


@dataclass(frozen=True)
class Options:
    """What this run was asked for, validated."""

    catalog: Catalog
    target: Target
    providers: tuple[str, ...]
    kinds: tuple[str, ...]
    allow: frozenset[Cost]
    update: bool
    plan: bool
    out: Path
    today: date
    accepted: tuple[AcceptedDifference, ...] = ()
    """The accepted differences."""
    shard: Shard | None = None
    strict: bool = False
    """Whether pending drift fails the run."""
    expect_all: bool = False
    """Whether every record that could have a verdict must have one."""
    cause_records: frozenset[str] | None = None
    """The addresses of the records that the causes of `--cause` made drift; None without that option."""
    depth: Depth = Depth.FULL
    revisions: Mapping[str, str] = field(default_factory=dict)
    """Provider -> the revision that was asked for in place of its usual one."""
    traffic: Traffic | None = None
    """Recorded exchanges that are judged instead of probing."""
    annotate: bool = False
    query: str = ""
    """The query of `-k`; empty if that is an expression of pytest, which pytest itself applies."""
    invocation: Invocation = field(default_factory=Invocation)

    @property
    def target_label(self) -> str:
        """The target's name in this run. Another revision changes every answer, so it has another history."""
        revisions = (re.sub("[^A-Za-z0-9._-]", "-", revision) for revision in self.revisions.values())
        return "-".join([self.target.name, *revisions])

    @property
    def revisions_in_use(self) -> dict[str, str]:
        """Provider -> revision that a request header selects."""
        if self.traffic is not None:  # each client chose its own
            return {}
        revisions = {
            name: self.revisions.get(name, usual_revision(self.target.providers[name]))
            for name in self.providers
            if name in self.target.providers
        }
        return {name: revision for name, revision in revisions.items() if revision}

    @property
    def history_folder(self) -> Path:
        """Where earlier runs are; the committed folder only for usual live runs."""
        is_committed = self.target.live and self.out.resolve() == provider_folders.runs_folder().resolve()
        return provider_folders.history_folder() if is_committed else self.out / "history"

    @cached_property
    def planned_target(self) -> Target:
        """The target with every value that can be looked up on an account."""
        return self.target.with_placeholder_values()

    @property
    def drawing(self) -> Rotation:
        """Which of a record's endpoints this run asks."""
        return Rotation(self.depth, self.today)

    @property
    def pending_days(self) -> int:
        """Days from its first observation for which unconfirmed drift is pending."""
        return 0 if self.strict else self.target.pending_days

    @property
    def expected_providers(self) -> tuple[str, ...]:
        """The providers that must have a verdict; a shard answers only for its own."""
        if self.traffic is not None:  # it shows what a client did, and cannot show more
            return ()
        expected = self.target.providers if self.expect_all else self.target.expected_providers
        names = [name for name in expected if name in self.providers]
        return tuple(name for name in names if self.shard is None or self._answers_for(name))

    def selects(self, address: Address) -> bool:
        """Whether this run, or its shard, probes a record."""
        return self._matches(address) and (self.shard is None or str(address) in self._shard_addresses)

    def _matches(self, address: Address) -> bool:
        """Whether a record matches the options, in whatever shard it is."""
        if self.cause_records is not None and str(address) not in self.cause_records:
            return False
        if self.traffic is not None and address.provider not in self.traffic.providers:
            return False
        return address.provider in self.providers and address.kind in self.kinds

    @cached_property
    def _matching_addresses(self) -> tuple[str, ...]:
        return tuple(str(record.address) for record in self.catalog.records if self._matches(record.address))

    @cached_property
    def _shard_addresses(self) -> frozenset[str]:
        addresses = self._matching_addresses
        return select_addresses(self.shard, addresses, self.target) if self.shard else frozenset(addresses)

    def _answers_for(self, provider: str) -> bool:
        """Whether this shard answers for a provider.

        It does if it probes something of it. If no shard does, one of them must say so.
        """
        own = [address for address in self._matching_addresses if address.startswith(f"{provider}/")]
        probed = make_plan(self.catalog, self.planned_target, self.allow, own, self.drawing).probed
        return bool(own) and not self._shard_addresses.isdisjoint(probed or {lead_address(provider, own, self.target)})


def read_options(config: pytest.Config, environ: Mapping[str, str]) -> Options:
    """Read every option, and check it against the others, catalog and target.

    The target may name variables of `environ`.

    Raises:
        UserError: with one line for the person who typed it.
    """
    refuse_empty_values(config)
    directory = config.getoption("--catalog")
    update, only_plan = bool(config.getoption("--update")), bool(config.getoption("--plan"))
    if directory and update and not only_plan:
        provider_folders.copy_shipped_records(provider_folders.locate(directory))
    catalog = Catalog.load(*provider_folders.use_records(provider_folders.locate(directory) if directory else None))
    target_name, recordings = config.getoption("--target"), _read_recordings(config)
    if target_name or not recordings:
        target = target_file.load(target_name or DEFAULT_TARGET, environ)
    else:
        target = sources.unknown_target()
    target = _add_upstream(target, config.getoption("--upstream"))
    traffic = sources.make_traffic(recordings, catalog, target, of_target=bool(target_name)) if recordings else None
    accepted = accepted_differences.load_entries_in_force()
    if update and not target.can_write_evidence:
        mend = f"only what was seen {'of a provider itself' if target.live else 'live'} goes into the records"
        raise UsageError(f"--update: target {target.name!r} is a {target.answered_by}", mend)
    for folder in catalog.roots if update else ():
        provider_folders.require_own(folder)
    selected = parse_names("--provider", config.getoption("--provider"), providers(), stand_ins_by_real_name())
    selected = selected or tuple(name for name in selected_providers() if name in target.providers)
    revision_texts = config.getoption("--revision")
    revisions = select_revisions(target, revision_texts, selected) if revision_texts else {}
    if revisions:
        selected = tuple(name for name in selected if name in revisions)
        if update:
            raise UsageError(
                "--update: not with --revision", "the records are about the usual revision; leave one of the two out"
            )
    out = provider_folders.base_folder() / (config.getoption("--out") or provider_folders.RUNS)
    costs = parse_names("--allow", config.getoption("--allow"), tuple(Cost))
    return Options(
        catalog=catalog,
        target=with_revisions(target, revisions),
        providers=selected,
        kinds=parse_names("--kind", config.getoption("--kind"), KINDS) or KINDS,
        allow=target.allow | {Cost(cost) for cost in costs},
        update=update,
        traffic=traffic,
        plan=only_plan,
        out=out,
        today=_parse_date(config.getoption("--today")),
        accepted=accepted,
        shard=_parse_shard(config.getoption("--shard")),
        expect_all=bool(config.getoption("--expect-all")),
        depth=_parse_depth(config.getoption("--depth"), target),
        cause_records=_find_cause_records(config.getoption("--cause"), out),
        annotate=bool(config.getoption("--annotate")),
        query=_read_query(config),
        invocation=_describe_invocation(config, target, revisions),
        revisions=revisions,
        strict=bool(config.getoption("strict", False)),  # pytest's own option, which means no leniency here as well
    )


def _read_query(config: pytest.Config) -> str:
    """Take a query from `-k`, so that pytest does not read it as an expression; a worker of xdist gets it as option."""
    keyword: str = config.getoption("keyword") or ""
    if is_query(keyword):
        parse_query(keyword)
        config.option.record_query, config.option.keyword = keyword, ""
    return getattr(config.option, "record_query", "")


def _read_recordings(config: pytest.Config) -> tuple[Recording, ...]:
    """Read the recordings that `--traffic` names."""
    files = config.getoption("--traffic")
    if not files:
        return ()
    for option in ("--plan", "--shard", "--revision", "--upstream"):
        if config.getoption(option):
            raise UsageError(f"{option}: nothing is sent where traffic is judged", "leave one of the two out")
    from catalog_probe.probes.traffic.recordings import read_recordings  # few runs need it

    return read_recordings(map(provider_folders.locate, files))


def _add_upstream(target: Target, port: str | None) -> Target:
    """Return the target with the mock of `--upstream` behind it."""
    if port is None:
        return target
    if not target.is_compatible:
        raise UsageError(f"--upstream: target {target.name!r} is a {target.answered_by}", "add --target compatible")
    if not (port.isdecimal() and 0 < int(port) < 65536):
        raise UsageError(f"--upstream {port}: no port", "write one as 8000, and configure it in your server")
    return replace(target, upstream=f"http://127.0.0.1:{port}")


def _describe_invocation(config: pytest.Config, target: Target, revisions: Mapping[str, str]) -> Invocation:
    """Return the options as typed, the keys of a mock that outlives the run, and a provider's real names."""
    is_embedded = target.needs_embedded_mock and not config.getoption("--traffic")
    return Invocation(
        target=config.getoption("--target") or "",
        catalog=config.getoption("--catalog") or "",
        out=config.getoption("--out") or "",
        embedded=is_embedded,
        keys={} if target.needs_embedded_mock else target.literal_keys,
        names=collect_renamings(target),
        traffic=tuple(map(str, config.getoption("--traffic"))),
        installed=is_installed(),
        revision=" ".join(f"{name}:{value}" for name, value in revisions.items()),
    )


def _find_cause_records(cause_ids: list[str], out: Path) -> frozenset[str] | None:
    """Return the records of these causes, each from the newest run with it.

    The newest run may be one that asked for another cause, so earlier ones are searched as well.
    """
    if not cause_ids:
        return None
    from catalog_probe.catalog.evidence.causes import (
        find_causes,  # only `--cause` reads earlier runs
        is_cause_id,
    )
    from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, read_run

    files = sorted(out.glob(f"*/{RESULTS_FILE}"), key=lambda path: path.parent.resolve().name, reverse=True)
    records_by_cause: dict[str, tuple[str, ...]] = {}
    for file in files[:MAX_SEARCHED_RUNS]:
        for cause in find_causes(read_run(file)[1]):
            records_by_cause.setdefault(cause.id, cause.records)
        if records_by_cause.keys() >= set(cause_ids):
            break
    for cause_id in cause_ids:
        if cause_id not in records_by_cause:
            advice = "`catalog-probe report show` names those of a run"
            similar = suggest_similar(cause_id, records_by_cause)
            if not similar and not is_cause_id(cause_id):
                raise UsageError(f"--cause {cause_id}: not the id of a cause, which reads like pa-3f2a9c01", advice)
            raise UsageError(f"--cause {cause_id}: no run in {display_path(out)} has this cause", similar or advice)
    return frozenset(record for cause_id in cause_ids for record in records_by_cause[cause_id])


def _parse_shard(text: str | None) -> Shard | None:
    try:
        return Shard.parse(text) if text is not None else None
    except ValueError as error:
        raise UsageError(f"--shard {error}") from None


def _parse_depth(text: str | None, target: Target) -> Depth:
    if text is None:
        return default_depth(target)
    try:
        return Depth(text)
    except ValueError:
        raise UsageError(f"--depth {text}: unknown", f"choose from {', '.join(Depth)}") from None


def parse_names(
    option: str, texts: list[str], known: tuple[str, ...], aliases: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, ...]:
    """Return the names that an option was given.

    `aliases` maps other names to these, for instance `openai` to `pc`.
    """
    names = [name.strip().lower() for text in texts for name in text.split(",") if name.strip()]
    for name in names:
        if name not in (*known, *aliases):
            real_names = {stand_in: real_name for real_name, stand_in in aliases.items()}
            choices = ", ".join(f"{name} ({real_names[name]})" if name in real_names else name for name in known)
            mend = f"{suggest_similar(name, [*known, *aliases])} choose from {choices}".strip()
            raise UsageError(f"{option} {name}: unknown", mend)
    return tuple(dict.fromkeys(aliases.get(name, name) for name in names))


def _parse_date(text: str | None) -> date:
    if text is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--today {text}: not a date", "write it as 2026-01-31") from None
