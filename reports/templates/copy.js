async function copyCommand(button) {
  const label = [...button.childNodes];
  const command = button.dataset.copy || button.parentElement.querySelector("pre").textContent;
  try {
    await navigator.clipboard.writeText(command);
  } catch {
    const field = document.createElement("textarea");
    field.value = command;
    button.after(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  if (button.textContent === "Copied") return;
  button.textContent = "Copied";
  setTimeout(() => { button.replaceChildren(...label); }, 1500);
}

/* The buttons are hidden in the file, because without script they do nothing. */
function showCopyButtons(root) {
  for (const button of root.querySelectorAll("button.copy")) button.hidden = false;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copyCommand(button);
});
