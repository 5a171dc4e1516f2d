"""2:8.1 PB batch: "100 concurrent batch requests; input file 2 GB; file storage 20 GB", and what may wait (2:8.3).

No path of batches and files is documented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import ASSUMED_ID, Call, Removal, delete, post
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps
from catalog_probe.probes.targets.target import Cost

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

QUOTA, GENERAL = Family("pb/errors/quota"), Family("pb/errors/general")

NO_PATH_OF_BATCHES = (ReasonCode.NO_DOCUMENTED_SETUP, "the documents show no path of batches and files (1:4)")

GIB = 2**30
"""The documents do not say whether GB is 10^9 or 2^30 bytes; what exceeds the larger must be refused."""

FILE_REMOVAL = Removal("file", delete("/v1beta/{id}"), id_pointer="/file/name", id_pattern=f"files/{ASSUMED_ID}")
BATCH_REMOVAL = Removal("batch", delete("/v1beta/{id}"), id_pointer="/name", id_pattern=f"batches/{ASSUMED_ID}")


def store_file(size: int) -> Call:
    """Announce a file of this size, in bytes."""
    return post("/v1beta/files", {"file": {"displayName": "catalog-probe", "sizeBytes": size}}, removal=FILE_REMOVAL)


def start_job(file: str) -> Call:
    body = {"batch": {"displayName": "catalog-probe", "inputConfig": {"fileName": file}}}
    return post("/v1beta/models/{small_model}:batchGenerateContent", body, removal=BATCH_REMOVAL)


def quota_recipe(slug: str, call: Call, quota: str) -> Recipe:
    """A call after other batches and files of the account have used up a quota."""
    caused = call.with_scenario(f"quota_used_up;quota={quota}")
    return QUOTA.recipe(slug, caused, cost=Cost.DESTRUCTIVE, not_live=NO_PATH_OF_BATCHES)


@declare_steps(requests=2, needs={"small_model"})
async def batch_input_file_too_large(probe: Probe) -> None:
    """A job that reads a file of more than 2 GB."""
    file = (await probe.setup(store_file(2 * GIB + 1))).body["file"]["name"]
    await probe.send(start_job(file))


RECIPES: tuple[Recipe, ...] = (
    quota_recipe("batch_concurrent_requests", start_job("files/probe"), "concurrent_batches"),
    quota_recipe("batch_enqueued_tokens", start_job("files/probe"), "enqueued_tokens"),
    quota_recipe("batch_file_storage", store_file(1), "file_storage"),
    GENERAL.recipe(
        "batch_input_file_too_large", batch_input_file_too_large, cost=Cost.DESTRUCTIVE, not_live=NO_PATH_OF_BATCHES
    ),
)
