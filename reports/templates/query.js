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
    const holds = (record) => conditions.some((condition) => condition(record)) !== negated;
    terms.push({ holds, field, value: values.join(","), negated });
  }
  return { terms: wrong ? [{ holds: () => false, value: "" }] : terms, wrong };
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
  const plainText = text.replace(/https?:\/\/[^\s/]*/g, "").replace(/(?<=\S)->(?=\S)/g, "→");
  for (const [, dash, field, quoted, word] of plainText.matchAll(TERM)) {
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

/* Of a query that finds nothing, name the first part that no record has, and the nearest that one has. */
function explainNoMatch(terms) {
  const term = terms.find(({ holds, negated }) => !negated && !records.some(holds));
  if (!term || !term.value || term.field in index.forms || term.field in index.listed) return "";
  const prefix = term.field ? `${term.field}:` : "";
  const nearest = findNearest(term.value, listKnownValues(prefix));
  return `No record has ${prefix}${term.value}${nearest ? `; did you mean ${nearest}?` : ""}`;
}

function listKnownValues(prefix) {
  if (prefix) return index.facets.filter((facet) => facet.startsWith(prefix)).map((facet) => facet.slice(prefix.length));
  const words = new Set();
  for (const record of records) for (const word of searchText(record).match(/[^\s:,"]+/g) || []) words.add(word);
  return [...words];
}

const MIN_LIKENESS = 0.5;
const MAX_COMPARED_LENGTH = 60;

/* The value with most pairs of letters in common, if these are half of all. Example: ratelimit -> rate_limit. */
function findNearest(value, candidates) {
  let nearest = "";
  let highest = MIN_LIKENESS;
  for (const candidate of candidates) {
    if (candidate.length > MAX_COMPARED_LENGTH) continue;
    const likeness = compareLetterPairs(value, candidate);
    if (likeness > highest) [nearest, highest] = [candidate, likeness];
  }
  return nearest;
}

function compareLetterPairs(first, second) {
  const pairs = new Map();
  for (let at = 0; at < first.length - 1; at += 1) {
    const pair = first.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) || 0) + 1);
  }
  let common = 0;
  for (let at = 0; at < second.length - 1; at += 1) {
    const pair = second.slice(at, at + 2);
    if (pairs.get(pair) > 0) {
      pairs.set(pair, pairs.get(pair) - 1);
      common += 1;
    }
  }
  return (2 * common) / Math.max(1, first.length + second.length - 2);
}

function matchesQuery(record, terms) {
  return terms.every((term) => term.holds(record));
}
