const form = document.getElementById("filters");
const table = document.getElementById("list");
const tbody = table.tBodies[0];
const count = document.getElementById("count");
const more = document.getElementById("more");
const PAGE_SIZE = 150;
let matches = records;
let shownCount = 0;

function readFilters() {
  return { q: form.elements.q.value.trim(), sort: form.elements.sort.value };
}

function refresh() {
  const filters = readFilters();
  const { terms, wrong } = parseQuery(filters.q);
  matches = terms.length ? records.filter((record) => matchesQuery(record, terms)) : records;
  if (SORTS[filters.sort]) matches = [...matches].sort(SORTS[filters.sort]);
  tbody.replaceChildren();
  shownCount = 0;
  showMore(PAGE_SIZE);
  const explanation = wrong || (matches.length ? "" : explainNoMatch(terms));
  count.textContent = `${matches.length} of ${records.length} records${explanation ? `. ${explanation}` : ""}`;
}

function showMore(number) {
  const rows = document.createDocumentFragment();
  for (const record of matches.slice(shownCount, shownCount + number)) rows.append(drawRow(record));
  tbody.append(rows);
  shownCount = Math.min(matches.length, shownCount + number);
  more.hidden = shownCount >= matches.length;
  more.textContent = `Show ${Math.min(PAGE_SIZE, matches.length - shownCount)} more`;
}

function findRow(address) {
  return tbody.querySelector(`tr.row[data-address="${CSS.escape(address)}"]`);
}

/* Decompression takes a moment. Only the latest request opens its detail. */
let latestRequest = 0;

async function openDetail(address) {
  const record = recordByAddress.get(address);
  latestRequest += 1;
  const request = latestRequest;
  const detail = await makeDetail(record);
  if (request !== latestRequest) return;
  if (!matches.includes(record)) clearFilters();
  const position = matches.indexOf(record);
  if (position >= shownCount) showMore(position - shownCount + 20);
  const row = findRow(address);
  closeDetail();
  row.id = address;
  row.after(make("tr", { class: "detail" }, make("td", { colspan: table.tHead.rows[0].cells.length }, detail)));
  row.querySelector("a").setAttribute("aria-expanded", "true");
  row.scrollIntoView({ block: "start" });
  row.querySelector("a").focus({ preventScroll: true });
}

function closeDetail() {
  latestRequest += 1;
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
  const parameters = new URLSearchParams(text);
  for (const field of form.elements) if (field.name) field.value = parameters.get(field.name) || "";
  refresh();
}

function writeFiltersToUrl() {
  const filters = Object.entries(readFilters()).filter(([, value]) => value);
  const query = filters.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  history.replaceState(null, "", query ? `#?${query}` : location.pathname + location.search);
}

/* Open every fold around an element, and go to it. */
function revealElement(element) {
  for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  element.scrollIntoView();
  const item = element.querySelector("[data-item]");
  if (item) item.focus({ preventScroll: true });
}

/* The fragment names a record (#pa/errors/general/x), a query (#?q=provider:pa) or an element. */
function followFragment() {
  latestRequest += 1;
  const fragment = decodeURIComponent(location.hash.slice(1));
  if (fragment.startsWith("?")) {
    applyFilters(location.hash.slice(2));
    document.getElementById("records").scrollIntoView();
    return;
  }
  const element = document.getElementById(fragment);
  if (element && !element.matches("tr")) {
    revealElement(element);
  } else if (recordByAddress.has(fragment)) {
    openDetail(fragment);
  } else if (/^[a-z][a-z0-9]*\/[a-z_]+\//.test(fragment)) {
    const [provider, kind, family] = fragment.split("/");
    applyFilters(new URLSearchParams({ q: `provider:${provider} kind:${kind || "*"} family:${family || "*"}` }).toString());
    count.textContent = `No record ${fragment} in this run. ${count.textContent}`;
    document.getElementById("records").scrollIntoView();
  }
}
