"""Markup that a page holds thousands of times: exchanges and checklists. A Jinja macro would be too slow.

As in the templates, everything is escaped and hidden characters are made visible.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup, escape

from catalog_probe.catalog.text.readable_text import escape_hidden, sanitize_line
from catalog_probe.reports.exchanges import ELEMENTS, MARKED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Json
    from catalog_probe.reports.content.findings import StepChecklist

_TIMELINE_HEAD = '<th scope="col">ms</th><th scope="col">way</th><th scope="col">what</th><th scope="col">data</th>'


def escape_text(text: str) -> str:
    """Escape a text as the template environment does."""
    return str(escape(escape_hidden(text)))


def format_query_link(text: str) -> str:
    """Return a link to the records that a query finds."""
    return f"#?q={quote(text)}"


def render_exchange(exchange: Mapping[str, Json], *, is_open: bool = False) -> Markup:
    """Render an exchange as one line that unfolds."""
    endpoint = f" on {escape_text(exchange['endpoint'])}" if exchange["endpoint"] else ""
    answer = _render_marked(exchange["answer"], MARKED if exchange["marked"] else "")
    failure = f'<p class="reason">{escape_text(exchange["failure"])}</p>' if "failure" in exchange else ""
    answered = f'<div class="one">{render_answer(exchange)}</div>' if "seen" in exchange else ""
    sent = f"{_render_headers(exchange['sent'])}{_render_lines(exchange['sent_body'])}"
    return Markup(
        f'<details class="exchange"{" open" if is_open else ""}>\n'
        f"  <summary><b>{escape_text(exchange['label'])}{endpoint}</b> "
        f'<span class="asked">{escape_text(exchange["asked"])}</span> '
        f'<b class="answer">{answer}</b> <span class="ms">{exchange["ms"]} ms</span></summary>\n'
        f"{failure}{answered}  "
        f'<details class="sent"><summary>Sent</summary>{sent}</details>\n'
        "</details>"
    )


def render_answer(exchange: Mapping[str, Json]) -> Markup:
    """Render headers, body and timeline of an answer."""
    timeline = ""
    if exchange.get("timeline"):
        head = f"<thead><tr>{_TIMELINE_HEAD}</tr></thead>"
        rows = _render_events(exchange["timeline"])
        timeline = f'<table class="timeline">\n  {head}\n  <tbody>{rows}</tbody>\n</table>\n'
    headers = _render_headers(exchange.get("seen", ()))
    return Markup(f"{headers}{_render_lines(exchange.get('seen_body', ()))}\n{timeline}")


def render_checklist(step: StepChecklist) -> Markup:
    """Render the checklist of one step on one endpoint."""
    endpoint = escape_text(step.endpoint)
    link = f' on <a class="near" href="#{endpoint}">{endpoint}</a>' if step.endpoint else ""
    return Markup(f"<p>{escape_text(step.label)}{link}</p>\n<dl>\n{''.join(_render_results(step))}</dl>")


def _render_results(step: StepChecklist) -> Iterator[str]:
    if step.mismatched:
        pairs = ", ".join(
            f"<code>{escape_text(key)}</code>: {escape_text(sanitize_line(observed, 120))}"
            for key, observed in step.mismatched.items()
        )
        yield f"<dt>mismatched</dt><dd>{pairs}</dd>"
    if step.as_documented:
        yield f"<dt>as documented</dt><dd>{_render_keys(step.as_documented)}</dd>"
    if step.assumed:
        yield f"<dt>assumed</dt><dd>{_render_keys(step.assumed)}</dd>"
    for reason, keys in step.not_observed.items():
        yield f"<dt>not observed, {escape_text(reason)}</dt><dd>{_render_keys(keys)}</dd>"


def render_record_links(addresses: Iterable[str]) -> Markup:
    """Render links to other records of the page, named without their provider."""
    links = (
        f'<a class="near" href="#{escape_text(address)}">{escape_text(address.partition("/")[2])}</a>'
        for address in addresses
    )
    return Markup("".join(links))


def _render_headers(headers: Iterable[tuple[str, str, str]]) -> str:
    """Render headers, each with its name, value and mark; empty if there are none."""
    rows = "".join(
        f"<div><dt>{escape_text(name)}</dt><dd>{_render_marked(value, mark)}</dd></div>"
        for name, value, mark in headers
    )
    return f'<dl class="headers">{rows}</dl>' if rows else ""


def _render_lines(lines: Sequence[Sequence[str]]) -> str:
    """Render the lines of a body, each with its mark; neighbours without one are escaped together, for speed."""
    rendered: list[str] = []
    for mark, group in groupby(lines, key=itemgetter(1)):
        texts = [text for text, _ in group]
        if mark:
            rendered += [_render_marked(text, mark) for text in texts]
        else:
            rendered.append(escape_text("\n".join(texts)))
    joined = "\n".join(rendered)
    return f"<pre>{joined}</pre>" if rendered else ""


def _render_events(timeline: Iterable[Sequence[Json]]) -> str:
    """Render rows of a table: milliseconds, direction, name, data."""
    return "".join(
        f"<tr><td>{'' if ms is None else ms}</td><td>{escape_text(direction)}</td>"
        f"<td>{_render_marked(name, mark)}</td><td>{_render_marked(text, mark)}</td></tr>"
        for ms, direction, name, text, mark in timeline
    )


def _render_keys(keys: tuple[str, ...]) -> str:
    return ", ".join(f"<code>{escape_text(key)}</code>" for key in keys)


def _render_marked(text: str, mark: str) -> str:
    element, escaped = ELEMENTS.get(mark), escape_text(text)
    return f"<{element}>{escaped}</{element}>" if element else escaped
