// Measures the plugin's recording handler against a bare fs.writeSync of the same lines, in turn; prints JSON.
// node hook.mjs LINES FOLDER ROUNDS
import fs from "node:fs";
import { join } from "node:path";
import { capture } from "../integrations/openclaw/capture.js";
import { openSpool } from "../integrations/openclaw/spool.js";

const [, , given, folder, rounds] = process.argv;
const lines = fs.readFileSync(given, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const bare = lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`));

function perEvent(work) {
  const began = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - began) / 1000 / lines.length;
}

function handled(round) {
  const spool = openSpool(join(folder, `home-${round}`));
  spool.append({ hook: "limpet_start", ctx: {}, event: {} }); // the folder is there when an agent's turn begins
  const took = perEvent(() => { for (const { hook, ctx, event } of lines) spool.append(capture(hook, event, ctx)); });
  spool.close();
  return took;
}

function written(round) {
  const fd = fs.openSync(join(folder, `bare-${round}.jsonl`), "a");
  const took = perEvent(() => { for (const line of bare) fs.writeSync(fd, line); });
  fs.closeSync(fd);
  return took;
}

handled("warm"), written("warm");
const found = [];
for (let round = 0; round < Number(rounds); round += 1) found.push({ handler: handled(round), bare: written(round) });
console.log(JSON.stringify(found));
process.exit(0);
