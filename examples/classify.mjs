// Which error is this answer, and may the request be sent again? Reads nothing but errors.json of the published data:
//   catalog-probe catalog export data published
//   node classify.mjs published/v1/errors.json pc 429 '{"error": {"code": "insufficient_quota", …}}'
//   node classify.mjs published/v1/errors.json published/v1/vectors.jsonl      compares itself with the vectors
import { readFileSync } from "node:fs";
import process from "node:process";

const KINDS = { 400: "invalid request", 413: "invalid request", 415: "invalid request", 422: "invalid request", 401: "authentication", 402: "credit or billing", 403: "permission", 404: "not found", 408: "timeout",
  409: "conflict", 410: "not found", 429: "rate limit", 503: "overload", 504: "timeout", 529: "overload" };
const SECONDS = /\b(?:retry|try again|wait)\b\D{0,24}?(\d+(?:\.\d+)?) ?(ms|milliseconds|s|sec|seconds?)\b/i;
const MIN_DISTANCE = 0.5; // points by which two errors must differ to be told apart

/** Return all values at a JSON pointer; `*` is any item of an array. */
function at(body, pointer) {
  const steps = pointer.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return steps.reduce((values, step) => values.flatMap((value) => {
    if (step === "*") return Array.isArray(value) ? value : [];
    return value !== null && typeof value === "object" && step in value ? [value[step]] : [];
  }), [body]);
}

/** Return every string in a body, one a line. */
function texts(body) {
  if (typeof body === "string") return body;
  return body !== null && typeof body === "object" ? Object.values(body).map(texts).join("\n") : "";
}

const has = (body, aspect) => at(body, aspect.at).some((value) => aspect.values.includes(value));
const fits = (expression, text) => new RegExp(expression.pattern, expression.flags).test(text);

/** Return [points, whether the answer says so] for one documented answer, or null if it cannot be that one. */
function score(match, answer) {
  if (match.grpc !== null || answer.grpc !== undefined) return match.grpc === answer.grpc ? [5, true] : null;
  if (match.close !== null) {
    return answer.close >= match.close[0] && answer.close <= match.close[1] ? [4, true] : null;
  }
  const body = answer.body, headers = answer.headers ?? {};
  if ((match.protocol === "http") !== (answer.event === undefined)) return null;
  if (match.event !== null && match.event !== answer.event) return null;
  let points = match.event === null ? 0 : 1, isSaid = false, hasCode = false; // a status alone says too little
  if (match.protocol === "http") {
    if (match.status.includes(answer.status)) points += 2;
    else if (match.status_class !== null && match.status_class === Math.trunc(answer.status / 100)) points += 1;
    else if (match.status.length || match.status_class !== null) return null;
  }
  if (match.body === "empty" && body !== undefined) return null;
  if (match.body === "json" && (body === undefined || (typeof body === "string" && match.message.at))) return null; // HTML
  for (const [aspect, value] of [["code", 5], ["type", 2]]) {
    if (match[aspect] === null) continue;
    if (has(body, match[aspect])) {
      const isNull = match[aspect].values.includes(null); // that a code is null says little
      points += isNull ? 0.5 : value;
      [isSaid, hasCode] = [isSaid || !isNull, hasCode || !isNull];
    } else if (hasCode) points -= 1; // a type other than documented, but the very code
    else return null;
  }
  for (const member of match.values) {
    if (!has(body, member)) return null;
    [points, isSaid] = [points + 4, true];
  }
  if (match.param !== null && has(body, match.param)) points += 1;
  if (match.message.published !== null) {
    const hasWords = fits(match.message.published, texts(body));
    [points, isSaid] = [points + (hasWords ? 3 : 0), isSaid || hasWords];
  }
  for (const [name, { rule, value }] of Object.entries(match.headers)) {
    const isDifferent = rule === "absent" ? name in headers : rule === "equals" && name in headers && headers[name] !== value;
    if (isDifferent) points -= 1;
  }
  return [points, isSaid];
}

/** Return [points, whether it is said, error] of those that an answer may be: the likeliest, and what is as likely. */
export function candidates(errors, provider, answer) {
  const scored = errors.filter((error) => error.provider.id === provider || error.provider.name === provider)
    .flatMap((error) => error.match.map((match) => score(match, answer)).filter(Boolean).map((one) => [...one, error]))
    .filter(([points]) => points > 1).sort((one, other) => other[0] - one[0]);
  return scored.filter(([points]) => points > scored[0][0] - MIN_DISTANCE);
}

/** Return the seconds that an answer asks to wait for, or null. */
function wait(answer) {
  const headers = answer.headers ?? {}, words = SECONDS.exec(texts(answer.body));
  if ("retry-after-ms" in headers) return Number(headers["retry-after-ms"]) / 1000;
  if ("retry-after" in headers) {
    const seconds = Number(headers["retry-after"]);
    return Number.isNaN(seconds) ? Math.max(0, (Date.parse(headers["retry-after"]) - Date.now()) / 1000) : seconds;
  }
  return words === null ? null : Number(words[1]) * (words[2].toLowerCase().startsWith("m") ? 0.001 : 1);
}

/** Return the id of the error if one is certain, its kind, and whether and when to send the request again. */
export function classify(errors, provider, answer) {
  const likely = candidates(errors, provider, answer), found = likely.map(([, , error]) => error), status = answer.status ?? 0, wait_s = wait(answer);
  const same = (values) => (new Set(values).size === 1 ? values[0] : undefined);
  const byStatus = status === 429 ? (wait_s === null ? "conditional" : "yes")
    : status === 408 || (status >= 500 && status !== 501) ? "yes" : "unknown";
  const documented = found.filter((error) => error.basis.retry === "documented"); // the others say nothing of it
  const advice = (documented.length ? documented : found).map((error) => error.retry.may);
  // If they disagree, a named wait speaks for a yes: a quota that waiting does not bring back names none.
  const mixed = wait_s !== null && advice.includes("yes") ? "yes" : "conditional";
  let retry = found.length ? same(advice) ?? mixed : byStatus;
  if (answer.headers?.["x-should-retry"] === "false") retry = "no";
  if (answer.headers?.["x-should-retry"] === "true" && retry !== "no") retry = "yes";
  const kind = (found.length ? same(found.map((error) => error.kind)) : undefined)
    ?? (found.length || status === 429 || status >= 500 ? KINDS[status] ?? (status >= 500 ? "server error" : null) : null);
  return { error: likely.length === 1 && likely[0][1] ? found[0].id : null, kind, retry, wait_s: retry === "no" ? null : wait_s };
}

if (process.argv[1]?.endsWith("classify.mjs")) {
  const [file, provider, status, body] = process.argv.slice(2), { errors } = JSON.parse(readFileSync(file, "utf8"));
  if (provider.endsWith(".jsonl")) {
    const vectors = readFileSync(provider, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    for (const { name, provider: whose, answer, ...right } of vectors) {
      const given = JSON.stringify(classify(errors, whose, answer)), wanted = JSON.stringify(right);
      if (given !== wanted) process.exitCode = console.log(`${name}: ${given}, not ${wanted}`) ?? 1;
    }
    console.log(`${vectors.length} vectors`);
  } else console.log(classify(errors, provider, { status: Number(status), body: body && JSON.parse(body) }));
}
