"""The evidence that a record keeps, collected from the runs that observed it."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.evidence import causes
from catalog_probe.catalog.evidence.causes import ABSENT
from catalog_probe.catalog.evidence.results import RECORDED
from catalog_probe.catalog.evidence.retention import mask_volatile
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.assertion import AssertionKey, Basis
from catalog_probe.catalog.model.clock import format_utc
from catalog_probe.catalog.model.exchange import SUCCESS, UNJUDGED_LABELS, AnsweredBy
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.model.record import EVIDENCE_VERSION
from catalog_probe.catalog.observed import (
    ANOTHER_REVISION_PREFIX,
    EVIDENCE_FIELDS,
    Cell,
    LastSeen,
    ResolvedAssumption,
    cells_of,
    confirmation_fields,
    confirmed_keys,
    evidence_block,
    is_not_from_provider,
    is_opposite_outcome,
    join_differences,
    last_seen,
    parse_utc_instant,
    record_digest,
    resolved_assumptions,
    restricted_on,
    unconfirmed_since,
)
from catalog_probe.catalog.reading.expectations import answer_body, message_of, param_of
from catalog_probe.catalog.reading.rate_limits import rate_limits
from catalog_probe.catalog.text.readable_text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Exchange, Finding, Json, Record, Response
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.observed import Cells
    from catalog_probe.catalog.reading.expectations import Expected


_BLOCK_FIELDS = frozenset(
    "account_specific result verified_at target run observed_at seen headers tiers not_observed reason".split()
)
"""Fields that write-back puts into the block of a rate-limit record. The others were written by hand and stay."""

_DISTANT_PAST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A result and the run to which it belongs."""

    run: Run
    result: Result

    @property
    def day(self) -> date:
        """The date for the record: the run's day, so that a run past midnight has one date.

        Recorded traffic has the day of its recording.
        """
        if self.result.trigger == RECORDED:
            return self.at.date()
        return date.fromisoformat(self.run.today)

    @property
    def at(self) -> datetime:
        """The time of the observation, or a distant past if it cannot be parsed."""
        return parse_utc_instant(self.result.observed_at) or parse_utc_instant(self.run.started_at) or _DISTANT_PAST

    @property
    def target(self) -> str:
        """The name of the target, with a prefix such as `mock:` if the run is no evidence for the records."""
        name = self.run.target
        if self.run.speaks_of_providers or is_not_from_provider(name):
            return name
        answered_by = self.run.answered_by
        return f"{ANOTHER_REVISION_PREFIX if answered_by is AnsweredBy.PROVIDER else answered_by}:{name}"

    def is_older_than(self, last: LastSeen | None) -> bool:
        """Whether the record's last sighting is newer. A day without a time counts as the whole day."""
        if last is None or self.day > last.day:
            return False
        return self.day < last.day or (last.at is not None and self.at < last.at)


def add_evidence(
    record: Record, sighting: Sighting, differences: tuple[str, ...], extra: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the record's data with this sighting as the last. `extra` has the fields of this kind of record."""
    result, run = str(sighting.result.outcome), sighting.run.run
    at, day = format_utc(sighting.at), sighting.day.isoformat()
    data = dict(record.data)
    if record.kind == "errors":
        note = f"{result}, seen on {sighting.target} in run {run} at {at}"
        note += f": {join_differences(differences)}" if differences else ""
        data[EVIDENCE_FIELDS[record.kind]] = {"verified_at": day, **extra, "note": note}
        return data
    block: dict[str, Json] = {
        "result": result,
        "verified_at": day,
        "target": sighting.target,
        "run": run,
        "observed_at": at,
    }
    if differences:
        block["seen"] = list(differences)
    if record.kind == "rate_limits":
        by_hand = {key: value for key, value in evidence_block(record).items() if key not in _BLOCK_FIELDS}
        data[EVIDENCE_FIELDS[record.kind]] = {**by_hand, **block, **extra}
    else:
        data[EVIDENCE_FIELDS[record.kind]] = {**block, **extra}
    return data


def expire_evidence(record: Record, reason: str) -> dict[str, Json]:
    """Return the record's data with its evidence marked as expired. The date stays."""
    block = {key: value for key, value in evidence_block(record).items() if key != "seen"}
    block |= {"note": reason} if record.kind == "errors" else {"result": "expired", "reason": reason}
    return {**record.data, EVIDENCE_FIELDS[record.kind]: block}


MAX_DIFFERENCES = 5
MAX_EXAMPLE = 1_000  # characters of an example, as JSON: a record stays readable

_LIMIT_NAME = re.compile(r"limit")
_VOLATILE_LIMIT = re.compile(r"remaining|reset|used")


def find_judged_exchange(result: Result) -> Exchange | None:
    """Return the exchange that shows the record's behaviour, from the last attempt that has one."""
    is_endpoint = result.address.kind == "endpoints"
    for attempt in reversed(result.attempts):
        for exchange in attempt.exchanges:
            is_judged = exchange.label == SUCCESS if is_endpoint else exchange.label not in UNJUDGED_LABELS
            if is_judged and exchange.response is not None:
                return exchange
    return None


def extract_message(expected: Expected, response: Response) -> str | None:
    """Return the masked message of the documented answer; None if there is none."""
    message = message_of(expected, response)
    return mask_volatile(message) if message is not None and message.strip() else None


def extract_param(expected: Expected, response: Response) -> str | None:
    """Return the field that the answer names, if its envelope has one."""
    param = param_of(expected, response)
    return mask_volatile(param) if param is not None else None


def describe_endpoint(exchange: Exchange) -> str:
    """Return method and path of the request, with placeholders for ids."""
    return f"{exchange.request.method} {mask_volatile(urlsplit(exchange.request.url).path)}"


def extract_example(expected: Expected, response: Response) -> Json:
    """Return the JSON body of an answer with its texts masked; None if it has none, or one too long for a record."""
    body = _mask_texts(answer_body(expected, response))
    is_short = isinstance(body, dict | list) and len(json.dumps(body, ensure_ascii=False)) <= MAX_EXAMPLE
    return body if is_short else None


def shape_of(value: Json) -> Json:
    """Return the names and types of a JSON value without its values, to compare two bodies.

    Example: `{"error": {"code": 404, "message": "no such model"}}` -> `{"error": {"code": "int", "message": "str"}}`.
    """
    if isinstance(value, dict):
        return {name: shape_of(member) for name, member in value.items()}
    if isinstance(value, list):
        shapes = {json.dumps(shape_of(item), sort_keys=True) for item in value}
        return sorted(shapes)
    return type(value).__name__


def _mask_texts(value: Json) -> Json:
    """Mask ids, times and amounts in each text of a JSON value."""
    if isinstance(value, dict):
        return {name: _mask_texts(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_mask_texts(item) for item in value]
    return mask_volatile(value) if isinstance(value, str) else value


def collect_limits(result: Result) -> dict[str, Json]:
    """Return the limits of this account, without what remains of them."""
    limits: dict[str, str] = {}
    for exchange in _latest_exchanges(result):
        if exchange.response and (exchange.response.status or 0) < 400:
            limits = {**_find_limits(exchange.response.headers), **limits}
    tiers = rate_limits(result.parsed_record).matching_tiers(limits) if result.probed_record else []
    not_observed = {
        finding.label: str(finding.observed) for finding in result.findings if finding.code == FindingCode.NOT_OBSERVED
    }
    block: dict[str, Json] = {
        "headers": dict(sorted(limits.items())),
        "tiers": tiers,
        "not_observed": dict(sorted(not_observed.items())),
    }
    return {"account_specific": True, **{key: value for key, value in block.items() if value}}


def _latest_exchanges(result: Result) -> Iterator[Exchange]:
    """Yield the last judged exchanges of each label. Later attempts repeat only the labels without a verdict."""
    done_labels: set[str] = set()
    for attempt in reversed(result.attempts):
        exchanges = [ex for ex in attempt.exchanges if ex.label not in done_labels | UNJUDGED_LABELS]
        yield from exchanges
        done_labels.update(exchange.label for exchange in exchanges)


def _find_limits(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in headers.items() if _LIMIT_NAME.search(name) and not _VOLATILE_LIMIT.search(name)
    }


def describe_differences(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Describe each drift in words that are stable while it lasts; after the first few, add a digest of the others."""
    texts = sorted({_describe_difference(finding) for finding in findings})
    named, others = texts[:MAX_DIFFERENCES], texts[MAX_DIFFERENCES:]
    if not others:
        return tuple(named)
    digest = hashlib.sha256("\n".join(others).encode()).hexdigest()[:6]
    return (*named, f"and {len(others)} more ({digest})")


def _describe_difference(finding: Finding) -> str:
    """Return `answer retry-after malformed instead of seconds (header-malformed)`.

    This is not the wording of `Difference`: the record keeps it and compares it each night, so it has the observed
    class, and no value that varies.
    """
    place = " ".join(dict.fromkeys(filter(None, (finding.label, finding.location or str(finding.aspect)))))
    observed = _format_value(causes.observed_class(finding))
    return f"{place} {observed} instead of {_format_value(finding.documented)} ({finding.code})"


def _format_value(value: Json) -> str:
    text = mask_volatile(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True))
    return shorten(text, 80)


AS_ASSUMED = "as assumed"


@dataclass(frozen=True, slots=True)
class RecordEvidence:
    """The evidence of a record's assertions."""

    cells: dict[tuple[str, str], Cell]
    resolved: dict[str, ResolvedAssumption]
    confirmed: frozenset[str] = frozenset()
    """The keys of the assertions that a live run has confirmed."""
    unconfirmed: Mapping[str, date] = field(default_factory=dict)
    """First observation per key, for keys that no live run has confirmed."""
    restricted_on: date | None = None
    """The last day on which this account was refused, if it has had no answer since."""


def gather_evidence(record: Record, assertions: tuple[Assertion, ...], sightings: Iterable[Sighting]) -> RecordEvidence:
    """Merge the observations of these sightings, in order, into the record's evidence.

    Only verdicts leave evidence. Each cell keeps its newest observation, so an older run adds only what no other has.
    """
    recorded, last = cells_of(record, assertions), last_seen(record)
    cells, resolved = dict(recorded), resolved_assumptions(record, assertions)
    confirmed, unconfirmed = set(confirmed_keys(record, assertions)), unconfirmed_since(record, assertions)
    first_seen: dict[tuple[str, str], date] = {}
    refused_on, answered_on = restricted_on(record), last.day if last is not None else None
    for sighting in sightings:
        day = sighting.day
        if sighting.result.outcome is Outcome.RESTRICTED:
            refused_on = max(day, refused_on or day)
        if sighting.result.outcome not in (Outcome.CONFORMS, Outcome.DRIFTED):
            continue
        answered_on = max(day, answered_on or day)
        if sighting.run.speaks_of_providers:
            observations = sighting.result.observations
            mismatched = {f"{item.label}/{local_key}" for item in observations for local_key in item.mismatched}
            matched = {f"{item.label}/{local_key}" for item in observations for local_key in item.matched}
            confirmed |= matched - mismatched
            unconfirmed.update({key: min(day, unconfirmed.get(key, day)) for key in mismatched})
        # Days are kept without times. So on one day, an older sighting must not replace what the record has.
        newer_cells = recorded if sighting.is_older_than(last) else {}
        for observation in sighting.result.observations:
            endpoint = observation.endpoint or str(record.address)
            observed = {**dict.fromkeys(observation.matched, ""), **observation.mismatched}
            for local_key, mismatch in observed.items():
                key = f"{observation.label}/{local_key}"
                first_seen.setdefault((key, mismatch), day)
                if not _is_after(cells.get((endpoint, key)), day) and not _is_on_day(newer_cells, (endpoint, key), day):
                    cells[endpoint, key] = Cell(day, mismatch)
    cells_by_key = _observed_cells_by_key(cells)
    for assertion in assertions:
        if assertion.basis is Basis.ASSUMED:
            _resolve(resolved, assertion, cells_by_key.get(str(assertion.key), ()), first_seen)
    if refused_on is not None and answered_on is not None and refused_on <= answered_on:
        refused_on = None
    return RecordEvidence(cells, resolved, frozenset(confirmed), unconfirmed, refused_on)


def _is_after(cell: Cell | None, day: date) -> bool:
    return cell is not None and cell.on is not None and cell.on > day


def _is_on_day(cells: Cells, cell_key: tuple[str, str], day: date) -> bool:
    return cell_key in cells and cells[cell_key].on == day


def _observed_cells_by_key(cells: Cells) -> dict[str, list[Cell]]:
    """Return the observed cells of each assertion, sorted by endpoint address."""
    cells_by_key: dict[str, list[Cell]] = defaultdict(list)
    for (_, key), cell in sorted(cells.items(), key=itemgetter(0)):
        if cell.on is not None:
            cells_by_key[key].append(cell)
    return cells_by_key


def _resolve(
    resolved: dict[str, ResolvedAssumption],
    assumption: Assertion,
    observed: Sequence[Cell],
    first_seen: Mapping[tuple[str, str], date],
) -> None:
    """Resolve an assumption by the last observation of each endpoint.

    If some endpoints differ, the first by address counts. So neither the order of runs nor the endpoints that a night
    draws change the result. It is as assumed only if no endpoint differs. An assumption about a whole surface that
    holds is not written into each record. The day is the first on which the resolution is known.
    """
    if not observed:
        return
    key = str(assumption.key)
    before = resolved.pop(key, None)
    telling = [cell for cell in observed if not assumption.is_only_location_assumed or cell.mismatch in ("", ABSENT)]
    telling = [cell for cell in telling if not is_opposite_outcome(assumption, cell.mismatch)]
    if not telling:
        return
    differs = next((cell.mismatch for cell in telling if cell.mismatch), "")
    resolution = differs or AS_ASSUMED
    days = [cell.on for cell in telling if cell.on is not None and cell.mismatch == differs]
    if before is not None and before.observed == resolution:
        days.append(before.on)
    if differs or not assumption.from_envelope:
        resolved[key] = ResolvedAssumption(resolution, min([*days, first_seen.get((key, differs), days[0])]))


def format_evidence(
    record: Record, assertions: tuple[Assertion, ...], evidence: RecordEvidence, refresh_after: int
) -> dict[str, Json] | None:
    """Return the record's `evidence` block, or None without evidence.

    A line stays unchanged while it says the same and its date is at most `refresh_after` days old.
    """
    digest = record_digest(assertions)
    old = record.data.get("evidence")
    old_lines = old.get("endpoints", {}) if isinstance(old, dict) and old.get("statements") == digest else {}
    lines: dict[str, Json] = {}
    for endpoint, line in sorted(_format_lines(evidence.cells, [str(assertion.key) for assertion in assertions])):
        old_line = old_lines.get(endpoint)
        is_fresh = old_line is not None and _is_still_fresh(old_line, line, refresh_after)
        lines[endpoint] = old_line if is_fresh else line
    restriction = _format_restriction(old, evidence.restricted_on, refresh_after)
    if not lines and not evidence.resolved and not restriction:
        return None
    block: dict[str, Json] = {
        "schema_version": EVIDENCE_VERSION,
        "statements": digest,
        "endpoints": lines,
        **restriction,
        **confirmation_fields(assertions, evidence.confirmed, evidence.unconfirmed),
    }
    if evidence.resolved:
        block["resolved"] = {
            key: {"observed": resolved.observed, "on": resolved.on.isoformat()}
            for key, resolved in sorted(evidence.resolved.items())
        }
    return block


def _format_restriction(old: Json, on: date | None, refresh_after: int) -> dict[str, Json]:
    """Return the field with the day of the last refusal; a written day stays while it is fresh."""
    if on is None:
        return {}
    before = old.get("restricted_on") if isinstance(old, dict) else None
    is_fresh = before is not None and (on - date.fromisoformat(before)).days <= refresh_after
    return {"restricted_on": before if is_fresh else on.isoformat()}


def _format_lines(cells: Mapping[tuple[str, str], Cell], keys: list[str]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield each observed endpoint with its line."""
    by_endpoint: dict[str, dict[str, Cell]] = defaultdict(dict)
    for (endpoint, key), cell in cells.items():
        by_endpoint[endpoint][key] = cell
    for endpoint, own in by_endpoint.items():
        days = [cell.on for cell in own.values() if cell.on is not None]
        if not days:
            continue
        on = max(days)
        mismatched = {key: own[key].mismatch for key in keys if key in own and own[key].mismatch}
        not_observed = {key: _format_day(own.get(key)) for key in keys if key not in own or own[key].on != on}
        line: dict[str, Json] = {"on": on.isoformat()}
        if mismatched:
            line["mismatched"] = mismatched
        if not_observed:
            line["not_observed"] = _shorten_by_label(not_observed, keys)
        yield endpoint, line


def _shorten_by_label(not_observed: dict[str, Json], keys: list[str]) -> dict[str, Json]:
    """Shorten: a label that was never observed is one entry, `label/*`."""
    labels: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        labels[AssertionKey.parse(key).label].append(key)
    shortened: dict[str, Json] = {}
    for label, label_keys in labels.items():
        if all(key in not_observed and not_observed[key] is None for key in label_keys):
            shortened[f"{label}/*"] = None
        else:
            shortened.update({key: not_observed[key] for key in label_keys if key in not_observed})
    return shortened


def _is_still_fresh(old: Mapping[str, Json], new: Mapping[str, Json], refresh_after: int) -> bool:
    """Whether two lines differ only in dates, and each old date is fresh enough to stay."""
    if old.get("mismatched") != new.get("mismatched"):
        return False
    old_days, new_days = old.get("not_observed") or {}, new.get("not_observed") or {}
    never_observed = {key for key, day in old_days.items() if day is None}
    if never_observed != {key for key, day in new_days.items() if day is None}:
        return False
    keys = (old_days.keys() | new_days.keys()) - never_observed
    days = [(old["on"], new["on"]), *((old_days.get(key, old["on"]), new_days.get(key, new["on"])) for key in keys)]
    return all(
        (date.fromisoformat(new_day) - date.fromisoformat(old_day)).days <= refresh_after for old_day, new_day in days
    )


def _format_day(cell: Cell | None) -> str | None:
    return cell.on.isoformat() if cell is not None and cell.on is not None else None
