// The keyboard: j and k to the next and previous event, n and p to failures, / to the question, ? to the list of keys.
import { bring } from "./windows.js";

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

// At the end of what is shown the next window is brought first.
const walk = async (by) => step(".row", by) || ((await bring(by > 0 ? "next" : "prev")) && step(".row", by));

const toFailure = (by) => step('.row[data-tone="bad"]', by) || document.querySelector(`[data-failed=${by > 0 ? "after" : "before"}]`)?.click();

const actions = {
  j: () => walk(1),
  k: () => walk(-1),
  n: () => toFailure(1),
  p: () => toFailure(-1),
  "/": () => document.querySelector("[data-suggest]")?.focus(),
  "?": () => document.querySelector("#help")?.showModal(),
};

const land = () => {
  if (document.activeElement !== document.body) return;
  document.querySelector(".wanted .row, :target .row")?.focus({ preventScroll: true });
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
  land();
  // The browser goes to what the address names once all is there, and takes the focus away again.
  window.addEventListener("load", () => setTimeout(land));
};
