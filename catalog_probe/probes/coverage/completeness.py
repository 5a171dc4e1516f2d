"""Checks that records and recipes fit: each record has a recipe or a reason, each recipe a record and its labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import Manifest, manifest, manifest_file
from catalog_probe.catalog.model.errors import display_path, suggest_similar
from catalog_probe.catalog.model.exchange import OWN_LABELS, UNJUDGED_LABELS
from catalog_probe.catalog.model.explanations import NOT_PROBED
from catalog_probe.catalog.reading.expectations import documented_labels
from catalog_probe.catalog.reading.record_fields import claimed_endpoints
from catalog_probe.probes.planning.plan import list_other_endpoints, own_endpoints
from catalog_probe.probes.recipes.book import recipes_path
from catalog_probe.probes.targets.target import WRONG_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.recipes.book import RecipeBook
    from catalog_probe.probes.recipes.recipe import Recipe


def find_misfits(catalog: Catalog, books: Mapping[str, RecipeBook]) -> Iterator[str]:
    """Yield one line for each misfit, with its mend."""
    addresses = {str(record.address) for record in catalog.records}
    for provider, book in books.items():
        for address in sorted(book.recipes.keys() | book.unprobed.keys()):
            if address not in addresses:
                path = recipes_path(provider)
                yield f"{address}: a recipe or reason for no record; write one, or remove it in {path}"
        yield from _check_reasons(book)
    for record in catalog.records:
        address = str(record.address)
        recipe = books[record.provider].recipes.get(address)
        if recipe is not None:
            yield from _check_labels(catalog, recipe)
            yield from _check_roles(recipe, manifest(record.provider))
            if addresses.issuperset(claimed_endpoints(record)):  # else the catalog's own check says so
                yield from _check_endpoints(catalog, recipe, books[record.provider])
        elif address not in books[record.provider].unprobed:
            path = recipes_path(record.provider)
            yield f"{address}: no recipe and no reason; add one in {path}, or a reason to UNPROBED"


def _check_reasons(book: RecipeBook) -> Iterator[str]:
    """Find reasons that are none."""
    for address, reason in book.unprobed.items():
        if reason.code not in NOT_PROBED:
            codes = ", ".join(NOT_PROBED)
            yield f"{address}: {reason.code!r} is no reason of the closed list; choose from {codes}"
        elif not reason.detail:
            yield f"{address}: the reason {reason.code!r} needs a detail that a person can act on"


def _check_labels(catalog: Catalog, recipe: Recipe) -> Iterator[str]:
    try:
        documented = documented_labels(catalog[recipe.address], catalog.__getitem__)
    except KeyError as error:
        yield f"{recipe.address}: {error.args[0] if error.args else error}"
        return
    for label in sorted(documented - recipe.labels):
        yield f"{recipe.address}: its recipe sends nothing labelled {label!r}, which the record documents"
    for label in sorted(documented & OWN_LABELS & recipe.optional_labels):
        mend = "move it out of `optional`"
        yield f"{recipe.address}: the record is about {label!r}, which its recipe may leave out; {mend}"
    if recipe.steps is None:
        yield from _check_extra_labels(recipe, documented)


def _check_endpoints(catalog: Catalog, recipe: Recipe, book: RecipeBook) -> Iterator[str]:
    """Find endpoints that the record names and its recipe does not ask: a claim that nothing checks."""
    record = catalog[recipe.address]
    claimed = claimed_endpoints(record)
    others = list_other_endpoints(recipe, record, catalog, book.minimal_requests)
    asked_endpoints = others.keys() | own_endpoints(recipe, claimed, catalog)
    for endpoint in claimed:
        if endpoint not in asked_endpoints:
            mend = (
                f"say in {recipes_path(record.provider)} how it is provoked there, or quote the row that takes it out"
            )
            yield f"{recipe.address}: its recipe sends nothing to {endpoint}, which the record names; {mend}"
    for endpoint, endpoint_recipe in others.items():
        documented = documented_labels(record, catalog.__getitem__)
        roles = _check_roles(endpoint_recipe, manifest(record.provider))
        for line in (*roles, *_check_extra_labels(endpoint_recipe, documented)):
            yield f"{line} (on {endpoint})"


def _check_extra_labels(recipe: Recipe, documented: frozenset[str]) -> Iterator[str]:
    for label in sorted(recipe.labels - documented - UNJUDGED_LABELS):
        yield f"{recipe.address}: its recipe sends {label!r}, which the record does not document"


def _check_roles(recipe: Recipe, provider: Manifest) -> Iterator[str]:
    """Find credentials that the provider's manifest does not name, so that no target can have them."""
    calls = [call for part in (recipe, *recipe.optional.values()) for call in part.calls.values()]
    roles = {recipe.credential, *recipe.roles, *(call.credential for call in calls)} - {WRONG_KEY}
    for role in sorted(role for role in roles if isinstance(role, str) and role not in provider.roles):
        where = display_path(manifest_file(provider.name))
        mend = (
            suggest_similar(role, provider.roles)
            or f"add it to $.roles there, or change it in {recipes_path(provider.name)}"
        )
        yield f"{recipe.address}: its recipe uses the credential {role!r}, which {where} does not name; {mend}"
