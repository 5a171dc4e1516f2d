"""The catalog as data that other projects depend on: `catalog-probe catalog export data DIR`.

    v1/meta.json        when a live night last confirmed something, and of which release the data is
    v1/errors.json      each error: how it is recognized, and whether and when the request may be sent again
    v1/endpoints.json   each endpoint, with the errors that may occur on it
    v1/limits.json      the rate limits of each provider
    v1/vectors.jsonl    answers with the right identification and advice, by which a port proves itself
    v1/*.schema.json    the schema of each

This is a contract: an id never moves, and no path or member changes within `v1`. A record that gets another address
keeps its earlier one in ALIASES.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe import installation
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.model.assertion import REQUEST_LABEL, Basis
from catalog_probe.catalog.observed import seen_on
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.record_fields import (
    at_the_limit,
    claimed_endpoints,
    description,
    documented_limits,
    meaning,
    request_line,
    retry_advice,
)
from catalog_probe.catalog.recognition.advice import LONG, May, advise_for_record
from catalog_probe.catalog.recognition.answer_patterns import compile_patterns
from catalog_probe.catalog.recognition.identify import find_record_group

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping
    from pathlib import Path

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.recognition.advice import Advice
    from catalog_probe.catalog.recognition.answer_patterns import AnswerPattern

VERSION = "v1"
"""The folder of all files. A change that breaks a reader makes the next one, beside this one."""

COMMITTED = SHIPPED.path / "published" / VERSION
"""The schemas and vectors, which are written by hand."""

ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType({})
"""Address of a record -> its earlier addresses, which stay valid. None has moved yet."""

NOT_LIVE = "not yet verified live"


def build_files(catalog: Catalog) -> dict[str, Json]:
    """Build the content of each JSON file, by its name."""
    entries: dict[str, list[Json]] = {
        "errors": [build_error(record, catalog) for record in _select(catalog, "errors")],
        "endpoints": build_endpoints(catalog),
        "limits": [build_limits(record) for record in _select(catalog, "rate_limits")],
    }
    files = {f"{name}.json": {"$schema": f"{name}.schema.json", name: listed} for name, listed in entries.items()}
    return {"meta.json": build_meta(catalog), **files}


def write_files(catalog: Catalog, folder: Path) -> Path:
    """Write all files into a folder below this one, and return it."""
    target = folder / VERSION
    target.mkdir(parents=True, exist_ok=True)
    for name, content in build_files(catalog).items():
        text = json.dumps(content, indent=1)
        (target / name).write_text(f"{text}\n", encoding="utf-8")
    for path in COMMITTED.iterdir():
        shutil.copyfile(path, target / path.name)
    return target


def build_meta(catalog: Catalog) -> Json:
    """Say how far the data can be trusted, and where it is from."""
    days = [day for record in catalog.records if (day := seen_on(record)) is not None]
    return {
        "live": str(max(days)) if days else NOT_LIVE,
        "version": _package_version(),
        "commit": _commit(),
        "data": VERSION,
    }


def _package_version() -> str | None:
    try:
        return version("catalog-probe")
    except PackageNotFoundError:  # a checkout without an install
        return None


def _commit() -> str | None:
    """Return the commit of the checkout; None in an installed copy, whose version says as much."""
    if installation.is_installed():
        return None
    command = ["git", "-C", str(installation.CHECKOUT), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):  # no git here, or a copy without its history
        return None
    return done.stdout.strip()


def build_error(record: Record, catalog: Catalog) -> Json:
    """Describe an error for a client: how it is recognized, and what to do."""
    advice = advise_for_record(record)
    return {
        **_build_head(record),
        "meaning": meaning(record) or None,
        "endpoints": sorted(claimed_endpoints(record)),
        "surface": record.surface,
        "match": [match for match in map(build_match, compile_patterns([record])) if _has_statement(match)],
        "kind": find_record_group(record) or None,
        "retry": {"may": advice.may, "condition": advice.condition or None},
        "wait": _build_wait(advice),
        "until": _build_stated(advice.until, advice.until_source),
        "recover": _build_stated(list(advice.recover), advice.recover_source),
        "replay_safe": _build_stated(advice.replay_safe, advice.replay_safe_source),
        "action": {"text": advice.change, "source": advice.change_source or None} if advice.change else None,
        "basis": _build_basis(record, catalog),
        **_build_evidence(record),
    }


def build_match(pattern: AnswerPattern) -> Json:
    """Describe one documented answer: where a client finds each aspect, and which values conform."""
    places = pattern.shape.wire
    return {
        "protocol": pattern.protocol,
        "body": pattern.shape.body,
        "status": sorted(pattern.statuses),
        "status_class": pattern.hundreds,
        **{
            aspect: {"at": places[aspect], "values": list(pattern.wire[aspect])} if aspect in pattern.wire else None
            for aspect in ("type", "code", "param")
        },
        "values": [{"at": pointer, "values": list(values)} for pointer, values in pattern.constants.items()],
        "headers": {name: {"rule": rule.rule, "value": rule.value or None} for name, rule in pattern.headers.items()},
        "message": {
            "at": places.get("message"),
            "documented": _build_expression(pattern.message),
            "published": _build_expression(pattern.wording),
        },
        "event": pattern.event,
        "close": list(pattern.close) if pattern.close is not None else None,
        "grpc": pattern.grpc,
    }


def _has_statement(match: Json) -> bool:
    """Whether a match demands anything of an answer: one that demands nothing would fit every answer."""
    demands = ("status", "status_class", "type", "code", "values", "event", "close")
    return match["grpc"] is not None or any(match[name] for name in demands)


def _build_expression(expression: re.Pattern[str] | None) -> Json:
    r"""Return a regular expression that Python, ECMAScript and RE2-like engines with look-ahead understand alike.

    Flags before the expression become letters: `(?i)usage` -> `usage` and `i`. A pattern of the whole text,
    `\A(?s:…)`, becomes `^(?:…)` with the flag `s` and without `m`, because only Python has `\A`.
    """
    if expression is None:
        return None
    text = expression.pattern
    if text.startswith("(?") and text[2] in "ims":
        text = text.partition(")")[2]
    is_of_whole_text = text.startswith(r"\A(?s:") and text.endswith(")")
    if is_of_whole_text:
        text = f"^(?:{text.removeprefix(chr(92) + 'A(?s:')[:-1]})"
    letters = {letter: bool(expression.flags & flag) for letter, flag in (("i", 2), ("m", 8), ("s", 16))}
    letters |= {"m": False, "s": True} if is_of_whole_text else {}
    return {"pattern": text, "flags": "".join(letter for letter, is_set in letters.items() if is_set)}


def _build_wait(advice: Advice) -> Json:
    """Describe the wait of an answer that names none; None if the request must not be sent again, or not for a day."""
    if advice.may is May.NO or advice.until in LONG:
        return None
    return {
        "attempts": advice.attempts,
        "first_s": advice.first_s,
        "max_s": advice.max_s,
        "jitter": advice.jitter,
    }


def _build_stated(value: Json, source: str) -> Json:
    """Return a statement with the rows that make it; None if no row does."""
    return {"value": value, "source": source} if source else None


def _build_basis(record: Record, catalog: Catalog) -> dict[str, str]:
    """Return for each aspect of the answer, and for the advice, whether the documents say it or we assume it."""
    basis: dict[str, str] = {}
    for assertion in assertions(record, catalog.__getitem__):
        if assertion.key.label != REQUEST_LABEL:
            aspect = assertion.key.aspect
            is_documented = assertion.basis is Basis.DOCUMENTED and basis.get(aspect) != Basis.ASSUMED
            basis[aspect] = Basis.DOCUMENTED if is_documented else Basis.ASSUMED
    documented = retry_advice(record)
    says_retry = documented.helps is not None or bool(documented.depends)
    basis["retry"] = Basis.DOCUMENTED if says_retry else Basis.ASSUMED
    if documented.action:
        basis["action"] = Basis.DOCUMENTED if documented.action_source else Basis.ASSUMED
    return dict(sorted(basis.items()))


def build_endpoints(catalog: Catalog) -> list[Json]:
    """Describe each endpoint, with the errors that name it."""
    errors_by_endpoint: dict[str, list[str]] = {}
    for error in _select(catalog, "errors"):
        for address in claimed_endpoints(error):
            errors_by_endpoint.setdefault(address, []).append(str(error.address))
    return [
        {
            **_build_head(record),
            "description": description(record) or None,
            **dict(zip(("method", "path"), request_line(record), strict=True)),
            "surface": record.surface,
            "errors": errors_by_endpoint.get(str(record.address), []),
            **_build_evidence(record),
        }
        for record in _select(catalog, "endpoints")
    ]


def build_limits(record: Record) -> Json:
    """Describe the rate limits of a provider."""
    return {
        **_build_head(record),
        "limits": documented_limits(record),
        "at_the_limit": at_the_limit(record),
        **_build_evidence(record),
    }


def _select(catalog: Catalog, kind: str) -> list[Record]:
    return sorted(catalog.select(kind=kind), key=lambda record: str(record.address))


def _build_head(record: Record) -> dict[str, Json]:
    address = str(record.address)
    return {
        "id": address,
        "aliases": list(ALIASES.get(address, ())),
        "provider": {"id": record.provider, "name": manifest(record.provider).real_name or None},
        "title": record.title,
    }


def _build_evidence(record: Record) -> dict[str, Json]:
    day = seen_on(record)
    return {"last_seen": str(day) if day is not None else None, "sources": list(record.sources)}
