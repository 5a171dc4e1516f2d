/* Suggestions: the fields, and after `field:` its values in this run, the most frequent first. */
const MAX_SUGGESTIONS = 12;
const MAX_SUGGESTION_LENGTH = 60;
const suggestions = document.getElementById("suggestions");
const facetCounts = {};
for (const record of records) for (const id of record.facetIds) facetCounts[id] = (facetCounts[id] || 0) + 1;

function suggest() {
  const text = form.elements.q.value;
  const lastWord = /\S*$/.exec(text)[0];
  const textBefore = text.slice(0, text.length - lastWord.length);
  const dash = lastWord.startsWith("-") ? "-" : "";
  const start = lastWord.replace(/^-/, "").toLowerCase();
  const field = /^([a-z]+):/.exec(start);
  const options = field ? suggestValues(field[1], start) : suggestFields(start);
  suggestions.replaceChildren(...options.filter(([value]) => value !== start).slice(0, MAX_SUGGESTIONS)
    .map(([value, label]) => make("option", { value: `${textBefore}${dash}${value}`, label })));
}

function suggestFields(start) {
  return Object.keys(index.fields).filter((name) => name.startsWith(start)).map((name) => [`${name}:`, index.fields[name]]);
}

function suggestValues(field, start) {
  return index.facets.map((facet, id) => [facet, facetCounts[id] || 0])
    .filter(([facet]) => facet.startsWith(start) && facet.startsWith(`${field}:`) && facet.length < MAX_SUGGESTION_LENGTH)
    .sort((a, b) => b[1] - a[1])
    .map(([facet, count]) => [facet.includes(" ") ? `${field}:"${facet.slice(field.length + 1)}"` : facet, `${count} records`]);
}

form.elements.q.addEventListener("input", suggest);
form.elements.q.addEventListener("focus", suggest);
