"""Sessions: private state, stores, limits and counters of one `X-Mock-Session`."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar, cast

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.arrivals import Arrivals
from catalog_probe.mockserver.core.limits import Meter, Row, TokenBucket
from catalog_probe.mockserver.core.scenarios import ScenarioQueue

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow


Key = TypeVar("Key")
Value = TypeVar("Value")

MAX_ITEMS = 1_000  # more than any client looks back on; a long-lived mock must not grow without bound


class BoundedStore(OrderedDict[Key, Value]):
    """A mapping that forgets its oldest item when it holds too many."""

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > MAX_ITEMS:
            self.popitem(last=False)

    def newest_first(self) -> list[Value]:
        """Return all items, the newest first."""
        return [*reversed(self.values())]

    def find(self, key: Key, absent: ErrorRow) -> Value:
        """Return the item of a key, or raise the refusal of `absent` with its {id}."""
        if key not in self:
            raise absent(id=key)
        return self[key]


UNLIMITED = 1e9  # times its limit is a bucket that is not limited, so that headers can still tell what remains

MAX_SESSIONS = 4096  # more than any run opens; a long-lived mock must not grow without bound
MAX_ENDPOINTS = 5_000  # for the same reason: paths contain ids
OTHERS = "(others)"

State = TypeVar("State")

# the letters of real ids; each byte of a digest becomes one of them
_ALPHABET = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_LETTER_OF_BYTE = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))


class Session:
    """What one client has done so far. Two sessions share nothing.

    Attributes:
        arrivals: what arrived, if the mock was started to list it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.requests: Counter[str] = Counter()
        self.scenario_uses: Counter[str] = Counter()
        self.scenario_queue = ScenarioQueue()
        self.arrivals: Arrivals | None = None
        self._states: dict[type, object] = {}
        self._stores: dict[tuple[type, str], BoundedStore[str, Any]] = {}
        self._buckets: dict[Hashable, TokenBucket] = {}
        self._ids: Counter[str] = Counter()
        self._frozen_at: float | None = None

    def frozen_time(self) -> float:
        """Return when the session's time first stood still, in seconds since the epoch."""
        if self._frozen_at is None:
            self._frozen_at = time.time()
        return self._frozen_at

    def count_request(self, counted_as: str) -> None:
        """Count a request; those beyond MAX_ENDPOINTS endpoints are counted together."""
        has_room = counted_as in self.requests or len(self.requests) < MAX_ENDPOINTS
        self.requests[counted_as if has_room else OTHERS] += 1

    def count_scenario_use(self, header: str) -> int:
        """Count a request with this scenario header, and return how many there were."""
        self.scenario_uses[header] += 1
        if len(self.scenario_uses) > MAX_ENDPOINTS:
            del self.scenario_uses[next(iter(self.scenario_uses))]
        return self.scenario_uses[header]

    def state(self, kind: type[State]) -> State:
        """Return this session's one instance of a class, made on first use."""
        state = self._states.get(kind)
        if state is None:
            state = self._states[kind] = kind()
        return cast("State", state)

    def store(self, kind: type[State], owner: str = "") -> BoundedStore[str, State]:
        """Return an owner's things of one class in this session, by id."""
        return self._stores.setdefault((kind, owner), BoundedStore())

    def open_meters(self, limits: Iterable[Row], numbers: object, *scope: Hashable) -> list[Meter[Row]]:
        """Return the meters of all limits that have a number in this row of numbers; None is no limit.

        Example: of the limits requests and tokens a minute, a row with `tokens_per_minute=None` opens the first alone.
        """
        columns: list[tuple[Row, float | None]] = [(limit, getattr(numbers, limit.name)) for limit in limits]
        return [self.open_meter(limit, number, *scope) for limit, number in columns if number is not None]

    def open_meter(self, limit: Row, number: float, *scope: Hashable) -> Meter[Row]:
        """Return the meter of a limit for one scope: those whose requests are counted together.

        Example: 8 requests a second of one team and model are a bucket that holds 8 and gains 480 a minute.
        """
        key = (*scope, limit.name)
        if key not in self._buckets:
            factor = leniency.get_current().limits or UNLIMITED
            capacity = max(1.0, number)  # a bucket that holds less than one request would never admit one
            self._buckets[key] = TokenBucket(number * 60 / limit.window_s * factor, capacity * factor)
        return Meter(limit, number, self._buckets[key])

    def new_id(self, prefix: str, length: int = 24) -> str:
        """Make an id that looks random but is the same in every run of the session."""
        self._ids[prefix] += 1
        digest = blake2b(f"{self.name}/{prefix}/{self._ids[prefix]}".encode(), digest_size=32).digest()
        return prefix + digest[:length].translate(_LETTER_OF_BYTE).decode("ascii")


class Sessions:
    """All sessions; beyond the limit the least recently used is forgotten."""

    def __init__(self, limit: int = MAX_SESSIONS) -> None:
        self.lists_arrivals = False
        self._limit = limit
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def get(self, name: str) -> Session:
        """Return the session with this name, made on first use; "" is the default one."""
        session = self._sessions.get(name)
        if session is None:
            session = self._sessions[name] = Session(name)
            session.arrivals = Arrivals() if self.lists_arrivals else None
            if len(self._sessions) > self._limit:
                self._sessions.popitem(last=False)
        else:
            self._sessions.move_to_end(name)
        return session

    def peek(self, name: str) -> Session | None:
        """Return the session with this name if it exists."""
        return self._sessions.get(name)

    def forget(self, name: str | None = None) -> None:
        """Forget one session, or all."""
        if name is None:
            self._sessions.clear()
        else:
            self._sessions.pop(name, None)

    def __len__(self) -> int:
        return len(self._sessions)
