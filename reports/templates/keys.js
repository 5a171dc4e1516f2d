function visibleItems() {
  return [...document.querySelectorAll("[data-item]")].filter((item) => item.checkVisibility());
}

const MASTHEAD_HEIGHT = 90;

function moveFocus(step) {
  const items = visibleItems();
  const focused = items.indexOf(document.activeElement);
  const target = focused >= 0 ? focused + step : items.findIndex((item) => item.getBoundingClientRect().top > MASTHEAD_HEIGHT);
  const next = items[Math.max(0, Math.min(items.length - 1, target))];
  if (!next) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "center" });
}

function openSearch() {
  showRecords();
  form.elements.q.focus({ preventScroll: true });
  form.elements.q.select();
}

/* The search is in the header, and its results are far below. */
function showRecords() {
  document.getElementById("records").scrollIntoView();
}

/* Enter or down leads from the search to its first result, and Escape leaves it. While there are suggestions, down is
   the browser's key to choose one. */
function leaveSearch(event) {
  const link = tbody.querySelector("tr.row a");
  const leads = event.key === "Enter" || (event.key === "ArrowDown" && !suggestions.options.length);
  if (event.key === "Escape") form.elements.q.blur();
  else if (leads && link) link.focus();
  else return;
  event.preventDefault();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === form.elements.q) leaveSearch(event);
  else if (event.target.closest("input, select, textarea")) return;
  else if (event.key === "Escape") { if (closeDetail()) writeFiltersToUrl(); }
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

/* The sorting lies outside the form, so its events do not reach the form. */
for (const field of form.elements) field.addEventListener("input", () => { refresh(); writeFiltersToUrl(); showRecords(); });
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
document.getElementById("sorting").hidden = false;
table.hidden = false;
refresh();
if (location.hash) followFragment();
/* After loading, the browser itself goes to the fragment and takes the focus away, at the latest just before a frame. */
addEventListener("load", () => requestAnimationFrame(() => {
  const target = document.querySelector("details:target, tr:target");
  if (target) revealElement(target);
}));
