"""Resources that callers make, such as files and batches: how they are found, listed, retrieved and deleted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from catalog_probe.mockserver.core.gateway import AnyCall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import ErrorRow
    from catalog_probe.mockserver.core.sessions import BoundedStore

Item = TypeVar("Item")


@dataclass(frozen=True)
class Resources(ABC, Generic[AnyCall, Item]):
    """The resources of one kind, and the handlers of the endpoints that all kinds have.

    A provider says once who owns resources and how its answers look. A kind is then one row:
    `FILES = Resources(File, "files/{file}", NO_FILE, describe_file, "files")`.

    Args:
        kind: the class of the resources.
        key: the key of a resource, from the parameters of the path, e.g. `files/{file}`.
        absent: the 404, whose message may name the {id}.
        describe: returns the fields of a resource that answers show.
        name: what an answer calls the kind.
    """

    kind: type[Item]
    key: str
    absent: ErrorRow
    describe: Callable[[AnyCall, Item], dict[str, Any]]
    name: str

    @abstractmethod
    def find_owner(self, call: AnyCall) -> str:
        """Return the id of the organization or project that owns what a call makes; "" is the whole session."""

    @abstractmethod
    def make_page(self, call: AnyCall, bodies: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the page of a list, from the bodies of all resources of the owner, the oldest first."""

    @abstractmethod
    def describe_deleted(self, key: str) -> dict[str, Any]:
        """Return the body that confirms a deletion."""

    @abstractmethod
    def respond(self, body: dict[str, Any]) -> Response:
        """Return the JSON response with this body."""

    def of(self, call: AnyCall) -> BoundedStore[str, Item]:
        """Return the resources of the caller's organization or project, by key."""
        return call.session.store(self.kind, self.find_owner(call))

    def find(self, call: AnyCall) -> Item:
        """Return the resource that the path of a call names, or refuse it with 404."""
        return self.of(call).find(self._read_key(call), self.absent)

    async def list_all(self, call: AnyCall) -> Response:
        """Answer with a page of the resources."""
        return self.respond(self.make_page(call, [self.describe(call, item) for item in self.of(call).values()]))

    async def retrieve(self, call: AnyCall) -> Response:
        """Answer with one resource."""
        return self.respond(self.describe(call, self.find(call)))

    async def delete(self, call: AnyCall) -> Response:
        """Delete one resource."""
        self.find(call)
        key = self._read_key(call)
        del self.of(call)[key]
        return self.respond(self.describe_deleted(key))

    def _read_key(self, call: AnyCall) -> str:
        return self.key.format(**call.params)


def make_list(bodies: Sequence[dict[str, Any]], *, has_more: bool) -> dict[str, Any]:
    """Return the envelope of a page that names its ends, e.g. `{"data": […], "first_id": "a", "last_id": "f", …}`."""
    return {
        "data": list(bodies),
        "first_id": bodies[0]["id"] if bodies else None,
        "last_id": bodies[-1]["id"] if bodies else None,
        "has_more": has_more,
    }
