#include "tests/integration/fusion_rules.h"

const fusion_rules::Case& fusion_rules::without_rules(size_t index) { return cases[index]; }
