// Throw-away folders and a reader of spools for the tests.
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function freshFolder(t) {
  const folder = fs.mkdtempSync(join(tmpdir(), "limpet-test-"));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Every segment of every producer below the home, as {path, lines, text}, in order. */
export function segments(home) {
  const names = fs.existsSync(join(home, "spool")) ? fs.readdirSync(join(home, "spool"), { recursive: true }) : [];
  const paths = names.filter((name) => name.endsWith(".jsonl")).map((name) => join(home, "spool", name));
  const number = (path) => Number(/(\d+)\.jsonl$/.exec(path)[1]);
  return paths.sort((a, b) => number(a) - number(b)).map((path) => {
    const text = fs.readFileSync(path, "utf8");
    return { path, text, lines: text.split("\n").slice(0, -1) };
  });
}

/** Every record below the home; a line that is not JSON fails the test. */
export const records = (home) => segments(home).flatMap(({ lines }) => lines.map((line) => JSON.parse(line)));
export const mode = (path) => (fs.statSync(path).mode & 0o777).toString(8);
