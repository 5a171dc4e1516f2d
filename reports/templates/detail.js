/* The compressed details of the records, by address; parsed when the first one is opened. */
let packedDetails = null;
function packedDetail(address) {
  packedDetails ??= JSON.parse(document.getElementById("data-details").textContent);
  return packedDetails[address];
}

function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

/* The markup was made with the report, and everything observed is escaped. In a template nothing runs or loads. */
async function makeDetail(record) {
  const text = packedDetail(record.address);
  if (text === undefined) return make("p", {}, "Its details are in results.jsonl; here they would make the file too large.");
  if (!("DecompressionStream" in window)) return make("p", {}, "This browser cannot unpack details; see results.jsonl.");
  const template = document.createElement("template");
  template.innerHTML = await inflate(text);
  showCopyButtons(template.content);
  return template.content;
}
