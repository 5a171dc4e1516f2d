/* The small language of the search; catalog_probe/catalog/search/query.py has the same rules, and a test holds them together. */
const TERM = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g;

/* The terms of a query, and what is wrong with it first: then it finds nothing, whatever else it says. */
function parseQuery(text) {
  const terms = [];
  let wrong = "";
  for (const { field, values, negated } of termsOf(text.toLowerCase())) {
    if (field && !(field in index.fields)) wrong = wrong || `No field is called ${field}.`;
    wrong = wrong || impossible(field, values);
    const has = values.map((each) => compile(field, each));
    terms.push({ holds: (record) => has.some((each) => each(record)) !== negated });
  }
  return { terms: wrong ? [{ holds: () => false }] : terms, wrong };
}

/* What is wrong with values that their field can never be. */
function impossible(field, values) {
  const form = index.forms[field];
  const listed = index.listed[field];
  const can = (value) => (form ? new RegExp(`^(?:${form[0]})$`, "s").test(value)
    : !listed || listed.some((each) => isFacet(`${field}:${each}`, field, value)));
  const wrong = values.find((value) => !can(value));
  if (wrong === undefined) return "";
  const mend = form ? form[1] : listed.length <= NAMED ? `write ${listed.join(", ")}` : "";
  return `${field}:${wrong} names nothing${mend ? `: ${mend}` : ""}.`;
}

/* Of a list no longer than this, all are named. */
const NAMED = 32;

function termsOf(text) {
  const found = [];
  for (const [, dash, field, quoted, word] of text.matchAll(TERM)) {
    const typed = quoted || word;
    if (!typed) continue;
    const value = index.states.includes(field) ? typed.replaceAll(/[ _]/g, "-") : typed;
    const values = field && !index.prose.includes(field) ? value.split(",").filter(Boolean) : [value];
    found.push({ field: field || "", values, negated: dash === "-" });
  }
  return found;
}

/* What a value asks of a record. A facet is tried once, however many records have it. */
function compile(field, value) {
  if (!field) return (record) => textOf(record).includes(value);
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
    record.text = `${said}\n${said.replace(/[_/-]/g, " ")}`;
  }
  return record.text;
}

function fits(record, terms) {
  return terms.every((term) => term.holds(record));
}
