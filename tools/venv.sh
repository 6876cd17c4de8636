#!/usr/bin/env bash
# Makes .venv with pinned packages and Limpet itself in it; at once done where that is so. Not for OpenClaw: openclaw.sh.
#   tools/venv.sh run    what Limpet runs on        tools/venv.sh dev    and what tests and lint need
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=requirements/${1:?run or dev}.txt
stamp=.venv/set-up-$1

say() { printf '%s\n' "$*" >&2; }

is_done() {
  [ -e "$stamp" ] || return 1
  for made_from in requirements/run.txt "$wanted" pyproject.toml tools/venv.sh; do
    [ "$stamp" -nt "$made_from" ] || return 1
  done
  .venv/bin/python -c 'import limpet, apsw' 2>/dev/null
}

# Prints the first Python of 3.11 or newer that can make a venv.
python_with_venv() {
  local name
  for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    printf '%s\n' "$name"
    return
  done
  return 1
}

install_python_with_venv() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say 'error: There is no Python 3.11 or newer with its venv module here.'
    say 'hint:  On Debian and Ubuntu: sudo apt-get install python3-venv'
    exit 4
  fi
  say 'Installing python3-venv ...'
  apt-get update -qq >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends python3-venv >/dev/null
}

is_done && exit 0
python=$(python_with_venv) || { install_python_with_venv; python=$(python_with_venv); }
say "Setting up .venv from $wanted (once; about a minute) ..."
[ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$wanted"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
touch "$stamp"
