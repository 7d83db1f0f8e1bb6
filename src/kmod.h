/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The companion module: find it, load it, talk to it, unload it. What is measured is in probes/kmod/; user space never
 * executes cli or sti.
 */
#ifndef PERF_RELAX_KMOD_H
#define PERF_RELAX_KMOD_H

#include <sys/types.h>

#include "kmod/perf_relax_uapi.h"
#include "util.h"

struct kmod_case {
	char *name;
	char *text; /* the operation in C or assembly */
	char *why; /* why it cannot run here, NULL: it can */
	unsigned int flags; /* PERF_RELAX_CASE_* */
	unsigned char code[PERF_RELAX_BYTES_SIZE]; /* one operation as the running kernel has it */
	size_t code_bytes;
	bool code_cut; /* there are more bytes than fit */
};

struct kmod {
	int fd; /* the device, -1: not open */
	struct perf_relax_info info;
	struct kmod_case *cases;
	size_t ncases;
	char *path; /* the file loaded, NULL: the module was there */
	bool loaded_here; /* so it is unloaded at the end */
	pid_t keeper; /* process that unloads the module when this one is killed */
	int keeper_fd;
};

/*
 * What decides whether a module can be loaded, and how a refusal is told: facts about the machine. kmod_facts_read()
 * asks the running one; tests make them up.
 */
struct kmod_facts {
	char release[65];
	bool root; /* effective user id 0 */
	bool cap_sys_module;
	bool modules; /* this kernel can load modules at all */
	bool modules_disabled; /* kernel.modules_disabled = 1 */
	char lockdown[32]; /* "none", "integrity", "confidentiality", or "" when not known */
	bool headers; /* /lib/modules/RELEASE/build is there */
	bool container;
};
void kmod_facts_read(struct kmod_facts *f);

/* Why nothing can be loaded whatever the file: 0 (it may), else -errno and @why. */
int kmod_explain_machine(const struct kmod_facts *f, struct reason *why);
/* Why finit_module() of @path failed with @err (> 0). @vermagic: the module's, NULL or "" when not known. Returns -err.
 */
int kmod_explain_load(const struct kmod_facts *f, int err, const char *path, const char *vermagic, struct reason *why);

/* "vermagic" of the module file @path into @buf; -errno, -ENOENT when it has none. Plain files only (not .xz). */
int kmod_vermagic(const char *path, char *buf, size_t size);

/*
 * The module for kernel @release: /lib/modules/RELEASE (updates, extra, DKMS, as depmod sees it), then the cache that
 * --build fills. malloc'ed, or NULL and @why with all the places and what to do.
 */
char *kmod_find(const struct kmod_facts *f, struct reason *why);
/* Where --build puts the module of @release. malloc'ed. */
char *kmod_cache_path(const char *release);

/*
 * Build for the running kernel, or for that of @kdir when not NULL, into @out (NULL: the cache). Exit status of
 * build.sh told apart in @why: -ENOENT no headers, -ENOEXEC headers of another kernel, -EBADMSG compile error (first
 * line only), -ENOPKG no compiler.
 */
int kmod_build(const char *source, const char *kdir, const char *out, char **built, struct reason *why);

/*
 * Use the module that is loaded, else load @path (NULL: kmod_find()), open the device and read the cases. Anything that
 * fails undoes what was done. -EPROTONOSUPPORT: a module of another version is loaded.
 */
int kmod_open(struct kmod *k, const char *path, struct reason *why);

/* Index of a case by name or alias ("cli+sti", "irq-off"); SIZE_MAX: none. */
size_t kmod_case_find(const struct kmod *k, const char *name);

/* Run; the members marked "in" are set by the caller but abi. 0 or -errno: -EINTR and -ERANGE leave @run filled. */
int kmod_run(struct kmod *k, struct perf_relax_run *run, struct reason *why);

/* Close the device and unload the module if it was loaded here. 0, or -errno and @why when it could not be unloaded. */
int kmod_close(struct kmod *k, struct reason *why);

/*
 * The kernel log from now on. kmod_log_open() returns a descriptor or -errno (-EPERM: needs privilege, @why says
 * which); kmod_log_read() appends what has been written since (messages only, one a line) to *@text (malloc'ed, may be
 * NULL at first). Returns 0 or -errno.
 */
int kmod_log_open(struct reason *why);
int kmod_log_read(int fd, char **text);
/* Does @text hold a stall or lockup report, after which blocks are worth nothing? */
bool kmod_log_has_stall(const char *text);
/* Complete result blocks ("test results" ... "test end") in the output of the module of 2009 or of classic=1. */
size_t kmod_log_blocks(const char *text);

/*
 * Load @path with @params and expect it to refuse to stay (EAGAIN), as the module of 2009 does. *@text gets the kernel
 * log of it (malloc'ed). 0 when it said EAGAIN and the log has at least one complete block; -EAGAIN and @why when it
 * has none.
 */
int kmod_classic(const char *path, const char *params, char **text, struct reason *why);

#endif
