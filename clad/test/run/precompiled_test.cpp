// Requests in a precompiled header, which CMake includes on the command line.

#include <gtest/gtest.h>

namespace {

TEST(Precompiled, VariableOfTheHeader) {
  double d = 0;
  square_gradient.execute(3, &d);
  EXPECT_EQ(6, d);
}

TEST(Precompiled, TemplateThatOnlyARequestNames) { EXPECT_EQ(12, cube_derivative(2)); }

TEST(Precompiled, MemberOfATemplate) { EXPECT_EQ(12, Scaled<double>{3}.derivative(2)); }

TEST(Precompiled, RequestsAfterTheHeader) {
  double d = 0;
  clad::gradient(cube<double>).execute(2, &d);
  EXPECT_EQ(12, d);
  EXPECT_EQ(4, clad::differentiate(square, 0).execute(2));
}

}  // namespace
