"""The deletes of PA's compliance API, what is gone after them, and the activities that tell of them (1:3, 2:7.2).

They delete fixtures. The API can make none, so they are probed on the mock alone, where every probe has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from catalog.envelopes.formats import http_date
from catalog.model.codes import ReasonCode
from catalog.model.labels import MISSING_CREDENTIAL, SUCCESS, WRONG_CREDENTIAL
from probes.calls.call import Call, get
from probes.elicit.recipe import Family, Recipe, Steps
from probes.recipes.credential_rules import BOTH
from probes.recipes.pa.compliance_requests import (
    APPS,
    ARTIFACT,
    CHAT,
    DELETE,
    GENERATED_FILE,
    PROJECT,
    READ,
    SINCE,
    activities,
    chats,
    deletion,
    messages,
)
from probes.target.target import Cost

if TYPE_CHECKING:
    from catalog.model import Exchange
    from probes.elicit.probe import Probe

CHATS = Family("pa/endpoints/compliance_chats")
FILES = Family("pa/endpoints/compliance_files")
PROJECTS = Family("pa/endpoints/compliance_projects")
OUTCOMES = Family("pa/errors/compliance_outcomes")
DENIED = (MISSING_CREDENTIAL, WRONG_CREDENTIAL)

FILE = f"{APPS}/files/{{chat_file}}"
IDLE_PROJECT = f"{APPS}/projects/{{project_without_chats}}"
DOCUMENT = f"{APPS}/projects/documents/{{project_document}}"

NO_FIXTURE = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "it deletes a fixture for good, and the documents show no way to make one through the API",
)


def destructive(family: Family, *labels: str, requests: int, needs: set[str]) -> Callable[[Steps], Recipe]:
    """Steps that delete what the values of the target name."""
    return family.stepwise(
        labels=labels,
        requests=requests,
        needs=needs,
        cost=Cost.DESTRUCTIVE,
        credential=READ,
        roles={DELETE},
        live=NO_FIXTURE,
    )


def told(kind: str, *window: tuple[str, str]) -> Call:
    """The activities of one type."""
    return activities(("activity_types[]", f"pa_{kind}"), *window)


def from_then_on(exchange: Exchange) -> tuple[tuple[str, str], ...]:
    """The window that begins when an answer was sent, by its own date: what was done before is not in it."""
    dated = exchange.response.headers.get("date", "") if exchange.response is not None else ""
    moment = http_date(dated)
    return ((SINCE, moment.strftime("%Y-%m-%dT%H:%M:%SZ")),) if moment is not None else ()


RECORDED = ("recorded_before", "recorded")
LISTED = ("listed_before", "listed_after")


async def delete_twice(probe: Probe, call: Call, *, kind: str = "", listing: Call | None = None, **gone: Call) -> None:
    """Refused without a key and with a wrong one; then deleted, gone, and not there to be deleted again.

    Before and after, what tells of it is asked for: the activities of a type, and the list that it stands in.
    """
    window: tuple[tuple[str, str], ...] = ()
    for label, refused in BOTH.denied(call).items():
        await probe.send(refused, label)
    if listing is not None:
        await probe.send(listing, "listed_before")
    if kind:
        window = from_then_on(await probe.send(told(kind), "recorded_before"))
    await probe.send(call, SUCCESS)
    for label, missing in gone.items():
        await probe.send(missing, label)
    if listing is not None:
        await probe.send(listing, "listed_after")
    if kind:
        await probe.send(told(kind, *window), "recorded")
    await probe.send(call, "deleted_again")


@destructive(
    CHATS,
    SUCCESS,
    *DENIED,
    *RECORDED,
    *LISTED,
    "messages_gone",
    "file_gone",
    "generated_file_gone",
    "generated_file_content_gone",
    "artifact_version_gone",
    "deleted_again",
    requests=13,
    needs={"chat", "chat_file", "generated_file", "artifact_version"},
)
async def delete_chat(probe: Probe) -> None:
    await delete_twice(
        probe,
        deletion(CHAT),
        kind="chat_deleted",
        listing=chats(),
        messages_gone=messages(),
        file_gone=get(FILE),
        generated_file_gone=get(GENERATED_FILE),
        generated_file_content_gone=get(f"{GENERATED_FILE}/content"),
        artifact_version_gone=get(ARTIFACT),
    )


@destructive(
    FILES,
    SUCCESS,
    *DENIED,
    *RECORDED,
    "metadata_gone",
    "content_gone",
    "deleted_again",
    requests=8,
    needs={"chat_file"},
)
async def delete_file(probe: Probe) -> None:
    await delete_twice(
        probe,
        deletion(FILE),
        kind="file_deleted",
        metadata_gone=get(FILE),
        content_gone=get(f"{FILE}/content"),
    )


@destructive(
    PROJECTS,
    SUCCESS,
    *DENIED,
    *RECORDED,
    "as_it_was",
    "attached_chats",
    "unchanged",
    "gone",
    "deleted_again",
    requests=11,
    needs={"project", "chat"},
)
async def delete_project(probe: Probe) -> None:
    """Refused and unchanged while its chat is attached, allowed once that is deleted."""
    await probe.send(get(PROJECT), "as_it_was")
    await probe.send(deletion(PROJECT), "attached_chats")
    await probe.send(get(PROJECT), "unchanged")
    await probe.setup(deletion(CHAT))
    await delete_twice(probe, deletion(PROJECT), kind="project_deleted", gone=get(PROJECT))


@destructive(
    PROJECTS,
    SUCCESS,
    *DENIED,
    *LISTED,
    "deleted_again",
    requests=6,
    needs={"project_document", "project_without_chats"},
)
async def delete_project_document(probe: Probe) -> None:
    await delete_twice(probe, deletion(DOCUMENT), listing=get(f"{IDLE_PROJECT}/attachments"))


@destructive(OUTCOMES, requests=2, needs={"chat"})
async def chat_deleted_activity(probe: Probe) -> None:
    await probe.setup(deletion(CHAT))
    await probe.send(told("chat_deleted"))


@destructive(OUTCOMES, requests=2, needs={"chat_file"})
async def file_deleted_activity(probe: Probe) -> None:
    await probe.setup(deletion(FILE))
    await probe.send(told("file_deleted"))


@destructive(OUTCOMES, requests=2, needs={"project_without_chats"})
async def project_deleted_activity(probe: Probe) -> None:
    await probe.setup(deletion(IDLE_PROJECT))
    await probe.send(told("project_deleted"))
