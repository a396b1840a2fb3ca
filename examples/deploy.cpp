// deploy.cpp -- a compiled module from C++, through the header-only wrapper.
//
//     tvms build examples/unity.tvms -o unity.so
//     c++ -std=c++17 -Itarget/runtime examples/deploy.cpp -ltvms_runtime -o deploy
//     ./deploy unity.so
#include "tvms.hpp"
#include <cstdio>

static int add_one(void *, const TvmsValue *args, const int *, int, TvmsValue *, int *) {
  auto *t = static_cast<TvmsTensor *>(args[0].p);
  float *data = static_cast<float *>(tvms_tensor_data(t));
  for (int64_t i = 0; i < tvms_tensor_size(t); i++) data[i] += 1.0f;
  return 0;
}

static void run(const char *path) {
  tvms::Function update(add_one);
  tvms::check(tvms_func_register("custom_inplace_update", update.get(), 1));
  tvms::Function f = tvms::Module(path)["relax_func"]; // keeps the module alive
  auto x = tvms::Tensor::of<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  auto w = tvms::Tensor::of<float>({3, 4}, std::vector<float>(12, 0.125f));
  tvms::Tensor y = f(x, w);
  std::printf("%lld elements, the first is %.4f\n", static_cast<long long>(y.size()),
              static_cast<double>(y.data<float>()[0]));
  try {
    f(x, x);
  } catch (const tvms::Error &e) {
    std::printf("refused: %s\n", e.what());
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: deploy MODULE.so\n"), 2;
  try {
    run(argv[1]);
  } catch (const tvms::Error &e) {
    return std::fprintf(stderr, "deploy: %s\n", e.what()), 1;
  }
}
