"use strict";
const index = JSON.parse(document.getElementById("data-index").textContent);
const records = index.rows.map(([address, title, letter, change, tags, age, strip, ms]) => {
  const [provider, kind, family] = address.split("/");
  const outcome = index.outcomes[letter][0];
  const word = index.outcomes[letter][1];
  return { address, title, letter, outcome, word, change, tags, age, strip, ms, provider, kind, family,
    text: [address, title, word, change, ...tags].join(" ").toLowerCase() };
});
const byAddress = new Map(records.map((record) => [record.address, record]));

/* The details are parsed when the first is asked for; strings that recur are in their table. */
let details = null;
function detailOf(address) {
  if (details === null) details = JSON.parse(document.getElementById("data-details").textContent);
  return Object.hasOwn(details.data, address) ? restored(details.data[address]) : null;
}

function restored(value) {
  if (typeof value === "string") {
    if (value[0] !== "~") return value;
    return value[1] === "~" ? value.slice(1) : details.table[parseInt(value.slice(1), 36)];
  }
  if (Array.isArray(value)) return value.map(restored);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, restored(item)]));
  }
  return value;
}

/* Everything observed becomes text, never markup: this is the only way that elements are made. */
function make(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function ageInWords(age) {
  if (age === null) return "never";
  if (age === 0) return "today";
  return age === 1 ? "1 day" : `${age} days`;
}
