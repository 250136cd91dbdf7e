/* cli/version.h: what the tree was when it was built: a tag, or a commit, or "unknown". */
#ifndef CHORUS_CLI_VERSION_H
#define CHORUS_CLI_VERSION_H

extern const char chorus_version[];

#endif
