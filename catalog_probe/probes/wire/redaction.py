"""Redaction: hides secrets in all that is kept or shown of exchanges.

A client joins the texts of a stream's events, so a secret may be spread over several events. Strings that a client may
join are a *channel* (`split_into_channels`), and redaction looks at the joined strings too. What replaces a secret is
its *marker*, e.g. `${PC_API_KEY}`.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar
from urllib.parse import unquote
from urllib.request import getproxies

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.text.json_values import find_value, map_strings
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.targets.target import NONEXISTENT_KEY
from catalog_probe.probes.wire.known_secrets import PER_STRING, KnownSecrets, TooMuchWorkError, Work

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import (
        Attempt,
        Event,
        Exchange,
        Finding,
        GrpcStatus,
        Json,
        Reason,
        Request,
        Response,
    )
    from catalog_probe.catalog.model.assertion import Observation
    from catalog_probe.catalog.model.exchange import Truncation
    from catalog_probe.probes.targets.target import Target


_Location = tuple[str, ...]
"""The members on the way to a value, `*` for each item of a list, e.g. `("choices", "*", "text")`.

A tuple, because one string would copy the name of a member for each value in it, and a hostile name may be a megabyte.
"""

_NumberAt = tuple[_Location, int]
"""A whole number in an event, such as an `index`, with its location."""

_MAX_NUMBERS = 8
"""Whole numbers on the way to a string that are looked at; documented streams have at most three."""


class _LocatedString(NamedTuple):
    """A string of an event, its location, and the whole numbers on the way to it."""

    location: _Location
    numbers: tuple[_NumberAt, ...]
    text: str


class Piece(NamedTuple):
    """One string of a stream: which event it is in, and which string of that event's data it is."""

    event: int
    position: int
    text: str


def split_into_channels(events: Sequence[Event], work: Work) -> Iterator[list[Piece]]:
    """Yield the strings of each channel in their order.

    Each string is in two channels, because a client may join the strings of either:
    - all strings at the same location;
    - of these, the strings whose events have the same name and the same whole numbers. A number that occurs in a single
      event is ignored: if each event has a `sequence_number`, no two events would have the same numbers.

    Example: the events `{"index": 0, "text": "sk-"}`, `{"index": 1, "text": "Hi"}` and `{"index": 0, "text": "7Qx2"}`
    have the channels `sk-Hi7Qx2` and `sk-7Qx2`. A channel of one string (`Hi`) is left out, because each string is also
    redacted by itself.

    Raises:
        TooMuchWorkError: there is no work left for so many strings.
    """
    strings_by_event = [list(_locate_strings(event.data, (), (), work)) for event in events]
    occurrences: Counter[_NumberAt] = Counter()
    for strings in strings_by_event:
        occurrences.update({number for string in strings for number in string.numbers})

    by_location: dict[_Location, list[Piece]] = defaultdict(list)
    by_numbers: dict[Hashable, list[Piece]] = defaultdict(list)
    for index, (event, strings) in enumerate(zip(events, strings_by_event, strict=True)):
        for position, string in enumerate(strings):
            piece = Piece(index, position, string.text)
            repeated_numbers = tuple(number for number in string.numbers if occurrences[number] > 1)
            by_location[string.location].append(piece)
            by_numbers[event.event, string.location, repeated_numbers].append(piece)
    for pieces in (*by_location.values(), *by_numbers.values()):
        if len(pieces) > 1:
            yield pieces


def _locate_strings(
    value: Json, location: _Location, numbers: tuple[_NumberAt, ...], work: Work
) -> Iterator[_LocatedString]:
    """Yield each string in a value, in the order of `map_strings`."""
    if isinstance(value, str):
        work.spend(PER_STRING)
        yield _LocatedString(location, numbers, value)
    elif isinstance(value, Mapping):
        # Not `isinstance`, for which True and False are whole numbers too.
        members = (((*location, name), item) for name, item in value.items() if type(item) is int)
        numbers = (*numbers, *islice(members, _MAX_NUMBERS - len(numbers)))
        for name, item in value.items():
            yield from _locate_strings(item, (*location, name), numbers, work)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _locate_strings(item, (*location, "*"), numbers, work)


SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "cookie", "set-cookie"})
"""Headers whose value is a secret whatever it is. The exact name counts: `x-ratelimit-limit-tokens` is evidence."""

MIN_SECRET = 6
"""Characters of the shortest secret that is hidden; shorter values occur in ordinary text.

A string is hidden as soon as it contains a part of a secret; `known_secrets` says how long a part is enough.
"""

TOO_MUCH = "[hidden: too much to search for secrets]"
"""What replaces an answer's body that takes more work than it may."""

TOO_LONG = "[hidden: too long once secrets and identifiers are replaced]"
"""What replaces a string that would grow by more than MAX_GROWTH characters."""

MAX_GROWTH = 1000
"""Characters by which a string may grow when parts of it are replaced. Honest answers name an account a few times."""

HIDDEN = re.compile(r"\[hidden: [^\]]*\]")
"""Matches what replaces a string that contains a secret, and a body that takes too much work; for recordings."""

_VARIABLE = re.compile(r"\$\{\w+\}")
"""What replaces a key in an exchange that was redacted before, such as `${PC_API_KEY}`."""

_SCHEMES = ("Bearer", "Basic")

_MOST_IDENTIFIERS = 50
"""Identifiers of the account that are replaced in bodies. An account has a handful. A hostile server may name others in
each answer, which must not slow us down: these are shown."""

_TOKEN = re.compile(r"[\w-]+")
"""A word in which an identifier of the account is looked for: `org-7Qx2` in `limit of org-7Qx2 reached`."""

_MIN_IDENTIFIER = 8
"""Characters. A shorter identifier, or one without a digit (`default`), is a word that evidence may contain as well."""

_KIND = re.compile(r"[a-z]{1,10}_")
"""The beginning of an identifier that tells its kind, and stays: `wrkspc_`."""

_PART_OF_URL = re.compile(r"([/?&=#])")


class Redactor:
    """Knows the secrets of a run, and learns those that answers hand out.

    Args:
        secrets: secret -> its marker. Any string that contains a part of a secret is hidden whole.
        key_headers: further headers whose value is a secret whatever it is.
        names: other value -> what replaces it where it is a whole string. Example: the key of a mock is no secret, but
            a person needs `${PC_API_KEY}` to repeat the request. A public key that is shown is its own name.
    """

    def __init__(
        self, secrets: Mapping[str, str], key_headers: Iterable[str] = (), names: Mapping[str, str] | None = None
    ) -> None:
        manifests = [manifest(name) for name in providers()]
        self._secret_headers = {*SECRET_HEADERS, *(name.lower() for name in key_headers)}
        self._secret_headers |= {provider.stand_ins.key_header for provider in manifests}
        self._account_headers = {header for provider in manifests for header in provider.account_headers}
        # Secret -> marker, where a string is all of a secret; and the same secrets, searched for in longer strings.
        self._markers: dict[str, str] = {}
        self._known_secrets = KnownSecrets()
        # Value -> what replaces it where it is a whole string, though it is no secret.
        self._names = dict(names or {})
        # Identifier of the account -> what replaces it where it is a whole word.
        self._identifiers: dict[str, str] = {}
        self._handed_out = 0
        for secret, marker in secrets.items():
            self.hide(secret, marker)

    @classmethod
    def for_target(cls, target: Target) -> Self:
        """Make the redactor of a target: each key becomes `${VARIABLE}`, ready to paste into a shell."""
        key_headers = {provider.key_header for provider in target.providers.values()}
        names = {NONEXISTENT_KEY: NONEXISTENT_KEY}
        names |= {key: f"${{{variable}}}" for variable, key in target.literal_keys.items()}
        return cls(collect_secrets([target]), key_headers, names)

    def hide(self, secret: str, marker: str) -> None:
        """Look for a secret from now on."""
        if len(secret) >= MIN_SECRET and secret not in self._markers:
            self._markers[secret] = marker
            self._known_secrets.add(secret, marker)
            # A marker may contain a part of its secret (`${MY_SECRET_TOKEN}`). In what was redacted before, it stays.
            self._names[marker] = marker

    def learn(self, response: Response, secrets: Iterable[str] = ()) -> None:
        """Hide from now on what an answer hands out: what is at these JSON pointers, and identifiers of the account."""
        for pointer in secrets:
            secret = find_value(response.body, pointer)
            if isinstance(secret, str) and len(secret) >= MIN_SECRET and secret not in self._markers:
                self._handed_out += 1
                self.hide(secret, f"{{secret_{self._handed_out}}}")
        for headers in (response.headers, response.grpc.trailers if response.grpc is not None else {}):
            for name in self._account_headers & headers.keys():
                if _is_replaceable(headers[name]) and len(self._identifiers) < _MOST_IDENTIFIERS:
                    self._identifiers[headers[name]] = _name_identifier(headers[name], name)

    def redact_text(self, text: str) -> str:
        """Return a text that is one string, such as the words of an error: hidden whole if it contains a secret."""
        try:
            return self.redact_string(text, Work())
        except TooMuchWorkError:
            return TOO_MUCH

    def redact_sentence(self, sentence: str) -> str:
        """Return a sentence of ours, in which each whole secret is replaced by its marker.

        Our sentences quote addresses, which may carry a key. Example: `GET /v1?key=sk-7Qx2mN0p was refused` ->
        `GET /v1?key=${PC_API_KEY} was refused`. A sentence that contains a mere part of a secret is hidden whole.
        """
        work = Work()
        try:
            work.spend(len(sentence) * len(self._markers))
            return self.redact_string(_limit_growth(sentence, self._replace_secrets(sentence)), work)
        except TooMuchWorkError:
            return TOO_MUCH

    def _replace_secrets(self, sentence: str) -> str:
        """Replace each whole secret, in one pass: a marker is not searched for other secrets."""
        if not self._markers:
            return sentence
        longest_first = sorted(self._markers, key=len, reverse=True)
        any_secret = "|".join(map(re.escape, longest_first))
        return re.sub(any_secret, lambda secret: self._markers[secret[0]], sentence)

    def redact_string(self, string: str, work: Work) -> str:
        """Return a string as it may be shown.

        A string that is all of a secret, or all of another value with a name, becomes its marker or that name. A string
        that contains a part of a secret is hidden whole. Any other string stays, but for two changes. An identifier of
        the account becomes its name where it is a whole word: `limit of org-7Qx2mN0p reached` -> `limit of
        [pc-organization] reached`. Half a surrogate pair becomes U+FFFD, because no file takes it.

        Raises:
            TooMuchWorkError: there is no work left to look for secrets in it, as in all methods that take `work`.
        """
        name = self._find_name(string)
        if name is not None:
            return name
        marker = self._known_secrets.find(string, work)
        if marker is not None:
            return f"[hidden: contains {marker}]"
        if self._identifiers:
            work.spend(len(string))
            # In one pass: what replaces an identifier is never searched for other identifiers, which a server may
            # choose so that the string grows with each.
            named = _TOKEN.sub(lambda token: self._identifiers.get(token[0], token[0]), string)
            string = _limit_growth(string, named)
        # UTF-16 writes both halves of a pair alone, and reads a half without its other half as U+FFFD.
        return string if string.isascii() else string.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def redact_lines(self, text: str, work: Work) -> str:
        """Return a text whose lines are redacted one by one."""
        lines = ((line, line.rstrip()) for line in text.splitlines(keepends=True))
        return "".join(self.redact_string(string, work) + line[len(string) :] for line, string in lines)

    def redact_json(self, value: Json, work: Work) -> Json:
        """Return a JSON value in which each string and each name of a member is redacted."""
        return map_strings(value, lambda string: self.redact_string(string, work), names=True)

    def redact_headers(self, headers: Mapping[str, str], work: Work) -> dict[str, str]:
        """Return headers, whose names are those of the documents, as they may be shown.

        Example: `{"authorization": "Bearer sk-7Qx2mN0p"}` -> `{"authorization": "Bearer ${PC_API_KEY}"}`.
        """
        return {
            self.redact_string(name, work): self._redact_header(name, value, work) for name, value in headers.items()
        }

    def redact_url(self, url: str, work: Work) -> str:
        """Return an address in which each segment of the path and each parameter of the query is redacted."""
        parts = _PART_OF_URL.split(url)
        return "".join(self._find_name(unquote(part)) or self.redact_string(part, work) for part in parts)

    def redact_events(self, events: Sequence[Event], work: Work) -> tuple[Event, ...]:
        """Return the events of a stream: first the strings of each channel are redacted together, then each string."""
        # Index of an event -> position of a string in its data -> what replaces the string.
        replacements: dict[int, dict[int, str]] = defaultdict(dict)
        for pieces in split_into_channels(events, work):
            marker = self._known_secrets.find("".join(piece.text for piece in pieces), work)
            if marker is not None:
                for piece in pieces:
                    replacements[piece.event][piece.position] = f"[hidden: part of {marker}]"
        redacted = []
        for index, event in enumerate(events):
            data = _replace_strings(event.data, replacements[index]) if index in replacements else event.data
            redacted.append(
                replace(event, event=self.redact_string(event.event, work), data=self.redact_json(data, work))
            )
        return tuple(redacted)

    def _redact_header(self, name: str, value: str, work: Work) -> str:
        if name in self._account_headers:
            return _name_identifier(value, name)
        if name not in self._secret_headers:
            return self.redact_string(value, work)
        # A known key is shown by its name, alone or after its scheme. Any other value is hidden.
        shown_value = self._show_key(value, work)
        if shown_value is not None:
            return shown_value
        scheme, _, key = value.partition(" ")
        shown_key = self._show_key(key, work)
        if shown_key is not None:
            return f"{self.redact_string(scheme, work)} {shown_key}"
        return f"{scheme} [redacted]" if scheme in _SCHEMES else "[redacted]"

    def _show_key(self, key: str, work: Work) -> str | None:
        """Return what may be shown of a key; None if it is not known.

        In a recording that was redacted by an earlier run, a key reads like `${PC_API_KEY}`, and is shown. It is
        searched all the same, because anybody may write a secret in this form.
        """
        if self._find_name(key) is None and _VARIABLE.fullmatch(key):
            return self.redact_string(key, work)
        return self._find_name(key)

    def _find_name(self, string: str) -> str | None:
        """Return what replaces a string that is all of a secret, or all of another value with a name."""
        return self._markers.get(string) or self._names.get(string)


def collect_secrets(targets: Iterable[Target]) -> dict[str, str]:
    """Collect all that must be hidden in a run on these targets: secret -> what replaces it.

    These are the keys that the targets name, also those for a gateway in `headers`, and the password of each proxy of
    the environment in the forms in which it is sent. Example: `{"sk-7Qx2mN0p": "${PC_API_KEY}", "hunter2!":
    "{proxy_password}"}`. A key that is written into the target of a mock is public.
    """
    secrets: dict[str, str] = {}
    for target in targets:
        for provider in target.providers.values():
            dialect = Dialect.for_provider(provider)
            for name, credential in provider.list_keys():
                if name in target.literal_keys:
                    continue
                # A key may begin with a real name of the API. What is kept has stand-ins for real names, so the key is
                # looked for in both forms.
                for value in (credential.value or "", dialect.text_in(credential.value or "")):
                    secrets.setdefault(value, f"${{{name}}}")
            for header, variable in provider.secret_header_variables.items():
                secrets.setdefault(provider.headers[header], f"${{{variable}}}")
    for address in getproxies().values():
        user_info = address.rpartition("@")[0].rpartition("//")[2]
        if not user_info:
            continue
        name, _, password = map(unquote, user_info.partition(":"))
        name_and_password = f"{name}:{password}"
        # Some proxies take a token as the name, without a password.
        for value in (password or name, name_and_password, b64encode(name_and_password.encode()).decode()):
            secrets.setdefault(value, "{proxy_password}")
    return secrets


def _is_replaceable(identifier: str) -> bool:
    """Whether an identifier of the account is replaced wherever it occurs: `org-7Qx2mN0p` is, `default` is not."""
    has_digit = any(character.isdigit() for character in identifier)
    return len(identifier) >= _MIN_IDENTIFIER and has_digit and _TOKEN.fullmatch(identifier) is not None


def _name_identifier(identifier: str, header: str) -> str:
    """Return what replaces an identifier of the account: `wrkspc_7Qx2mN0p` -> `wrkspc_[pa-workspace-id]`."""
    kind = _KIND.match(identifier)
    return f"{kind[0] if kind is not None else ''}[{header}]"


def _limit_growth(string: str, replaced: str) -> str:
    """Return the string with its replacements, unless they make it grow by more than MAX_GROWTH characters."""
    return replaced if len(replaced) <= len(string) + MAX_GROWTH else TOO_LONG


def _replace_strings(value: Json, by_position: Mapping[int, str]) -> Json:
    """Return the value with other strings at some positions, counted in the order of `map_strings`."""
    positions = count()
    return map_strings(value, lambda string: by_position.get(next(positions), string))


_T = TypeVar("_T")


def redact_attempt(attempt: Attempt, redactor: Redactor) -> Attempt:
    """Return an attempt as it may be kept."""
    return replace(attempt, exchanges=tuple(redact_exchange(exchange, redactor) for exchange in attempt.exchanges))


def redact_exchange(exchange: Exchange, redactor: Redactor) -> Exchange:
    """Return an exchange as it may be kept.

    Request and response may take `OPERATIONS` each. Each of their parts (address, headers, body, events) for which no
    work is left is replaced by `TOO_MUCH`. The values that were kept of a body or event that was cut are dropped then.
    """
    return replace(
        exchange,
        request=_redact_request(exchange.request, redactor, Work()),
        response=exchange.response and _redact_response(exchange.response, redactor, Work()),
        failure=exchange.failure and redact_reason(exchange.failure, redactor),
    )


def redact_reason(reason: Reason, redactor: Redactor) -> Reason:
    """Return a reason as it may be shown."""
    advice = reason.advice and redactor.redact_sentence(reason.advice)
    return replace(reason, detail=redactor.redact_sentence(reason.detail), advice=advice)


def redact_result(result: Result, redactor: Redactor) -> Result:
    """Return a result whose attempts are redacted already, with all that its verdict quotes redacted too."""
    return replace(
        result,
        reason=result.reason and redact_reason(result.reason, redactor),
        findings=tuple(_redact_finding(finding, redactor) for finding in result.findings),
        observations=tuple(_redact_observation(observation, redactor) for observation in result.observations),
    )


def _redact_finding(finding: Finding, redactor: Redactor) -> Finding:
    work = Work()  # for both values together: each may be as large as the body that it is taken from
    return replace(
        finding,
        remark=redactor.redact_sentence(finding.remark),
        location=redactor.redact_sentence(finding.location),
        documented=_redact_or_hide(lambda: redactor.redact_json(finding.documented, work), TOO_MUCH),
        observed=_redact_or_hide(lambda: redactor.redact_json(finding.observed, work), TOO_MUCH),
    )


def _redact_observation(observation: Observation, redactor: Redactor) -> Observation:
    return replace(
        observation,
        mismatched={key: redactor.redact_text(observed) for key, observed in observation.mismatched.items()},
    )


def _redact_request(request: Request, redactor: Redactor, work: Work) -> Request:
    return replace(
        request,
        url=_redact_or_hide(lambda: redactor.redact_url(request.url, work), TOO_MUCH),
        headers=_redact_or_hide(lambda: redactor.redact_headers(request.headers, work), {TOO_MUCH: ""}),
        body=_redact_or_hide(lambda: _redact_body(request.body, "text", redactor, work), TOO_MUCH),
    )


def _redact_response(response: Response, redactor: Redactor, work: Work) -> Response:
    return replace(
        response,
        headers=_redact_or_hide(lambda: redactor.redact_headers(response.headers, work), {TOO_MUCH: ""}),
        body=_redact_or_hide(lambda: _redact_body(response.body, response.body_type, redactor, work), TOO_MUCH),
        cut=response.cut and _redact_cut(response.cut, redactor, work),
        events=response.events and _redact_events(response.events, redactor, work),
        close=response.close and replace(response.close, reason=redactor.redact_text(response.close.reason)),
        grpc=response.grpc and _redact_grpc(response.grpc, redactor, work),
    )


def _redact_body(body: Json, body_type: str, redactor: Redactor, work: Work) -> Json:
    # A text is redacted line by line, a JSON value string by string. A request with JSON holds a JSON value.
    is_text = isinstance(body, str) and body_type != "json"
    return redactor.redact_lines(body, work) if is_text else redactor.redact_json(body, work)


def _redact_cut(cut: Truncation, redactor: Redactor, work: Work) -> Truncation:
    return replace(cut, values=_redact_or_hide(lambda: redactor.redact_json(cut.values, work), {}))


def _redact_events(events: tuple[Event, ...], redactor: Redactor, work: Work) -> tuple[Event, ...]:
    # Without the values that were kept beside cut data: they were not searched either.
    hidden = tuple(replace(event, event=TOO_MUCH, data=TOO_MUCH, cut=None) for event in events)
    redacted_events = _redact_or_hide(lambda: redactor.redact_events(events, work), hidden)
    return tuple(
        event if event.cut is None else replace(event, cut=_redact_cut(event.cut, redactor, work))
        for event in redacted_events
    )


def _redact_grpc(grpc: GrpcStatus, redactor: Redactor, work: Work) -> GrpcStatus:
    trailers = _redact_or_hide(lambda: redactor.redact_headers(grpc.trailers, work), {TOO_MUCH: ""})
    return replace(grpc, message=redactor.redact_text(grpc.message), trailers=trailers)


def _redact_or_hide(redact: Callable[[], _T], hidden: _T) -> _T:
    try:
        return redact()
    except TooMuchWorkError:
        return hidden
