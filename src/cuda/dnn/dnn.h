/* cuda/dnn/dnn.h: convolutions of one place through cuDNN. A plan is taken for each pass of a layer when
 * the session opens; a layer or pass without one stays with our own kernels (cuda/launch/conv.h). Plans are
 * kept in the user's cache for the same GPU, driver and library. */
#ifndef CHORUS_CUDA_DNN_DNN_H
#define CHORUS_CUDA_DNN_DNN_H

#include "base/text.h"
#include "cuda/dnn/dnn_plan.h"

struct cuda_dnn;       /* of one place: a handle and its plans */
struct cuda_dnn_layer; /* a layer's plans */

/* ERR_FAILED where there is no cuDNN; the place's thread calls this and all that follows. number: of the
 * GPU, as errors name it. gpu, driver: what plans are kept under. tune_ms: 0, or plans are picked by their
 * times, and kept for whoever comes later; the GPU has so long to answer meanwhile. */
enum err_code cuda_dnn_open(struct cuda_dnn **out, int number, const struct cuda_gpu_facts *gpu,
                            const char *driver, struct cuda_stream *s, int tune_ms, struct err *e);
/* From here on plans that were picked by their times are not taken. */
void cuda_dnn_untuned(struct cuda_dnn *d);
void cuda_dnn_close(struct cuda_dnn *d); /* NULL is fine; after the graphs are closed */

/* Whether cuDNN is worth its while: enough channels on both sides for tensor cores. */
bool cuda_dnn_suits(const struct cuda_conv *c);
/* Whether the GPU did not answer while plans were timed: nothing more is to be asked of it. */
bool cuda_dnn_hangs(const struct cuda_dnn *d);
/* The layer's plans for its first `passes` passes, owned by d; NULL where cuDNN has none for any. */
struct cuda_dnn_layer *cuda_dnn_layer(struct cuda_dnn *d, const struct cuda_conv *c, int passes);
bool cuda_dnn_has(const struct cuda_dnn_layer *l, enum cuda_dnn_pass pass);
/* Bytes of scratch that the layer's passes need: workspace, and the weights turned to cuDNN's order. */
size_t cuda_dnn_scratch(const struct cuda_dnn_layer *l);
/* What that usually is, before there are plans. */
size_t cuda_dnn_usual(const struct cuda_conv *c);
/* One pass of so many models, those that the views begin with: x, w and y as in cuda_conv_*: kernels in
 * Flax's order; w is fp32 or its bf16 copy going in, fp32 coming out of CUDA_DNN_WEIGHTS. Nothing is
 * added and no bias. */
void cuda_dnn_run(struct cuda_list *list, struct cuda_dnn_layer *l, enum cuda_dnn_pass pass,
                  int models, struct cuda_view x, struct cuda_view w, struct cuda_view y,
                  void *scratch);
/* Executes each plan that lists run, on whatever lies there: the library loads it with its first
 * execution, which may wait until the GPU is idle. */
enum err_code cuda_dnn_load(struct cuda_dnn *d, struct err *e);
/* Whether any of its plans was picked by its time, now or when it was kept. */
bool cuda_dnn_tuned(const struct cuda_dnn *d);
/* cuDNN's number of the engine that a pass has; -1: none. */
int64_t cuda_dnn_engine(const struct cuda_dnn_layer *l, enum cuda_dnn_pass pass);
/* What tells its plan from others of that engine. */
const char *cuda_dnn_mark(const struct cuda_dnn_layer *l, enum cuda_dnn_pass pass);
/* "forward-...:67 ..." of all plans in use, for run.csv. */
void cuda_dnn_names(const struct cuda_dnn *d, struct text *out);

#endif
