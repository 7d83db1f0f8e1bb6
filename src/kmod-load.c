/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding, building and loading the module, and saying why that failed. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmod-private.h"

#define CAP_SYS_MODULE_BIT 16 /* linux/capability.h */
#define COMPRESSED_FILE 4 /* MODULE_INIT_COMPRESSED_FILE, Linux 5.17 */

static bool has_capability(int bit)
{
	unsigned long long caps;
	char line[256];
	bool has = false;
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return geteuid() == 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			has = caps >> bit & 1;
	fclose(f);
	return has;
}

/* "none [integrity] confidentiality": the one in brackets. */
static void read_lockdown(char *out, size_t size)
{
	char text[128], *open, *close;

	*out = '\0';
	if (util_read_file("/sys/kernel/security/lockdown", text, sizeof(text)) < 0)
		return;
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!close)
		return;
	*close = '\0';
	snprintf(out, size, "%s", open + 1);
}

void kmod_facts_read(struct kmod_facts *f)
{
	char build[PATH_MAX];
	struct utsname u;
	uint64_t n = 0;

	memset(f, 0, sizeof(*f));
	uname(&u);
	snprintf(f->release, sizeof(f->release), "%s", u.release);
	f->root = geteuid() == 0;
	f->cap_sys_module = has_capability(CAP_SYS_MODULE_BIT);
	/* The sysctl exists in every kernel with CONFIG_MODULES and in no other. */
	f->modules = access("/proc/sys/kernel/modules_disabled", F_OK) == 0 || access("/proc/modules", F_OK) == 0;
	f->modules_disabled = util_read_u64("/proc/sys/kernel/modules_disabled", &n) == 0 && n == 1;
	read_lockdown(f->lockdown, sizeof(f->lockdown));
	snprintf(build, sizeof(build), "/lib/modules/%s/build/Makefile", f->release);
	f->headers = access(build, F_OK) == 0;
	f->container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

int kmod_explain_machine(const struct kmod_facts *f, struct reason *why)
{
	if (!f->modules)
		return reason_set(why, ENOSYS,
				  "kernel %s was built without loadable modules (CONFIG_MODULES), so kernel-side costs "
				  "cannot be measured on it: "
				  "boot a distribution's kernel, here or in a virtual machine",
				  f->release);
	if (!f->root)
		return reason_set(why, EPERM, "loading the module and using it takes root: run it with sudo");
	if (!f->cap_sys_module)
		return reason_set(why, EPERM,
				  "this process is root but lacks CAP_SYS_MODULE%s: run it on the host itself, or load "
				  "the module there first "
				  "(insmod perf_relax.ko) and give the container /dev/perf_relax and CAP_SYS_ADMIN",
				  f->container ? " (it runs in a container)" : "");
	if (f->modules_disabled)
		return reason_set(why, EPERM,
				  "loading of modules was switched off until the next boot (kernel.modules_disabled = "
				  "1): boot again, "
				  "and load the module before it is switched off");
	return 0;
}

int kmod_explain_load(const struct kmod_facts *f, int err, const char *path, const char *vermagic, struct reason *why)
{
	int machine;

	switch (err) {
	case ENOSYS:
		return reason_set(why, err,
				  "kernel %s cannot load modules (CONFIG_MODULES is off): boot a distribution's kernel",
				  f->release);
	case EPERM:
		machine = kmod_explain_machine(f, why);
		if (machine)
			return machine;
		if (*f->lockdown && strcmp(f->lockdown, "none"))
			return reason_set(why, err,
					  "the kernel is locked down (%s) and takes only signed modules: sign %s with "
					  "a key that this machine has "
					  "enrolled (mokutil), or switch Secure Boot off",
					  f->lockdown, path);
		return reason_set(why, err,
				  "the kernel refuses to load %s (EPERM) although this process has CAP_SYS_MODULE: a "
				  "security module or seccomp filter "
				  "forbids it; see the kernel log",
				  path);
	case EKEYREJECTED:
	case ENOKEY:
	case EKEYREVOKED:
	case EKEYEXPIRED:
		return reason_set(why, err,
				  "the kernel takes only modules signed with a key that it knows, and that of %s is "
				  "%s: sign it with an enrolled key "
				  "(mokutil; DKMS does so when set up), or switch off signature enforcement (Secure "
				  "Boot, module.sig_enforce)",
				  path,
				  err == EKEYREJECTED ? "not accepted"
				  : err == ENOKEY     ? "missing or unknown"
						      : "no longer valid");
	case ENOEXEC:
		if (vermagic && *vermagic) {
			size_t n = strlen(f->release);

			if (strncmp(vermagic, f->release, n) || (vermagic[n] && vermagic[n] != ' '))
				return reason_set(why, err,
						  "%s was built for kernel %.*s, but %s is running: build it again "
						  "(perf relax irq --build)",
						  path, (int)strcspn(vermagic, " "), vermagic, f->release);
			return reason_set(why, err,
					  "%s was built for this kernel version with other options or symbols "
					  "(\"%s\"): build it again with this "
					  "kernel's own headers (perf relax irq --build); the kernel log says what "
					  "differs",
					  path, vermagic);
		}
		return reason_set(why, err,
				  "%s is no module for this kernel (ENOEXEC): build it again (perf relax irq --build)",
				  path);
	case ENOENT:
		return reason_set(why, err,
				  "%s uses a symbol that this kernel does not have: build it with this kernel's own "
				  "headers "
				  "(perf relax irq --build); the kernel log names the symbol",
				  path);
	case EINVAL:
		return reason_set(why, err,
				  "%s does not accept its parameters, or is damaged (EINVAL): see the kernel log",
				  path);
	case EAGAIN:
		return reason_set(why, err,
				  "%s ran and refused to stay (EAGAIN), as the module of 2009 does: use --classic for "
				  "such modules",
				  path);
	case EBUSY:
		return reason_set(why, err, "the module is just being loaded or unloaded by somebody else: try again");
	}
	return reason_set(why, err, "%s cannot be loaded: %s; see the kernel log", path, strerror(err));
}

int kmod_vermagic(const char *path, char *buf, size_t size)
{
	static const char key[] = "vermagic=";
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = -ENOENT;
	struct stat st;
	char *text;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > 64 << 20) {
		close(fd);
		return -ENOENT;
	}
	text = util_calloc((size_t)st.st_size + 1, 1);
	n = read(fd, text, (size_t)st.st_size);
	close(fd);
	/* .modinfo is a list of strings; nothing else in a module begins with this one. */
	for (char *p = text; n > 0 && (p = memmem(p, (size_t)n - (size_t)(p - text), key, sizeof(key) - 1)); p++)
		if (p == text || !p[-1]) {
			snprintf(buf, size, "%s", p + sizeof(key) - 1);
			err = 0;
			break;
		}
	free(text);
	return err;
}

char *kmod_cache_path(const char *release)
{
	const char *cache = getenv("PERF_RELAX_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache)
		return util_asprintf("%s/kmod/%s/perf_relax.ko", cache, release);
	if (xdg && *xdg)
		return util_asprintf("%s/perf-relax/kmod/%s/perf_relax.ko", xdg, release);
	return util_asprintf("%s/.cache/perf-relax/kmod/%s/perf_relax.ko", home && *home ? home : "/root", release);
}

/* The line of modules.dep that names the module, whatever folder and compression. */
static char *find_installed(const char *release)
{
	char *index = util_asprintf("/lib/modules/%s/modules.dep", release), *line = NULL, *found = NULL;
	FILE *f = fopen(index, "re");
	size_t room = 0;

	free(index);
	while (f && !found && getline(&line, &room, f) > 0) {
		char *colon = strchr(line, ':'), *base;

		if (!colon)
			continue;
		*colon = '\0';
		base = strrchr(line, '/');
		base = base ? base + 1 : line;
		if (!strncmp(base, "perf_relax.ko", 13) && (!base[13] || base[13] == '.'))
			found = *line == '/' ? util_strdup(line) : util_asprintf("/lib/modules/%s/%s", release, line);
	}
	free(line);
	if (f)
		fclose(f);
	if (found && access(found, R_OK)) {
		free(found);
		found = NULL;
	}
	return found;
}

char *kmod_find(const struct kmod_facts *f, struct reason *why)
{
	char *path = find_installed(f->release);

	if (path)
		return path;
	path = kmod_cache_path(f->release);
	if (access(path, R_OK) == 0)
		return path;
	if (f->headers)
		reason_set(why, ENOENT,
			   "no module was built for kernel %s (looked in /lib/modules/%s and %s): build it with `perf "
			   "relax irq --build`, install it "
			   "with `make module module-install` or DKMS, or name it with --module",
			   f->release, f->release, path);
	else
		reason_set(why, ENOENT,
			   "no module was built for kernel %s (looked in /lib/modules/%s and %s), and the kernel's "
			   "headers are not installed: install "
			   "them (Debian, Ubuntu: linux-headers-%s; Fedora: kernel-devel), then `perf relax irq "
			   "--build`",
			   f->release, f->release, path, f->release);
	free(path);
	errno = ENOENT;
	return NULL;
}

/*
 * Run @argv and keep what it writes to descriptor @which (1 or 2) in *@text (malloc'ed, with a final 0 that @size does
 * not count); the other goes nowhere. Returns the exit status, or -errno.
 */
static int run_program(char *const *argv, int which, char **text, size_t *size)
{
	int pipefd[2], status, null;
	ssize_t got;
	pid_t pid;

	*text = util_calloc(1, 1);
	*size = 0;
	if (pipe2(pipefd, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0) {
		close(pipefd[0]);
		close(pipefd[1]);
		return -errno;
	}
	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(which == 1 ? pipefd[1] : null, 1);
		dup2(which == 2 ? pipefd[1] : null, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(pipefd[1]);
	do {
		*text = util_realloc(*text, *size + 65536 + 1, 1);
		got = read(pipefd[0], *text + *size, 65536);
		if (got > 0)
			*size += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	(*text)[*size] = '\0';
	close(pipefd[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

int kmod_build(const char *source, const char *kdir, const char *out, char **built, struct reason *why)
{
	/* What the exit status of build.sh means. */
	static const int meaning[] = { 0, EIO, EINVAL, ENOENT, ENOEXEC, EBADMSG, ENOPKG };
	char *script = util_asprintf("%s/kmod/build.sh", source), *target, *text = NULL, *argv[8];
	struct kmod_facts f;
	size_t size;
	int status, n = 0;

	kmod_facts_read(&f);
	target = out ? util_strdup(out) : kmod_cache_path(f.release);
	if (access(script, R_OK)) {
		status = reason_set(why, ENOENT,
				    "the module's source is not in %s/kmod: install perf-relax completely, or use "
				    "`make module` in its source tree",
				    source);
		goto out;
	}
	argv[n++] = (char *)"sh";
	argv[n++] = script;
	argv[n++] = (char *)"--out";
	argv[n++] = target;
	if (kdir) {
		argv[n++] = (char *)"--kdir";
		argv[n++] = (char *)kdir;
	}
	argv[n] = NULL;
	status = run_program(argv, 2, &text, &size);
	while (size && isspace((unsigned char)text[size - 1]))
		text[--size] = '\0';
	if (status > 0)
		status = reason_set(why, status < (int)ARRAY_SIZE(meaning) ? meaning[status] : EIO, "%s",
				    *text ? text : "the build ended without a message");
	else if (status < 0)
		status = reason_set(why, -status, "the build could not be run: %s", strerror(-status));
out:
	free(script);
	free(text);
	if (status)
		free(target);
	else
		*built = target;
	return status;
}

/* A kernel that does not decompress modules itself (MODULE_INIT_COMPRESSED_FILE) gets the contents from us. 0 or an
 * errno. */
static int load_decompressed(const char *path, const char *params, struct reason *why)
{
	static const char *const programs[][2] = { { ".xz", "xz" }, { ".gz", "gzip" }, { ".zst", "zstd" } };
	const char *suffix = strrchr(path, '.');
	char *image, *argv[] = { NULL, (char *)"-dc", (char *)path, NULL };
	size_t size;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (!strcmp(suffix, programs[i][0]))
			argv[0] = (char *)programs[i][1];
	if (!argv[0])
		return ENOEXEC;
	err = run_program(argv, 1, &image, &size);
	if (err) {
		free(image);
		return -reason_set(why, ENOEXEC, "%s cannot be unpacked: %s failed (%d); is it installed?", path,
				   argv[0], err);
	}
	err = syscall(SYS_init_module, image, size, params) ? errno : 0;
	free(image);
	return err;
}

int kmod_load_file(const char *path, const char *params, struct reason *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), flags = 0, err;
	const char *base = strrchr(path, '/');
	char vermagic[256] = "";
	struct kmod_facts f;

	if (fd < 0)
		return reason_set(why, errno, "%s: %s", path, strerror(errno));
	if (strstr(base ? base : path, ".ko."))
		flags = COMPRESSED_FILE;
	if (why)
		why->text[0] = '\0';
	err = syscall(SYS_finit_module, fd, params, flags) ? errno : 0;
	close(fd);
	if (flags && (err == EOPNOTSUPP || err == EINVAL))
		err = load_decompressed(path, params, why);
	if (!err)
		return 0;
	if (why && *why->text)
		return -err;
	if (err == EEXIST)
		return reason_set(why, err, "a module of that name is loaded already");
	kmod_facts_read(&f);
	kmod_vermagic(path, vermagic, sizeof(vermagic));
	return kmod_explain_load(&f, err, path, vermagic, why);
}
