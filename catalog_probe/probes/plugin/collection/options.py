"""What a run was asked for, each option held against the others, the catalog and the target before anything starts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.results import Invocation
from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.files.manifest import providers, selected_providers
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import KINDS, Address
from catalog_probe.catalog.model.errors import display_path, suggest_similar
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.probes.planning.plan import plan
from catalog_probe.probes.planning.rotation import Depth, Drawing, usual_depth
from catalog_probe.probes.planning.sharding import Shard, lead, share
from catalog_probe.probes.plugin.collection.options_table import UsageError, refuse_empty
from catalog_probe.probes.targets import revising
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.dialect import collect_renamings
from catalog_probe.probes.targets.target import Cost, Target
from catalog_probe.probes.traffic import sources

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from catalog_probe.catalog.writeback.accepted_differences import Entry
    from catalog_probe.probes.traffic.recording import Recording
    from catalog_probe.probes.traffic.traffic import Traffic

MOCK = "mock"
"""The target of who names none."""

LATEST = "latest"
"""The link to the last run, beside the runs."""

LOOKED_BACK = 30
"""Runs in which a cause is looked for."""


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
    accepted: tuple[Entry, ...] = ()
    """The accepted differences."""
    shard: Shard | None = None
    strict: bool = False
    """Whether what is pending fails the run."""
    expect_all: bool = False
    """Whether whatever could have a verdict must have one."""
    asked_again: frozenset[str] | None = None
    """The addresses of the records that the causes asked for made drift; None where no cause was."""
    depth: Depth = Depth.FULL
    revisions: Mapping[str, str] = field(default_factory=dict)
    """Provider -> the revision that was asked for in place of its usual one."""
    traffic: Traffic | None = None
    """What was recorded elsewhere and is judged instead of probing."""
    annotate: bool = False
    invocation: Invocation = field(default_factory=Invocation)

    @property
    def told_as(self) -> str:
        """What the run calls its target: under another revision it is another one, with a history of its own."""
        return "-".join([self.target.name, *(re.sub("[^A-Za-z0-9._-]", "-", each) for each in self.revisions.values())])

    @property
    def asked_under(self) -> dict[str, str]:
        """Provider -> the revision under which it is asked, of those where a header selects one."""
        if self.traffic is not None:  # each client asked as it did
            return {}
        under = {name: self.revisions.get(name, revising.usual(self.target.providers[name])) for name in self._here}
        return {name: value for name, value in under.items() if value}

    @property
    def _here(self) -> tuple[str, ...]:
        return tuple(name for name in self.providers if name in self.target.providers)

    @cached_property
    def planned(self) -> Target:
        """The target as plans see it: whatever can be found on its accounts is there."""
        return self.target.before_look_ups()

    @property
    def drawing(self) -> Drawing:
        """Which of a record's endpoints this run looks at."""
        return Drawing(self.depth, self.today)

    @property
    def pending_days(self) -> int:
        """Days from the first observation for which a drift that was never confirmed fails no run."""
        return 0 if self.strict else self.target.pending_days

    def selects(self, address: Address) -> bool:
        return self._asked_for(address) and (self.shard is None or str(address) in self._mine)

    @property
    def expected(self) -> tuple[str, ...]:
        """The selected providers that must have a verdict in this run; of several shards, each answers for its own."""
        if self.traffic is not None:  # it shows what a client did: what it did not do is not for it to show
            return ()
        wanted = self.target.providers if self.expect_all else self.target.expected
        names = [name for name in wanted if name in self.providers]
        return tuple(name for name in names if self.shard is None or self._answers_for(name))

    def _asked_for(self, address: Address) -> bool:
        if self.asked_again is not None and str(address) not in self.asked_again:
            return False
        return address.provider in self.providers and address.kind in self.kinds

    @cached_property
    def _all(self) -> tuple[str, ...]:
        return tuple(str(record.address) for record in self.catalog.records if self._asked_for(record.address))

    @cached_property
    def _mine(self) -> frozenset[str]:
        return share(self.shard, self._all, self.target) if self.shard else frozenset(self._all)

    def _answers_for(self, provider: str) -> bool:
        """Whether this shard has something of a provider to look at; where nobody has, one shard must say so."""
        own = [address for address in self._all if address.startswith(f"{provider}/")]
        probed = plan(self.catalog, self.planned, self.allow, own, self.drawing).probed
        return bool(own) and not self._mine.isdisjoint(probed or {lead(provider, own, self.target)})


def read(config: pytest.Config, environ: Mapping[str, str]) -> Options:
    """Check every option against the others, the catalog and the target, which may name variables of `environ`.

    Raises:
        UserError: with one line for the person who typed it.
    """
    refuse_empty(config)
    directory = config.getoption("--catalog")
    update, only_plan = bool(config.getoption("--update")), bool(config.getoption("--plan"))
    if directory and update and not only_plan:
        provider_folders.copy_shipped_records(paths.locate(directory))
    catalog = Catalog.load(*provider_folders.use_records(paths.locate(directory) if directory else None))
    named, recordings = config.getoption("--target"), _recordings(config)
    target = targets.load(named or MOCK, environ) if named or not recordings else sources.unknown_target()
    traffic = sources.make_traffic(recordings, catalog, target, of_target=bool(named)) if recordings else None
    accepted = accepted_differences.in_force()
    if update and not target.evidences:
        mend = f"only what was seen {'of a provider itself' if target.live else 'live'} goes into the records"
        raise UsageError(f"--update: target {target.name!r} is a {target.answered_by}", mend)
    for folder in catalog.roots if update else ():
        provider_folders.require_own(folder)
    chosen = _chosen("--provider", config.getoption("--provider"), providers(), target.stand_ins)
    today = _date(config.getoption("--today"))
    within = chosen or tuple(name for name in selected_providers() if name in target.providers)
    wanted = config.getoption("--revision")
    asked_for = revising.asked(target, wanted, within) if wanted else {}
    if asked_for:
        within = tuple(name for name in within if name in asked_for)
        if update:
            raise UsageError("--update: under another revision", "what is documented is asked under the usual one")
    out = paths.base_folder() / (config.getoption("--out") or paths.RUNS)
    return Options(
        catalog=catalog,
        target=revising.under(target, asked_for),
        providers=within,
        kinds=_chosen("--kind", config.getoption("--kind"), KINDS) or KINDS,
        allow=target.allow | {Cost(cost) for cost in _chosen("--allow", config.getoption("--allow"), tuple(Cost))},
        update=update,
        traffic=traffic,
        plan=only_plan,
        out=out,
        today=today,
        accepted=accepted,
        shard=_shard(config.getoption("--shard")),
        expect_all=bool(config.getoption("--expect-all")),
        depth=_depth(config.getoption("--depth"), target),
        asked_again=_drifting(config.getoption("--cause"), out),
        annotate=bool(config.getoption("--annotate")),
        invocation=_describe_invocation(config, target, asked_for),
        revisions=asked_for,
        strict=bool(config.getoption("strict", False)),  # pytest's own option, which stands for no leniency here too
    )


def _recordings(config: pytest.Config) -> tuple[Recording, ...]:
    """What was recorded elsewhere; nothing is read where nothing is named."""
    named = config.getoption("--traffic")
    if not named:
        return ()
    for option in ("--plan", "--shard", "--revision"):
        if config.getoption(option):
            raise UsageError(f"{option}: nothing is sent where traffic is judged", "leave one of the two out")
    from catalog_probe.probes.traffic.recording_files import (
        read_recordings as read_recordings,  # few runs read recordings
    )

    return read_recordings(map(paths.locate, named))


def _describe_invocation(config: pytest.Config, target: Target, revisions: Mapping[str, str]) -> Invocation:
    """What was said of places, as it was said, a mock's keys, and what a live provider really calls things."""
    return Invocation(
        target=config.getoption("--target") or "",
        catalog=config.getoption("--catalog") or "",
        out=config.getoption("--out") or "",
        embedded=target.embedded,
        keys=target.plain_keys,
        names=collect_renamings(target),
        traffic=tuple(map(str, config.getoption("--traffic"))),
        installed=paths.is_installed(),
        revision=" ".join(f"{name}:{value}" for name, value in revisions.items()),
    )


def _drifting(ids: list[str], out: Path) -> frozenset[str] | None:
    """The records that these causes made drift, each in the newest run that names it: asking again makes a run, too."""
    if not ids:
        return None
    from catalog_probe.catalog.evidence.causes import find_causes, is_cause_id  # only `--cause` looks back
    from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, read_run

    found: dict[str, tuple[str, ...]] = {}
    known: set[str] = set()
    for file in sorted(out.glob(f"*/{RESULTS_FILE}"), key=lambda path: path.parent.resolve().name, reverse=True)[
        :LOOKED_BACK
    ]:
        named = {each.id: each.records for each in find_causes(read_run(file)[1])}
        known |= named.keys()
        found |= {wanted: named[wanted] for wanted in ids if wanted in named and wanted not in found}
        if len(found) == len(set(ids)):
            break
    for wanted in ids:
        if wanted not in found:
            near, names = suggest_similar(wanted, known), "`catalog-probe report show` names those of a run"
            if not near and not is_cause_id(wanted):
                raise UsageError(f"--cause {wanted}: not the id of a cause, which reads like pa-3f2a9c01", names)
            raise UsageError(f"--cause {wanted}: no run in {display_path(out)} has this cause", near or names)
    return frozenset(record for records in found.values() for record in records)


def _shard(text: str | None) -> Shard | None:
    try:
        return Shard.parse(text) if text is not None else None
    except ValueError as error:
        raise UsageError(f"--shard {error}") from None


def _depth(text: str | None, target: Target) -> Depth:
    if text is None:
        return usual_depth(live=target.live)
    try:
        return Depth(text)
    except ValueError:
        raise UsageError(f"--depth {text}: unknown", f"choose from {', '.join(Depth)}") from None


def _chosen(
    option: str, given: list[str], known: tuple[str, ...], stand_ins: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The names that an option was given. `stand_ins` are other names for some, and None where there are never any."""
    aliases = stand_ins or {}
    names = [name.strip().lower() for text in given for name in text.split(",") if name.strip()]
    for name in names:
        if name not in (*known, *aliases):
            real_names = {stand_in: real_name for real_name, stand_in in aliases.items()}
            choices = ", ".join(f"{each} ({real_names[each]})" if each in real_names else each for each in known)
            mend = f"{suggest_similar(name, [*known, *aliases])} choose from {choices}".strip()
            if stand_ins == {}:
                mend += "; real names are taken where the target says them (`real_name`), as `--target live` does"
            raise UsageError(f"{option} {name}: unknown", mend)
    return tuple(dict.fromkeys(aliases.get(name, name) for name in names))


def _date(text: Any) -> date:
    if text is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--today {text}: not a date", "write it as 2026-01-31") from None
