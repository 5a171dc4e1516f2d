"""The articles of the findings on a page, each of which is printed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.reports.content.sections import BY_CAUSE, SectionName
from catalog_probe.reports.page.markup import mark_safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from catalog_probe.catalog.evidence.causes import Cause
    from catalog_probe.reports.content.overview import Overview
    from catalog_probe.reports.content.reported_causes import ReportedCause
    from catalog_probe.reports.content.reported_records import ReportedRecord


class ArticleRegistry:
    """Hands out articles and anchors, each once: a record with two causes has its article under the first."""

    def __init__(self, overview: Overview, articles: Sequence[Mapping[str, Any]]) -> None:
        self.causes: Mapping[SectionName, tuple[ReportedCause, ...]] = {
            section.name: overview.report_causes(section) for section in overview.sections if section.name in BY_CAUSE
        }
        self._articles = {article["record"].address: article for article in articles}
        self._anchored_ids: set[str] = set()

    def take(self, record: ReportedRecord) -> Mapping[str, Any] | None:
        """Return a finding's article, or None if it was handed out before or is not printed."""
        return self._articles.pop(record.address, None)

    def anchor(self, cause: Cause) -> Markup:
        """Return the `id` attribute of a cause where it is shown first, else nothing."""
        if cause.id in self._anchored_ids:
            return mark_safe("")
        self._anchored_ids.add(cause.id)
        return mark_safe(f' id="{cause.id}"')
