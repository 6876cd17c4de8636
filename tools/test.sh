#!/usr/bin/env bash
# Runs the tests: Python's, on a real OpenClaw gateway too where npm can bring one, and the plugin's with OpenClaw's Node.
#   tools/test.sh           all but the long ones        tools/test.sh soak    the long ones
# Leaves its reports in build/: tools/check_skips.py reads there what was skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

rm -rf build/reports
mkdir -p build/reports

if command -v npm >/dev/null; then
  say 'OpenClaw and its Node, from npm or from an earlier run'
  LIMPET_TEST_OPENCLAW=$(tools/openclaw.sh)
  export LIMPET_TEST_OPENCLAW
  export PATH="$LIMPET_TEST_OPENCLAW/node_modules/node/bin:$PATH"
else
  say 'No npm here: the tests on a real OpenClaw gateway are skipped (Debian: apt-get install npm)'
fi

chosen='not soak'
[ "${1:-}" = soak ] && chosen=soak

if [ "$chosen" != soak ]; then
  if [ -n "${LIMPET_TEST_OPENCLAW:-}" ]; then
    say "The plugin's tests, with Node $(node --version)"
    node --test --test-reporter=spec --test-reporter-destination=stdout \
      --test-reporter=junit --test-reporter-destination=build/reports/plugin.xml 'integrations/openclaw/test/*.test.js'
  else
    say "The plugin's own tests are skipped: they need OpenClaw's Node, which npm brings"
  fi
fi

say "Python's tests ($chosen)"
.venv/bin/python -m pytest -m "$chosen" --junitxml=build/reports/python.xml -rs --durations=10
