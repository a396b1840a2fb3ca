// tvms.hpp -- libtvms_runtime for C++17: the calls of tvms.h with values that look after
// themselves, and errors as exceptions. Header only.
//
//     tvms::Module net("net.so");
//     tvms::Tensor y = net["main"](x, w);
//     float first = y.data<float>()[0];
#ifndef TVMS_HPP
#define TVMS_HPP

#include "tvms.h"
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tvms {

struct Error : std::runtime_error {
  Error() : std::runtime_error(tvms_last_error()) {}
  explicit Error(const std::string &text) : std::runtime_error(text) {}
};

inline void check(int status) {
  if (status) throw Error();
}

// A counted object: copies share it.
template <class T> class Ref {
public:
  Ref() = default;
  explicit Ref(T *owned) : object(owned) {}
  Ref(const Ref &other) : object(static_cast<T *>(tvms_retain(other.object))) {}
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() { tvms_release(object); }
  T *get() const { return object; }
  explicit operator bool() const { return object != nullptr; }

protected:
  T *object = nullptr;
};

template <class T> struct DType;
#define TVMS_DTYPE(type, code, bits)                                                               \
  template <> struct DType<type> {                                                                 \
    static constexpr DLDataType value = {code, bits, 1};                                           \
  }
TVMS_DTYPE(float, kDLFloat, 32);
TVMS_DTYPE(double, kDLFloat, 64);
TVMS_DTYPE(int8_t, kDLInt, 8);
TVMS_DTYPE(int16_t, kDLInt, 16);
TVMS_DTYPE(int32_t, kDLInt, 32);
TVMS_DTYPE(int64_t, kDLInt, 64);
TVMS_DTYPE(uint8_t, kDLUInt, 8);
TVMS_DTYPE(uint16_t, kDLUInt, 16);
TVMS_DTYPE(uint32_t, kDLUInt, 32);
TVMS_DTYPE(uint64_t, kDLUInt, 64);
TVMS_DTYPE(bool, kDLBool, 8);
#undef TVMS_DTYPE

class Tensor : public Ref<TvmsTensor> {
public:
  using Ref::Ref;
  Tensor(const std::vector<int64_t> &shape, DLDataType dtype) {
    check(tvms_tensor_new(&object, static_cast<int>(shape.size()), shape.data(), dtype));
  }
  template <class T> static Tensor of(const std::vector<int64_t> &shape, const std::vector<T> &v) {
    Tensor t(shape, DType<T>::value);
    check(tvms_tensor_set_bytes(t.get(), v.data(), v.size() * sizeof(T)));
    return t;
  }
  // Memory of the caller, which outlives the tensor and its copies.
  static Tensor view(const DLTensor &memory) {
    TvmsTensor *t = nullptr;
    check(tvms_tensor_view(&t, &memory));
    return Tensor(t);
  }
  // Takes the managed tensor over.
  static Tensor from_dlpack(DLManagedTensor *managed) {
    TvmsTensor *t = nullptr;
    check(tvms_tensor_from_dlpack(&t, managed));
    return Tensor(t);
  }
  DLManagedTensor *to_dlpack() const {
    DLManagedTensor *managed = nullptr;
    check(tvms_tensor_to_dlpack(&managed, object));
    return managed;
  }
  const DLTensor &dl() const { return *tvms_tensor_dl(object); }
  std::vector<int64_t> shape() const { return {dl().shape, dl().shape + dl().ndim}; }
  int64_t size() const { return tvms_tensor_size(object); }
  // The elements of a compact tensor on the CPU; throws if they are of another type.
  template <class T> T *data() const {
    DLDataType want = DType<T>::value, have = dl().dtype;
    if (want.code != have.code || want.bits != have.bits || have.lanes != 1)
      throw Error("the tensor has elements of another type");
    if (!tvms_tensor_is_compact(object)) throw Error("the tensor is not compact");
    return static_cast<T *>(tvms_tensor_data(object));
  }
};

// What a function gives: a number, a text, an object, or nothing.
class Value {
public:
  Value() = default;
  Value(int kind, TvmsValue owned) : type_(kind), value(owned) {}
  Value(Value &&other) noexcept
      : type_(std::exchange(other.type_, TVMS_NONE)), value(other.value) {}
  Value &operator=(Value &&other) noexcept {
    std::swap(type_, other.type_);
    std::swap(value, other.value);
    return *this;
  }
  ~Value() { tvms_value_release(type_, value); }
  int type() const { return type_; }
  int64_t as_int() const { return want(type_ == TVMS_INT || type_ == TVMS_BOOL).i; }
  double as_float() const { return want(type_ == TVMS_FLOAT).f; }
  std::string as_string() const { return want(type_ == TVMS_STR).s; }
  operator Tensor() const { return tensor(type_, want(type_ == TVMS_TENSOR)); }
  // The fields of a tuple that are tensors.
  std::vector<Tensor> tensors() const {
    auto *t = static_cast<TvmsTuple *>(want(type_ == TVMS_TUPLE).p);
    std::vector<Tensor> out;
    for (int i = 0, kind; i < tvms_tuple_size(t); i++) {
      TvmsValue field = tvms_tuple_get(t, i, &kind);
      if (kind == TVMS_TENSOR) out.push_back(tensor(kind, field));
    }
    return out;
  }

private:
  TvmsValue want(bool fits) const {
    if (!fits) throw Error("the value is of another type");
    return value;
  }
  static Tensor tensor(int, TvmsValue v) {
    return Tensor(static_cast<TvmsTensor *>(tvms_retain(v.p)));
  }
  int type_ = TVMS_NONE;
  TvmsValue value = {};
};

class Function : public Ref<TvmsFunc> {
public:
  using Ref::Ref;
  // A function of an object file or archive, by the name in its header.
  explicit Function(TvmsPackedFunc linked) { check(tvms_func_new(&object, linked, nullptr, nullptr)); }
  static Function registered(const std::string &name) {
    TvmsFunc *f = nullptr;
    check(tvms_func_find(&f, name.c_str()));
    return Function(f);
  }
  template <class... Args> Value operator()(const Args &...args) const {
    Arg all[sizeof...(Args) + 1] = {Arg(args)...};
    TvmsValue values[sizeof...(Args) + 1], ret = {};
    int types[sizeof...(Args) + 1], type = TVMS_NONE;
    for (size_t i = 0; i < sizeof...(Args); i++) values[i] = all[i].value, types[i] = all[i].type;
    check(tvms_func_call(object, values, types, static_cast<int>(sizeof...(Args)), &ret, &type));
    return Value(type, ret);
  }

private:
  struct Arg {
    int type = TVMS_NONE;
    TvmsValue value = {};
    Arg() = default;
    explicit Arg(const Tensor &t) : type(TVMS_TENSOR) { value.p = t.get(); }
    explicit Arg(const DLTensor &t) : type(TVMS_DLTENSOR) { value.p = const_cast<DLTensor *>(&t); }
    explicit Arg(const Function &f) : type(TVMS_FUNC) { value.p = f.get(); }
    explicit Arg(bool b) : type(TVMS_BOOL) { value.i = b; }
    explicit Arg(int i) : type(TVMS_INT) { value.i = i; }
    explicit Arg(int64_t i) : type(TVMS_INT) { value.i = i; }
    explicit Arg(double f) : type(TVMS_FLOAT) { value.f = f; }
    explicit Arg(const char *s) : type(TVMS_STR) { value.s = s; }
    explicit Arg(const std::string &s) : type(TVMS_STR) { value.s = s.c_str(); }
  };
};

class Module : public Ref<TvmsModule> {
public:
  explicit Module(const std::string &path) { check(tvms_module_load(&object, path.c_str())); }
  Function operator[](const std::string &name) const {
    TvmsFunc *f = nullptr;
    check(tvms_module_function(&f, object, name.c_str()));
    return Function(f);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (int i = 0; i < tvms_module_function_count(object); i++)
      out.push_back(tvms_module_function_name(object, i));
    return out;
  }
};

} // namespace tvms
#endif
