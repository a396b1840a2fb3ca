/* runner.c -- calls every function of the module that is linked in, each with one new tensor, and prints its bytes.
 *
 * Compiled for other machines by run.sh: the functions take one tensor (n,) of the dtype and size told by their
 * signature, which is all that this program reads of it. */
#include "target/runtime/abi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "(C: Tensor((16, 16), float32))": the dims, and the dtype. */
static int tensor_of_signature(TvmsTensor **out, const char *text) {
  int64_t dims[4];
  int n = 0;
  DLDataType dtype;
  char word[32] = "";
  const char *at = strstr(text, "((");
  if (!at) return tvms_set_error("no tensor in %s", text);
  for (at += 2; *at && *at != ')'; at += strspn(at, ", ")) dims[n++] = strtoll(at, (char **)&at, 10);
  sscanf(at, "), %31[a-z0-9_]", word);
  return tvms_dtype_parse(word, &dtype) || tvms_tensor_new(out, n, dims, dtype);
}

static int run(int i) {
  TvmsTensor *t = NULL;
  TvmsValue arg, ret = {0};
  int type = TVMS_TENSOR, ret_type = TVMS_NONE;
  if (tensor_of_signature(&t, tvms_module_info.signatures[i])) return -1;
  memset(tvms_tensor_data(t), 0, tvms_tensor_nbytes(t));
  arg.p = t;
  if (tvms_module_info.functions[i](NULL, &arg, &type, 1, &ret, &ret_type)) return -1;
  printf("%s ", tvms_module_info.names[i]);
  const unsigned char *bytes = tvms_tensor_data(t);
  for (size_t k = 0; k < tvms_tensor_nbytes(t); k++) printf("%02x", bytes[k]);
  printf("\n");
  tvms_release(t);
  return 0;
}

/* What the checks of a function say of a wrong call. */
static int refuse(void) {
  TvmsValue ret;
  int ret_type = TVMS_NONE;
  if (!tvms_module_info.functions[0](NULL, NULL, NULL, 0, &ret, &ret_type)) return -1;
  printf("%s\n", tvms_last_error());
  return 0;
}

int main(void) {
  int bad = tvms_module_info.abi_version != TVMS_ABI_VERSION || refuse();
  for (int i = 0; i < tvms_module_info.count && !bad; i++) bad = run(i);
  if (bad) printf("failed: %s\n", tvms_last_error());
  return bad != 0;
}
