"""1:3 PA states: what deletes do to chats, files and projects, and the activities that tell of them (2:7.2).

The API can make no chat, file or project, so nothing of it is deleted live: the mock alone, where each probe has its
own, is asked to delete, and then asked again for what is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import ANSWER, MISSING_CREDENTIAL, SETUP, SUCCESS, WRONG_CREDENTIAL
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.response_headers import parse_http_date
from catalog_probe.probes.calls import get
from catalog_probe.probes.recipes.minimal_requests import BOTH_REFUSALS
from catalog_probe.probes.recipes.recipe import Family, Recipe, Run, Steps, declare_steps
from catalog_probe.probes.targets.target import Cost

from .compliance_requests import (
    APPS,
    ARTIFACT,
    CHAT,
    DELETE,
    GENERATED_FILE,
    PROJECT,
    READ,
    SINCE,
    delete_resource,
    list_activities,
    list_chats,
    list_messages,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.probe import Probe

OUTCOMES = Family("pa/errors/compliance_outcomes", credential=READ)

FILE = f"{APPS}/files/{{chat_file}}"
IDLE_PROJECT = f"{APPS}/projects/{{project_without_chats}}"
DOCUMENT = f"{APPS}/projects/documents/{{project_document}}"

DELETES_FIXTURE = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "it deletes a fixture for good, and the documents show no way to make one through the API",
)


def declare_deletion(*labels: str, requests: int, needs: Iterable[str]) -> Callable[[Run], Steps]:
    """Declare steps that delete what a value of the target names, besides the labels of every deletion."""
    labels = (SUCCESS, MISSING_CREDENTIAL, WRONG_CREDENTIAL, "deleted_again", *labels)
    return declare_steps(*labels, requests=requests, needs=needs, roles={DELETE})


def deletion_recipe(family: str, slug: str, deletion: Steps) -> Recipe:
    """A deletion of a fixture, which only a mock is asked for."""
    return Family(f"pa/endpoints/compliance_{family}", credential=READ).recipe(
        slug, deletion, cost=Cost.DESTRUCTIVE, not_live=DELETES_FIXTURE
    )


def list_deletions(kind: str, *window: tuple[str, str]) -> Call:
    """List the activities of one type, such as `chat_deleted`."""
    return list_activities(("activity_types[]", f"pa_{kind}"), *window)


def window_since(exchange: Exchange) -> tuple[tuple[str, str], ...]:
    """Return the query for activities from an answer's own date on, so that earlier deletions are not listed."""
    date_header = exchange.response.headers.get("date", "") if exchange.response is not None else ""
    moment = parse_http_date(date_header)
    return ((SINCE, moment.strftime("%Y-%m-%dT%H:%M:%SZ")),) if moment is not None else ()


async def delete_and_ask_again(
    probe: Probe, call: Call, *, kind: str = "", listing: Call | None = None, gone: Mapping[str, Call] | None = None
) -> None:
    """Send both refusals, delete, and ask for what should be gone; before and after, list what tells of it.

    Args:
        kind: the activities that record the deletion, as `chat_deleted`, sent under `recorded_before` and `recorded`.
        listing: a list that shows what is deleted, sent under `listed_before` and `listed_after`.
        gone: label -> a call that is answered 404 after the deletion.
    """
    for label, refused in BOTH_REFUSALS.refused_calls(call).items():
        await probe.send(refused, label)
    if listing is not None:
        await probe.send(listing, "listed_before")
    window = window_since(await probe.send(list_deletions(kind), "recorded_before")) if kind else ()
    await probe.send(call, SUCCESS)
    for label, missing in (gone or {}).items():
        await probe.send(missing, label)
    if listing is not None:
        await probe.send(listing, "listed_after")
    if kind:
        await probe.send(list_deletions(kind, *window), "recorded")
    await probe.send(call, "deleted_again")


# "Chat: active, user-deleted (`deleted_at` set, still listed), hard-deleted (404)."
GONE_WITH_CHAT = {
    "messages_gone": list_messages(),
    "file_gone": get(FILE),
    "generated_file_gone": get(GENERATED_FILE),
    "generated_file_content_gone": get(f"{GENERATED_FILE}/content"),
    "artifact_version_gone": get(ARTIFACT),
}
CHAT_VALUES = {"chat", "chat_file", "generated_file", "artifact_version"}
LISTED, RECORDED = ("listed_before", "listed_after"), ("recorded_before", "recorded")


@declare_deletion(*GONE_WITH_CHAT, *LISTED, *RECORDED, requests=13, needs=CHAT_VALUES)
async def delete_chat(probe: Probe) -> None:
    await delete_and_ask_again(
        probe, delete_resource(CHAT), kind="chat_deleted", listing=list_chats(), gone=GONE_WITH_CHAT
    )


@declare_deletion("metadata_gone", "content_gone", *RECORDED, requests=8, needs={"chat_file"})
async def delete_file(probe: Probe) -> None:
    gone = {"metadata_gone": get(FILE), "content_gone": get(f"{FILE}/content")}
    await delete_and_ask_again(probe, delete_resource(FILE), kind="file_deleted", gone=gone)


# "PA project with attached chats | project delete | | refused", "… with no attached chats | … | deleted"
@declare_deletion("as_it_was", "attached_chats", "unchanged", "gone", *RECORDED, requests=11, needs={"project", "chat"})
async def delete_project(probe: Probe) -> None:
    await probe.send(get(PROJECT), "as_it_was")
    await probe.send(delete_resource(PROJECT), "attached_chats")
    await probe.send(get(PROJECT), "unchanged")
    await probe.setup(delete_resource(CHAT))
    await delete_and_ask_again(probe, delete_resource(PROJECT), kind="project_deleted", gone={"gone": get(PROJECT)})


@declare_deletion(*LISTED, requests=6, needs={"project_document", "project_without_chats"})
async def delete_project_document(probe: Probe) -> None:
    await delete_and_ask_again(probe, delete_resource(DOCUMENT), listing=get(f"{IDLE_PROJECT}/attachments"))


def activity_recipe(kind: str, call: Call) -> Recipe:
    """Delete something, then list the activity that reports it."""
    calls = {SETUP: call, ANSWER: list_deletions(kind)}
    return OUTCOMES.recipe(f"{kind}_activity", calls, cost=Cost.DESTRUCTIVE, not_live=DELETES_FIXTURE)


RECIPES: tuple[Recipe, ...] = (
    deletion_recipe("chats", "delete_chat", delete_chat),
    deletion_recipe("files", "delete_file", delete_file),
    deletion_recipe("projects", "delete_project", delete_project),
    deletion_recipe("projects", "delete_project_document", delete_project_document),
    # 2:7.2 "reconcile with chat activities", "… file …", "… project activities"
    activity_recipe("chat_deleted", delete_resource(CHAT)),
    activity_recipe("file_deleted", delete_resource(FILE)),
    activity_recipe("project_deleted", delete_resource(IDLE_PROJECT)),
)
