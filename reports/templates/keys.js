function visibleItems() {
  return [...document.querySelectorAll("[data-item]")].filter((item) => item.checkVisibility());
}

const MASTHEAD_HEIGHT = 60;

function moveFocus(step) {
  const items = visibleItems();
  const focused = items.indexOf(document.activeElement);
  const target = focused >= 0 ? focused + step : items.findIndex((item) => item.getBoundingClientRect().top > MASTHEAD_HEIGHT);
  const next = items[Math.max(0, Math.min(items.length - 1, target))];
  if (!next) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "center" });
}

/* The field is scrolled to the top even if it is visible, because the results are below it. */
function openSearch() {
  document.getElementById("records").scrollIntoView();
  form.elements.q.focus({ preventScroll: true });
  form.elements.q.select();
}

function clearOrClose() {
  const search = form.elements.q;
  if (document.activeElement === search && search.value) {
    search.value = "";
    refresh();
    writeFiltersToUrl();
  } else if (document.activeElement === search) {
    search.blur();
  } else if (closeDetail()) {
    writeFiltersToUrl();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "Escape") clearOrClose();
  else if (typing) return;
  else if (event.key === "/") { event.preventDefault(); openSearch(); }
  else if (event.key === "j") moveFocus(1);
  else if (event.key === "k") moveFocus(-1);
});

tbody.addEventListener("click", (event) => {
  const link = event.target.closest("tr.row a");
  if (link && link.getAttribute("aria-expanded") === "true") {
    event.preventDefault();
    closeDetail();
    writeFiltersToUrl();
  } else if (link && decodeURIComponent(location.hash) === link.getAttribute("href")) {
    event.preventDefault();
    followFragment();
  }
});

form.addEventListener("input", () => { refresh(); writeFiltersToUrl(); });
/* The browser would reset the fields only after this event, so they are cleared here. */
form.addEventListener("reset", (event) => { event.preventDefault(); clearFilters(); writeFiltersToUrl(); });
form.addEventListener("submit", (event) => event.preventDefault());
more.addEventListener("click", () => showMore(PAGE_SIZE));
addEventListener("hashchange", followFragment);
/* On paper each cause lists its records; the details of a record are for the screen only. */
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll(".told:not(.restricted, .not-probed) .cause > details")) part.open = true;
});
showCopyButtons(document);
form.hidden = false;
table.hidden = false;
refresh();
if (location.hash) followFragment();
/* After loading, the browser itself goes to the fragment and takes the focus away, at the latest just before a frame. */
addEventListener("load", () => requestAnimationFrame(() => {
  const target = document.querySelector("details:target, tr:target");
  if (target) revealElement(target);
}));
