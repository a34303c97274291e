#!/bin/sh
# Install the coding agents that the end-to-end tests drive, at the versions they pass with.
#
#   tests/agents/install_clients.sh FOLDER        # npm and about 2 GB; a minute
#   MEMFS_TEST_CLIENTS=FOLDER pytest tests/agents
#
# The versions are exact: on an older Node, npm quietly takes an older release of some of them.
set -eu

folder=${1:?usage: install_clients.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

install() {
  mkdir -p "$folder/$1"
  [ -f "$folder/$1/package.json" ] || printf '{"private": true}\n' >"$folder/$1/package.json"
  (cd "$folder/$1" && npm install --no-audit --no-fund --loglevel=error "$2")
}

install claude @anthropic-ai/claude-code@2.1.332
install codex @openai/codex@0.171.0
install gemini @google/gemini-cli@0.61.0
install copilot @github/copilot@1.0.102
install opencode opencode-ai@1.18.33
