"""Compares recipes with the requests of official SDKs: each difference, its reason, and a table of all."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model.exchange import SUCCESS
from catalog_probe.probes.calls import AwaitMessage, BytesBody, JsonBody, fill_placeholders
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.dialect import Dialect
from tests.harness.engines import catalog
from tests.harness.sdk_requests import FOLDER

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.targets.target import Provider

PROVIDERS = {"anthropic": "pa", "google-genai": "pb", "openai": "pc", "xai-sdk": "pd"}
REASONS = FOLDER / "differences.toml"
NO_METHOD, NO_CALL = "no-method", "no-call"


@dataclass(frozen=True, slots=True)
class SdkComparison:
    """One endpoint record and one major of an SDK, with a short name for each difference."""

    endpoint: str
    sdk: str
    differs: tuple[str, ...]


@cache
def load_recorded_requests() -> tuple[Mapping[str, Any], ...]:
    """Return the recorded requests of each major of each SDK."""
    return tuple(json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json")))


def sdk_name(sdk: Mapping[str, Any]) -> str:
    """`anthropic-2`"""
    return f"{sdk['sdk']}-{sdk['version'].partition('.')[0]}"


@cache
def compare_all() -> tuple[SdkComparison, ...]:
    """Compare every endpoint record with every major of its provider's SDK."""
    return tuple(
        SdkComparison(str(record.address), sdk_name(sdk), tuple(_find_differences(record, sdk)))
        for sdk in load_recorded_requests()
        for record in catalog().select(provider=PROVIDERS[sdk["sdk"]], kind="endpoints")
    )


@cache
def load_reasons() -> tuple[Mapping[str, Any], ...]:
    """Return the reviewed reasons: `endpoint` and `sdk` are patterns, `what` are names of differences."""
    return tuple(tomllib.loads(REASONS.read_text(encoding="utf-8"))["difference"])


@cache
def _live_provider(provider: str) -> Provider:
    """Return the provider of the live target without any keys."""
    return targets.load("live", {}).providers[provider]


def find_reason(endpoint: str, sdk: str, what: str) -> int | None:
    """Return the number of the first reason for a difference, or None."""
    for number, reason in enumerate(load_reasons()):
        if fnmatchcase(endpoint, reason["endpoint"]) and fnmatchcase(sdk, reason["sdk"]) and what in reason["what"]:
            return number
    return None


def render_table() -> list[str]:
    """Render the differences of each endpoint and SDK with the numbers of their reasons, then the reasons."""
    rows = compare_all()
    lines = ["| endpoint | SDK | differs in |", "|---|---|---|"]
    for row in rows:
        if row.differs != (NO_METHOD,):
            differences = ", ".join(f"{what} ({_reason_number(row, what)})" for what in row.differs) or "nothing"
            lines.append(f"| {row.endpoint} | {row.sdk} | {differences} |")
    without = sorted({row.endpoint for row in rows if row.differs == (NO_METHOD,)})
    lines += ["", f"No SDK has a method for {len(without)} more: {', '.join(without)}.", ""]
    return lines + [f"{number}. {reason['reason']}" for number, reason in enumerate(load_reasons(), start=1)]


def _reason_number(row: SdkComparison, what: str) -> str:
    number = find_reason(row.endpoint, row.sdk, what)
    return "no reason" if number is None else str(number + 1)


def _find_differences(record: Record, sdk: Mapping[str, Any]) -> Iterator[str]:
    call = _find_call(record)
    if "methods" in sdk:
        yield from _compare_grpc(call, sdk["methods"]) if call is not None and call.is_grpc else [NO_METHOD]
        return
    sent = sdk["requests"].get(str(record.address))
    if sent is None:
        yield NO_METHOD
    elif call is None:
        yield NO_CALL
    else:
        yield from _compare_request(call, sent, record.provider)
        yield from _compare_events(call, sdk["events"])


def _find_call(record: Record) -> Call | None:
    own = recipe_book(record.provider)
    recipe = own.recipes.get(str(record.address))
    return (recipe.calls.get(SUCCESS) if recipe is not None else None) or own.minimal_requests.get(str(record.address))


def _compare_request(call: Call, sent: Mapping[str, Any], provider: str) -> Iterator[str]:
    target = _live_provider(provider)
    if call.method != sent["method"]:
        yield "method"
    if not re.fullmatch(
        re.escape(sent["path"]).replace(r"\{\}", "[^/:]+"), fill_placeholders(call.path, target.values)
    ):
        yield "path"
    headers = Dialect.for_provider(target).headers_in(sent["headers"])
    headers_of_call = {**target.headers, **{name: text for name, text in call.headers.items() if text is not None}}
    prefix = f"{provider}-"
    for what in ("version", "beta"):
        if fill_placeholders(headers_of_call.get(prefix + what), target.values) != headers.get(prefix + what):
            yield what
    name, scheme = call.key_header or (target.key_header, target.key_scheme)
    if sent["headers"].get(name) != f"{scheme} KEY".lstrip():
        yield "key"
    yield from _compare_body(call, sent["body"])


def _compare_body(call: Call, sent: list[str] | str | None) -> Iterator[str]:
    """Yield the fields that the SDK's smallest request has and the recipe has not; or another kind of body."""
    if isinstance(sent, str):
        if not (isinstance(call.body, BytesBody) and str(call.headers.get("content-type", "")).startswith(sent)):
            yield "body"
        return
    fields = call.body.value if isinstance(call.body, JsonBody) and isinstance(call.body.value, Mapping) else {}
    yield from (f"body:{name}" for name in sent or () if name not in fields)


def _compare_events(call: Call, event_names: list[str]) -> Iterator[str]:
    yield from (
        f"event:{step.event}"
        for step in call.script
        if isinstance(step, AwaitMessage) and step.event not in event_names
    )


def _compare_grpc(call: Call, methods: Mapping[str, list[str]]) -> Iterator[str]:
    """Compare the method's name without its package, and the fields of its message."""
    path = "/" + call.path.partition(".")[2]
    if path not in methods:
        yield "path"
    elif isinstance(call.body, JsonBody) and isinstance(call.body.value, Mapping):
        yield from (f"body:{name}" for name in call.body.value if name not in methods[path])
