"""`catalog-probe catalog export`: make a document for other tools, and print or write it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model.errors import CatalogError, Exit, suggest_similar

if TYPE_CHECKING:
    from argparse import Namespace


def export_openapi(args: Namespace) -> int:
    """Print or write the OpenAPI document of a provider."""
    from catalog_probe.catalog.openapi import build_openapi_document  # slow to import, and only needed here

    catalog = Catalog.load(*provider_folders.use(args.catalog))
    provider = args.provider.lower()
    if provider not in providers():
        mend = suggest_similar(provider, providers()) or f"they are {', '.join(providers())}"
        raise CatalogError(f"no provider is called {args.provider!r}", mend)
    text = json.dumps(build_openapi_document(catalog, provider), indent=2, ensure_ascii=False) + "\n"
    if args.output is None:
        sys.stdout.write(text)
    else:
        args.output.write_text(text, encoding="utf-8")
    return Exit.FINE
