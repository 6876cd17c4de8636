// What every page does; each file does one thing, and every page works without any of them.
import { keepZone } from "./zone.js";
import { listenToKeys } from "./keys.js";
import { openInPlace } from "./inside.js";
import { loadMore } from "./windows.js";
import { suggest } from "./suggest.js";
import { fillIn } from "./fill.js";
import { goLive } from "./live.js";

keepZone();
listenToKeys();
openInPlace();
loadMore();
for (const field of document.querySelectorAll("[data-suggest]")) suggest(field);
fillIn();
goLive();
