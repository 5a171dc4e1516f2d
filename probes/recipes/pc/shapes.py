"""The smallest request of each endpoint of PC; of ids that cannot exist where something is named, made or changed."""

from __future__ import annotations

from catalog_probe.probes.calls.call import converse, get, post
from catalog_probe.probes.recipes.shapes import shapes_of

from . import endpoints, websocket
from .lookups import UNKNOWN_RESPONSE
from .requests import STORES

UNKNOWN_STORE = "/v1/vector_stores/vs_000000000000000000000000"

SHAPES = {
    **shapes_of(endpoints.RECIPES),
    "pc/endpoints/responses/get_response": UNKNOWN_RESPONSE,
    "pc/endpoints/organization/set_spend_limit": post("/v1/organization/spend_limit", {}, credential="admin"),
    "pc/endpoints/vector_stores/files": get(f"{UNKNOWN_STORE}/files", headers=STORES),
    "pc/endpoints/vector_stores/file_batches": post(f"{UNKNOWN_STORE}/file_batches", {"file_ids": []}, headers=STORES),
    "pc/endpoints/websocket/responses": converse(websocket.PATH),
}
"""A spend limit is asked for without the amount, so that no key could change it; a socket is opened to say nothing."""
