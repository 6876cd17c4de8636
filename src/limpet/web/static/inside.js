// Opens an event where it stands: what it was given and gave back is asked for when somebody looks.
import { documentAt } from "./asking.js";

const bring = async (place) => {
  if (!place.open || !place.dataset.event || place.dataset.here) return;
  place.dataset.here = "yes";
  try {
    const page = await documentAt(`/event/${place.dataset.event}/inside`);
    place.querySelector(".inside").replaceWith(document.adoptNode(page.querySelector(".inside")));
  } catch {
    delete place.dataset.here;
  }
};

export const openInPlace = () => {
  document.addEventListener("toggle", (event) => event.target.dataset && bring(event.target), true);
  // Somebody may have been faster than this file.
  document.querySelectorAll("details[open]").forEach(bring);
};
