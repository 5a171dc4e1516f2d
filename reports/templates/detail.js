/* Details come packed, by address: raw deflate in base64. They are read when the first one is opened. */
let packed = null;
function packedDetail(address) {
  packed ??= JSON.parse(document.getElementById("data-details").textContent);
  return packed[address];
}

function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

/* The markup was made when the report was built, with everything observed escaped; in a template nothing runs or loads. */
async function detailOf(record) {
  const text = packedDetail(record.address);
  if (text === undefined) return make("p", {}, "Its details are in results.jsonl; here they would make the file too large.");
  if (!("DecompressionStream" in window)) return make("p", {}, "This browser cannot unpack details; see results.jsonl.");
  const template = document.createElement("template");
  template.innerHTML = await inflate(text);
  showCopyButtons(template.content);
  return template.content;
}
