function items() {
  return [...document.querySelectorAll("[data-item]")].filter((item) => item.checkVisibility());
}

function step(by) {
  const all = items();
  const here = all.indexOf(document.activeElement);
  const start = here >= 0 ? here + by : all.findIndex((item) => item.getBoundingClientRect().top > 60);
  const next = all[Math.max(0, Math.min(all.length - 1, start))];
  if (!next) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "center" });
}

/* The results stand below the field, so the field comes to the top even if it is in view already. */
function openSearch() {
  document.getElementById("records").scrollIntoView();
  form.elements.q.focus({ preventScroll: true });
  form.elements.q.select();
}

function escape_() {
  const search = form.elements.q;
  if (document.activeElement === search && search.value) {
    search.value = "";
    refresh();
    remember();
  } else if (document.activeElement === search) {
    search.blur();
  } else if (closeDetail()) {
    remember();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "Escape") escape_();
  else if (typing) return;
  else if (event.key === "/") { event.preventDefault(); openSearch(); }
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
});

tbody.addEventListener("click", (event) => {
  const link = event.target.closest("tr.row a");
  if (link && link.getAttribute("aria-expanded") === "true") {
    event.preventDefault();
    closeDetail();
    remember();
  } else if (link && decodeURIComponent(location.hash) === link.getAttribute("href")) {
    event.preventDefault();
    follow();
  }
});

form.addEventListener("input", () => { refresh(); remember(); });
/* The browser resets the fields only after this event, so they are emptied here instead. */
form.addEventListener("reset", (event) => { event.preventDefault(); clearFilters(); remember(); });
form.addEventListener("submit", (event) => event.preventDefault());
more.addEventListener("click", () => extend(STEP));
addEventListener("hashchange", follow);
/* On paper each cause names its records; what a record showed is left to the screen. */
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll(".told:not(.restricted, .not-probed) .cause > details")) part.open = true;
});
showCopyButtons(document);
form.hidden = false;
table.hidden = false;
refresh();
if (location.hash) follow();
/* When a page has loaded, the browser goes to the fragment itself and takes the focus away, at the latest just before a frame. */
addEventListener("load", () => requestAnimationFrame(() => {
  const place = document.querySelector("details:target, tr:target");
  if (place) arrive(place);
}));
