// Brings what a page left for later, because it takes longer than the answer itself.
import { documentAt } from "./asking.js";

export const fillIn = async () => {
  for (const place of document.querySelectorAll("[data-fill]")) {
    const page = await documentAt(place.dataset.fill).catch(() => null);
    const figure = page?.querySelector("figure");
    if (figure) place.replaceWith(document.adoptNode(figure));
  }
};
