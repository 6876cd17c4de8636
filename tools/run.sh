#!/usr/bin/env bash
# What `make run` shows: Limpet beside the OpenClaw of this machine, or, where there is none, the recorded day.
set -euo pipefail
cd "$(dirname "$0")/.."

state=${OPENCLAW_STATE_DIR:-${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}/.openclaw}
limpet=.venv/bin/limpet

if [ ! -f "$state/openclaw.json" ]; then
  printf 'There is no OpenClaw in %s, so here is a recorded day of one.\n\n' "$state"
  exec "$limpet" demo
fi

printf 'OpenClaw is in %s.\n\n' "$state"
"$limpet" status || true
cat <<END

To let Limpet record what its agents do, where it does not yet (--dry-run only shows what would change):
  $PWD/$limpet setup openclaw --dry-run
  $PWD/$limpet setup openclaw
To look at a recorded day first:
  $PWD/$limpet demo
END
