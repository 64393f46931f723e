#!/bin/sh
# The kernels' gradients without each of the plugin's analyses: what an analysis leaves out changes no number.
#   switches.sh <c++> <plugin> <source folder>
set -e
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
for source in series linear_algebra simulations models ratios; do
  echo "#include \"bench/ad/$source.cpp\""
done > "$folder/all.cpp"
for name in counters liveness slices replay flat sums analyses; do
  "$1" -std=c++20 -O0 -w -I"$3" -I"$3/clad/include" -fplugin="$2" -fplugin-arg-clad-no-$name "$folder/all.cpp" -o "$folder/all"
  "$folder/all" --check || { echo "without $name"; exit 1; }
done
