/* data/picture.h: an image file of the user's own, PGM, PPM or PNG, scaled to what a model takes. */
#ifndef CHORUS_DATA_PICTURE_H
#define CHORUS_DATA_PICTURE_H

#include "base/err.h"
#include "net/net.h"

#include <stdbool.h>
#include <stdint.h>

/* out: (h, w, c) bytes of the shape. Colours become grey by their luminance where the model takes one
 * channel, grey becomes three equal ones where it takes three; what is transparent lies on white. The
 * whole picture is stretched to the shape, each pixel the mean of what it covers. invert: 255 - x.
 * size (NULL: not wanted): its width and height in the file. */
enum err_code data_read_picture(const char *path, struct net_shape shape, bool invert, uint8_t *out,
                                int64_t size[2], struct err *e) MUST_USE;
/* What its head says; c: 3 where it may have colours, else 1. */
enum err_code data_picture_shape(const char *path, struct net_shape *shape, struct err *e) MUST_USE;

#endif
