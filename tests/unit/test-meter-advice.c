// SPDX-License-Identifier: GPL-2.0-only
/*
 * The advice for each way in which perf_event_open(2) fails, on made-up machines.
 */
#include "meter-root.h"

static void assert_advice(int err, int cpu, const char *part, const char *never)
{
	struct reason why = { 0, "" };

	meter_perf_advice(err, "cycles", cpu, &why);
	assert_int_equal(why.err, err);
	if (!strstr(why.text, "event 'cycles'") || !strstr(why.text, strerror(err)) || !strstr(why.text, part))
		fail_msg("errno %d: \"%s\" is not in \"%s\"", err, part, why.text);
	if (never && strstr(why.text, never))
		fail_msg("errno %d: \"%s\" is in \"%s\"", err, never, why.text);
	if (strlen(why.text) >= sizeof(why.text) - 1)
		fail_msg("errno %d: cut off: \"%s\"", err, why.text);
}

static void advice_for_permission(void **state)
{
	static const int errors[] = { EACCES, EPERM };
	static const char *const nobody = "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t0\n";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		put("/proc/self/status", nobody);
		put("/proc/sys/kernel/perf_event_paranoid", "4\n");
		assert_advice(errors[i], -1, "perf_event_paranoid is 4; above 2, Debian's and Ubuntu's kernels",
			      "seccomp");
		put("/proc/sys/kernel/perf_event_paranoid", "3\n");
		assert_advice(errors[i], -1, "is 3; above 2", NULL);
		put("/proc/sys/kernel/perf_event_paranoid", "2\n");
		assert_advice(errors[i], -1, "is 2; at 2 only user space", "seccomp");
		assert_advice(errors[i], 3, "on CPU 3", NULL);
		assert_advice(errors[i], 3, "counting a whole CPU needs 0 or less", NULL);
		/* Allowed by the level, refused all the same. */
		put("/proc/sys/kernel/perf_event_paranoid", "1\n");
		assert_advice(errors[i], -1, "perf_event_paranoid is 1, so a sandbox or security module refuses it",
			      NULL);
		put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
		assert_advice(errors[i], -1, "perf_event_paranoid is -1, so a sandbox", NULL);
		/* In a container: the level would allow user space, the filter does not; or root within it. */
		put("/proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t2\n");
		assert_advice(errors[i], -1, "the seccomp filter on this process refuses it", NULL);
		put("/proc/sys/kernel/perf_event_paranoid", "2\n");
		assert_advice(errors[i], -1, "A seccomp filter is active and may be the cause", NULL);
		put("/proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t2\n");
		assert_advice(errors[i], -1, "the process may use counters, so the seccomp filter", NULL);
		put("/proc/self/status", nobody);
		put("/proc/sys/kernel/perf_event_paranoid", "lots\n");
		assert_advice(errors[i], -1, "holds \"lots\", which is no number", NULL);
		put("/proc/sys/kernel/perf_event_paranoid", "");
		assert_advice(errors[i], -1, "holds \"\", which is no number", NULL);
		drop("/proc/sys/kernel/perf_event_paranoid");
		assert_advice(errors[i], -1, "cannot be read (No such file or directory)", NULL);
	}
}

static void advice_for_others(void **state)
{
	static const int absent[] = { ENOENT, ENODEV, ENXIO, EOPNOTSUPP, EINVAL };
	struct reason why = { 0, "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		assert_advice(absent[i], -1, "the kernel shows no PMU of the CPU", "aranoid");
	put("/sys/bus/event_source/devices/cpu/type", "4");
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		assert_advice(absent[i], -1, absent[i] == EINVAL ? "refuses this encoding" : "has no such counter",
			      "aranoid");
	meter_perf_advice(EINVAL, "cpu/event=1/", -1, &why);
	assert_non_null(strstr(why.text, "the PMU cpu is there, but its driver refuses"));
	assert_advice(ENOSYS, -1, "no sysctl changes that, clocks work all the same", "aranoid");
	assert_advice(EMFILE, 143, "on CPU 143", "ermission");
	assert_advice(EMFILE, -1, "ulimit -n", "ermission");
	put("/proc/sys/fs/file-nr", "1024\t0\t2048\n");
	assert_advice(ENFILE, -1, "\"1024\t0\t2048\"", "ermission");
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	assert_advice(EBUSY, -1, "nmi_watchdog is 1 ", "ermission");
	assert_advice(E2BIG, -1, "too old", NULL);
	assert_advice(ENOMEM, -1, "no memory", NULL);
	assert_advice(ENOSPC, -1, "are taken", NULL);
	assert_advice(ESRCH, -1, "has ended", NULL);
	assert_advice(EINTR, -1, "perf_event_open", NULL);
	meter_perf_advice(
		EIO,
		"a name of more than eighty characters, which is cut and does no harm to the buffer that it is put "
		"into",
		-1, &why);
	assert_non_null(strstr(why.text, strerror(EIO)));
	meter_perf_advice(EIO, "x", -1, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ROOT(advice_for_permission),
		WITH_ROOT(advice_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
