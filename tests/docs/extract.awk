# Writes each ```cpp block that includes public headers alone to a source file of its own, and prints "program NAME" if
# it has a main(), otherwise "unit NAME". A block that includes anything else of the project is an excerpt, as are those
# without an #include:
#
#   awk -v folder=WHERE -f extract.awk README.md docs/*.md
#
# What a compiler says about such a file names the page and its line.
FNR == 1 { inside = 0 }
inside && /^```/ {
  inside = 0
  if (!whole || private) next
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.md$/, "", name)
  name = name "_" start
  file = folder "/" name ".cpp"
  printf "#line %d \"%s\"\n%s", start + 1, FILENAME, text >file
  close(file)
  print (program ? "program " : "unit ") name
  next
}
inside {
  text = text $0 "\n"
  if (/^#include/) whole = 1
  if (/^#include "/ && !/^#include "clad(torch)?\//) private = 1
  if (/^int main\(/) program = 1
}
/^```cpp/ { inside = 1; start = FNR; text = ""; whole = private = program = 0 }
