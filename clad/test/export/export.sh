#!/usr/bin/env bash
# Exports the derivatives of a program and builds it with a compiler that has no plugin. A test (*_test.cpp) must pass;
# another program must print what it prints when it is built with the plugin. <name>_other.cpp beside <name>.cpp is a
# file of the program that is not exported.
#   export.sh <clang++> <plugin> <other compiler> <source> [<option of both>...]
set -euo pipefail
clang=$1 plugin=$2 other=$3 source=$4
shift 4
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
others=()
[[ -e ${source%.cpp}_other.cpp ]] && others=("${source%.cpp}_other.cpp")
export_private=()
options=(-std=c++20 -I"$root/clad/include" -I"$root" "$@")
[[ " $* " == *" -fno-access-control "* ]] && export_private=(-fplugin-arg-clad-export-private)
"$clang" "${options[@]}" "${export_private[@]}" -w -fsyntax-only -fplugin="$plugin" -fplugin-arg-clad-export="$work/exported.cpp" "$source"
if [[ $source == *_test.cpp ]]; then
  "$other" "${options[@]}" -O0 -w "$work/exported.cpp" "${others[@]}" -o "$work/actual" -lgmock -lgtest -lgtest_main -lpthread
  "$work/actual" --gtest_brief=1
else
  "$clang" "${options[@]}" -O1 -w -fplugin="$plugin" "$source" "${others[@]}" -o "$work/expected"
  "$other" "${options[@]}" -O1 -Wall -Wextra -Werror "$work/exported.cpp" "${others[@]}" -o "$work/actual"
  "$work/expected" >"$work/expected.txt"
  "$work/actual" >"$work/actual.txt"
  diff "$work/expected.txt" "$work/actual.txt"
  test -s "$work/actual.txt"
fi
