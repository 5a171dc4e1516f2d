/* The small language of the search; catalog/reading/query.py has the same rules, and a test holds both together. */
const TERM = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g;

/* The terms of a query, and what is wrong with it first. A field that nobody knows finds nothing. */
function parseQuery(text) {
  const terms = [];
  let wrong = "";
  for (const [, dash, field, quoted, word] of text.toLowerCase().matchAll(TERM)) {
    const value = quoted || word;
    if (!value) continue;
    if (field && !(field in index.fields)) wrong = wrong || `No field is called ${field}.`;
    const values = field && !index.prose.includes(field) ? value.split(",").filter(Boolean) : [value];
    terms.push({ field: field || "", values: values.map((each) => compile(field || "", each)), negated: dash === "-" });
  }
  return { terms, wrong };
}

/* What a value asks of a record. A facet is tried once, however many records have it. */
function compile(field, value) {
  if (!field) return (record) => textOf(record).includes(value);
  if (field === "on") return onRun(value);
  if (field === "between") return betweenRuns(value);
  if (field === "seen") return (record) => isSoOld(record.age, value);
  const places = new Set();
  index.facets.forEach((facet, at) => { if (facet.startsWith(`${field}:`) && isFacet(facet, field, value)) places.add(at); });
  return (record) => record.places.some((at) => places.has(at));
}

function isFacet(facet, field, value) {
  if (index.prose.includes(field)) return facet.includes(value);
  const parts = value.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${field}:${parts.join(".*")}$`, "s").test(facet);
}

/* The strip of a record has a letter a run, and `.` where it was not in it. */
function onRun(value) {
  const [run, word] = value.split("=");
  const at = index.runs.indexOf(run);
  return (record) => at >= 0 && record.strip[at] in index.outcomes && index.outcomes[record.strip[at]][1].replace(" ", "-") === word;
}

function betweenRuns(value) {
  const [from, to] = value.split("..").map((run) => index.runs.indexOf(run));
  return (record) => from >= 0 && to >= 0 && record.strip[from] !== record.strip[to];
}

function isSoOld(age, value) {
  if (value === "never") return age === null;
  const found = /^([<>]?)(\d+)d?$/.exec(value === "today" ? "0" : value);
  if (!found || age === null) return false;
  const number = Number(found[2]);
  if (found[1] === "<") return age < number;
  return found[1] === ">" ? age > number : age === number;
}

/* Made when it is first asked for: of ten thousand records nobody reads most. */
function textOf(record) {
  if (record.text === undefined) {
    const said = [record.address, record.title, ...record.places.map((at) => index.facets[at])].join("\n").toLowerCase();
    record.text = `${said}\n${said.replace(/[_/]/g, " ")}`;
  }
  return record.text;
}

function fits(record, terms) {
  return terms.every((term) => term.values.some((has) => has(record)) !== term.negated);
}
