"""The mock has four providers, and imports only the selected ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

from catalog_probe.mockserver.app import load_providers
from catalog_probe.mockserver.core.prefixes import PrefixesError, merge_settings
from catalog_probe.mockserver.core.providers import PROVIDER_NAMES


def test_each_provider_is_a_package_of_its_name() -> None:
    assert [provider.name for provider in load_providers()] == list(PROVIDER_NAMES)


@pytest.mark.process
def test_a_provider_that_is_not_asked_for_is_not_imported() -> None:
    load = "from catalog_probe.mockserver.app import load_providers; load_providers(['pa'])"
    code = f"import sys; {load}; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "catalog_probe.mockserver.pa" in imported
    assert "catalog_probe.mockserver.pc" not in imported


@pytest.mark.parametrize("name", ["pz", "field", "app", ""])
def test_an_unknown_provider_is_refused_with_the_names_that_there_are(name: str) -> None:
    with pytest.raises(ValueError, match=f"^unknown provider {name}; there are pa, pb, pc, pd$"):
        load_providers(["pa", name])


@pytest.mark.parametrize("name", ["pz", "field"])
def test_a_table_of_prefixes_for_an_unknown_provider_is_refused(name: str) -> None:
    with pytest.raises(PrefixesError, match=rf"^\[{name}\] is none of the providers pa, pb, pc, pd$"):
        merge_settings(load_providers(["pa"]), {name: {}})


def test_a_table_of_prefixes_for_a_provider_that_is_not_served_is_left_aside() -> None:
    assert merge_settings(load_providers(["pa"]), {"pb": {}}).keys() == {"pa"}
