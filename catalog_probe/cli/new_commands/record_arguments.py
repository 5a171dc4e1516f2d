"""What `catalog-probe new record` takes about the record, checked before anything is written."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.model.errors import UserError, display_path, suggest_similar
from catalog_probe.catalog.reading.facts import facts_file, read_facts
from catalog_probe.cli import parser
from catalog_probe.cli.new_commands.record_files import RETRYABLE, NewRecord

if TYPE_CHECKING:
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Address
    from catalog_probe.cli.new_commands.layout import ProviderLayout

METHODS = ("GET", "POST", "DELETE")
"""Those that recipes have a function for."""

ONLY_FOR_ERRORS = ("condition", "type", "code", "retryable", "meaning", "action", "endpoints")


class NewError(UserError):
    """A provider or record that cannot be begun: one line says why and what to do."""


def add_record_options(command: argparse.ArgumentParser) -> None:
    """Add the options about the record; each may be left out, and is then a TODO."""
    about = command.add_argument_group("about the record, from the documents")
    about.add_argument("--row", type=_parse_row, metavar="ROW", help="its row, as '2:7.3#402 payment problem'")
    about.add_argument("--when", dest="condition", type=_parse_text, metavar="TEXT", help="as 'A payment problem'")
    about.add_argument("--status", type=parser.parse_http_status, metavar="N", help="the HTTP status, as 402")
    about.add_argument("--type", type=_parse_word, metavar="TYPE", help="the type of the error")
    about.add_argument("--code", type=_parse_word, metavar="CODE", help="the code of the error")
    about.add_argument("--retryable", choices=tuple(RETRYABLE), help="whether a retry may help")
    about.add_argument("--means", dest="meaning", type=_parse_text, metavar="TEXT", help="what it means, a sentence")
    about.add_argument("--action", type=_parse_text, metavar="TEXT", help="what a client does, a sentence")
    about.add_argument(
        "--endpoint",
        dest="endpoints",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="an endpoint on which it occurs; may be given several times",
    )
    about.add_argument(
        "--request", type=_parse_request, metavar="REQUEST", help="what provokes it, as 'GET /v1/no-such-path'"
    )


def has_record_options(arguments: argparse.Namespace) -> bool:
    return any(getattr(arguments, name) for name in (*ONLY_FOR_ERRORS, "row", "status", "request"))


def parse_new_record(
    arguments: argparse.Namespace, address: Address, layout: ProviderLayout, catalog: Catalog
) -> NewRecord:
    """Check the options together, and against the catalog.

    Raises:
        NewError: they do not fit the kind of the record, or name what is not there.
    """
    if address.kind != "errors":
        for name in ONLY_FOR_ERRORS:
            if getattr(arguments, name):
                option = {"condition": "when", "meaning": "means", "endpoints": "endpoint"}.get(name, name)
                raise NewError(f"--{option} is about errors, and {address} is none", "leave it out")
    if address.kind == "rate_limits" and (arguments.status or arguments.request):
        raise NewError(f"{address} takes no --status and no --request", "leave them out, and write its limits")
    addresses = [str(record.address) for record in catalog.select(address.provider, "endpoints")]
    for endpoint in arguments.endpoints:
        if endpoint not in addresses:
            mend = suggest_similar(endpoint, addresses) or "begin the endpoint's record first, or leave --endpoint out"
            raise NewError(f"--endpoint {endpoint} is no endpoint of {address.provider}", mend)
    section, label = arguments.row or ("1:1", "")
    sections = {fact.section for fact in read_facts(address.provider)}
    if layout.folder == SHIPPED and section not in sections:
        where = display_path(facts_file(address.provider))
        raise NewError(f"--row: {section} is no section of {where}", "name the section that states it, as 2:7.3")
    return NewRecord(
        address=address,
        section=section,
        label=label,
        condition=arguments.condition or "",
        status=arguments.status,
        type=arguments.type,
        code=arguments.code,
        retryable=arguments.retryable,
        meaning=arguments.meaning or "",
        action=arguments.action or "",
        endpoints=tuple(arguments.endpoints),
        request=arguments.request,
    )


def _parse_row(text: str) -> tuple[str, str]:
    """Section and label of a row."""
    match = re.fullmatch(r"(\d+:\d+(?:\.\d+)*)#([^#\s][^#\n\t]*)", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no row; write it as '2:7.3#402 payment problem'")
    return match[1], match[2]


def _parse_text(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r} is no line of text; write one line without tabs")
    return text.strip()


def _parse_word(text: str) -> str:
    if not re.fullmatch(r"[\w:.-]*\w", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no word; write it as the documents do, as invalid_request_error")
    return text


def _parse_request(text: str) -> tuple[str, str]:
    """Method and path of a request."""
    method, _, path = text.partition(" ")
    if method not in METHODS or not re.fullmatch(r"/[!-~]*", path):
        one_of = ", ".join(METHODS)
        raise argparse.ArgumentTypeError(f"{text!r} is no request; write it as 'GET /v1/models', with one of {one_of}")
    return method, path
