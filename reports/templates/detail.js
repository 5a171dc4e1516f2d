function drawDetail(record) {
  const detail = detailOf(record.address);
  if (detail === null) return make("p", {}, "This record has no details here; see results.jsonl.");
  const evidence = make("div", { class: "evidence" });
  if (detail.reason) evidence.append(make("p", { class: "reason" }, detail.reason));
  for (const finding of detail.findings || []) evidence.append(drawFinding(finding));
  const attempts = detail.attempts || [];
  attempts.forEach((attempt, at) => evidence.append(drawAttempt(attempt, at === attempts.length - 1, attempts.length)));
  if (detail.left_out) evidence.append(make("p", { class: "note" }, "Its exchanges are in results.jsonl; here they would make the file too large."));
  evidence.append(drawAgain(detail));
  const about = make("div", { class: "aside" });
  if (detail.attribution) {
    const [party, why] = detail.attribution;
    about.append(make("h3", {}, "Who"), make("p", {}, make("b", { class: "party" }, party), ` ${why}`));
  }
  const codes = detail.codes || [];
  if (codes.length) {
    about.append(make("h3", {}, "Next step"), make("p", {}, codes[0][2]), make("h3", {}, "Codes"));
    about.append(make("dl", { class: "codes" }, ...codes.flatMap(([code, means]) =>
      [make("dt", {}, make("code", {}, code)), make("dd", {}, means)])));
  }
  about.append(make("h3", {}, `Last ${record.strip.length} runs`), drawStrip(record), make("h3", {}, "Record"), drawFacts(detail.facts || []));
  return make("div", { class: "body" }, evidence, about);
}

function drawFinding([code, message, label, documented, observed]) {
  const block = make("div", {}, make("p", { class: "reason" }, make("code", {}, code), " ", message, label ? ` (${label})` : ""));
  if (documented !== "") {
    block.append(make("div", { class: "pair" }, make("div", {}, `documented: ${documented}`), make("div", {}, `observed: ${observed}`)));
  }
  return block;
}

function drawFacts(facts) {
  return make("dl", { class: "facts" }, ...facts.flatMap((fact) => [
    make("dt", {}, fact.label),
    make("dd", {}, ...(fact.links ? drawRelated(fact.links) : [fact.text])),
  ]));
}

function drawRelated(addresses) {
  const links = addresses.map((address) =>
    make("a", { class: "near", href: `#${address}` }, address.slice(address.indexOf("/") + 1)));
  if (links.length <= index.related) return links;
  const rest = links.splice(index.related);
  return [...links, make("details", {}, make("summary", {}, `${rest.length} more`), ...rest)];
}

function drawAttempt(attempt, last, number) {
  const name = number > 1 ? `Attempt ${attempt.number} of ${number}` : "Exchange";
  return make("details", { class: "attempt", open: last },
    make("summary", {}, `${name} `, make("span", { class: "note" }, `${attempt.at}, ${attempt.ms} ms`)),
    ...attempt.exchanges.map((exchange) => drawExchange(exchange, last)));
}

function drawExchange(exchange, last) {
  const judged = !index.aside.includes(exchange.label);
  const sides = make("div", { class: "two" }, drawSide("Sent", exchange.sent, exchange.sent_body));
  if (exchange.seen) sides.append(drawSide("Seen", exchange.seen, exchange.seen_body));
  const drawn = make("details", { class: "exchange", open: last && judged },
    make("summary", {},
      make("span", { class: "ms" }, `${exchange.start} ms`), " ", make("b", {}, exchange.label), " ",
      make("span", { class: "asked" }, exchange.asked), " ", make("b", { class: "answer" }, exchange.answer), " ",
      make("span", { class: "ms" }, `${exchange.ms} ms`)),
    exchange.failure ? make("p", { class: "reason" }, exchange.failure) : null, sides);
  if (exchange.timeline) drawn.append(drawTimeline(exchange.timeline));
  return drawn;
}

function drawSide(name, headers, body) {
  const side = make("div", {}, make("p", { class: "side" }, name));
  if (headers.length) {
    side.append(make("dl", { class: "headers" }, ...headers.map(([key, value]) =>
      make("div", {}, make("dt", {}, key), make("dd", {}, value)))));
  }
  if (body) side.append(make("pre", {}, body));
  return side;
}

function drawTimeline(rows) {
  const head = make("tr", {}, ...["ms", "way", "what", "data"].map((name) => make("th", { scope: "col" }, name)));
  const body = rows.map((row) => make("tr", {}, ...row.map((value) => make("td", {}, value === null ? "" : String(value)))));
  return make("table", { class: "timeline" }, make("thead", {}, head), make("tbody", {}, ...body));
}

function drawAgain(detail) {
  const again = make("div", { class: "again" }, make("h3", {}, "Reproduce"));
  const attempts = detail.attempts || [];
  const exchanges = attempts.length ? attempts[attempts.length - 1].exchanges : [];
  for (const exchange of exchanges) {
    if (!index.aside.includes(exchange.label)) again.append(drawCommand(exchange.label, exchange.shell));
  }
  again.append(drawCommand("this probe", detail.pytest));
  return again;
}
