/* The records of several runs: what each run has of them, and what each saw of every assertion. */
const records = index.rows.map(([address, title, differs, age, places, runs, cells, asserted]) => ({ address, title, differs, age, places, runs, cells, asserted }));
const byAddress = new Map(records.map((record) => [record.address, record]));
const WORST = Object.keys(index.outcomes).reverse();
const SORTS = {
  differs: (a, b) => b.differs - a.differs,
  outcome: (a, b) => worst(a) - worst(b),
};
const STATES = { "-1": "unseen", 0: "stated", 1: "otherwise" };

function runsOf(record) {
  return record.runs.map((places) => places.map((at) => index.facets[at]));
}

function worst(record) {
  return Math.min(...record.cells.map((cell) => (cell ? WORST.indexOf(cell[0]) : WORST.length)));
}

/* Where the exchanges of a record in one run are shown, if its report lies there. */
function evidence(at, address) {
  const where = index.columns[at][3];
  return where ? `${where}#${address}` : null;
}

function drawRow(record) {
  return make("tr", { class: "row", "data-address": record.address },
    make("th", { scope: "row" }, make("a", { "data-item": true, href: `#${record.address}` }, record.title), make("code", {}, record.address)),
    ...record.cells.map((cell, at) => drawCell(cell, at, record.address)));
}

function drawCell(cell, at, address) {
  if (!cell) return make("td", { class: "absent" }, "absent");
  const [letter, percent, looked, reason] = cell;
  const [outcome, word] = index.outcomes[letter];
  const href = evidence(at, address);
  const said = [make("span", { class: `o ${outcome}`, "aria-hidden": "true" }), word];
  return make("td", { class: "outcome" }, href ? make("a", { href }, ...said) : make("span", {}, ...said),
    make("small", {}, reason || (percent === null ? "" : `${percent} % of ${looked}`)));
}

/* What differs in each run in words, then every assertion: those first on which the runs do not agree. */
async function detailOf(record) {
  const told = make("div", { class: "across" });
  record.cells.forEach((cell, at) => {
    if (!cell || !cell[4].length) return;
    const href = evidence(at, record.address);
    told.append(make("p", {}, make("b", {}, index.columns[at][1]), href ? make("a", { href }, " see the exchanges") : null),
      make("ul", {}, ...cell[4].map((each) => make("li", {}, each))));
  });
  const head = make("tr", {}, make("th", { scope: "col" }, "Assertion"), ...index.columns.map(([, label]) => make("th", { scope: "col" }, label)));
  const body = record.asserted.map(([key, assumed, agree, cells]) => make("tr", { class: agree ? null : "differs" },
    make("th", { scope: "row" }, make("code", {}, textAt(key)), assumed ? make("small", {}, "assumed") : null),
    ...cells.map(([text, state]) => make("td", { class: STATES[state] }, textAt(text)))));
  if (body.length) told.append(make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
  else told.append(make("p", {}, "No run says what it saw of its assertions."));
  return told;
}

function textAt(place) {
  return index.facets[place].replace(/^\w+:/, "");
}
