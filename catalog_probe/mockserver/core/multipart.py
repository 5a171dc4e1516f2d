"""multipart/form-data, as much of it as uploads need, of a body in memory."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import Message


class Malformed(ValueError):
    """The body is no multipart/form-data; the message says why."""


@dataclass(frozen=True)
class Part:
    """One form field; a file has a filename."""

    name: str
    filename: str | None
    content_type: str | None
    content: bytes


def parse(content_type: str, body: bytes) -> list[Part]:
    """Parse the parts.

    Raises:
        Malformed: it is no such body.
    """
    header = _parse_header("content-type", content_type)
    boundary = header.get_param("boundary")
    if header.get_content_type() != "multipart/form-data" or not isinstance(boundary, str):
        raise Malformed("Content-Type must be multipart/form-data with a boundary.")
    before, *chunks = (b"\r\n" + body).split(b"\r\n--" + boundary.encode())
    if before or not chunks or not chunks[-1].startswith(b"--"):
        raise Malformed("The request body is not valid multipart/form-data.")
    return [_parse_part(chunk) for chunk in chunks[:-1]]


def _parse_part(chunk: bytes) -> Part:
    head, separator, content = chunk.removeprefix(b"\r\n").partition(b"\r\n\r\n")
    if not separator:
        raise Malformed("A part of the multipart body has no end to its headers.")
    headers: dict[str, str] = {}
    for line in head.decode("utf-8", "replace").split("\r\n"):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    form = _parse_header("content-disposition", headers.get("content-disposition", ""))
    field = form.get_param("name", header="content-disposition")
    if not isinstance(field, str):
        raise Malformed("A part of the multipart body has no name.")
    return Part(field, form.get_filename(), headers.get("content-type"), content)


def _parse_header(name: str, value: str) -> Message:
    message = Message()
    message[name] = value
    return message
