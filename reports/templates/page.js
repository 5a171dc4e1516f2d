"use strict";
const index = JSON.parse(document.getElementById("data-index").textContent);

/* What the index holds becomes text, never markup: this is the only way that the list is made. */
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
