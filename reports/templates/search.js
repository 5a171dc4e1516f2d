/* Suggestions: the fields, and after `field:` what this run has there, the most frequent first. */
const MOST = 12;
const suggestions = document.getElementById("suggestions");
const common = {};
for (const record of records) for (const at of record.places) common[at] = (common[at] || 0) + 1;

function suggest() {
  const text = form.elements.q.value;
  const [before, last] = [text.slice(0, text.search(/\S*$/)), /\S*$/.exec(text)[0].toLowerCase()];
  const field = /^-?([a-z]+):/.exec(last);
  const options = field ? valuesOf(field[1], last.replace(/^-/, "")) : Object.keys(index.fields)
    .filter((name) => name.startsWith(last.replace(/^-/, ""))).map((name) => [`${name}:`, index.fields[name]]);
  const dash = last.startsWith("-") ? "-" : "";
  suggestions.replaceChildren(...options.slice(0, MOST).map(([value, label]) => make("option", { value: `${before}${dash}${value}`, label })));
}

function valuesOf(field, start) {
  const seen = index.facets.map((facet, at) => [facet, common[at] || 0]).filter(([facet]) => facet.startsWith(start) && facet.startsWith(`${field}:`) && facet.length < 60);
  return seen.sort((a, b) => b[1] - a[1]).map(([facet, number]) => [facet.includes(" ") ? `${field}:"${facet.slice(field.length + 1)}"` : facet, `${number} records`]);
}

form.elements.q.addEventListener("input", suggest);
form.elements.q.addEventListener("focus", suggest);
