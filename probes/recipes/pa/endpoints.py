"""The endpoints of PA's general API (1:4.1): the success, the credential rules, the request rules."""

from __future__ import annotations

from probes.recipe import Recipe

RECIPES: tuple[Recipe, ...] = ()
