"""The exported OpenAPI document is valid, by its own validator."""

from __future__ import annotations

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from openapi_spec_validator.validation.exceptions import OpenAPIValidationError

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.openapi import build_openapi_document


@pytest.mark.parametrize("provider", providers())
def test_the_export_is_valid_openapi(provider: str) -> None:
    OpenAPIV31SpecValidator(build_openapi_document(Catalog.load(), provider)).validate()


def test_the_validator_refuses_an_invalid_document() -> None:
    broken = build_openapi_document(Catalog.load(), "pd")
    broken["paths"]["/v1/models"]["get"]["responses"]["200"].pop("description")
    with pytest.raises(OpenAPIValidationError):
        OpenAPIV31SpecValidator(broken).validate()
