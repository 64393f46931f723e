// log.jsonl and run.json of a run, and the report that is made of them.
#include <cstdint>

#include "cladtorch/error.h"
#include "cladtorch/train/report.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const cladtorch::fuzz::MemoryFile file({data, size});
  cladtorch::train::RunRecord run;
  run.name = "run";
  try {
    run.facts = cladtorch::train::read_run_facts(file.path());
  } catch (const cladtorch::Error&) {
  }
  try {
    run.records = cladtorch::train::read_run_log(file.path());
  } catch (const cladtorch::Error&) {
  }
  cladtorch::train::report_text({&run, 1});
  cladtorch::train::evaluation_text(run);
  cladtorch::train::report_html({&run, 1});
  return 0;
}
