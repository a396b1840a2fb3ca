/* tensor_impl.h -- what the files of lang/builtin/tensor/ share.
 *
 * Operations work on views: data with a shape and strides. They go over rows (the innermost
 * dimension after merging what lies in line), in chunks that are loaded as doubles or as 64-bit
 * ints, computed, and stored in the dtype of the result. So arithmetic in float16 or float32 is
 * done in double and rounded once, and integer arithmetic wraps to its width, as in NumPy. */
#ifndef LANG_BUILTIN_TENSOR_IMPL_H
#define LANG_BUILTIN_TENSOR_IMPL_H

#include "lang/builtin/tensor.h"
#include "lang/value/object.h"

enum { MAX_DIMS = 64, CHUNK = 512 };

/* ---- elements (element.c) ---- */

static inline bool is_real(DataType t) { return dtype_is_float(t); }
static inline bool is_uint64(DataType t) { return t.code == DTYPE_UINT && t.bits == 64; }
bool is_storable(DataType t); /* can a tensor of this language have such elements? */

/* n elements, `stride` elements apart. uint64 is loaded as int64 with the same bits. */
void load_reals(DataType t, const char *at, int64_t stride, int n, double *out);
void load_ints(DataType t, const char *at, int64_t stride, int n, int64_t *out);
void store_reals(DataType t, char *at, int64_t stride, int n, const double *from);
void store_ints(DataType t, char *at, int64_t stride, int n, const int64_t *from);
Value load_value(DataType t, const char *at); /* as int, float or bool */
void store_value(DataType t, char *at, Value v, Span span);

/* ---- views (view.c) ---- */

typedef struct View {
  DataType dtype;
  char *data;
  int ndim;
  int64_t shape[MAX_DIMS], strides[MAX_DIMS]; /* in elements */
  Value owner;                                /* keeps the data alive */
  bool is_readonly;
} View;

View view_of(Value tensor);
int64_t view_size(const View *v);
const char *dims_text(int ndim, const int64_t *shape); /* "(2, 3)", "(4,)", "()" */
/* Stretches to the shape; raises ValueError if it can't. `what` is for the message. */
void view_broadcast(View *v, int ndim, const int64_t *shape, const char *what, Span span);
/* The common shape of a and b, in out->ndim and out->shape. */
bool shapes_fit(const View *a, const View *b); /* can they be broadcast together? */
void broadcast_shapes(const View *a, const View *b, View *out, Span span);
void view_permute(View *v, const int *order);
/* The view in another shape of the same size; false if its strides do not allow one. */
bool view_reshape(View *v, int ndim, const int64_t *shape);
char *view_at(const View *v, const int64_t *index);

/* Rows of up to 3 views of one shape, in step. */
typedef struct Rows {
  int views, ndim;
  int64_t shape[MAX_DIMS], strides[3][MAX_DIMS], index[MAX_DIMS];
  int nbytes[3];
  bool done;
  int64_t left; /* of the present row */
  char *row[3];
  /* the present chunk: */
  char *at[3];
  int64_t stride[3];
  int n;
} Rows;
void rows_start(Rows *r, int n, const View *const *views);
bool rows_next(Rows *r);

void view_copy(const View *to, const View *from); /* of one shape; converts the dtype */
Value tensor_copied(const View *v, Span span);    /* as a new compact tensor */
Value tensor_cast(const View *v, DataType t, Span span);

/* Of the same size: a view if the elements lie in a row, else a copy. */
Value tensor_reshaped(Value x, int ndim, const int64_t *shape, Span span);

/* ---- whose memory it is (memory.c) ---- */

typedef struct TensorObject {
  TvmsTensor *tensor;
  size_t nbytes;               /* that it owns: 0 of a view */
  Value base;                  /* of a view: the tensor that owns the data; else absent */
  bool is_readonly, is_scalar; /* a scalar has no dimensions, and does not change */
} TensorObject;
static inline TensorObject *tensor_object(Value tensor) { return tensor.object; }

/* A tensor that shares the memory of v->owner. */
Value tensor_view(const View *v, Span span);
/* A new tensor becomes a scalar if it has no dimensions: what NumPy gives for one element. */
Value tensor_as_scalar(Value tensor);
void tensor_check_writable(Value tensor, Span span);
bool view_is_compact(const View *v);
Value tensor_flags(Value tensor);

/* ---- making (create.c) ---- */

typedef struct Shape {
  int ndim;
  int64_t dims[MAX_DIMS];
} Shape;
Shape shape_arg(Value v, Span span); /* an int or a sequence of ints */
DataType dtype_arg(Value v, Span span);
Value tensor_array(Value v, Value dtype, Span span);
Value tensor_scalar(DataType t, Value v, Span span); /* of no dimension */
int axis_arg(Value v, int ndim, Span span);

/* ---- operators (binary.c, unary.c) ---- */

/* Python numbers are weak: they take the dtype of what they meet. */
typedef struct Operand {
  View view;
  Value scalar; /* of a weak one; else absent */
} Operand;
bool operand_of(Value v, Operand *out, Span span); /* false: not an operand of tensors */
DataType promote(DataType a, DataType b);
DataType promote_operands(const Operand *a, const Operand *b, Span span);

typedef struct BinaryKernel BinaryKernel;
const BinaryKernel *binary_kernel(const char *name); /* "add", "maximum", ...; NULL if none */
Value tensor_binary(const BinaryKernel *k, Value a, Value b, Span span);
Value tensor_binary_op(AstOp op, Value a, Value b, Span span);
Value tensor_compare_op(AstOp op, Value a, Value b, Span span);
Value tensor_inplace_op(AstOp op, Value a, Value b, Span span);
Value tensor_unary_op(AstOp op, Value a, Span span);
Value tensor_abs(BuiltinCall *c), tensor_round(BuiltinCall *c);
Value tensor_matmul(Value a, Value b, Span span);

/* ---- indexing (index.c) ---- */

Value tensor_get_item(Value v, Value index, Span span);
void tensor_set_item(Value v, Value index, Value x, Span span);

/* ---- text (print.c) ---- */

void tensor_repr(Value v, Str *out);
void tensor_str(Value v, Str *out);

/* ---- tables of functions and methods ---- */

typedef struct BuiltinRows {
  const Builtin *rows;
  int n;
} BuiltinRows;
extern const BuiltinRows create_rows, unary_rows, binary_rows, reduce_rows, print_rows, shape_rows,
    join_rows, matmul_rows, sort_rows, index_rows, testing_rows, memory_rows, dtype_rows;
extern const BuiltinRows reduce_methods, shape_methods, sort_methods, index_methods;
/* np.float32, np.floating: the class of scalars; absent if there is none. */
Value scalar_class_named(const char *name);
Value scalar_class_of(DataType t);
Value value_numpy_dtype(DataType t); /* the dtype as an object */
extern const TypeObject numpy_dtype_object;
Value random_namespace(void), testing_namespace(void);

/* What the file of stdlib/module/ of a namespace's name defines: its `find`. */
Value numpy_library_find(Namespace *ns, const char *name);

/* ---- on devices (device.c) ---- */

bool tensor_is_elsewhere(const TvmsTensor *t);
Value tensor_device(Value v, Span span);              /* as an object of tvm */
Value tensor_moved(Value v, Value device, Span span); /* a copy there */
void tensor_copy_elements(Value to, Value from, Span span);
Value device_namespace(void);

#endif
