/* study/members.h: what averaging bought: an ensemble's members one by one, in pairs, in every number
 * of them, from their probabilities for the test images.
 *
 * accuracy        share of images whose most probable class is the label; ties: the lowest class
 * nll             mean of -log of the label's probability, of the averaged probabilities for the whole;
 *                 from the logarithms that the logits gave, else of probabilities kept as floats, where
 *                 one below 1.4e-45 counts as that
 * ece             images in 15 equal bins ((b/15, (b+1)/15]) by their highest probability; the sum
 *                 over bins of |right answers - sum of those probabilities| / images
 * disagreement    share of images on which two members' answers differ
 * accuracy of k   mean over the sets of k members of the accuracy of their averaged probabilities:
 *                 over all sets where there are at most 256, else over 256 (32 with more than 64
 *                 members) drawn from a fixed seed */
#ifndef CHORUS_STUDY_MEMBERS_H
#define CHORUS_STUDY_MEMBERS_H

#include "base/text.h"
#include "record/run/run.h"
#include "study/answers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUDY_MOST_SETS 256

struct record_run;

struct study_model { /* a member, or the whole */
    double acc, nll, ece;
};

struct study_subsets { /* of k members */
    double mean, least, most;
    size_t sets;
    bool sampled; /* not all sets */
};

struct study_gain { /* at a run's best epoch, by its epochs.csv */
    int64_t epoch;  /* 0: not told */
    bool on_test;   /* picked on test, else on validation data */
    double mean, best;
};

/* How the trainings of the runs that were averaged differ; of an ensemble trained as one in nothing. */
struct study_unlike {
    bool length, size;
};

struct study_members {
    int64_t epoch;             /* whose weights these are; 0: of several, each its last */
    struct study_gain at_best; /* of an ensemble that was trained as one */
    struct study_unlike unlike;
    int members;
    size_t images;
    struct study_model whole, *member; /* (members) */
    struct study_model mean;           /* of the members' own numbers */
    int best;                          /* the member with the best accuracy on these very images */
    double gain_mean, gain_best;       /* accuracy of the whole over the mean and the best member */
    double *differ;                    /* (members, members): share of images */
    double disagreement;               /* mean over pairs; 0 for a single model */
    double *prefix;                    /* (members): accuracy of members 0..m */
    struct study_subsets *of;          /* (members): of[k - 1] */
};

/* Of members, classes, n, p, log_p and labels alone. */
void study_members(struct study_members *s, const struct study_answers *a);
void study_members_free(struct study_members *s);

#endif
