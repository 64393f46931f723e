// The models' gradients, and that each learns.
#include <gtest/gtest.h>

#include "confusion.h"
#include "training.h"

namespace fashion {
namespace {

/// Images of two bright bars each, at places and of a width that depend on the class.
Images bars(int64_t count) {
  Images made{cladtorch::zeros({count, 1, 28, 28}), cladtorch::empty({count}, cladtorch::DType::int32)};
  Random random(4);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t label = i % classes;
    made.labels.data<int32_t>()[i] = static_cast<int32_t>(label);
    const Tensor image = made.images.select(0, i).select(0, 0);
    image.narrow(0, 4 + 2 * label, 2).copy_from(cladtorch::ones({2, 28}) * (0.8 + 0.2 * random.uniform()));
    image.narrow(1, 12, 2 + label)
        .copy_from(cladtorch::ones({28, 2 + label}) * (0.5 + 0.2 * random.uniform()));
  }
  return made;
}

class Fashion : public ::testing::Test {
 protected:
  Random random_{3};
  Images images_ = bars(640);
  Options options_ = [] {
    Options options;
    options.epochs = 3;
    options.batch = 32;
    return options;
  }();
  Tensor x_ = images_.images.narrow(0, 0, 4).to(cladtorch::DType::float64) +
              randn({4, 1, 28, 28}, random_, cladtorch::DType::float64) * 0.1;
  Tensor labels_ = images_.labels.narrow(0, 0, 4);

  /// Compares the gradient of a model's loss of these operands with a difference in one direction. Kinks of
  /// ReLU lie between the two places, so that they agree to a part in a thousand.
  template <class Model, class Loss, class... Operands>
  void check(Loss loss, const Operands&... operands) {
    Model model = cladtorch::with_dtype(Model(random_), cladtorch::DType::float64),
          gradient = cladtorch::like(model);
    loss_and_gradient(model, operands..., &gradient);
    const auto parameters = cladtorch::named_parameters(model),
               gradients = cladtorch::named_parameters(gradient);
    std::vector<Tensor> directions;
    double along = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (gradients[i].tensor.is_gradient_sink()) continue;
      directions.push_back(normal(parameters[i].tensor.shape()));
      along += sum(mul(gradients[i].tensor, directions.back())).item();
    }
    constexpr double h = 1e-7;
    const auto move = [&](double by) {
      size_t next = 0;
      for (size_t i = 0; i < parameters.size(); ++i) {
        if (gradients[i].tensor.is_gradient_sink()) continue;
        Tensor parameter = parameters[i].tensor;
        parameter.copy_from(add(parameter, scale(directions[next++], by)));
      }
    };
    move(h);
    const double above = loss(model, operands...);
    move(-2 * h);
    EXPECT_NEAR((above - loss(model, operands...)) / (2 * h), along, 1e-3 * std::abs(along) + 1e-6);
  }
  Tensor normal(const cladtorch::Shape& shape) { return randn(shape, random_, cladtorch::DType::float64); }
};

TEST_F(Fashion, GradientsMatchDifferences) {
  check<Cnn>(cnn_loss, x_, labels_);
  check<Vit>(vit_loss, x_, labels_);
  check<Vae>(vae_loss, x_, normal({4, 20}));
  check<UNet>(denoising_loss, x_, normal({4, 1, 28, 28}));
  check<Discriminator>(discriminator_loss, x_, normal({4, 1, 28, 28}));
  const Discriminator judge = cladtorch::with_dtype(Discriminator(random_), cladtorch::DType::float64);
  check<Generator>(generator_loss, judge, normal({4, 64}));
}

TEST_F(Fashion, ClassifiersLearn) {
  EXPECT_GT(test(train_classifier<Cnn>(options_, images_, 3e-3), images_).accuracy(), 0.5);
  options_.epochs = 6;
  EXPECT_GT(test(train_classifier<Vit>(options_, images_, 3e-3), images_).accuracy(), 0.2);
}

TEST_F(Fashion, GeneratorsLearn) {
  Random random(1);
  const Tensor noise = randn({640, 20}, random);
  const double before = vae_loss(Vae(random), images_.images, noise);
  EXPECT_LT(vae_loss(train_vae(options_, images_), images_.images, noise), 0.8 * before);
  const Tensor noisy = with_noise(images_.images, random);
  EXPECT_LT(denoising_loss(train_unet(options_, images_), noisy, images_.images), 0.08);
  const Tensor made = train_gan(options_, images_).forward(randn({8, 64}, random));
  EXPECT_EQ(made.shape(), (cladtorch::Shape{8, 1, 28, 28}));
  EXPECT_LT(mean(made).item(), 0) << "most pixels are dark";
}

}  // namespace
}  // namespace fashion
