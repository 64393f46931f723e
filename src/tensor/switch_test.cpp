#include "tensor/switch.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <utility>

namespace cladtorch {
namespace {

TEST(Switch, IsOnUnlessTheEnvironmentTurnsItOff) {
  constexpr const char* name = "CLADTORCH_SWITCH_OF_A_TEST";
  EXPECT_TRUE(detail::is_switched_on(name));
  for (const auto& [value, on] : {std::pair{"", true}, {"on", true}, {"off", false}}) {
    ::setenv(name, value, 1);
    EXPECT_EQ(detail::is_switched_on(name), on) << value;
  }
  ::setenv(name, "0", 1);
  try {
    detail::is_switched_on(name);
    FAIL() << "0 is neither on nor off";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "CLADTORCH_SWITCH_OF_A_TEST is '0', expected on or off");
  }
  ::unsetenv(name);
}

}  // namespace
}  // namespace cladtorch
