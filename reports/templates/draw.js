const SVG = "http://www.w3.org/2000/svg";

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

function drawCommand(label, text) {
  const button = make("button", { type: "button", class: "copy" }, "Copy");
  return make("div", { class: "command" }, make("p", {}, label), button, make("pre", {}, text));
}

async function copyFrom(button) {
  const text = button.parentElement.querySelector("pre").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(button.parentElement.querySelector("pre"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copyFrom(button);
});
