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

/* They come hidden, for without script they do nothing. */
function showCopyButtons(place) {
  for (const button of place.querySelectorAll("button.copy")) button.hidden = false;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copyFrom(button);
});
