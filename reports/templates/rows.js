/* A row of the list of a report, and in which orders they come. */
const RUN = 6;
const ORDER = Object.values(index.outcomes).map(([outcome]) => outcome).reverse();

const SORTS = {
  outcome: (a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome),
  age: (a, b) => (b.age === null ? 1e9 : b.age) - (a.age === null ? 1e9 : a.age),
  ms: (a, b) => b.ms - a.ms,
};

function drawRow(record) {
  return make("tr", { class: "row", "data-address": record.address },
    make("td", { class: "outcome" }, make("span", { class: `o ${record.outcome}`, "aria-hidden": "true" }), record.word),
    make("th", { scope: "row" }, make("a", { "data-item": true, href: `#${record.address}` }, record.title), make("code", {}, record.address)),
    make("td", { class: "tags" }, record.tags.join(" ")),
    make("td", { class: "age" }, ageInWords(record.age)),
    make("td", { class: "runs" }, drawStrip(record)),
    make("td", { class: "time" }, record.ms ? `${record.ms} ms` : ""));
}

/* A path an outcome, not an element and a title a run: those were three of five elements of the page. */
function drawStrip(record) {
  const places = {};
  [...record.strip].forEach((letter, at) => { places[letter] = [...(places[letter] || []), at]; });
  const said = Object.keys(places).filter((letter) => letter in index.outcomes).map((letter) => `${places[letter].length} ${wasIn(letter)}`);
  const svg = draw("svg", {
    class: "strip", role: "img", viewBox: `0 0 ${RUN * record.strip.length} 14`, preserveAspectRatio: "xMaxYMid meet",
    "aria-label": `Last ${record.strip.length} runs: ${said.join(", ")}`,
  });
  for (const [letter, runs] of Object.entries(places)) {
    const outcome = letter in index.outcomes ? index.outcomes[letter][0] : "absent";
    svg.append(draw("path", { class: outcome, d: runs.map((at) => `M${RUN * at} 0h5v14h-5z`).join("") }));
  }
  svg.addEventListener("pointermove", (event) => sayRun(svg, record.strip, event));
  return svg;
}

/* The run under the pointer, and what the record was in it. */
function sayRun(svg, strip, event) {
  const { x } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const at = Math.floor(x / RUN);
  const title = svg.querySelector("title") || svg.appendChild(draw("title", {}));
  title.textContent = at in index.runs && at < strip.length ? `${index.runs[at]}: ${wasIn(strip[at])}` : "";
}

function wasIn(letter) {
  return letter in index.outcomes ? index.outcomes[letter][1] : "not in the run";
}

function draw(name, properties) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
  return element;
}
