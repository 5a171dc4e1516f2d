"""Whose limits PA's are and what counts toward them: shown by using up those of keys that may do hardly any (2:8.2).

Disruptive, and with the clock of a mock, which makes each bucket full again: no live key is worth that much patience.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from catalog.model import Reason
from catalog.model.codes import ReasonCode
from catalog.model.labels import SUCCESS
from probes.calls.body import body_of
from probes.calls.call import Call, delete, get
from probes.elicit.probe import Stopped
from probes.elicit.recipe import Family
from probes.recipes.pa.compliance_requests import REMOTE_SESSIONS, activities
from probes.recipes.pa.endpoints import CREATE_BATCH, UNKNOWN_FILE, UPLOAD
from probes.recipes.pa.requests import MESSAGE, message, said
from probes.recipes.pa.tiers import LISTED_AGENTS, LISTED_BATCHES, LISTED_FILES, NO_AGENT
from probes.target.target import Cost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from catalog.model import Exchange
    from probes.elicit.probe import Probe
    from probes.elicit.recipe import Recipe, Steps

FAMILY = Family("pa/endpoints/limits")
TIGHT, TIGHT_TOO, TIGHT_TOKENS, LITTLE = "tight", "tight_too", "tight_tokens", "priority_little"
"""Roles: two keys of one organization in two workspaces, which may send two requests a minute of each kind; one that
may send 1,000 input tokens and get 60; and one with a commitment to 1,000 tokens."""

NOT_LIVE = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "it takes an organization with limits of so many tokens, and a clock that can be moved",
)
A_TOKEN = " the"
"""Four characters: what the mock counts as a token. Apart, for a long run of letters reads like base64."""


def exhausting(
    slug: str, *labels: str, requests: int, roles: Iterable[str], needs: Iterable[str] = ("small_model",)
) -> Callable[[Steps], Recipe]:
    """Steps that use up limits; the first label is the success."""
    return FAMILY.stepwise(
        slug,
        labels=(SUCCESS, *labels),
        requests=requests,
        tokens=200_000,
        needs=needs,
        roles=roles,
        cost=Cost.DISRUPTIVE,
        live=NOT_LIVE,
    )


def by(role: str, **fields: Any) -> Call:
    """A message with the key of a role."""
    return message(**fields).but(credential=role)


def worded(tokens: int) -> list[dict[str, str]]:
    """A conversation of so many tokens, less the few of its frame."""
    return said(A_TOKEN * (tokens - 3))


def cached(tokens: int, mark: str, ttl: str = "5m") -> list[dict[str, Any]]:
    """A system prompt of so many tokens that is to be cached; the mark makes it another one."""
    text = mark + A_TOKEN * (tokens - 1)
    return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral", "ttl": ttl}}]


@exhausting(
    "scope",
    "burst",
    "exhausted",
    "other_class",
    "other_key",
    "other_organization",
    "other_geo",
    "other_generation",
    "refilled",
    "spent_again",
    "waited",
    "workspace",
    "workspace_exhausted",
    "other_workspace",
    requests=21,
    roles={TIGHT, TIGHT_TOO, "slow_workspace", "inference"},
    needs={"small_model", "retired_model", "geo_model", "newest_large_model", "earlier_newest_large_model"},
)
async def scope(probe: Probe) -> None:
    """One organization's bucket of a model class, from full to empty, and who else finds it so."""
    await probe.send(by(TIGHT), SUCCESS)
    await probe.send(by(TIGHT), "burst")
    await probe.send(by(TIGHT), "exhausted")
    await probe.send(by(TIGHT, model="{retired_model}"), "other_class")
    await probe.send(by(TIGHT_TOO), "other_key")
    await probe.send(by("inference"), "other_organization")
    for _ in range(2):
        await probe.setup(by(TIGHT, model="{geo_model}", inference_geo="us"))
    await probe.send(by(TIGHT, model="{geo_model}", inference_geo="global"), "other_geo")
    for _ in range(2):
        await probe.setup(by(TIGHT, model="{newest_large_model}"))
    await probe.send(by(TIGHT, model="{earlier_newest_large_model}"), "other_generation")
    await probe.send(by("slow_workspace"), "workspace")
    await probe.send(by("slow_workspace"), "workspace_exhausted")
    await probe.send(by("inference"), "other_workspace")
    await probe.send(by(TIGHT).later("+31s"), "refilled")
    refused = await probe.send(by(TIGHT).later("+31s").still(), "spent_again")
    await probe.send(by(TIGHT).later(f"+{31 + _told_to_wait(refused)}s").still(), "waited")


def _told_to_wait(refused: Exchange) -> int:
    """The seconds of a `retry-after` (2:8.2).

    Raises:
        Stopped: with reason `setup-failed`: it has none that is a number.
    """
    told = refused.response.headers.get("retry-after", "") if refused.response is not None else ""
    if not (told.isdecimal() and len(told) < 5):
        raise Stopped(Reason(ReasonCode.SETUP_FAILED, f"retry-after is {told!r}: no seconds to wait"))
    return int(told)


@exhausting(
    "token_counting_rules",
    "input_tokens_count",
    "cache_creation_counts",
    "cache_reads_do_not_count",
    "cache_written",
    "cache_read",
    "cache_reads_count_for_retired",
    "estimates_are_adjusted",
    "max_tokens_do_not_count",
    "generated_tokens_count",
    requests=25,
    roles={TIGHT_TOKENS},
    needs={"small_model", "retired_model"},
)
async def token_counting_rules(probe: Probe) -> None:
    """What counts toward 1,000 input and 60 output tokens a minute; every two minutes all is full again."""
    fresh = by(TIGHT_TOKENS, messages=worded(700))
    await probe.send(by(TIGHT_TOKENS), SUCCESS)
    await probe.setup(fresh)
    await probe.send(fresh, "input_tokens_count")

    small = by(TIGHT_TOKENS, system=cached(400, "cccc"))
    await probe.send(small.later("+2m"), "cache_written")
    await probe.setup(small.later("+4m"))
    await probe.send(small.later("+4m"), "cache_read")

    first, second = (by(TIGHT_TOKENS, system=cached(700, mark)) for mark in ("aaaa", "bbbb"))
    await probe.setup(first.later("+6m"))
    await probe.send(second.later("+6m"), "cache_creation_counts")

    for _ in range(2):
        await probe.setup(first.later("+8m"))
    await probe.send(fresh.later("+8m"), "cache_reads_do_not_count")

    retired = by(TIGHT_TOKENS, model="{retired_model}", system=cached(700, "aaaa"))
    await probe.setup(retired.later("+10m"))
    await probe.setup(retired.later("+12m"))
    await probe.send(retired.later("+12m"), "cache_reads_count_for_retired")

    third = by(TIGHT_TOKENS, messages=worded(310)).later("+14m")
    for _ in range(2):
        await probe.setup(third)
    await probe.send(third, "estimates_are_adjusted")

    long_leash = by(TIGHT_TOKENS, max_tokens=4_000).later("+16m")
    await probe.setup(long_leash)
    await probe.send(long_leash, "max_tokens_do_not_count")

    talkative = by(TIGHT_TOKENS, max_tokens=100, messages=worded(60)).later("+18m")
    for _ in range(2):
        await probe.setup(talkative)
    await probe.send(talkative, "generated_tokens_count")


@exhausting(
    "batch_requests",
    "all_batch_endpoints",
    "across_models",
    requests=6,
    roles={TIGHT},
    needs={"small_model", "retired_model"},
)
async def batch_requests(probe: Probe) -> None:
    """Two requests to one batch endpoint, or for two models, leave none for another."""
    listed, created = LISTED_BATCHES.but(credential=TIGHT), CREATE_BATCH.but(credential=TIGHT)
    await probe.send(listed, SUCCESS)
    await probe.setup(listed)
    await probe.send(created, "all_batch_endpoints")
    other = {"requests": [{"custom_id": "probe", "params": {**MESSAGE, "model": "{retired_model}"}}]}
    for call in (created, created.but(body=body_of(other))):
        await probe.setup(call.later("+2m"))
    await probe.send(created.later("+2m"), "across_models")


FILE_CALLS = {
    "list": LISTED_FILES,
    "upload": UPLOAD,
    "retrieve": get(UNKNOWN_FILE),
    "download": get(f"{UNKNOWN_FILE}/content"),
    "delete": delete(UNKNOWN_FILE),
}


@exhausting("file_requests", *FILE_CALLS, "other_key", requests=8, roles={TIGHT, TIGHT_TOO}, needs=())
async def file_requests(probe: Probe) -> None:
    """Two requests leave none for any operation on files, and none for another key of the organization."""
    listed = LISTED_FILES.but(credential=TIGHT)
    await probe.send(listed, SUCCESS)
    await probe.setup(listed)
    for label, call in FILE_CALLS.items():
        await probe.send(call.but(credential=TIGHT), label)
    await probe.send(LISTED_FILES.but(credential=TIGHT_TOO), "other_key")


@exhausting(
    "agent_requests", "read_by_other_key", "created_by_other_key", requests=6, roles={TIGHT, TIGHT_TOO}, needs=()
)
async def agent_requests(probe: Probe) -> None:
    """What one key reads or creates, another key of its organization can read or create no more."""
    await probe.send(LISTED_AGENTS.but(credential=TIGHT), SUCCESS)
    await probe.setup(LISTED_AGENTS.but(credential=TIGHT))
    await probe.send(LISTED_AGENTS.but(credential=TIGHT_TOO), "read_by_other_key")
    for _ in range(2):
        await probe.setup(NO_AGENT.but(credential=TIGHT), 400)
    await probe.send(NO_AGENT.but(credential=TIGHT_TOO), "created_by_other_key")


@exhausting(
    "fast_mode",
    "fast_exhausted",
    "not_fast",
    requests=4,
    roles={TIGHT_TOKENS},
    needs={"fast_model", "fast_mode_beta"},
)
async def fast_mode(probe: Probe) -> None:
    """Fast mode's own limit of 500 input tokens, used up, leaves the standard one."""
    fast = by(TIGHT_TOKENS, model="{fast_model}", speed="fast", messages=worded(400))
    await probe.send(fast.with_headers(pa_beta="{fast_mode_beta}"), SUCCESS)
    await probe.send(fast.with_headers(pa_beta="{fast_mode_beta}"), "fast_exhausted")
    await probe.send(by(TIGHT_TOKENS, model="{fast_model}", messages=worded(400)), "not_fast")


PRIORITY: dict[str, dict[str, Any]] = {
    "auto": {"service_tier": "auto", "messages": worded(800)},
    "beyond": {"service_tier": "auto", "messages": worded(950)},
    "by_default": {"messages": worded(800)},
    "standard_only": {"service_tier": "standard_only", "messages": worded(800)},
    "cache_read_within": {"system": cached(7_900, "aaaa")},
    "cache_read_beyond": {"system": cached(9_400, "bbbb")},
    "cache_write_5m_within": {"system": cached(630, "cccc")},
    "cache_write_5m_beyond": {"system": cached(780, "dddd")},
    "cache_write_1h_within": {"system": cached(395, "eeee", "1h")},
    "cache_write_1h_beyond": {"system": cached(470, "ffff", "1h")},
    "us_geo_within": {"model": "{geo_model}", "inference_geo": "us", "messages": worded(720)},
    "us_geo_beyond": {"model": "{geo_model}", "inference_geo": "us", "messages": worded(810)},
    "model_without": {"model": "{newest_large_model}", "messages": worded(800)},
}
"""By label, what the 900 tokens left of a commitment cover and what is beyond them, at the burn-down rate of its kind;
what is beyond would be covered at the next lower rate. What is covered is estimated first, a tenth too high (2:8.2)."""


@exhausting(
    "priority",
    *PRIORITY,
    requests=2 * len(PRIORITY) + 5,
    roles={LITTLE},
    needs={"small_model", "geo_model", "newest_large_model"},
)
async def priority(probe: Probe) -> None:
    """Each in a minute of its own, after a small one: a commitment that is untouched covers anything once."""
    await probe.send(by(LITTLE), SUCCESS)
    parts = [partial(of_a_commitment, label, number) for number, label in enumerate(PRIORITY)]
    await probe.side_by_side(parts, apart=True)


async def of_a_commitment(label: str, number: int, probe: Probe) -> None:
    """What is asked under a label, in a minute of this number."""
    fields = PRIORITY[label]
    before, then = f"+{4 * number + 2}m", f"+{4 * number + 4}m"
    small = by(LITTLE, model=fields.get("model", "{small_model}"), messages=worded(100))
    if label.startswith("cache_read"):
        await probe.setup(small.later(before))
        await probe.setup(by(LITTLE, **fields).later(before))
    await probe.setup(small.later(then))
    await probe.send(by(LITTLE, **fields).later(then), label)


ORGANIZATIONS = get("/v1/compliance/organizations")
NARROW, NARROW_OTHER, NARROW_TOO = "compliance_narrow", "compliance_narrow_other", "compliance_narrow_too"
"""Roles: two keys of one organization and one of another, of a parent that may send four requests a minute."""


@FAMILY.stepwise(
    "compliance",
    labels=(
        SUCCESS,
        "other_key",
        "other_organization",
        "other_endpoint",
        "spent",
        "spent_for_other_key",
        "spent_for_other_organization",
        "spent_for_other_endpoint",
        "within_600",
        "beyond_600",
        "remote_spent",
        "remote_spent_alone",
    ),
    requests=14,
    roles={NARROW, NARROW_OTHER, NARROW_TOO},
    credential="compliance",
    cost=Cost.DISRUPTIVE,
    live=(ReasonCode.NO_DOCUMENTED_SETUP, "it takes a parent organization with a budget of four requests a minute"),
)
async def compliance(probe: Probe) -> None:
    """Four requests of a parent organization, by whomever and to whatever, leave none for anybody; its second budget,
    of two to remote sessions, is none of the others'.
    """
    for label, call in {
        SUCCESS: activities().but(credential=NARROW),
        "other_key": activities().but(credential=NARROW_OTHER),
        "other_organization": activities().but(credential=NARROW_TOO),
        "other_endpoint": ORGANIZATIONS.but(credential=NARROW),
        "spent": activities().but(credential=NARROW),
        "spent_for_other_key": activities().but(credential=NARROW_OTHER),
        "spent_for_other_organization": activities().but(credential=NARROW_TOO),
        "spent_for_other_endpoint": ORGANIZATIONS.but(credential=NARROW),
        "within_600": activities().befallen("others_requested;requests=599"),
        "beyond_600": activities(),
    }.items():
        await probe.send(call, label)
    remote = get(REMOTE_SESSIONS, credential=NARROW).later("+2m")
    for _ in range(2):
        await probe.setup(remote)
    await probe.send(remote, "remote_spent")
    await probe.send(activities().but(credential=NARROW).later("+2m"), "remote_spent_alone")
