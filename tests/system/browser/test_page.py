"""report.html in Chromium: it opens, is usable, and runs nothing observed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import unquote

from catalog_probe.reports import build
from catalog_probe.reports.page import html
from catalog_probe.reports.page import html as embedding
from tests.system.browser.chromium import Tabs, Visit, list_addresses, until, wait_until_arrived
from tests.unit.catalog.catalog_factories import write_run
from tests.unit.reports import sample
from tests.unit.reports.factories import make_finding, make_result, make_run
from tests.unit.reports.special_results import HOSTILE, make_drift

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

STREAM = "pc/errors/stream/api_error"
CONFORMING = "pa/errors/general/not_found"
REMARKED = "pa/errors/general/unknown_field"
ATTACKS = (
    "</script><script>window.ran=1</script>",
    "<img src=x onerror=window.ran=1>",
    "<svg/onload=window.ran=1>",
    "<style>*{display:none!important}</style>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<base href=//evil.example/>",
    "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
    "<form action=//evil.example><input name=q autofocus onfocus=window.ran=1></form>",
    "javascript:window.ran=1",
    '" onmouseover="window.ran=1" style="position:fixed;inset:0',
    "</textarea></title></style></noscript><script>window.ran=1</script>",
    "<article class=finding id=verdict><h1>No drift</h1></article>",
    "<!--<script>",
    "~0",
    "__proto__",
    HOSTILE,
)


def in_view(tab: Page, selector: str) -> bool:
    seen = tab.evaluate(
        "selector => { const r = document.querySelector(selector).getBoundingClientRect();"
        " return r.top < innerHeight && r.bottom > 0 }",
        selector,
    )
    return bool(seen)


def finding_of(address: str) -> str:
    return f'details[id="{address}"]'


def test_the_first_screen_has_the_state_in_a_sentence_and_its_causes(visit: Visit, report: str) -> None:
    tab = visit(report)
    said = (
        "The probe itself failed in 1 place; PA, PB, PC and PD drift: 5 new causes behind 5 records, 3 known behind 3."
    )
    assert tab.inner_text("h1") == said
    assert tab.title() == "our fault · live 2026-11-21"
    for selector in ("h1", ".tally .sum", ".our-fault h2", ".new-drift h2", ".new-drift .cause:nth-child(5)"):
        assert in_view(tab, selector), selector
    assert tab.locator(".squares a").count() == 418
    assert tab.locator(".calm > summary").first.inner_text() == "4 families conform"
    numbers = [int(text) for text in tab.locator(".tally li:not(.sum) b").all_inner_texts()]
    assert sum(numbers) == int(tab.inner_text(".tally .sum b")) == 418


COUNTING = """() => [...document.querySelectorAll('a')].map(link => {
  const href = link.getAttribute('href');
  const said = link.getAttribute('aria-label') || link.textContent;
  const number = /\\d+/.exec(said);
  if (!href.startsWith('#?q=') || !number) return null;
  const query = decodeURIComponent(href.slice(4));
  const { terms, wrong } = parseQuery(query);
  const place = link.closest('.tally, .told, .matrix, .trend, .coverage').className.split(' ')[0];
  return [place, query, Number(number[0]), records.filter(record => matchesQuery(record, terms)).length, wrong];
}).filter(each => each)"""
"""Each link with a number: [section, query, number, records that the query finds, error]."""


def test_every_number_leads_to_the_records_that_it_counts(visit: Visit, report: str) -> None:
    tab = visit(report)
    links_with_numbers = tab.evaluate(COUNTING)
    assert [link for link in links_with_numbers if link[2] != link[3] or link[4]] == []
    assert {link[0] for link in links_with_numbers} == {"tally", "told", "matrix", "trend", "coverage"}
    links = tab.locator(".told a[href^='#?q=']")
    for number in (0, links.count() // 2):
        query = unquote((links.nth(number).get_attribute("href") or "").partition("q=")[2])
        tab.evaluate("at => document.querySelectorAll('.told a[href^=\"#?q=\"]')[at].click()", number)
        until(tab, f"document.getElementById('f-q').value === {json.dumps(query)}")
        assert tab.evaluate("matches.length") == tab.evaluate(
            "q => records.filter(r => matchesQuery(r, parseQuery(q).terms)).length", query
        )


ALONE = """() => [...document.querySelectorAll('.matrix *, .trend text.value')].filter(each =>
  each.children.length === 0 && /^\\d+( records?| [a-z]+)?$/.test(each.textContent.trim())
  && !each.closest('a')).map(each => each.textContent)"""
"""Numbers that are not inside a link."""


def test_no_number_of_records_stands_alone(visit: Visit, report: str) -> None:
    assert visit(report).evaluate(ALONE) == []


def test_a_cause_opens_to_its_records_and_a_record_to_what_differs(visit: Visit, report: str) -> None:
    tab = visit(report)
    cause = tab.locator(".new-drift .cause").first
    told = cause.locator("summary").first.inner_text()
    for part in ("PA", "header x-should-retry", "false", "true", "2 records", "answer", "new today", "likely provider"):
        assert part in told, part
    assert not cause.locator(".finding").first.is_visible()
    cause.locator("summary").first.click()
    assert cause.locator(".finding").count() == 2
    cause.locator(".finding summary").first.click()
    assert cause.locator(".finding .difference").first.is_visible()


def test_a_hostile_provider_neither_runs_nor_restyles_nor_fakes(visit: Visit, tmp_path: Path) -> None:
    results = []
    for number, attack in enumerate(ATTACKS):
        wrong = make_finding(
            remark=attack, location=attack, observed={attack: attack}, documented={"a": attack}, label=attack
        )
        results.append(make_drift(f"pa/errors/general/drift_{number}", wrong))
        results.append(
            make_result(
                f"pa/errors/general/fine_{number}",
                findings=(wrong,),
                probed_record={"name": attack, "status": [attack], "note": attack},
            )
        )
    build.build(write_run(tmp_path, make_run(), results))
    tab = visit((tmp_path / "report.html").as_uri())
    for number in range(len(ATTACKS)):
        tab.evaluate("address => { location.hash = address }", f"pa/errors/general/fine_{number}")
        tab.wait_for_selector("#list tr.detail")
        tab.keyboard.press("Escape")
    assert tab.evaluate("window.ran") is None
    assert tab.locator("h1").count() == 1
    assert tab.inner_text("h1").startswith("PA drifts: ")
    assert tab.locator("iframe, img, base, object, embed, body style, body link, body meta").count() == 0
    assert tab.locator("form").count() == 1
    attributes = tab.evaluate("[...document.querySelectorAll('*')].flatMap(each => each.getAttributeNames())")
    assert [name for name in attributes if name.startswith("on")] == []
    assert tab.locator("h1").is_visible()


def test_even_markup_that_got_in_could_not_act(tabs: Tabs, report: str) -> None:
    """The policy is a second wall: what a bug of ours let through would still not run or load."""
    tab = tabs.open(report)
    tab.evaluate(
        """() => { window.refused = []; window.broken = [];
        addEventListener('securitypolicyviolation', event => refused.push(event.effectiveDirective));
        addEventListener('error', event => broken.push(event.target.localName), true); }"""
    )
    act = """() => { document.body.insertAdjacentHTML('beforeend',
        '<img src="https://evil.example/x.png" onerror="window.ran=1"><style>h1{display:none}</style>'
        + '<p id=inline style="position:fixed">x</p><a id=js href="javascript:window.ran=1">x</a>');
        const script = document.createElement('script');
        script.textContent = 'window.ran=1';
        document.body.append(script);
        document.getElementById('js').click(); }"""
    with tab.expect_event("requestfailed") as failed:
        tab.evaluate(act)
    until(tab, "refused.length >= 6 && broken.includes('img')")
    assert sorted(tab.evaluate("refused")) == [
        "img-src",
        "script-src-attr",
        "script-src-elem",
        "script-src-elem",
        "style-src-attr",
        "style-src-elem",
    ]
    assert tab.evaluate("window.ran") is None
    assert tab.locator("h1").is_visible()
    assert tab.evaluate("getComputedStyle(document.getElementById('inline')).position") == "static"
    assert (failed.value.url, failed.value.failure) == ("https://evil.example/x.png", "csp")


def test_sorting(visit: Visit, report: str) -> None:
    tab = visit(f"{report}#?sort=outcome")
    assert list_addresses(tab)[0] == "pd/errors/inference/scope_missing"
    tab.select_option("[name=sort]", "ms")
    assert list_addresses(tab)[0].startswith("pb/errors/live/")
    tab.select_option("[name=sort]", "age")
    assert list_addresses(tab)[0].startswith("pd/")


def test_a_link_to_a_finding_shows_it(visit: Visit, report: str) -> None:
    tab = visit(f"{report}#{STREAM}")
    wait_until_arrived(tab)
    assert tab.locator(f"{finding_of(STREAM)} > summary:focus").count() == 1
    assert in_view(tab, finding_of(STREAM))


def test_a_link_to_any_other_record_opens_it(visit: Visit, report: str) -> None:
    tab = visit(f"{report}#{CONFORMING}")
    wait_until_arrived(tab)
    assert in_view(tab, f'tr[data-address="{CONFORMING}"]')
    detail = tab.inner_text("#list tr.detail")
    for told in ("retryable", "documented in", "DOCUMENTED, LIVE_VERIFIED", "test_error[", "x-should-retry"):
        assert told in detail, told
    tab.click(f'tr[data-address="{CONFORMING}"] a')
    assert tab.locator("#list tr.detail").count() == 0
    tab.click(f'tr[data-address="{CONFORMING}"] a')
    tab.wait_for_selector("#list tr.detail")


def test_a_strip_says_what_its_record_was_in_the_run_under_the_pointer(visit: Visit, report: str) -> None:
    tab = visit(f"{report}#?q=pc/errors/oauth/invalid_request")
    strip = tab.locator("#list .row .strip")
    assert strip.get_attribute("aria-label") == "Last 30 runs: 9 conforms, 21 drifted"
    fills = strip.locator("path").evaluate_all("paths => paths.map(each => getComputedStyle(each).fill)")
    assert len({*fills, "rgb(0, 0, 0)"}) == 3, "each outcome has its colour, and none has that of no outcome"
    (width, height) = strip.evaluate("each => [each.clientWidth, each.clientHeight]")
    for across, told in ((2, "2026-10-23: conforms"), (width - 2, "2026-11-21: drifted")):
        strip.hover(position={"x": across, "y": height / 2})
        assert strip.locator("title").text_content() == told


def test_a_record_has_a_checklist_and_what_we_assumed(visit: Visit, report: str) -> None:
    tab = visit(f"{report}#{REMARKED}")
    wait_until_arrived(tab)
    assert tab.inner_text(".detail .checklist summary").split() == (
        "Assertions 4 as documented, 1 mismatched, 2 not observed".split()
    )
    assert "assumed max_tokens, observed messages" in tab.inner_text(".detail .evidence")
    tab.click(".detail .checklist summary")
    assert "header:retry-after" in tab.inner_text(".detail .checklist")


def test_of_two_records_asked_for_at_once_the_last_opens(visit: Visit, report: str) -> None:
    tab = visit(report)
    tab.evaluate("both => Promise.all(both.map(openDetail))", [CONFORMING, "pd/errors/inference/not_found"])
    assert tab.locator("#list tr.detail").count() == 1
    assert tab.locator("[id='pd/errors/inference/not_found'] + tr.detail").count() == 1


def test_a_browser_that_cannot_unpack_details_says_so(visit: Visit, report: str) -> None:
    tab = visit(report)
    tab.evaluate("delete window.DecompressionStream")
    tab.evaluate("address => openDetail(address)", CONFORMING)
    assert tab.inner_text("#list tr.detail").strip() == "This browser cannot unpack details; see results.jsonl."


def test_a_link_opens_a_record_that_the_filters_hide(visit: Visit, report: str) -> None:
    tab = visit(f"{report}#?q=provider:pd")
    tab.evaluate("address => { location.hash = address }", CONFORMING)
    tab.wait_for_selector("#list tr.detail")
    assert tab.input_value("#f-q") == ""


def test_a_link_to_a_record_that_is_gone_says_so(visit: Visit, report: str) -> None:
    tab = visit(f"{report}#pa/errors/general/no_longer_there")
    assert tab.inner_text("#count").startswith("No record pa/errors/general/no_longer_there in this run.")


def test_everything_by_keyboard(visit: Visit, report: str) -> None:
    tab = visit(report)
    tab.keyboard.press("/")
    tab.keyboard.type("scope_missing family:inference")
    assert len(list_addresses(tab)) == 2
    for key in ("Enter", "ArrowDown"):
        tab.focus("#f-q")
        tab.keyboard.press(key)
        assert "scope missing" in tab.evaluate("document.activeElement.closest('tr.row').textContent"), key
    tab.keyboard.press("/")
    tab.keyboard.press("Escape")
    assert tab.evaluate("document.activeElement === document.body")
    assert len(list_addresses(tab)) == 2, "leaving the search keeps what was found"
    tab.click("button[type=reset]")
    assert len(list_addresses(tab)) > 2
    tab.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    tab.keyboard.press("j")
    focused = "document.activeElement.textContent"
    first = tab.evaluate(focused)
    assert "scope missing" in first, "the first record of the first section"
    tab.keyboard.press("j")
    assert "x-should-retry" in tab.evaluate(focused)
    tab.keyboard.press("Enter")
    assert tab.locator(".new-drift .cause").first.locator(".finding").first.is_visible()
    tab.keyboard.press("k")
    assert tab.evaluate(focused) == first
    tab.goto(f"{report}#?q={CONFORMING}")
    until(tab, f"document.getElementById('f-q').value === '{CONFORMING}'")
    assert list_addresses(tab)[0] == CONFORMING
    tab.focus("#list tr.row a")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#list tr.detail")
    tab.keyboard.press("Escape")
    assert tab.locator("#list tr.detail").count() == 0


def test_a_command_is_copied_as_it_stands(visit: Visit, report: str) -> None:
    tab = visit(f"{report}#{STREAM}")
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    wait_until_arrived(tab)
    command = tab.locator(f"{finding_of(STREAM)} .command").first
    # The button says so for a moment only, so it is listened to from before the click.
    command.locator("button").evaluate(
        """button => { window.said = new Promise(heard => new MutationObserver(() => heard(button.textContent))
        .observe(button, { childList: true })) }"""
    )
    command.locator("button").click()
    assert tab.evaluate("window.said") == "Copied"
    assert tab.evaluate("navigator.clipboard.readText()") == command.locator("pre").text_content()
    tab.context.clear_permissions()


def test_without_script_the_findings_are_there(browser: Browser, report: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{report}#{STREAM}")
    assert tab.locator("article.finding").count() == 11
    assert "content_block_delta" in (tab.text_content(finding_of(STREAM)) or "")
    assert tab.locator("noscript").inner_text().startswith("The list of all records is drawn by a script.")
    context.close()


def opens(number: int, visit: Visit, page: Path) -> None:
    """So many results open, and the last of those that drifted is found and unfolded."""
    described, results = sample.make_large_run(number)
    page.write_text(html.render(described, results), encoding="utf-8")
    assert page.stat().st_size < embedding.PACKING_BUDGET + 500_000 + number * 1000
    tab = visit(page.as_uri())
    assert f"of {number} records" in tab.inner_text("#count")
    last = [result.record for result in results if result.drifts][-1]
    tab.fill("#f-q", last.rpartition("/")[2])
    (address,) = list_addresses(tab)
    assert address == last
    tab.click("#list tr.row a")
    tab.wait_for_selector(f"#list [id='{address}'] + tr.detail, {finding_of(address)}:focus-within")


def test_a_thousand_results_open(visit: Visit, tmp_path: Path) -> None:
    opens(1_000, visit, tmp_path / "report.html")


def test_a_run_without_any_result_opens(visit: Visit, tmp_path: Path) -> None:
    build.build(write_run(tmp_path, make_run(), []))
    assert visit((tmp_path / "report.html").as_uri()).inner_text("h1") == "Nothing was probed."
