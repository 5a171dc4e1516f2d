"""Recipes beside what official SDKs send: each difference, its reason, and all of it as a table."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.probes.calls.body import BytesBody, JsonBody
from catalog_probe.probes.calls.placeholders import fill_placeholders
from catalog_probe.probes.calls.script import AwaitMessage
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.dialect import Dialect
from tests.harness.engines import catalog
from tests.harness.sdk_requests import FOLDER

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.targets.target import Provider

PROVIDERS = {"anthropic": "pa", "google-genai": "pb", "openai": "pc", "xai-sdk": "pd"}
REASONS = FOLDER / "differences.toml"
NO_METHOD, NO_CALL = "no-method", "no-call"


@dataclass(frozen=True, slots=True)
class SdkComparison:
    """One endpoint record beside one major of an SDK: what differs, by a short name each."""

    endpoint: str
    sdk: str
    differs: tuple[str, ...]


@cache
def load_recorded_requests() -> tuple[Mapping[str, Any], ...]:
    """What each major of each SDK was recorded to send."""
    return tuple(json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json")))


def sdk_name(sdk: Mapping[str, Any]) -> str:
    """`anthropic-2`"""
    return f"{sdk['sdk']}-{sdk['version'].partition('.')[0]}"


@cache
def compare_all() -> tuple[SdkComparison, ...]:
    """Every endpoint record beside every major of its provider's SDK."""
    return tuple(
        SdkComparison(str(record.address), sdk_name(sdk), tuple(_find_differences(record, sdk)))
        for sdk in load_recorded_requests()
        for record in catalog().select(provider=PROVIDERS[sdk["sdk"]], kind="endpoints")
    )


@cache
def load_reasons() -> tuple[Mapping[str, Any], ...]:
    """The reviewed reasons of differences: `endpoint` and `sdk` are patterns, `what` the names that it accounts for."""
    return tuple(tomllib.loads(REASONS.read_text(encoding="utf-8"))["difference"])


@cache
def _live_provider(provider: str) -> Provider:
    """The provider as the live target has it, nobody's keys in the environment."""
    return targets.load("live", {}).providers[provider]


def find_reason(endpoint: str, sdk: str, what: str) -> int | None:
    """The number of the first reason that accounts for a difference, or None."""
    for number, each in enumerate(load_reasons()):
        if fnmatchcase(endpoint, each["endpoint"]) and fnmatchcase(sdk, each["sdk"]) and what in each["what"]:
            return number
    return None


def render_table() -> list[str]:
    """For each endpoint and SDK: whether they agree, or in what not, by the number of the reason; then the reasons."""
    rows = compare_all()
    lines = ["| endpoint | SDK | differs in |", "|---|---|---|"]
    for row in rows:
        if row.differs != (NO_METHOD,):
            told = ", ".join(f"{what} ({_reason_number(row, what)})" for what in row.differs) or "nothing"
            lines.append(f"| {row.endpoint} | {row.sdk} | {told} |")
    without = sorted({row.endpoint for row in rows if row.differs == (NO_METHOD,)})
    lines += ["", f"No SDK has a method for {len(without)} more: {', '.join(without)}.", ""]
    return lines + [f"{number + 1}. {each['reason']}" for number, each in enumerate(load_reasons())]


def _reason_number(row: SdkComparison, what: str) -> str:
    number = find_reason(row.endpoint, row.sdk, what)
    return "no reason" if number is None else str(number + 1)


def _find_differences(record: Record, sdk: Mapping[str, Any]) -> Iterator[str]:
    ours = _find_call(record)
    if "methods" in sdk:
        yield from _compare_grpc(ours, sdk["methods"]) if ours is not None and ours.is_grpc else [NO_METHOD]
        return
    sent = sdk["requests"].get(str(record.address))
    if sent is None:
        yield NO_METHOD
    elif ours is None:
        yield NO_CALL
    else:
        yield from _compare_request(ours, sent, record.provider)
        yield from _compare_events(ours, sdk["events"])


def _find_call(record: Record) -> Call | None:
    own = recipe_book(record.provider)
    recipe = own.recipes.get(str(record.address))
    return (recipe.calls.get(SUCCESS) if recipe is not None else None) or own.minimal_requests.get(str(record.address))


def _compare_request(ours: Call, sent: Mapping[str, Any], provider: str) -> Iterator[str]:
    target = _live_provider(provider)
    if ours.method != sent["method"]:
        yield "method"
    if not re.fullmatch(
        re.escape(sent["path"]).replace(r"\{\}", "[^/:]+"), fill_placeholders(ours.path, target.values)
    ):
        yield "path"
    headers = Dialect.for_provider(target).headers_in(sent["headers"])
    given = {**target.headers, **{name: text for name, text in ours.headers.items() if text is not None}}
    prefix = f"{provider}-"
    for what in ("version", "beta"):
        if fill_placeholders(given.get(prefix + what), target.values) != headers.get(prefix + what):
            yield what
    name, scheme = ours.key_header or (target.key_header, target.key_scheme)
    if sent["headers"].get(name) != f"{scheme} KEY".lstrip():
        yield "key"
    yield from _compare_body(ours, sent["body"])


def _compare_body(ours: Call, sent: list[str] | str | None) -> Iterator[str]:
    """Fields that the SDK sends, asked for the least, and the recipe does not; or another kind of body."""
    if isinstance(sent, str):
        if not (isinstance(ours.body, BytesBody) and str(ours.headers.get("content-type", "")).startswith(sent)):
            yield "body"
        return
    known = ours.body.value if isinstance(ours.body, JsonBody) and isinstance(ours.body.value, Mapping) else {}
    yield from (f"body:{name}" for name in sent or () if name not in known)


def _compare_events(ours: Call, known: list[str]) -> Iterator[str]:
    yield from (
        f"event:{step.event}" for step in ours.script if isinstance(step, AwaitMessage) and step.event not in known
    )


def _compare_grpc(ours: Call, methods: Mapping[str, list[str]]) -> Iterator[str]:
    """A method is named as in the SDK but for its package, and its message has no field that the SDK's has not."""
    path = "/" + ours.path.partition(".")[2]
    if path not in methods:
        yield "path"
    elif isinstance(ours.body, JsonBody) and isinstance(ours.body.value, Mapping):
        yield from (f"body:{name}" for name in ours.body.value if name not in methods[path])
