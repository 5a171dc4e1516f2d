"""The layers of an answer, in which a compatible server is reported: one table, which the judge and every view ask.

A client needs the layers in this order. Without the right status nothing else helps it; without the headers of the
vendor it loses little. A server that gets only the last layer wrong is of use, although none of its records conforms.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Layer(StrEnum):
    """A part of every answer. Its value is its name in a target's `leave_out`; `advice` is for a server's author."""

    words: str
    advice: str

    # fmt: off
    # layer            name              words             advice
    STATUS =          ("status",         "status",
                       "Answer with the documented status: by it a client decides whether it may retry.")
    ENVELOPE =        ("envelope",       "envelope",
                       "Answer in the documented shape: an SDK that cannot parse the body raises another exception.")
    TYPE_AND_CODE =   ("type-and-code",  "type and code",
                       "Send the documented type, code and wording: clients branch on them.")
    RETRY_HEADERS =   ("retry-headers",  "retry headers",
                       "Send the documented retry header, or pass that of your upstream on: clients wait as it says.")
    END_OF_STREAMS =  ("end-of-streams", "end of streams",
                       "Send the documented events, and end as documented: a client waits for the last event.")
    VENDOR_HEADERS =  ("vendor-headers", "vendor headers",
                       "Send the header, or leave this layer out: `leave_out = [\"vendor-headers\"]` in the target.")
    # fmt: on

    def __new__(cls, name: str, words: str, advice: str) -> Self:
        """Read one row of the table."""
        layer = str.__new__(cls, name)
        layer._value_ = name
        layer.words = words
        layer.advice = advice
        return layer


_LAYER_BY_ASPECT = {
    "status": Layer.STATUS,
    "grpc": Layer.STATUS,
    "type": Layer.TYPE_AND_CODE,
    "code": Layer.TYPE_AND_CODE,
    "param": Layer.TYPE_AND_CODE,
    "message": Layer.TYPE_AND_CODE,
    "event": Layer.END_OF_STREAMS,
    "order": Layer.END_OF_STREAMS,
    "close": Layer.END_OF_STREAMS,
}
"""Aspect of an assertion -> its layer. Headers have two layers; all other aspects are of the envelope."""


def find_layer(local_key: str) -> Layer:
    """Return the layer of an assertion, by its key without the label.

    A header is a retry header if its name says so. Limits such as `x-ratelimit-remaining-requests` are vendor headers:
    a client that lacks them still knows when to retry.

    >>> find_layer("header:retry-after").words, find_layer("header:x-ratelimit-limit-requests").words
    ('retry headers', 'vendor headers')
    >>> find_layer("body:/data/0/id").words, find_layer("status:/error/code").words
    ('envelope', 'type and code')
    """
    aspect, _, location = local_key.partition(":")
    if aspect == "header":
        return Layer.RETRY_HEADERS if "retry" in location else Layer.VENDOR_HEADERS
    if aspect == "status" and location:
        return Layer.TYPE_AND_CODE  # the status that some envelopes repeat in the body
    return _LAYER_BY_ASPECT.get(aspect, Layer.ENVELOPE)
