#!/usr/bin/env bash
# The scripts of pages, checked by the types in their comments, and pages in a real Chromium. Needs node 20 or newer, npm
# and Debian's chromium (or CHROMIUM=path); ERRORBAR names another program than target/debug/errorbar.
set -euo pipefail
cd "$(dirname "$0")"
chromium=${CHROMIUM:-/usr/bin/chromium}
if [ ! -x "$chromium" ]; then
  echo "no browser at $chromium; install it (apt-get install chromium) or set CHROMIUM" >&2
  exit 1
fi
if [ ! -x "${ERRORBAR:-../../target/debug/errorbar}" ]; then
  echo "no program to test; build it (cargo build -p errorbar) or set ERRORBAR" >&2
  exit 1
fi
npm ci --no-audit --no-fund --silent
npx --no-install tsc -p tsconfig.json
npx --no-install tsc -p tsconfig.tests.json
# One file after the other: a browser and a debug build are enough for two cores.
node --test --test-concurrency=1 --test-reporter="${REPORTER:-spec}" tests/*.test.js
