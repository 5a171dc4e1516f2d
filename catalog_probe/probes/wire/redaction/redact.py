"""The one place where secrets and account identifiers are taken out of everything observed."""

from __future__ import annotations

from functools import cached_property, lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.text.json_tree import (
    all_texts,
    has_rows,
    map_bytes,
    map_texts,
    placed_texts,
    texts_and_bytes,
)
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.wire.redaction.encoded import stands_apart, stretches, written_down
from catalog_probe.probes.wire.redaction.needles import ENOUGH, Hit, needles_of
from catalog_probe.probes.wire.redaction.unescaped import ESCAPING, bare, is_escaped, levels, placed_levels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.probes.targets.target import Target

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "cookie", "set-cookie"})
"""Headers whose whole value is a secret, by exact name; never by the substring "token", which would eat evidence."""

MIN_SECRET = 6
"""Shorter values are not hidden by value: they would blot out ordinary text."""

REMEMBERED = 200
"""How a text of at most so many characters is shown is remembered: most of these come again."""

REMEMBERED_TOGETHER = 600
"""And of texts put together, whether they hold nothing."""

MEMORY = 5_000

MANY_ESCAPES = 100_000
"""A text with more of them, in which a part of a secret may be, is hidden whole."""


class Redactor:
    """Hides secrets by value and by header name. One a run; it learns account identifiers as answers name them.

    Twelve characters of a secret in a row are enough, in any case, through white space and characters of no width, in
    percent, HTML, JSON, hexadecimal, base32 and base64 form, as a list of bytes, in letters that only look otherwise,
    compressed, and in such forms of forms. Account identifiers are hidden whole.
    """

    def __init__(
        self,
        secrets: Mapping[str, str],
        key_headers: Iterable[str] = (),
        public: Iterable[str] = (),
        documented: Iterable[Record] = (),
    ) -> None:
        manifests = [manifest(name) for name in providers()]
        self._headers = SECRET_HEADERS | {name.lower() for name in key_headers}
        self._headers |= {each.stand_ins.key_header for each in manifests}
        self._account_headers = frozenset(header for each in manifests for header in each.account_headers)
        """Stand-in names of the headers that name the account; their values are hidden wherever they turn up."""
        self._public = frozenset(public)
        self._documented = documented
        hidden = {secret: marker for secret, marker in secrets.items() if len(secret) >= MIN_SECRET}
        self._needles = needles_of(tuple(hidden.items())).copy(public=lambda: self._public_words)
        self._markers = {marker.encode() for marker in hidden.values()}
        self._hidden = set(hidden)
        self._shown: dict[str, str] = {}
        self._clean: set[str] = set()
        """Texts put together in which nothing was found: the headers and bodies of many requests are the same."""
        self._empty: set[bytes] = set()
        """Stretches that read like bytes written down, and hold nothing."""
        self.kept: dict[str, str] = {}
        """Secrets that answers handed out, by the name of the placeholder that stands for each: `{secret_1}`."""

    @classmethod
    def of(cls, target: Target, public: Iterable[str] = (), documented: Iterable[Record] = ()) -> Redactor:
        """The redactor of a target: each key becomes `${VARIABLE}`, ready to paste into a shell.

        What a key has in common with words of `public`, or of what is `documented`, is no part of a secret.
        """
        secrets: dict[str, str] = {}
        for provider in target.providers.values():
            dialect = Dialect.of(provider)
            for name, credential in provider.named_keys():
                if credential.value:
                    for said in (credential.value, dialect.text_in(credential.value)):
                        secrets.setdefault(said, f"${{{name}}}")
        return cls(secrets, {provider.key_header for provider in target.providers.values()}, public, documented)

    def text(self, text: str) -> str:
        """The text without any known secret or enough of one.

        Half a surrogate pair, which only JSON can carry, becomes its escape: no file or pipe would take it.
        """
        shown = self._shown.get(text)
        if shown is not None:
            return shown
        shown = text
        if self._may_hold_a_secret(text):
            shown = _replaced(text, self._found(text.encode("utf-8", "surrogatepass")))
        if not shown.isascii():
            shown = shown.encode("utf-8", "backslashreplace").decode()
        if len(text) <= REMEMBERED and len(self._shown) < MEMORY:
            self._shown[text] = shown
        return shown

    def binary(self, raw: bytes, size: int) -> str:
        """The first `size` bytes in hexadecimal; a secret among them shows its marker, however far it goes on."""
        shown: list[str] = []
        done = 0
        for hit in self._found(raw):
            if hit.start >= size:
                break
            shown += (raw[done : hit.start].hex(), hit.marker)
            done = hit.end
        return "".join((*shown, raw[done:size].hex()))

    def json(self, value: Json) -> Json:
        """The JSON value with every string and every name redacted, also where neighbours share a secret.

        Neighbours are what stands next to each other, and what stands at one place of each item of a list.
        """
        seen = self._json(value)
        return self._at_places([seen])[0] if has_rows(seen) else seen

    def _json(self, value: Json) -> Json:
        told, numbers = texts_and_bytes(value)
        if any(self._met(bytes(each)) for each in numbers):
            value = map_bytes(value, self._bytes)
        if not self._may_hold_a_secret(*told):
            return value if all(map(str.isascii, told)) else map_texts(value, self.text, names=True)
        value = map_texts(value, self.text, names=True)
        following = iter(self._together(list(all_texts(value))))
        return map_texts(value, partial(_next_of, following), names=True)

    def stream(self, values: Sequence[Json]) -> list[Json]:
        """The data of the events of one stream, also where several of them in a row share a secret.

        What clients put together is what stands at one place in each: so those are looked at as one text.
        """
        return self._at_places([self._json(value) for value in values])

    def _at_places(self, seen: list[Json]) -> list[Json]:
        """Values without what stands in several texts at one place, or in all of them, place by place."""
        places: dict[str, list[tuple[int, int]]] = {}
        texts: list[list[str]] = []
        for number, value in enumerate(seen):
            texts.append([])
            for place, text in placed_texts(value):
                places.setdefault(place, []).append((number, len(texts[-1])))
                texts[-1].append(text)
        changed: set[int] = set()
        for among in (*places.values(), [place for each in places.values() for place in each]):
            before = [texts[number][index] for number, index in among]
            after = self._together(before)
            if after is not before:
                changed |= {number for number, _ in among}
                for (number, index), text in zip(among, after, strict=True):
                    texts[number][index] = text
        for number in changed:
            following = iter(texts[number])
            seen[number] = map_texts(seen[number], partial(_next_of, following))
        return seen

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers in stand-in names, with secret ones emptied and account identifiers hidden.

        A key header keeps what the known markers leave of it, so that `Bearer ${PC_API_KEY}` can be pasted.
        """
        account = self._account_headers & headers.keys()
        for name in account:
            self.learn(headers[name], name)
        secret = {name: self.text(headers[name]) for name in account}
        secret |= {name: self._header(value) for name, value in headers.items() if name in self._headers}
        shown = {**headers, **secret}
        if self._holds_nothing(shown) and self._holds_nothing(shown.values()):
            return shown
        shown = {self.text(name): secret.get(name) or self.text(value) for name, value in shown.items()}
        return dict(zip(shown, self._together(list(shown.values())), strict=True))

    def hide(self, secret: str, marker: str, *, whole: bool = False) -> None:
        """Hide a secret that was not known before, from now on; a part of it as well, unless it is hidden `whole`."""
        if len(secret) < MIN_SECRET or secret in self._hidden:
            return
        self._hidden.add(secret)
        self._shown.clear()
        self._clean.clear()
        self._empty.clear()
        self._needles.add(secret, marker, whole=whole)
        self._markers.add(marker.encode())

    def learn(self, identifier: str, name: str) -> None:
        """Hide an account identifier from now on, keeping the prefix that tells its kind (`wrkspc_`)."""
        prefix = identifier[: identifier.rfind("_") + 1] if "_" in identifier else ""
        self.hide(identifier, f"{prefix}[{name}]", whole=True)

    def keep(self, secret: str, *, seen_as: str) -> None:
        """Hide a secret that an answer hands out, from now on, under a placeholder that a later call can send."""
        if len(secret) < MIN_SECRET or secret in self._hidden:
            return
        name = f"secret_{len(self.kept) + 1}"
        self.kept[name] = secret
        for form in {secret, seen_as}:
            # `auth_tokens/` is in every answer of its kind, and no part of a secret.
            own = form.rpartition("/")[2]
            self.hide(form, f"{{{name}}}", whole=own != form)
            if own != form and len(own) >= ENOUGH:
                self.hide(own, f"{{{name}}}")

    @cached_property
    def _public_words(self) -> bytes:
        own = {*self._public, *self._headers, *self._account_headers}
        return b"\n".join((_bare_words(own), _documented_words(tuple(self._documented))))

    def _header(self, value: str) -> str:
        """The value of a header that is a secret as a whole."""
        shown = self.text(value)
        scheme, _, key = shown.rpartition(" ")
        if key.startswith("${") or key in self._public:
            return shown
        return f"{scheme} [redacted]".lstrip() if scheme in ("Bearer", "Basic") else "[redacted]"

    def _holds_nothing(self, texts: Collection[str]) -> bool:
        """Whether texts that are put together hold nothing, each by itself: true of most, and quick to see.

        Nothing is escaped there: two halves of what looks like an escape could hide the beginning of what follows.
        """
        return _is_plain("".join(texts)) and not self._may_hold_a_secret(*texts)

    def _may_hold_a_secret(self, *texts: str) -> bool:
        """Whether it is worth looking closer at texts that follow each other: nearly none holds a secret."""
        joined = "".join(texts)
        if len(joined) < self._needles.shortest and joined.isascii():
            return False
        name = _together_as(texts) if len(joined) <= REMEMBERED_TOGETHER else ""
        if name in self._clean:
            return False
        raw = joined.encode("utf-8", "surrogatepass")
        # Bytes that are written down stand in one text; names that follow each other only look like them.
        if self._met(raw, raw if len(texts) == 1 else "\n".join(texts).encode("utf-8", "surrogatepass")):
            return True
        self._remember_clean(name)
        return False

    def _met(self, raw: bytes, apart: bytes | None = None) -> bool:
        met = self._needles.met
        if any(map(met, levels(raw))):
            return True
        read = raw if apart is None else apart
        unknown = stretches(read) - self._empty
        if not unknown and not stands_apart(read):
            return False
        if any(met(run.raw) for run in written_down(read, known=self._empty)):
            return True
        if len(self._empty) < MEMORY:
            self._empty.update(each for each in unknown if len(each) <= REMEMBERED)
        return False

    def _found(self, raw: bytes) -> list[Hit]:
        """Where secrets stand in a text, as bytes: in its order, and what overlaps as one."""
        if sum(map(raw.count, ESCAPING)) > MANY_ESCAPES and self._met(raw):
            return [Hit(0, len(raw), self._needles.marker)]  # to look closely would take as long as it was meant to
        found = [
            Hit(*level.place(hit.start, hit.end), hit.marker)
            for level in placed_levels(raw)
            for hit in self._needles.hits(level.raw)
        ]
        found += (
            Hit(run.start, run.end, hit.marker)
            for run in written_down(raw)
            if self._needles.met(run.raw)
            for hit in islice(self._needles.hits(run.raw), 1)
        )
        hits = sorted(found)
        if not hits:
            return []
        markers = [at for marker in self._markers if marker in raw for at in _all_of(marker, raw)]
        apart: list[Hit] = []
        for hit in hits:
            if any(start <= hit.start and hit.end <= end for start, end in markers):
                continue  # it is what a secret was replaced by
            last = apart[-1] if apart else None
            if last is None or last.end <= hit.start:
                apart.append(hit)
                continue
            longest = max(last, hit, key=lambda each: each.size)
            apart[-1] = Hit(last.start, max(last.end, hit.end), longest.marker)
        return apart

    def _bytes(self, numbers: list[int]) -> list[Json]:
        """A list of bytes, with a marker in the place of each that belongs to a secret."""
        shown: list[Json] = [*numbers]
        for hit in self._found(bytes(numbers)):
            shown[hit.start : hit.end] = [hit.marker] * hit.size
        return shown

    def _together(self, texts: list[str]) -> list[str]:
        """Texts that follow each other, each redacted, without what stands in several of them.

        The same list where nothing does.
        """
        if not self._may_hold_a_secret(*texts):
            return texts
        parts = [text.encode() for text in texts]
        between = b""
        hits = self._found(b"".join(parts))
        if not hits:  # as bytes that are written down, each in a text of its own
            between = b"\n"
            hits = self._found(between.join(parts))
        changed: list[str] = []
        begun = 0
        for text, part in zip(texts, parts, strict=True):
            ended = begun + len(part)
            mine = [
                Hit(max(hit.start, begun) - begun, min(hit.end, ended) - begun, hit.marker)
                for hit in hits
                if hit.start < ended and begun < hit.end
            ]
            changed.append(_replaced(text, mine))
            begun = ended + len(between)
        if hits:
            return changed
        if sum(map(len, texts)) <= REMEMBERED_TOGETHER:
            self._remember_clean(_together_as(texts))
        return texts

    def _remember_clean(self, name: str) -> None:
        if name and len(self._clean) < MEMORY:
            self._clean.add(name)


def _bare_words(words: set[str]) -> bytes:
    return b"\n".join(bare(word.encode("utf-8", "surrogatepass")) for word in sorted(words))


@lru_cache(maxsize=1)
def _documented_words(records: tuple[Record, ...]) -> bytes:
    """The words of records, one a line: a process that redacts for several runs has them of the same records."""
    return _bare_words({text for record in records for text in all_texts(record.data)})


def _together_as(texts: Collection[str]) -> str:
    """How texts that follow each other are remembered: where one ends matters. Empty where that cannot be told."""
    name = _BETWEEN.join(texts)
    return name if name.count(_BETWEEN) < len(texts) else ""


_BETWEEN = "\0"
"""What is put between texts that are remembered together."""

_SIGNS = ("%", "&", "\\")
"""With one of these an escape begins, in whatever dress; with `=` as well, but a single one stands in many a header."""


def _is_plain(text: str) -> bool:
    """Whether nothing in a text is escaped."""
    if not text.isascii() or any(sign in text for sign in _SIGNS):
        return False
    return "=" not in text or ("<" not in text and not is_escaped(bare(text.encode())))


def _next_of(following: Iterator[str], _: str) -> str:
    return next(following)


def _replaced(text: str, hits: Iterable[Hit]) -> str:
    """A text with what stands in these places shown as its marker."""
    raw = text.encode("utf-8", "surrogatepass")
    pieces: list[bytes] = []
    done = 0
    for hit in hits:
        start, end = hit.start, hit.end
        while start > done and raw[start] & 0xC0 == _CONTINUES:
            start -= 1
        while end < len(raw) and raw[end] & 0xC0 == _CONTINUES:
            end += 1
        pieces += (raw[done:start], hit.marker.encode())
        done = end
    return b"".join((*pieces, raw[done:])).decode("utf-8", "surrogatepass")


_CONTINUES = 0x80
"""The first two bits of a byte that goes on with the character before it."""


def _all_of(marker: bytes, raw: bytes) -> Iterator[tuple[int, int]]:
    """Where a marker stands."""
    start = raw.find(marker)
    while start >= 0:
        yield start, start + len(marker)
        start = raw.find(marker, start + 1)
