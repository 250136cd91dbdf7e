/* cuda/dnn/dnn_abi.h: the part of cuDNN 9's backend API that is used, declared by hand, since its headers
 * are not everywhere and its library is opened when the program runs. A test (tests/cli/cuda.sh) compares
 * the numbers with the headers where they are: their names follow from these. */
#ifndef CHORUS_CUDA_DNN_DNN_ABI_H
#define CHORUS_CUDA_DNN_DNN_ABI_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { /* cudnnBackendDescriptorType_t */
       DNN_CONVOLUTION_DESCRIPTOR = 1,
       DNN_ENGINE_DESCRIPTOR = 2,
       DNN_ENGINECFG_DESCRIPTOR = 3,
       DNN_ENGINEHEUR_DESCRIPTOR = 4,
       DNN_EXECUTION_PLAN_DESCRIPTOR = 5,
       DNN_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR = 10,
       DNN_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR = 11,
       DNN_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR = 12,
       DNN_OPERATIONGRAPH_DESCRIPTOR = 15,
       DNN_VARIANT_PACK_DESCRIPTOR = 16,
       DNN_TENSOR_DESCRIPTOR = 17,
       DNN_DEVICEPROP_DESCRIPTOR = 38,
};
enum { /* cudnnBackendAttributeName_t */
       DNN_CONVOLUTION_COMP_TYPE = 100,
       DNN_CONVOLUTION_CONV_MODE = 101,
       DNN_CONVOLUTION_DILATIONS = 102,
       DNN_CONVOLUTION_FILTER_STRIDES = 103,
       DNN_CONVOLUTION_POST_PADDINGS = 104,
       DNN_CONVOLUTION_PRE_PADDINGS = 105,
       DNN_CONVOLUTION_SPATIAL_DIMS = 106,
       DNN_ENGINEHEUR_MODE = 200,
       DNN_ENGINEHEUR_OPERATION_GRAPH = 201,
       DNN_ENGINEHEUR_RESULTS = 202,
       DNN_ENGINEHEUR_DEVICEPROP = 204,
       DNN_ENGINECFG_ENGINE = 300,
       DNN_EXECUTION_PLAN_HANDLE = 400,
       DNN_EXECUTION_PLAN_ENGINE_CONFIG = 401,
       DNN_EXECUTION_PLAN_WORKSPACE_SIZE = 402,
       DNN_EXECUTION_PLAN_JSON_REPRESENTATION = 405,
       DNN_EXECUTION_PLAN_DEVICEPROP = 407,
       DNN_OPERATION_CONVOLUTION_FORWARD_ALPHA = 700,    /* then BETA, CONV_DESC, W, X, Y */
       DNN_OPERATION_CONVOLUTION_BWD_DATA_ALPHA = 706,   /* then BETA, CONV_DESC, W, DX, DY */
       DNN_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA = 712, /* then BETA, CONV_DESC, DW, X, DY */
       DNN_OPERATIONGRAPH_HANDLE = 800,
       DNN_OPERATIONGRAPH_OPS = 801,
       DNN_TENSOR_BYTE_ALIGNMENT = 900,
       DNN_TENSOR_DATA_TYPE = 901,
       DNN_TENSOR_DIMENSIONS = 902,
       DNN_TENSOR_STRIDES = 903,
       DNN_TENSOR_UNIQUE_ID = 906,
       DNN_VARIANT_PACK_UNIQUE_IDS = 1000,
       DNN_VARIANT_PACK_DATA_POINTERS = 1001,
       DNN_VARIANT_PACK_WORKSPACE = 1003,
       DNN_ENGINE_GLOBAL_INDEX = 1301,
       DNN_ENGINE_NUMERICAL_NOTE = 1303,
       DNN_DEVICEPROP_JSON_REPRESENTATION = 2702,
};
enum { /* cudnnBackendAttributeType_t */
       DNN_TYPE_HANDLE = 0,
       DNN_TYPE_DATA_TYPE = 1,
       DNN_TYPE_INT64 = 3,
       DNN_TYPE_FLOAT = 4,
       DNN_TYPE_VOID_PTR = 6,
       DNN_TYPE_CONVOLUTION_MODE = 7,
       DNN_TYPE_HEUR_MODE = 8,
       DNN_TYPE_NUMERICAL_NOTE = 11,
       DNN_TYPE_BACKEND_DESCRIPTOR = 15,
       DNN_TYPE_CHAR = 24,
};
enum {
    DNN_DATA_FLOAT = 0,
    DNN_DATA_BFLOAT16 = 9,
    DNN_CROSS_CORRELATION = 1,
    DNN_HEUR_MODE_A = 3,
    DNN_NOTE_TENSOR_CORE = 0,
    DNN_NOTE_REDUCED_PRECISION_REDUCTION = 2,
    DNN_NOTE_NONDETERMINISTIC = 4,
    DNN_NOTE_WINOGRAD = 5,
};

typedef void *dnn_descriptor;

struct cuda_dnn_api {        /* results: 0 is success */
    size_t (*version)(void); /* 91900 */
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*descriptor)(int type, dnn_descriptor *out);
    int (*discard)(dnn_descriptor d);
    int (*set)(dnn_descriptor d, int name, int type, int64_t n, const void *values);
    int (*get)(dnn_descriptor d, int name, int type, int64_t room, int64_t *n, void *values);
    int (*finalize)(dnn_descriptor d);
    int (*execute)(void *handle, dnn_descriptor plan, dnn_descriptor pack);
    void (*last_error)(char *text, size_t room);
};

/* The library's functions, opened once (CHORUS_CUDNN, the loader's path, $CUDA_HOME, Python's
 * packages); NULL and why. Any thread. */
const struct cuda_dnn_api *cuda_dnn_api(struct err *why);
/* For sessions: the same, but CHORUS_CUDNN=off leaves it, and the real library is never asked to
 * compute on the twin's GPUs. */
const struct cuda_dnn_api *cuda_dnn_usable(struct err *why);
int cuda_dnn_version(void); /* of that which is usable; 0: there is none */
/* The twin's, where it is switched on; where the real runtime is, none. */
const struct cuda_dnn_api *cuda_dnn_replaced(void);

#endif
