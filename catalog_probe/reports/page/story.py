"""What the sections of a page hold: causes, and each finding's article once, where it is first told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.reports.content.sections import BY_CAUSE, Name
from catalog_probe.reports.page.markup import safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from catalog_probe.catalog.evidence.causes import Cause
    from catalog_probe.reports.content.causes import Gathered
    from catalog_probe.reports.content.overview import Overview
    from catalog_probe.reports.content.standing import Standing


class Story:
    """Gives out articles and anchors, each once: a record that two causes made drift is told under the first."""

    def __init__(self, overview: Overview, articles: Sequence[Mapping[str, Any]]) -> None:
        self.causes: Mapping[Name, tuple[Gathered, ...]] = {
            each.name: overview.gathered(each) for each in overview.sections if each.name in BY_CAUSE
        }
        self._articles = {each["standing"].address: each for each in articles}
        self._named: set[str] = set()

    def take(self, standing: Standing) -> Mapping[str, Any] | None:
        """A finding's article, unless it was given out or is not printed."""
        return self._articles.pop(standing.address, None)

    def anchor(self, cause: Cause) -> Markup:
        """The attribute that makes a cause the place of its id, where it is told first."""
        if cause.id in self._named:
            return safe("")
        self._named.add(cause.id)
        return safe(f' id="{cause.id}"')
