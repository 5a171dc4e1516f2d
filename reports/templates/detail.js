/* Details come packed, a chunk for each family: raw deflate in base64, of a JSON object of markup by address. */
const inflated = new Map();
function inflate(chunk) {
  if (!inflated.has(chunk)) {
    const packed = atob(document.getElementById(`data-details-${chunk}`).textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    inflated.set(chunk, new Response(stream).json());
  }
  return inflated.get(chunk);
}

/* The markup was made when the report was built, with everything observed escaped; in a template nothing runs or loads. */
async function detailOf(record) {
  if (record.chunk === null) return make("p", {}, "Its details are in results.jsonl; here they would make the file too large.");
  if (!("DecompressionStream" in window)) return make("p", {}, "This browser cannot unpack details; see results.jsonl.");
  const template = document.createElement("template");
  template.innerHTML = (await inflate(record.chunk))[record.address];
  showCopyButtons(template.content);
  return template.content;
}
