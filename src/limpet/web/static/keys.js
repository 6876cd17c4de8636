// The keyboard: j and k to the next and previous event, n and p to failures, / to the question, ? to the list of keys.
const rows = (selector) => [...document.querySelectorAll(selector)];
const typing = (target) => target.closest("input, textarea, select, [contenteditable]");

const step = (selector, by) => {
  const all = rows(selector);
  const here = document.activeElement?.closest("li, .row") ?? document.querySelector(".wanted, :target");
  const place = (row) => (here ? here.compareDocumentPosition(row) : Node.DOCUMENT_POSITION_FOLLOWING);
  const current = document.activeElement?.closest(".row");
  const beside = all.filter((row) => row !== current && place(row) & (by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING));
  const wanted = by > 0 ? beside[0] : beside.at(-1);
  if (!wanted) return false;
  wanted.focus({ preventScroll: true });
  wanted.scrollIntoView({ block: "nearest" });
  return true;
};

const actions = {
  j: () => step(".row", 1) || document.querySelector("a[rel=next]")?.focus(),
  k: () => step(".row", -1),
  n: () => step('.row[data-tone="bad"]', 1) || document.querySelector("[data-failed=after]")?.click(),
  p: () => step('.row[data-tone="bad"]', -1) || document.querySelector("[data-failed=before]")?.click(),
  "/": () => document.querySelector("[data-suggest]")?.focus(),
  "?": () => document.querySelector("#help")?.showModal(),
};

export const listenToKeys = () => {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  document.querySelector("[data-help]")?.addEventListener("click", actions["?"]);
  const target = document.querySelector(".wanted .row, :target .row");
  target?.focus({ preventScroll: true });
};
