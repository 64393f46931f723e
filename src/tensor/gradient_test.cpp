#include <gtest/gtest.h>

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/workspace.h"

namespace cladtorch {
namespace {

double first(const Tensor& x) { return x.to(DType::float64).flatten().select(0, 0).item(); }

TEST(Accumulate, SymbolicZeroTakesTheFirstContribution) {
  Tensor d;
  const Tensor c = full({2}, 3);
  d.accumulate(c);
  EXPECT_TRUE(d.shares_storage_with(c));
  d.accumulate(Tensor());
  EXPECT_TRUE(d.shares_storage_with(c));
}

TEST(Accumulate, CopiesSharedStorageBeforeAdding) {
  const Tensor original = full({2}, 3);
  Tensor d = original;
  d.accumulate(full({2}, 4));
  EXPECT_EQ(first(d), 7);
  EXPECT_EQ(first(original), 3);
}

TEST(Accumulate, AddsInPlaceWhenItIsTheSoleOwner) {
  Tensor d = full({2}, 3);
  const float* before = d.data<float>();
  d.accumulate(full({2}, 4));
  EXPECT_EQ(d.data<float>(), before);
  EXPECT_EQ(first(d), 7);
}

TEST(Accumulate, ReusesAContributionThatNobodyElseHolds) {
  const Tensor original = full({2}, 3);
  Tensor d = original, c = full({2}, 4);
  const float* storage_of_c = c.data<float>();
  d.accumulate(std::move(c));
  EXPECT_EQ(d.data<float>(), storage_of_c);
  EXPECT_EQ(first(d), 7);
  EXPECT_EQ(first(original), 3);
}

TEST(Accumulate, AddsStridedContributions) {
  Tensor d = zeros({2, 3});
  d.accumulate(arange(6, DType::float32).reshape({3, 2}).transpose(0, 1));
  EXPECT_EQ(d.data<float>()[1], 2);
  EXPECT_EQ(d.data<float>()[3], 1);
}

TEST(Accumulate, NamesShapesThatDiffer) {
  Tensor d = zeros({2});
  EXPECT_THROW(d.accumulate(zeros({3})), Error);
  EXPECT_THROW(d.accumulate(zeros({2}, DType::float64)), Error);
}

TEST(GradientBuffer, StoresTheFirstContributionAndAddsLaterOnes) {
  Tensor d = gradient_buffer_like(zeros({2}));
  const Tensor other_handle = d;
  d.accumulate(full({2}, 3));
  EXPECT_FALSE(d.is_marked_zero());
  d.accumulate(full({2}, 4));
  EXPECT_EQ(first(other_handle), 7) << "the buffer keeps its storage although handles share it";
  d.mark_zero();
  d.accumulate(full({2}, 5));
  EXPECT_EQ(first(other_handle), 5);
}

TEST(GradientBuffer, ReadsAsZeroWhileMarkedZero) {
  Tensor d = gradient_buffer_like(zeros({2}));
  d.accumulate(full({2}, 3));
  d.mark_zero();
  EXPECT_EQ(first(d), 0);
  EXPECT_THROW(zeros({2}).mark_zero(), Error);
}

TEST(GradientBuffer, AWindowOfItReceivesContributionsWithoutLosingTheRest) {
  Tensor d = gradient_buffer_like(zeros({2, 2}));
  Tensor column = d.select(1, 1);
  column.accumulate(full({2}, 3));
  column.accumulate(full({2}, 1));
  EXPECT_EQ(d.data<float>()[0], 0);
  EXPECT_EQ(d.data<float>()[1], 4);
  EXPECT_EQ(d.data<float>()[3], 4);
}

TEST(GradientBuffer, OfABfloat16ParameterSumsInFloat32) {
  Tensor d = gradient_buffer_like(zeros({3}, DType::bfloat16));
  ASSERT_EQ(d.dtype(), DType::float32);
  d.accumulate(full({3}, 1, DType::bfloat16));
  const Tensor small = full({3}, 0x1p-10, DType::bfloat16);
  for (int i = 0; i < 4; ++i) d.accumulate(small);
  EXPECT_EQ(first(d), 1 + 0x1p-8) << "a bfloat16 sum would have stayed 1";
  d.accumulate(full({3}, 0x1p-20));
  EXPECT_EQ(first(d), 1 + 0x1p-8 + 0x1p-20);
  EXPECT_THROW(d.accumulate(zeros({3}, DType::float64)), Error);
}

TEST(Accumulate, AddsBfloat16InFloatAndRoundsOnce) {
  Tensor d = full({300}, 1, DType::bfloat16);
  d.accumulate(full({300}, 0x1p-8 + 0x1p-14, DType::bfloat16));
  EXPECT_EQ(first(d), 1 + 0x1p-7);
  EXPECT_THROW(d.accumulate(zeros({300})), Error) << "a float32 contribution would lose its digits";

  Tensor strided = zeros({2, 3}), narrow = zeros({2, 3}, DType::bfloat16);
  const Tensor x = arange(6, DType::bfloat16).reshape({3, 2}).transpose(0, 1);
  strided.accumulate(x);
  narrow.accumulate(x);
  narrow.accumulate(x);
  EXPECT_EQ(strided.data<float>()[1], 2);
  EXPECT_EQ(static_cast<float>(narrow.data<bfloat16>()[1]), 4);
}

TEST(GradientTarget, HasTheDtypeOfTheGradient) {
  Tensor fresh, buffer = gradient_buffer_like(zeros({2}, DType::bfloat16));
  EXPECT_EQ(accumulate_into(&fresh, {2}, DType::bfloat16).dtype(), DType::bfloat16);
  EXPECT_EQ(accumulate_into(&fresh, {2}, DType::bfloat16).dtype(), DType::bfloat16);
  EXPECT_EQ(accumulate_into(&buffer, {2}, DType::bfloat16).dtype(), DType::float32);
  EXPECT_THROW(accumulate_into(&fresh, {2}, DType::float32), Error);
}

TEST(GradientTarget, AsksToStoreOnlyWhereNothingIsYet) {
  Tensor fresh;
  EXPECT_FALSE(accumulate_into(&fresh, {2}, DType::float32).add());
  EXPECT_TRUE(fresh.defined());
  EXPECT_TRUE(accumulate_into(&fresh, {2}, DType::float32).add());

  Tensor buffer = gradient_buffer_like(zeros({2}));
  EXPECT_FALSE(accumulate_into(&buffer, {2}, DType::float32).add());
  EXPECT_TRUE(accumulate_into(&buffer, {2}, DType::float32).add());
  EXPECT_THROW(accumulate_into(&buffer, {3}, DType::float32), Error);
}

struct Heard final : GradientListener {
  void begins(size_t buffer) override { text += "+" + std::to_string(buffer); }
  void written(size_t buffer) noexcept override { text += "-" + std::to_string(buffer); }
  std::string text;
};

TEST(GradientListener, HearsOfEachContributionWhileItIsWritten) {
  Heard heard;
  Tensor buffer = gradient_buffer_like(zeros({2, 2}));
  buffer.set_listener(&heard, 7);
  {
    GradientTarget target = accumulate_into(&buffer, {2, 2}, DType::float32);
    const GradientTarget moved = std::move(target);
    EXPECT_EQ(heard.text, "+7");
  }
  EXPECT_EQ(heard.text, "+7-7");
  buffer.accumulate(ones({2, 2}));
  EXPECT_EQ(heard.text, "+7-7+7-7");
  Tensor column = buffer.narrow(1, 0, 1);
  column.accumulate(ones({2, 1}));
  EXPECT_EQ(heard.text, "+7-7+7-7+7-7") << "a strided part";
  buffer.set_listener(nullptr, 0);
  buffer.accumulate(ones({2, 2}));
  EXPECT_EQ(heard.text, "+7-7+7-7+7-7");
  Tensor plain = zeros({2});
  EXPECT_THROW(plain.set_listener(&heard, 0), Error);
}

TEST(GradientSink, HasAShapeAndNoMemoryAndDropsWhatIsAdded) {
  Tensor sink = gradient_sink({2, 3});
  EXPECT_TRUE(sink.defined() && sink.is_gradient_sink() && sink.is_gradient_buffer());
  EXPECT_EQ(sink.shape(), (Shape{2, 3}));
  sink.accumulate(full({2, 3}, 4));
  sink.accumulate(full({2, 3}, 4, DType::bfloat16));
  EXPECT_TRUE(sink.is_marked_zero() && sink.is_gradient_sink());
  EXPECT_THROW(sink.accumulate(zeros({3, 2})), Error);
  EXPECT_THROW(sink.data<float>(), Error) << "never zeros in silence";
  EXPECT_THROW(sink.clone(), Error);
  sink.mark_zero();
  EXPECT_EQ(sink.squares(), 0);
}

TEST(GradientSink, IsZeroWhereItIsAdded) {
  Tensor d, buffer = full({2}, 3);
  d.accumulate(gradient_sink({2}));
  buffer.accumulate(gradient_sink({2}));
  EXPECT_FALSE(d.defined());
  EXPECT_EQ(first(buffer), 3);
}

TEST(GradientSink, GivesAPullbackThatDoesNotKnowItMemoryToWriteTo) {
  Tensor sink = gradient_sink({3});
  for (int i = 0; i < 2; ++i) {
    const GradientTarget target = accumulate_into(&sink, {3}, DType::bfloat16);
    EXPECT_FALSE(target.add());
    EXPECT_EQ(target.dtype(), DType::float32);
    for (int j = 0; j < 3; ++j) target.data<float>()[j] = 1;
  }
  EXPECT_TRUE(sink.is_gradient_sink());
}

TEST(Frozen, ParametersHaveSinksForGradients) {
  Tensor parameter = zeros({2}, DType::bfloat16);
  parameter.set_frozen(true);
  EXPECT_TRUE(parameter.reshape({1, 2}).is_frozen()) << "a view shares what it is";
  EXPECT_TRUE(parameter.to(DType::float32).is_frozen());
  const Tensor d = gradient_buffer_like(parameter);
  EXPECT_TRUE(d.is_gradient_sink());
  EXPECT_EQ(d.dtype(), DType::float32);
  parameter.set_frozen(false);
  EXPECT_FALSE(gradient_buffer_like(parameter).is_gradient_sink());
  EXPECT_THROW(Tensor().set_frozen(true), Error);
}

TEST(Frozen, MemoryThatIsUsedAgainIsNot) {
  for (int i = 0; i < 3; ++i) {
    Tensor x = zeros({2});
    EXPECT_FALSE(x.is_frozen());
    x.set_frozen(true);
  }
}

TEST(Wanted, IsWhatTheCallerKeeps) {
  Tensor fresh, buffer = gradient_buffer_like(zeros({2})), sink = gradient_sink({2});
  Tensor frozen = zeros({2});
  frozen.set_frozen(true);
  EXPECT_EQ(wanted(&fresh), &fresh);
  EXPECT_EQ(wanted(&buffer, zeros({2})), &buffer);
  EXPECT_EQ(wanted(nullptr), nullptr);
  EXPECT_EQ(wanted(&sink), nullptr);
  EXPECT_EQ(wanted(&fresh, frozen), nullptr);
  EXPECT_THROW(wanted(&buffer, frozen), Error) << "a gradient that would stay zero";
}

TEST(GradientBuffer, MayLieInTheMemoryOfAnotherTensor) {
  Tensor first, second, memory = full({10}, 7);
  first = gradient_buffer_in(memory, 2, {2, 2});
  second = gradient_buffer_in(memory, 6, {4});
  EXPECT_TRUE(first.is_marked_zero());
  EXPECT_EQ(memory.data<float>()[2], 7) << "the mark writes nothing";
  first.accumulate(ones({2, 2}));
  EXPECT_EQ(memory.data<float>()[2], 1) << "stored, not added";
  EXPECT_TRUE(second.is_marked_zero());
  EXPECT_EQ(second.data<float>(), memory.data<float>() + 6);
  EXPECT_EQ(memory.data<float>()[9], 0);
  EXPECT_THROW(gradient_buffer_in(memory, 7, {4}), Error);
  EXPECT_THROW(gradient_buffer_in(memory, -1, {4}), Error);

  memory = Tensor();
  first.accumulate(ones({2, 2}));
  EXPECT_EQ(first.data<float>()[3], 2) << "the memory lives on";
  Workspace workspace;
  const Workspace::Step step(workspace);
  const Tensor planned = zeros({4});
  EXPECT_THROW(gradient_buffer_in(planned, 0, {4}), Error);
}

}  // namespace
}  // namespace cladtorch
