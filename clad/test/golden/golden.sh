#!/usr/bin/env bash
# Compares the code generated for each case with what is checked in.
#
#   golden.sh [--update] <clang++> <clad.so> <case.cpp>...
#
# A case says in a line "// compile: ..." what options it needs.
# Only the generated functions are compared, not the glue behind them. With --update the expected files are rewritten:
# read the difference as a reviewer before committing it.
set -euo pipefail

update=false
if [[ ${1:-} == --update ]]; then
  update=true
  shift
fi
if (($# < 3)); then
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
compiler=$1 plugin=$2
shift 2

include=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../include" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for source in "$@"; do
  expected=${source%.cpp}.expected
  read -ra options <<<"$(sed -n 's|^// compile: ||p' "$source")"
  "$compiler" -std=c++20 "${options[@]}" -fsyntax-only -w -I"$include" -fplugin="$plugin" -fplugin-arg-clad-out="$work/all" "$source"
  sed '/_code\[\] =/,$d' "$work/all" >"$work/actual"
  if $update; then
    cp "$work/actual" "$expected"
  elif ! diff -u "$expected" "$work/actual"; then
    echo "$expected: the generated code has changed; review it, then run golden.sh --update" >&2
    status=1
  fi
done
exit $status
