const form = document.getElementById("filters");
const table = document.getElementById("list");
const tbody = table.tBodies[0];
const count = document.getElementById("count");
const more = document.getElementById("more");
const STEP = 150;
let matches = records;
let shown = 0;

function wanted() {
  return { q: form.elements.q.value.trim(), sort: form.elements.sort.value };
}

function refresh() {
  const want = wanted();
  const { terms, wrong } = parseQuery(want.q);
  matches = terms.length ? records.filter((record) => fits(record, terms)) : records;
  if (SORTS[want.sort]) matches = [...matches].sort(SORTS[want.sort]);
  tbody.replaceChildren();
  shown = 0;
  extend(STEP);
  count.textContent = `${matches.length} of ${records.length} records${wrong ? `. ${wrong}` : ""}`;
}

function extend(number) {
  const fresh = document.createDocumentFragment();
  for (const record of matches.slice(shown, shown + number)) fresh.append(drawRow(record));
  tbody.append(fresh);
  shown = Math.min(matches.length, shown + number);
  more.hidden = shown >= matches.length;
  more.textContent = `Show ${Math.min(STEP, matches.length - shown)} more`;
}

function rowOf(address) {
  return tbody.querySelector(`tr.row[data-address="${CSS.escape(address)}"]`);
}

/* Unpacking takes a moment; what was asked for last is what opens. */
let turn = 0;

async function openDetail(address) {
  const record = byAddress.get(address);
  turn += 1;
  const mine = turn;
  const detail = await detailOf(record);
  if (mine !== turn) return;
  if (!matches.includes(record)) clearFilters();
  const at = matches.indexOf(record);
  if (at >= shown) extend(at - shown + 20);
  const row = rowOf(address);
  closeDetail();
  row.id = address;
  row.after(make("tr", { class: "detail" }, make("td", { colspan: table.tHead.rows[0].cells.length }, detail)));
  row.querySelector("a").setAttribute("aria-expanded", "true");
  row.scrollIntoView({ block: "start" });
  row.querySelector("a").focus({ preventScroll: true });
}

function closeDetail() {
  turn += 1;
  const open = tbody.querySelector("tr.detail");
  if (!open) return false;
  const row = open.previousElementSibling;
  const link = row.querySelector("a");
  row.removeAttribute("id");
  link.removeAttribute("aria-expanded");
  open.remove();
  link.focus({ preventScroll: true });
  return true;
}

function clearFilters() {
  for (const field of form.elements) if (field.name) field.value = "";
  refresh();
}

function applyFilters(text) {
  const asked = new URLSearchParams(text);
  for (const field of form.elements) if (field.name) field.value = asked.get(field.name) || "";
  refresh();
}

function remember() {
  const said = Object.entries(wanted()).filter(([, value]) => value).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  history.replaceState(null, "", said ? `#?${said}` : location.pathname + location.search);
}

/* What lies folded is opened on the way to it. */
function arrive(place) {
  for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  place.scrollIntoView();
  const item = place.querySelector("[data-item]");
  if (item) item.focus({ preventScroll: true });
}

/* A link names a record (#pa/errors/general/x), a selection (#?provider=pa) or a section. */
function follow() {
  turn += 1;
  const asked = decodeURIComponent(location.hash.slice(1));
  if (asked.startsWith("?")) {
    applyFilters(location.hash.slice(2));
    document.getElementById("records").scrollIntoView();
    return;
  }
  const known = document.getElementById(asked);
  if (known && !known.matches("tr")) {
    arrive(known);
  } else if (byAddress.has(asked)) {
    openDetail(asked);
  } else if (/^[a-z][a-z0-9]*\/[a-z_]+\//.test(asked)) {
    const [provider, kind, family] = asked.split("/");
    applyFilters(new URLSearchParams({ q: `provider:${provider} kind:${kind || "*"} family:${family || "*"}` }).toString());
    count.textContent = `No record ${asked} in this run. ${count.textContent}`;
    document.getElementById("records").scrollIntoView();
  }
}
