/* The data sets that are known by name: what they hold and where they come from. The checksums are
 * those of the unpacked files, because Debian and the mirrors pack the same bytes differently. */
#include "data/places.h"

#include <string.h>

static const char *const fashion_names[] = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot",
};

const struct data_known data_known_sets[] = {
    {
        .name = "fashion-mnist",
        .package = "dataset-fashion-mnist",
        .url = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        .classes = 10,
        .class_names = fashion_names,
        .file =
            {
                {"train-images-idx3-ubyte.gz", 47040016,
                 "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
                {"train-labels-idx1-ubyte.gz", 60008,
                 "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
                {"t10k-images-idx3-ubyte.gz", 7840016,
                 "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
                {"t10k-labels-idx1-ubyte.gz", 10008,
                 "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
            },
    },
    {
        .name = "mnist",
        .package = NULL,
        .url = "https://ossci-datasets.s3.amazonaws.com/mnist/",
        .classes = 10,
        .class_names = NULL,
        .file =
            {
                {"train-images-idx3-ubyte.gz", 47040016,
                 "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
                {"train-labels-idx1-ubyte.gz", 60008,
                 "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
                {"t10k-images-idx3-ubyte.gz", 7840016,
                 "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
                {"t10k-labels-idx1-ubyte.gz", 10008,
                 "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
            },
    },
    {.name = NULL},
};

const struct data_known *data_known_find(const char *name)
{
    for (const struct data_known *k = data_known_sets; k->name; k++)
        if (!strcmp(k->name, name))
            return k;
    return NULL;
}
