"""The deletes of PA's compliance API, what is gone after them, and the activities that tell of them (1:3, 2:7.2).

They delete fixtures. The API can make none, so they are probed on the mock alone, where every probe has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

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
    activities,
    deletion,
    messages,
)
from probes.target.target import Cost

if TYPE_CHECKING:
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


async def delete_twice(probe: Probe, call: Call, **gone: Call) -> None:
    """Refused without a key and with a wrong one; then deleted, gone, and not there to be deleted again."""
    for label, refused in BOTH.denied(call).items():
        await probe.send(refused, label)
    await probe.send(call, SUCCESS)
    for label, missing in gone.items():
        await probe.send(missing, label)
    await probe.send(call, "deleted_again")


@destructive(
    CHATS,
    SUCCESS,
    *DENIED,
    "messages_gone",
    "file_gone",
    "generated_file_gone",
    "artifact_version_gone",
    "deleted_again",
    requests=8,
    needs={"chat", "chat_file", "generated_file", "artifact_version"},
)
async def delete_chat(probe: Probe) -> None:
    await delete_twice(
        probe,
        deletion(CHAT),
        messages_gone=messages(),
        file_gone=get(FILE),
        generated_file_gone=get(GENERATED_FILE),
        artifact_version_gone=get(ARTIFACT),
    )


@destructive(
    FILES,
    SUCCESS,
    *DENIED,
    "metadata_gone",
    "content_gone",
    "deleted_again",
    requests=6,
    needs={"chat_file"},
)
async def delete_file(probe: Probe) -> None:
    await delete_twice(probe, deletion(FILE), metadata_gone=get(FILE), content_gone=get(f"{FILE}/content"))


@destructive(
    PROJECTS,
    SUCCESS,
    *DENIED,
    "attached_chats",
    "gone",
    "deleted_again",
    requests=7,
    needs={"project", "chat"},
)
async def delete_project(probe: Probe) -> None:
    """Refused while its chat is attached, allowed once that is deleted."""
    await probe.send(deletion(PROJECT), "attached_chats")
    await probe.setup(deletion(CHAT))
    await delete_twice(probe, deletion(PROJECT), gone=get(PROJECT))


@destructive(
    PROJECTS,
    SUCCESS,
    *DENIED,
    "deleted_again",
    requests=4,
    needs={"project_document"},
)
async def delete_project_document(probe: Probe) -> None:
    await delete_twice(probe, deletion(DOCUMENT))


@destructive(OUTCOMES, requests=2, needs={"chat"})
async def chat_deleted_activity(probe: Probe) -> None:
    await probe.setup(deletion(CHAT))
    await probe.send(activities(("activity_types[]", "pa_chat_deleted")))


@destructive(OUTCOMES, requests=2, needs={"chat_file"})
async def file_deleted_activity(probe: Probe) -> None:
    await probe.setup(deletion(FILE))
    await probe.send(activities(("activity_types[]", "pa_file_deleted")))


@destructive(OUTCOMES, requests=2, needs={"project_without_chats"})
async def project_deleted_activity(probe: Probe) -> None:
    await probe.setup(deletion(IDLE_PROJECT))
    await probe.send(activities(("activity_types[]", "pa_project_deleted")))
