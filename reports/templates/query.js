/* The small language of the search; catalog/reading/query.py and over_runs.py have the same rules, and a test holds them together. */
const TERM = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g;

const GROUP = /(?<!\S)(-?)(seq|count|any|all|none)(?::([<>]?[0-9]{1,6}))?\(((?:"[^"]*"|[^()"])*)\)(?!\S)/g;
const BEGUN = /^(seq|count|any|all|none)\(/;

/* The terms of a query, and what is wrong with it first: then it finds nothing, whatever else it says. */
function parseQuery(text) {
  const asked = text.toLowerCase();
  const groups = [...asked.matchAll(GROUP)].map((found) => overRuns(...found.slice(1)));
  const terms = [...groups];
  let wrong = groups.map((each) => each.wrong).find(Boolean) || "";
  for (const { field, values, negated } of termsOf(asked.replaceAll(GROUP, " "))) {
    const begun = field in index.hows ? field : !field && (BEGUN.exec(values[0]) || [])[1];
    if (begun) wrong = wrong || `Not whole: write ${index.hows[begun]}.`;
    else if (field && !(field in index.fields)) wrong = wrong || `No field is called ${field}.`;
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
  if (wrong === undefined) return unknownRun(field, values);
  const mend = form ? form[1] : listed.length <= NAMED ? `write ${listed.join(", ")}` : "";
  return `${field}:${wrong} names nothing${mend ? `: ${mend}` : ""}.`;
}

/* Of a list no longer than this, all are named. */
const NAMED = 32;

/* What is wrong with values that name a run of this report, or its outcome there. */
function unknownRun(field, values) {
  const split = { on: (value) => [value.split("=")[0]], between: (value) => value.split("..") }[field];
  const run = split && values.flatMap(split).find((each) => !index.runs.includes(each));
  if (run) return `No run is called ${run}.`;
  const word = field === "on" && values.map((value) => value.split("=")[1]).find((each) => !OUTCOME_WORDS.includes(each));
  return word ? `No outcome is called ${word}.` : "";
}

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

/* What is to hold over several runs: in `seq` each term of another run, elsewhere all of the same. */
function overRuns(dash, how, number, inside) {
  let wrong = (how === "count") === Boolean(number) ? "" : `Not whole: write ${index.hows[how]}.`;
  const asked = termsOf(inside).map(({ field, values, negated }) => {
    const words = field ? values : values.flatMap((each) => each.split(",")).filter(Boolean);
    if (field && !index.ofRun.includes(field)) wrong = wrong || `Of a run no field is called ${field}.`;
    wrong = wrong || impossible(field, values);
    const unknown = field ? undefined : words.find((each) => !OUTCOME_WORDS.includes(each));
    if (unknown) wrong = wrong || `No outcome is called ${unknown}.`;
    return (facets) => words.some((each) => facets.some((facet) => isFacet(facet, field || "outcome", each))) !== negated;
  });
  if (!asked.length) wrong = wrong || `Not whole: write ${index.hows[how]}.`;
  const fit = (runs) => {
    if (how === "seq") return runs.some((_, at) => at + asked.length <= runs.length && asked.every((is, by) => is(runs[at + by])));
    const found = runs.filter((facets) => asked.every((is) => is(facets))).length;
    if (how === "count") return isNumber(found, number);
    if (how === "none") return found === 0 && runs.some((facets) => facets.some((facet) => index.judged.includes(facet)));
    return how === "any" ? found > 0 : found > 0 && found === runs.length;
  };
  return { wrong, holds: (record) => fit(runsOf(record)) !== (dash === "-") };
}

const OUTCOME_WORDS = [...Object.keys(index.outcomes), "."].map(wordOf);

function isNumber(found, wanted) {
  const number = Number(wanted.replace(/[<>]/, ""));
  return wanted[0] === "<" ? found < number : wanted[0] === ">" ? found > number : found === number;
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
    record.text = `${said}\n${said.replace(/[_/-]/g, " ")}`;
  }
  return record.text;
}

function fits(record, terms) {
  return terms.every((term) => term.holds(record));
}
