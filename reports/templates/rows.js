/* The rows of the list, and the orders in which they can be sorted. */
const CELL_WIDTH = 6;
const NEVER_OBSERVED = 1e9;

const SORTS = {
  address: (a, b) => (a.address < b.address ? -1 : 1),
  age: (a, b) => (b.age ?? NEVER_OBSERVED) - (a.age ?? NEVER_OBSERVED),
  ms: (a, b) => b.ms - a.ms,
};

function drawRow(record) {
  return make("tr", { class: "row", "data-address": record.address },
    make("td", { class: "outcome" }, make("span", { class: `o ${record.outcome}`, "aria-hidden": "true" }), record.outcomeWord),
    make("th", { scope: "row" }, make("a", { "data-item": true, href: `#${record.address}` }, record.title), make("code", {}, record.address)),
    make("td", { class: "tags" }, record.tags.join(" ")),
    make("td", { class: "age" }, formatAge(record.age)),
    make("td", { class: "runs" }, drawStrip(record.strip)),
    make("td", { class: "time" }, record.ms ? `${record.ms} ms` : ""));
}

/* One path per outcome: with an element and a title per run, these were three of five elements of the page. */
function drawStrip(strip) {
  const runsByLetter = {};
  [...strip].forEach((letter, run) => { runsByLetter[letter] = [...(runsByLetter[letter] || []), run]; });
  const counts = Object.keys(runsByLetter).filter((letter) => letter in index.outcomes)
    .map((letter) => `${runsByLetter[letter].length} ${describeLetter(letter)}`);
  const svg = makeSvg("svg", {
    class: "strip", role: "img", viewBox: `0 0 ${CELL_WIDTH * strip.length} 14`, preserveAspectRatio: "xMaxYMid meet",
    "aria-label": `Last ${strip.length} runs: ${counts.join(", ")}`,
  });
  for (const [letter, runs] of Object.entries(runsByLetter)) {
    const outcome = letter in index.outcomes ? index.outcomes[letter][0] : "absent";
    svg.append(makeSvg("path", { class: outcome, d: runs.map((run) => `M${CELL_WIDTH * run} 0h5v14h-5z`).join("") }));
  }
  svg.addEventListener("pointermove", (event) => describeRunUnderPointer(svg, strip, event));
  return svg;
}

/* The run under the pointer, and the outcome of the record in it, become the title. */
function describeRunUnderPointer(svg, strip, event) {
  const { x } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const run = Math.floor(x / CELL_WIDTH);
  const title = svg.querySelector("title") || svg.appendChild(makeSvg("title", {}));
  title.textContent = run in index.runs && run < strip.length ? `${index.runs[run]}: ${describeLetter(strip[run])}` : "";
}

function describeLetter(letter) {
  return letter in index.outcomes ? index.outcomes[letter][1] : "not in the run";
}

function makeSvg(name, properties) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
  return element;
}
