#!/bin/sh
# Prints a folder with OpenClaw 2026.9.6 and a Node that it accepts (node_modules/node/bin, node_modules/.bin), after
# putting them there from npm if they are not there yet. Status 3: not possible here (no npm, no registry).
set -eu

version=2026.9.6
cache=${LIMPET_CACHE:-${HOME:-/tmp}/.cache/limpet-dev}
folder=$cache/openclaw-$version
half=$folder.half-$$

is_complete() {
    [ -f "$1/node_modules/openclaw/openclaw.mjs" ] && [ -x "$1/node_modules/node/bin/node" ] &&
        "$1/node_modules/node/bin/node" "$1/node_modules/openclaw/openclaw.mjs" --version 2>/dev/null | grep -q "$version"
}

not_here() {
    echo "openclaw.sh: $1" >&2
    exit 3
}

install() {
    npm install --prefix "$half" --no-audit --no-fund --no-update-notifier --save-exact "$1" >"$half/npm.log" 2>&1 && return
    tail -n 20 "$half/npm.log" >&2
    if grep -Eq 'ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT' "$half/npm.log"; then
        not_here "the npm registry cannot be reached."
    fi
    echo "openclaw.sh: npm could not install $1." >&2
    exit 1
}

if is_complete "$folder"; then
    echo "$folder"
    exit 0
fi
command -v npm >/dev/null 2>&1 || not_here "npm is not installed (apt-get install npm)."
mkdir -p "$half" 2>/dev/null || not_here "$cache cannot be written."
trap 'rm -rf "$half"' EXIT
trap 'exit 1' HUP INT TERM
echo '{"private": true}' >"$half/package.json"
# Node first, and first on PATH: openclaw refuses to be installed by the system's older one.
install node@24
PATH=$half/node_modules/node/bin:$PATH
install "openclaw@$version"
is_complete "$half" || { echo "openclaw.sh: what npm installed does not run." >&2; exit 1; }
if ! is_complete "$folder"; then # another run may have been faster
    rm -rf "$folder"
    mv "$half" "$folder"
fi
echo "$folder"
