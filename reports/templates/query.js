/* The query language of the search. catalog_probe/catalog/search.py has the same rules; a test compares the two. */
const TERM = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g;
const MAX_NAMED_VALUES = 32;

/* Return the conditions of a query, and its first error. A query with an error finds nothing. */
function parseQuery(text) {
  const terms = [];
  let wrong = "";
  for (const { field, values, negated } of splitQuery(text.toLowerCase())) {
    if (field && !(field in index.fields)) wrong = wrong || `No field is called ${field}.`;
    wrong = wrong || findInvalidValue(field, values);
    const conditions = values.map((value) => buildCondition(field, value));
    terms.push({ holds: (record) => conditions.some((condition) => condition(record)) !== negated });
  }
  return { terms: wrong ? [{ holds: () => false }] : terms, wrong };
}

/* Return an error if a field can never have one of the values, else an empty string. */
function findInvalidValue(field, values) {
  const form = index.forms[field];
  const allowedValues = index.listed[field];
  const isAllowed = (value) => {
    if (form) return new RegExp(`^(?:${form[0]})$`, "s").test(value);
    return !allowedValues || allowedValues.some((allowed) => matchesFacet(`${field}:${allowed}`, field, value));
  };
  const invalid = values.find((value) => !isAllowed(value));
  if (invalid === undefined) return "";
  const mend = form ? form[1] : allowedValues.length <= MAX_NAMED_VALUES ? `write ${allowedValues.join(", ")}` : "";
  return `${field}:${invalid} names nothing${mend ? `: ${mend}` : ""}.`;
}

function splitQuery(text) {
  const parts = [];
  for (const [, dash, field, quoted, word] of text.matchAll(TERM)) {
    const typed = quoted || word;
    if (!typed) continue;
    const value = index.states.includes(field) ? typed.replaceAll(/[ _]/g, "-") : typed;
    const values = field && !index.prose.includes(field) ? value.split(",").filter(Boolean) : [value];
    parts.push({ field: field || "", values, negated: dash === "-" });
  }
  return parts;
}

/* Return a predicate of records. Each facet is matched once, however many records have it. */
function buildCondition(field, value) {
  if (!field) return (record) => searchText(record).includes(value);
  if (field === "seen") return (record) => matchesAge(record.age, value);
  const matchingIds = new Set();
  index.facets.forEach((facet, id) => { if (facet.startsWith(`${field}:`) && matchesFacet(facet, field, value)) matchingIds.add(id); });
  return (record) => record.facetIds.some((id) => matchingIds.has(id));
}

function matchesFacet(facet, field, value) {
  if (index.prose.includes(field)) return facet.includes(value);
  const parts = value.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${field}:${parts.join(".*")}$`, "s").test(facet);
}

function matchesAge(age, value) {
  if (value === "never") return age === null;
  const match = /^([<>]?)(\d+)d?$/.exec(value === "today" ? "0" : value);
  if (!match || age === null) return false;
  const days = Number(match[2]);
  if (match[1] === "<") return age < days;
  return match[1] === ">" ? age > days : age === days;
}

/* Built on first use: of ten thousand records most are never searched. */
function searchText(record) {
  if (record.text === undefined) {
    const facets = record.facetIds.map((id) => index.facets[id]);
    const text = [record.address, record.title, ...facets].join("\n").toLowerCase();
    record.text = `${text}\n${text.replace(/[_/-]/g, " ")}`;
  }
  return record.text;
}

function matchesQuery(record, terms) {
  return terms.every((term) => term.holds(record));
}
