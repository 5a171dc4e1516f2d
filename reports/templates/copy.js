async function copyFrom(button) {
  const label = [...button.childNodes];
  const shown = button.parentElement.querySelector("pre");
  try {
    await navigator.clipboard.writeText(button.dataset.copy || shown.textContent);
  } catch {
    const field = document.createElement("textarea");
    field.value = button.dataset.copy || shown.textContent;
    button.after(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  if (button.textContent === "Copied") return;
  button.textContent = "Copied";
  setTimeout(() => { button.replaceChildren(...label); }, 1500);
}

/* They come hidden, for without script they do nothing. */
function showCopyButtons(place) {
  for (const button of place.querySelectorAll("button.copy")) button.hidden = false;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copyFrom(button);
});
