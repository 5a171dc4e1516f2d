/* A row of the list of a report, and in which orders they come. */
const SVG = "http://www.w3.org/2000/svg";
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

function drawStrip(record) {
  const width = 6 * record.strip.length;
  const svg = document.createElementNS(SVG, "svg");
  const tally = {};
  svg.setAttribute("class", "strip");
  svg.setAttribute("role", "img");
  svg.setAttribute("viewBox", `0 0 ${width} 14`);
  svg.setAttribute("preserveAspectRatio", "xMaxYMid meet");
  [...record.strip].forEach((letter, at) => {
    const known = index.outcomes[letter];
    const rect = document.createElementNS(SVG, "rect");
    const words = known ? known[1] : "not in the run";
    rect.setAttribute("class", known ? known[0] : "absent");
    rect.setAttribute("x", 6 * at);
    rect.setAttribute("width", 5);
    rect.setAttribute("height", 14);
    const title = document.createElementNS(SVG, "title");
    title.textContent = `${index.runs[at]}: ${words}`;
    rect.append(title);
    svg.append(rect);
    if (known) tally[words] = (tally[words] || 0) + 1;
  });
  const said = Object.entries(tally).map(([words, number]) => `${number} ${words}`).join(", ");
  svg.setAttribute("aria-label", `Last ${record.strip.length} runs: ${said}`);
  return svg;
}
