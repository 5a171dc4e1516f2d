"""What PB's batches may read, hold and enqueue (2:8.1, 2:8.3); no path of batches and files is documented."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog.model.codes import ReasonCode
from probes.calls.call import ASSUMED_ID, Call, Removal, delete, post
from probes.elicit.recipe import Family, Recipe
from probes.recipes.limit_looks import SLUG
from probes.recipes.pb.account_limits import LIMITS, TIER_2, TIER_3, with_history
from probes.target.target import Cost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from probes.elicit.probe import Probe

QUOTA, GENERAL = Family("pb/errors/quota"), Family("pb/errors/general")

NO_PATH_OF_BATCHES = (ReasonCode.NO_DOCUMENTED_SETUP, "the documents show no path of batches and files (1:4)")

GB = 1_000**3
GIB = 2**30
"""Which of the two the documents mean by GB is not told: the one must be taken, and beyond the other refused."""

TOKENS = 1_000
NO_HISTORY: Mapping[str, str] = MappingProxyType({})
BYTES_PER_TOKEN = 4
"""So many bytes of an input file the mock takes for a token."""

SPEECH, EMBEDDING, OTHER = "{speech_preview_model}", "{embedding_model}", "{small_model}"
CEILINGS: dict[str, dict[str, tuple[str, int]]] = {
    "tier_1": {"speech": (SPEECH, 25_000), "embedding": (EMBEDDING, 500_000), "highest": (OTHER, 10_000_000)},
    "tier_2": {"lowest": (SPEECH, 100_000), "embedding": (EMBEDDING, 5_000_000), "highest": (OTHER, 1_000_000_000)},
    "tier_3": {"lowest": (SPEECH, 1_000_000), "embedding": (EMBEDDING, 10_000_000), "highest": (OTHER, 5_000_000_000)},
}
HISTORIES: dict[str, dict[str, str]] = {"tier_1": {}, "tier_2": TIER_2, "tier_3": TIER_3}


FILE_REMOVAL = Removal("file", delete("/v1beta/{id}"), id_at="/file/name", id_pattern=f"files/{ASSUMED_ID}")
BATCH_REMOVAL = Removal("batch", delete("/v1beta/{id}"), id_at="/name", id_pattern=f"batches/{ASSUMED_ID}")


def stored(size: int) -> Call:
    """A file of so many bytes."""
    return post("/v1beta/files", {"file": {"displayName": "catalog-probe", "sizeBytes": size}}, removal=FILE_REMOVAL)


def job(file: str, model: str = OTHER) -> Call:
    """A batch job that reads a file."""
    body = {"batch": {"displayName": "catalog-probe", "inputConfig": {"fileName": file}}}
    return post(f"/v1beta/models/{model}:batchGenerateContent", body, removal=BATCH_REMOVAL)


def enqueued(
    label: str,
    size: int,
    model: str = OTHER,
    *,
    family: Family = LIMITS,
    slug: str = SLUG,
    history: Mapping[str, str] = NO_HISTORY,
) -> Recipe:
    """A batch job that reads a file of so many bytes, for an account that has this behind it."""

    async def steps(probe: Probe) -> None:
        file = (await probe.setup(stored(size))).body["file"]["name"]
        asked = job(file, model)
        made = await probe.send(asked.befallen(with_history(**history)) if history else asked, label)
        if made.response is not None and made.response.status == 200:
            await probe.setup(delete(f"/v1beta/{made.response.body['name']}"))  # else it counts in the next look
        await probe.setup(delete(f"/v1beta/{file}"))

    return family.recipe(
        slug,
        steps=steps,
        label=label,
        requests=4,
        cost=Cost.DESTRUCTIVE,
        needs=job("", model).placeholders,
        scenario=bool(history),
        live=NO_PATH_OF_BATCHES,
    )


def _at_each_ceiling() -> dict[str, Recipe]:
    """A job that just fits beneath each ceiling of each tier, and one that is a token beyond."""
    found: dict[str, Recipe] = {}
    for tier, ceilings in CEILINGS.items():
        for name, (model, ceiling) in ceilings.items():
            for side, waiting in (("within", ceiling - TOKENS), ("beyond", ceiling - TOKENS + 1)):
                label = f"{tier}_{name}_{side}"
                history = {**HISTORIES[tier], "enqueued": str(waiting)}
                found[label] = enqueued(label, TOKENS * BYTES_PER_TOKEN, model, history=history)
    return found


async def all_active_jobs(probe: Probe) -> None:
    """Two jobs together fill the ceiling of a model: another has its own, and one that ends makes room."""
    half = CEILINGS["tier_1"]["speech"][1] // 2
    file = (await probe.setup(stored(half * BYTES_PER_TOKEN))).body["file"]["name"]
    first = (await probe.setup(job(file, SPEECH))).body["name"]
    await probe.setup(job(file, SPEECH))
    await probe.send(job(file, SPEECH), "second_job_of_the_model")
    await probe.send(job(file, EMBEDDING), "job_of_another_model")
    await probe.setup(delete(f"/v1beta/{first}"))
    await probe.send(job(file, SPEECH), "job_after_the_first_ended")


def _filled(label: str, size: int, already: int, *, family: Family = LIMITS, slug: str = SLUG) -> Recipe:
    """One more file, where so many bytes are stored already."""
    call = stored(size).befallen(with_history(stored=str(already)))
    return family.recipe(slug, call, label=label, cost=Cost.DESTRUCTIVE, live=NO_PATH_OF_BATCHES)


LOOKS: dict[str, Recipe] = {
    **_at_each_ceiling(),
    "batch_jobs_within": enqueued("batch_jobs_within", 4, history={"jobs": "99"}),
    "batch_jobs_beyond": enqueued("batch_jobs_beyond", 4, history={"jobs": "100"}),
    "batch_file_within": enqueued("batch_file_within", 2 * GB, history=TIER_2),
    "batch_file_beyond": enqueued("batch_file_beyond", 2 * GIB + 1, history=TIER_2),
    "batch_storage_within": _filled("batch_storage_within", 1, 20 * GB - 1),
    "batch_storage_beyond": _filled("batch_storage_beyond", 1, 20 * GIB),
    "all_active_jobs": LIMITS.recipe(
        SLUG,
        steps=all_active_jobs,
        labels=("second_job_of_the_model", "job_of_another_model", "job_after_the_first_ended"),
        requests=7,
        cost=Cost.DESTRUCTIVE,
        needs={*job("", SPEECH).placeholders, *job("", EMBEDDING).placeholders},
        live=NO_PATH_OF_BATCHES,
    ),
}
RECIPES: tuple[Recipe, ...] = (
    enqueued("answer", 4, history={"jobs": "100"}, family=QUOTA, slug="batch_concurrent_requests"),
    enqueued("answer", 4, history={"enqueued": "10000000"}, family=QUOTA, slug="batch_enqueued_tokens"),
    enqueued("answer", 2 * GIB + 1, family=GENERAL, slug="batch_input_file_too_large"),
    _filled("answer", 1, 20 * GIB, family=QUOTA, slug="batch_file_storage"),
)
