"use strict";
const index = JSON.parse(document.getElementById("data-index").textContent);

/* Every element of the list is made here, so that text of the index never becomes markup. */
function make(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function formatAge(days) {
  if (days === null) return "never";
  if (days === 0) return "today";
  return days === 1 ? "1 day" : `${days} days`;
}
