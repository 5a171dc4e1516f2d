"""`catalog-probe catalog export`: make a document for other tools, and print or write it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.library import Library
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.model.exits import Exit

if TYPE_CHECKING:
    from argparse import Namespace


def export(args: Namespace) -> int:
    """Print the catalog, or one provider's part of it, in another form."""
    catalog = Catalog.load(*provider_folders.use(args.catalog))
    provider = args.provider.lower() if args.provider else None
    if provider is not None and provider not in providers():
        mend = suggest_similar(provider, providers()) or f"they are {', '.join(providers())}"
        raise CatalogError(f"no provider is called {args.provider!r}", mend)
    text = _openapi(catalog, provider) if args.form == "openapi" else _table(catalog, provider)
    if args.output is None:
        sys.stdout.write(text)
    else:
        args.output.write_text(text, encoding="utf-8")
    return Exit.FINE


def _openapi(catalog: Catalog, provider: str | None) -> str:
    from catalog_probe.catalog.exports.openapi import build_document  # slow to import, and only needed here

    if provider is None:
        raise CatalogError("OpenAPI describes one provider", f"name one of {', '.join(providers())}")
    return json.dumps(build_document(catalog, provider), indent=2, ensure_ascii=False) + "\n"


def _table(catalog: Catalog, provider: str | None) -> str:
    from catalog_probe.catalog.exports import table  # see above

    return table.to_csv(Library(catalog).find(provider=provider))
