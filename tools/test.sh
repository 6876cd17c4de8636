#!/usr/bin/env bash
# Runs the tests: Python's, on a real OpenClaw gateway too where npm can bring one, and the plugin's with OpenClaw's Node.
#   tools/test.sh           all but the long ones        tools/test.sh soak    the long ones
# Leaves its reports in build/: tools/check_skips.py reads there what was skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

rm -rf build/reports
mkdir -p build/reports

say 'OpenClaw and its Node, from npm or from an earlier run'
status=0
LIMPET_TEST_OPENCLAW=$(tools/openclaw.sh) || status=$?
case $status in
  0)
    export LIMPET_TEST_OPENCLAW
    export PATH="$LIMPET_TEST_OPENCLAW/node_modules/node/bin:$PATH"
    ;;
  3) printf 'The tests on a real OpenClaw gateway are skipped: it cannot be had here.\n' ;;
  *) exit "$status" ;;
esac

chosen='not soak'
[ "${1:-}" = soak ] && chosen=soak

if [ "$chosen" != soak ]; then
  if [ "$status" = 0 ]; then
    say "The plugin's tests, with Node $(node --version)"
    node --test --test-reporter=spec --test-reporter-destination=stdout \
      --test-reporter=junit --test-reporter-destination=build/reports/plugin.xml 'integrations/openclaw/test/*.test.js'
  else
    say "The plugin's own tests are skipped: they need OpenClaw's Node"
  fi
fi

say "Python's tests ($chosen)"
.venv/bin/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder -m "$chosen" --junitxml=build/reports/python.xml -rs --durations=10
